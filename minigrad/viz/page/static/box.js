// The panel of the box that is selected: what it is, and what gradient it gets.

/** The panel of a box. */
function boxView(id, go) {
  if (id === null)
    return [
      h("p", {}, "Select a box in the picture, or search for one with ", h("kbd", {}, "/"), "."),
    ];
  const link = links(go);
  const node = data.box(id);
  const group = data.group.get(id);
  const path = pathOf(id).join(" › ");
  const listed = (ids, title) =>
    ids.length
      ? h(
          "p",
          {},
          `${title}: `,
          ids.map((one, at) => [at ? ", " : "", link.box(one, nameOf(one))]),
        )
      : "";
  return [
    h(
      "p",
      { class: "over" },
      [group && node.kind === "module" ? "module" : node.kind, path && `in ${path}`]
        .filter(Boolean)
        .join(" · "),
    ),
    h("h2", {}, nameOf(id)),
    h(
      "p",
      { class: "facts" },
      h("span", { class: "shape" }, shapeText(node.shape)),
      ` ${node.dtype}`,
      group?.module ? ` · ${group.module}` : "",
      group?.size ? ` · ${count(group.size, "parameter")}` : "",
      group && group.calls > 1 ? ` · call ${group.call} of ${group.calls}` : "",
      node.cost ? ` · forward ${node.cost}` : "",
    ),
    node.notes.length
      ? h(
          "ul",
          { class: "notes" },
          node.notes.map((note) => h("li", {}, h("code", {}, note))),
        )
      : "",
    node.error ? h("p", { class: "bad" }, `⬣ ${node.error}`) : "",
    lineView(node),
    h(
      "p",
      { class: "buttons" },
      group
        ? h("button", { onclick: () => go.toggle(id) }, go.isOpen(id) ? "Close it" : "Open it")
        : "",
      h("button", { onclick: () => go.trace("into") }, "Trace inputs"),
      h("button", { onclick: () => go.trace("from") }, "Trace outputs"),
    ),
    listed(neighbours(data, id, "into"), "Reads"),
    listed(neighbours(data, id, "from"), "Read by"),
    ["op", "fused"].includes(node.kind) && node.recorded
      ? h("section", {}, h("h3", {}, "Saved for the backward pass"), keptView(id, node, link))
      : "",
    heatmapView(id),
    gradientView(id, node, link),
  ];
}

/** What an op saved; of a part of a fused op, which op saved for it. */
function keptView(id, node, link) {
  const unit = data.unit(id);
  if (unit === id) return savedView(node);
  return h(
    "p",
    {},
    "Nothing was recorded of this op by itself. It is a part of ",
    link.box(unit, nameOf(unit)),
    ", a fused op, which saved what its one rule reads.",
  );
}

/** What a box gets in the backward pass, or why it gets nothing. */
function gradientView(id, node, link) {
  const steps = data.stepOf.get(id) ?? [];
  const shares = sharesOf(id);
  if (node.kind === "module" || node.kind === "output") return "";
  const unit = data.unit(id);
  if (unit !== id) {
    return h(
      "section",
      {},
      h("h3", {}, "Its gradient"),
      h(
        "p",
        {},
        "It is a part of ",
        link.box(unit, nameOf(unit)),
        ", a fused op: one rule sends its gradients in one step, past the ops inside.",
      ),
    );
  }
  if (node.missing && !shares.length && !steps.length) {
    return h(
      "section",
      { class: "missing" },
      h("h3", {}, "Why is there no gradient here?"),
      h("p", {}, node.missing),
    );
  }
  const last = shares.at(-1)?.part;
  return h(
    "section",
    {},
    h("h3", {}, "Its gradient"),
    shares.length > 1
      ? h(
          "p",
          {},
          h("strong", { class: "sum" }, `Σ of ${shares.length}`),
          " shares, for it was used as often:",
        )
      : "",
    shares.length
      ? h(
          "ul",
          {},
          shares.map(({ at, step, part }) =>
            h(
              "li",
              {},
              link.step(at),
              ` from ${step.op}, as its ${part.name}: `,
              health(part.sent).sign,
              " ",
              `‖·‖ = ${health(part.sent).words}`,
            ),
          ),
        )
      : "",
    last ? summaryView(last.total ?? last.sent) : "",
    steps.length
      ? h(
          "p",
          {},
          "It sends its shares on in ",
          steps.map((at, which) => [which ? ", " : "", link.step(at)]),
          ".",
        )
      : "",
  );
}
