// The panel of the box that is selected: what it is, and what gradient it gets.

/** The panel of a box. */
function boxView(id) {
  if (id === null)
    return [e.p("Select a box in the picture, or search for one with ", e.kbd("/"), ".")];
  const [node, group, path] = [data.box(id), data.group.get(id), pathOf(id).join(" › ")];
  const kind = node.kind === "module" && group?.module === "" ? "function" : node.kind;
  const toggle = e.button({ onclick: () => go.toggle(id) }, go.isOpen(id) ? "Close it" : "Open it");
  const facts = [
    ` ${node.dtype}`,
    group?.module,
    group?.size && count(group.size, "parameter"),
    group?.calls > 1 && `call ${group.call} of ${group.calls}`,
    node.keeps && `keeps ${bytes(node.keeps)} until backward`,
  ];
  return [
    e.p({ class: "over" }, [kind, path && `in ${path}`].filter(Boolean).join(" · ")),
    e.h2(nameOf(id)),
    e.p({ class: "facts" }, shapeView(node.shape, node.samples), facts.filter(Boolean).join(" · ")),
    node.fused ? e.p("Fused: one kernel and one rule. To look inside: ", openCall(node)) : "",
    lineView(node),
    group ? e.p({ class: "buttons" }, toggle) : "",
    contentView(id),
    gradientView(id, node),
  ];
}

/** What a box says in both passes: its arguments and value, what it reads and keeps. */
function contentView(id) {
  const [node, readers] = [data.box(id), neighbours(data, id, "from")];
  const op = node.kind === "op";
  const read = op
    ? (data.into.get(id) ?? []).map((index) => data.edges[index])
    : neighbours(data, id, "into").map((source) => ({ source }));
  return [
    node.notes.length ? e.ul({ class: "notes" }, node.notes.map((note) => e.li(e.code(note)))) : "",
    read.length ? e.section(e.h3("Reads"), e.ul(read.map((edge) => givenView(edge.name, edge.source, edge.shape && edge)))) : "",
    node.error ? e.p({ class: "bad" }, `⬣ ${node.error}`) : valueView(id, node),
    readers.length ? e.p("Read by: ", listed(readers.map((one) => link.box(one)))) : "",
    op && node.recorded ? e.section(e.h3("Saved for the backward pass"), savedView(node)) : "",
    heatmapView(id),
  ];
}

/** The call that shows the parts of a fused op. */
const openCall = (node) => e.code(`viz.explore(…, open=["${node.label}"])`);

/** Who attends to whom: the weights, and the gradient of the loss with respect to them. */
function heatmapView(id) {
  const map = data.heatmaps.find(({ node }) => node === id || data.parent(node) === id);
  if (!map) return "";
  if (changes.size)
    return e.section(e.h3("Who attends to whom"), arrayView(data.box(map.node).value, map.node));
  const picture = (markup) => filled(e.div({ class: "heatmap" }), markup);
  const more = "The gradient of the loss with respect to the weights";
  return e.section(
    e.h3("Who attends to whom"),
    picture(map.weights),
    map.gradients ? e.details(e.summary(more), picture(map.gradients)) : "",
  );
}

/** A gradient in facts, and all of it unless it is beside the value. */
const gradientFacts = (id, { value }, gradient) =>
  value && !isScalar({ value })
    ? e.div({ class: "numbers" }, factsView(gradient))
    : summaryView(gradient, id, gradientWork(sharesOf(id)));

/** What a box gets in the backward pass, or why it gets nothing. */
function gradientView(id, node) {
  if (node.kind === "module" || node.kind === "output") return "";
  const [steps, shares] = [data.stepOf.get(id) ?? [], sharesOf(id)];
  const title = e.h3("Its gradient");
  if (node.missing && !shares.length && !steps.length) {
    const question = e.h3("Why is there no gradient here?");
    return e.section({ class: "missing" }, question, e.p(node.missing));
  }
  const share = ({ at, step, part }) => {
    return e.li(link.step(at), ` from ${step.op}, as its ${part.name}: ${sized(part.sent, "·")}`);
  };
  const sum = e.strong({ class: "sum" }, `Σ of ${shares.length}`);
  const gradient = node.several ? null : finalGradient(id); // they are of different outputs
  const onward = listed(steps.map((at) => link.step(at)));
  return e.section(
    title,
    shares.length > 1 ? e.p(sum, " shares, for it was used as often:") : "",
    shares.length ? e.ul(shares.map(share)) : "",
    gradient ? gradientFacts(id, node, gradient) : "",
    node.held ? e.p(node.held) : "",
    steps.length ? e.p("It sends its shares on in ", onward, ".") : "",
  );
}
