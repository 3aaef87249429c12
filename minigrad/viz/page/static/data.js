// The page's data as Python wrote it, and who belongs to whom.

/** The data of the page (payload.py): JSON, deflated, in base64. */
async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  const packed = new Blob([bytes]).stream();
  const stream = packed.pipeThrough(new DecompressionStream("deflate-raw"));
  return connect(await new Response(stream).json());
}

/** Add to one of the lists of a table. */
function push(table, key, value) {
  if (!table.has(key)) table.set(key, []);
  table.get(key).push(value);
}

/** Put what steps have alike, such as formulas, in the place of its numbers. */
function spread({ nodes, steps, shared }) {
  for (const node of nodes) node.terms = shared[node.terms] ?? {};
  for (const step of steps) {
    for (const part of step.parts)
      for (const name of ["answers", "formula", "term"]) part[name] = shared[part[name]];
  }
}

/** Add tables: boxes and groups by id, what is around each, readers and read. */
function connect(data) {
  spread(data);
  data.node = new Map(data.nodes.map((node) => [node.id, node]));
  data.group = new Map(data.groups.map((group) => [group.id, group]));
  data.box = (id) => data.node.get(id) ?? data.group.get(id)?.box;
  data.parent = (id) =>
    (data.node.get(id) ?? data.group.get(id)).group ?? data.group.get(id)?.parent ?? null;
  data.around = (id) => (id === null ? [] : [id, ...data.around(data.parent(id))]);
  data.into = new Map();
  data.from = new Map();
  data.edges.forEach((edge, index) => {
    push(data.into, edge.target, index);
    push(data.from, edge.source, index);
  });
  data.stepOf = new Map();
  data.steps.forEach((step, at) => push(data.stepOf, step.node, at + 1));
  relateShares(data);
  data.forward = data.nodes.filter(({ kind }) => kind === "op").map(({ id }) => id);
  data.order = orderOf(data);
  data.residuals = new Set(data.residuals);
  data.ways = data.steps.map((step) => step.parts.map((part) => wayOf(data, step, part)));
  data.inside = new Map(data.steps.map(({ run }) => [run, new Map()]));
  for (const { run, node } of data.steps) {
    const all = data.inside.get(run);
    for (const id of data.around(node).slice(1)) all.set(id, (all.get(id) ?? 0) + 1);
  }
  return data;
}

/** Which shares each box gets. */
function relateShares(data) {
  data.sharesOf = new Map();
  data.steps.forEach((step, at) =>
    step.parts.forEach((part) => push(data.sharesOf, part.target, { at: at + 1, step, part })),
  );
}

/** When a box is computed: the number of its op, of a group that of its first; else 0. */
function orderOf(data) {
  const order = new Map();
  data.forward.forEach((op, index) => {
    for (const id of data.around(op)) if (!order.has(id)) order.set(id, index + 1);
  });
  for (const { source, target } of data.edges)
    if (data.box(target).kind === "output") order.set(target, order.get(source));
  return (id) => order.get(id) ?? 0;
}

/** Whether a box is a group or lies in it. */
const within = (data, id, group) => data.around(id).includes(group);

/** What a box reads ("into") or what reads it ("from"): of a module, across its edge. */
function neighbours(data, id, table) {
  const [own, other] = table === "into" ? ["target", "source"] : ["source", "target"];
  const group = data.group.has(id);
  const edges = group
    ? data.edges.filter((edge) => within(data, edge[own], id) && !within(data, edge[other], id))
    : (data[table].get(id) ?? []).map((index) => data.edges[index]);
  return [...new Set(edges.map((edge) => edge[other]))];
}

/** The edges of the diagram along which a step sends one part. */
function wayOf(data, step, part) {
  return (data.into.get(step.node) ?? []).filter((index) => {
    const edge = data.edges[index];
    return edge.source === part.target && edge.slot === part.slot;
  });
}
