// The panel of the box that is selected: what it is, and what gradient it gets.

/** The panel of a box. */
function boxView(id) {
  if (id === null)
    return [e.p("Select a box in the picture, or search for one with ", e.kbd("/"), ".")];
  const [node, group] = [data.box(id), data.group.get(id)];
  const [path, op] = [pathOf(id).join(" › "), ["op", "fused"].includes(node.kind)];
  const kind = node.kind === "module" && group?.module === "" ? "function" : node.kind;
  const names = (title, table) => {
    const ids = neighbours(data, id, table);
    return ids.length ? e.p(`${title}: `, listed(ids.map((one) => link.box(one)))) : "";
  };
  // Of a part of a fused op, which op saved for it.
  const unit = data.unit(id);
  const part = "Nothing was recorded of this op by itself. It is a part of ";
  const why = ", a fused op with one rule. To record its parts: ";
  const saved = unit === id ? savedView(node) : e.p(part, link.box(unit), why, openCall(unit));
  const toggle = e.button({ onclick: () => go.toggle(id) }, go.isOpen(id) ? "Close it" : "Open it");
  const facts = [
    ` ${node.dtype}`,
    group?.module,
    group?.size && count(group.size, "parameter"),
    group?.calls > 1 && `call ${group.call} of ${group.calls}`,
    node.cost && `forward ${node.cost}`,
    node.keeps && `keeps ${bytes(node.keeps)} until backward`,
  ];
  return [
    e.p({ class: "over" }, [kind, path && `in ${path}`].filter(Boolean).join(" · ")),
    e.h2(nameOf(id)),
    e.p({ class: "facts" }, shapeView(node.shape, node.samples), facts.filter(Boolean).join(" · ")),
    node.notes.length ? e.ul({ class: "notes" }, node.notes.map((note) => e.li(e.code(note)))) : "",
    node.error ? e.p({ class: "bad" }, `⬣ ${node.error}`) : "",
    lineView(node),
    group ? e.p({ class: "buttons" }, toggle) : "",
    valueView(id, node),
    numbersView(id),
    names("Reads", "into"),
    names("Read by", "from"),
    op && node.recorded ? e.section(e.h3("Saved for the backward pass"), saved) : "",
    heatmapView(id),
    group?.opened != null ? openedView(group) : gradientView(id, node),
  ];
}

/** The call that records the parts of a fused op. */
const openCall = (id) => e.code(`viz.explore(…, open=["${data.box(id).label}"])`);

/** A fused op that was opened: how its parts compare with it, and the rule that the engine ran. */
function openedView({ opened, rule }) {
  const told = "The engine ran one kernel and one rule. The ops inside were run beside them; theirs is ";
  const [kind, verdict] =
    opened < 1e-3 ? ["right", "✓ the same up to rounding"] : ["wrong", "✗ another result"];
  const words = `${verdict}: relative difference ${number(opened)}`;
  return e.section(
    e.h3("Opened"),
    e.p(told, e.span({ class: `check ${kind}` }, words)),
    rule ? e.details(e.summary("The one rule"), rule.parts.map((part) => partView(rule, part))) : "",
  );
}

/** Who attends to whom: the weights, and the gradient of the loss with respect to them. */
function heatmapView(id) {
  const map = data.heatmaps.find(({ node, group }) => node === id || group === id);
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
  const [unit, steps, shares] = [data.unit(id), data.stepOf.get(id) ?? [], sharesOf(id)];
  const title = e.h3("Its gradient");
  if (unit !== id) {
    const why = ", a fused op with one rule. To see the gradients inside: ";
    return e.section(title, e.p("It is a part of ", link.box(unit), why, openCall(unit)));
  }
  if (node.missing && !shares.length && !steps.length) {
    const question = e.h3("Why is there no gradient here?");
    return e.section({ class: "missing" }, question, e.p(node.missing));
  }
  const share = ({ at, step, part }) => {
    return e.li(link.step(at), ` from ${step.op}, as its ${part.name}: ${sized(part.sent, "·")}`);
  };
  const sum = e.strong({ class: "sum" }, `Σ of ${shares.length}`);
  const gradient = finalGradient(id);
  const onward = listed(steps.map((at) => link.step(at)));
  return e.section(
    title,
    shares.length > 1 ? e.p(sum, " shares, for it was used as often:") : "",
    shares.length ? e.ul(shares.map(share)) : "",
    gradient ? gradientFacts(id, node, gradient) : "",
    steps.length ? e.p("It sends its shares on in ", onward, ".") : "",
  );
}
