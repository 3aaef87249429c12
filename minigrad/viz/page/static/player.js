// The backward pass at one moment, from nothing but the data and the number of steps taken.

/**
 * What has happened after `count` steps.
 *
 * Returns { step, edges, came, done, inside }: the step that has just been taken (null before the
 * first); for each edge that a gradient has used, the state ("done", or "in" or "out" of the step)
 * and the gradient; what has come to each op and leaf ({ arrival, arrivals, total }); the ops whose
 * rules have run; and how many of the steps in each group have been taken. Of several passes only
 * the one that the last step belongs to counts.
 */
function progress(data, count) {
  const edges = new Map();
  const came = new Map();
  const done = new Set();
  const inside = new Map();
  for (let at = 0; at < count; at++) {
    const step = data.steps[at];
    const current = at === count - 1;
    const begins = step.run !== data.steps[at - 1]?.run;
    if (begins) for (const table of [edges, came, done, inside]) table.clear();
    const way = (index, state, sent) => edges.set(index, { state: current ? state : "done", sent });
    for (const index of data.from.get(step.node) ?? []) {
      const root = data.box(data.edges[index].target).kind === "output" && !came.has(step.node);
      if (root) way(index, "in", step.cotangent);
      else if (edges.has(index)) way(index, "in", edges.get(index).sent);
    }
    step.parts.forEach((part, which) => {
      for (const index of data.ways[at][which]) way(index, "out", part.sent);
      const { arrival, arrivals, total, sent } = part;
      came.set(part.target, { arrival, arrivals, total: total ?? sent });
    });
    done.add(step.node);
    for (const id of data.around(step.node).slice(1)) inside.set(id, (inside.get(id) ?? 0) + 1);
  }
  return { step: data.steps[count - 1] ?? null, edges, came, done, inside };
}
