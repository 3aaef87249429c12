// The forward pass, op by op: moments before step 0 of the backward pass, counted downward.

/** How many ops of the forward pass have run at a moment. */
const ranAt = (at) => data.forward.length + min(at + 1, 0);

/** The op that a moment is about: the one whose rule runs, or the one that computes. */
const nodeAt = (at) => (at < 0 ? data.forward[ranAt(at) - 1] : data.steps[at - 1]?.node);

/** Fade what is not computed yet, and highlight the op that computes now, with its inputs. */
function drawForward(at) {
  const ran = ranAt(at);
  const current = at < 0 && ran ? shownAs(nodeAt(at)) : null;
  for (const { id, element } of [...inDocument("boxes"), ...inDocument("frames")]) {
    element.classList.toggle("later", data.order(id) > ran);
    element.classList.toggle("computes", id === current);
  }
  for (const { edges, element } of inDocument("edges")) {
    const into = (index) => data.edges[index].target === nodeAt(at);
    const ready = (index) => data.order(data.edges[index].source) <= ran;
    element.classList.toggle("later", !!edges && !edges.some(ready));
    element.classList.toggle("flows", !!current && !!edges?.some(into));
  }
}

function drawBorn({ what }, width) {
  const words = `⬣ ${what}`;
  const long = 14 + 6 * words.length;
  return svg.g(
    { class: "badge born", transform: `translate(${width - long + 8} -9)` },
    svg.rect({ width: long, height: 15, rx: 3 }),
    svg.text({ class: "small", x: long / 2, y: 11 }, words),
  );
}

function forwardView(at) {
  const [ran, all] = [ranAt(at), data.forward.length];
  if (!ran) {
    const given = data.nodes.filter((node) => !data.order(node.id));
    return [
      e.h2("Before the forward pass"),
      e.p(`${count(given.length, "tensor")} are given, then ${count(all, "op")} run.`),
      e.ul(given.map(({ id }) => givenView("", id))),
      e.p(link.step(at + 1, "Run the first op"), " (→)"),
    ];
  }
  const id = nodeAt(at);
  return [headView(`Forward ${ran} of ${all}`, id), contentView(id)];
}

/** A tensor that an op reads; one of several outputs of an op has a shape of its own. */
function givenView(name, id, edge = data.box(id)) {
  const { value } = data.box(id);
  const numbers = isScalar({ value }) ? exactly(entriesOf(value)[0]) : value && rangeText(value);
  const words = name ? [e.code(name), " = "] : "";
  const told = edge.place ? `its output ${edge.place + 1}` : numbers ?? "";
  return e.li(words, link.box(id), " ", shapeView(edge.shape, edge.samples), ` ${told}`);
}
