// The panel of a step: what came, what was saved for it, what is sent, and why.

/** The panel of a step: what came, what was saved, what is sent, and why. */
function stepView(at, go) {
  const link = links(go);
  const total = data.steps.length;
  if (!total) return [h("h2", {}, "No backward pass"), h("p", {}, data.start)];
  if (!at) {
    return [
      h("h2", {}, "Before the first step"),
      h(
        "p",
        {},
        `The forward pass is done. The backward pass begins at ${data.start}. It has ${count(total, "step")}.`,
      ),
      h("p", {}, link.step(1, "Take the first step"), " (→)"),
    ];
  }
  const step = data.steps[at - 1];
  const node = data.box(step.node);
  const path = pathOf(step.node).join(" › ");
  const shares = sharesOf(step.node, step.pass);
  return [
    h("p", { class: "over" }, `Step ${at} of ${total}${path ? ` · in ${path}` : ""}`),
    h(
      "h2",
      {},
      link.box(step.node, step.op),
      node.kind === "fused" ? h("small", {}, " fused: one rule for all that it computes") : "",
    ),
    go.hidden(step.node)
      ? h("p", {}, h("button", { onclick: () => go.show(step.node) }, "Open the modules around it"))
      : "",
    lineView(node),
    h(
      "section",
      {},
      h("h3", {}, h("b", {}, "1"), " What comes: ", bar("g")),
      h("p", {}, came(step, shares, link)),
      summaryView(step.cotangent),
    ),
    h("section", {}, h("h3", {}, h("b", {}, "2"), " What was saved for this"), savedView(node)),
    h(
      "section",
      {},
      h("h3", {}, h("b", {}, "3"), " What is sent"),
      h(
        "p",
        {},
        "For each input that needs a gradient, the op's rule for it turns ",
        bar("g"),
        " into that input's share.",
      ),
      step.parts.map((part) => partView(step, part, link)),
    ),
    at === total ? h("section", { class: "end" }, h("h3", {}, "Done"), endView(link)) : "",
  ];
}

/** A letter with a bar: the gradient with respect to it. */
function bar(name) {
  const plain = name.replace(/[^\w.]/g, "");
  return mathml(
    `<math><mover accent="true"><mi>${plain}</mi><mo stretchy="false">‾</mo></mover></math>`,
  );
}

/** The shares that a box gets in a pass, the last one if none is given. */
function sharesOf(id, pass) {
  const shares = data.sharesOf.get(id) ?? [];
  return shares.filter(({ step }) => step.pass === (pass ?? shares.at(-1).step.pass));
}

/** How the cotangent of a step came together. */
function came(step, shares, link) {
  const what = `How much the loss changes if the output of ${step.op} does, element by element. `;
  if (!shares.length) {
    const { values } = step.cotangent;
    const loss = values?.length === 1 && values[0] === 1;
    return [
      what,
      loss
        ? "Here it begins: the gradient of the loss with respect to itself is 1."
        : "Here it begins, with these numbers, which the backward pass was given.",
    ];
  }
  const sources = shares.map(({ at, step: from, part }) => [
    link.step(at),
    ` (${from.op}, ${part.name})`,
  ]);
  if (sources.length === 1) return [what, "It came from ", sources[0], "."];
  return [
    what,
    h("strong", {}, `Σ of ${sources.length} shares: `),
    `the output was used ${sources.length} times, so ${step.op} waited until all of them had come: from `,
    sources.map((one, at) => [at ? (at === sources.length - 1 ? " and " : ", ") : "", one]),
    ".",
  ];
}

/** What an op kept of the forward pass, and for which rule. */
function savedView(node) {
  const kept = new Map(node.kept);
  if (node.freed)
    return h("p", {}, "It is not known any more: a backward pass has run and let go of it.");
  if (!node.saved.length && !node.kept.length) return h("p", {}, "Nothing.");
  return [
    h(
      "p",
      {},
      node.saved.length
        ? "What the op's rules read of the forward pass; it was kept until now, and nothing else was."
        : "Nothing: the rule needs shapes at most.",
    ),
    h(
      "ul",
      { class: "saved" },
      node.saved.map((one) =>
        h(
          "li",
          {},
          h("code", {}, one.name),
          one.name === "out" ? ", the output, y in the formula," : "",
          ` ${shapeText(one.shape)}, ${bytes(one.nbytes)}`,
          kept.get(one.name) ? `: ${kept.get(one.name)}` : "",
          one.numbers?.values && one.shape.length
            ? h("details", {}, h("summary", {}, "its values"), valuesView(one.numbers))
            : "",
        ),
      ),
    ),
    node.kept
      .filter(([name]) => !name)
      .map(([, why]) => h("p", { class: "quiet" }, `Not kept: ${why}.`)),
  ];
}

/** What one argument gets. */
function partView(step, part, link) {
  const formula = part.formula === null ? null : data.formulas[part.formula];
  const { arrival, arrivals, total } = part;
  const turned = String(part.raw_shape) !== String(part.sent.shape);
  return h(
    "article",
    {},
    h("h4", {}, bar(part.name), h("span", {}, " to ", link.box(part.target, nameOf(part.target)))),
    formula ? h("div", { class: "formula" }, bar(part.name), " = ", mathml(formula.mathml)) : "",
    formula ? formula.notes.map((note) => h("p", { class: "quiet" }, note)) : "",
    part.equation ? h("div", { class: "formula indexed" }, mathml(part.equation)) : "",
    part.answers.map(([question, math, answer]) =>
      h("p", { class: "why" }, h("b", {}, question), " ", math ? [mathml(math), " "] : "", answer),
    ),
    turned
      ? h(
          "p",
          { class: "unbroadcast" },
          "un-broadcast: ",
          h("span", { class: "shape" }, shapeText(part.raw_shape)),
          " → ",
          h("span", { class: "shape" }, shapeText(part.sent.shape)),
        )
      : "",
    summaryView(part.sent),
    arrivals > 1
      ? h(
          "p",
          {},
          h("strong", { class: "sum" }, `Σ ${arrival}/${arrivals}`),
          ` share ${arrival} of ${arrivals} that ${nameOf(part.target)} gets: it was used ${arrivals} times.`,
          total ? ` So far they add up to ‖Σ‖ = ${health(total).words}.` : "",
        )
      : "",
    checkView(part),
    formula?.source ? sourceView(formula) : "",
  );
}

/** The rule as it stands in the program. */
function sourceView({ source, place, origin }) {
  const caption =
    origin === "written"
      ? "The rule is a kernel; its formula is written beside it and checked"
      : "The rule";
  return h(
    "details",
    { open: source.split("\n").length < 3 },
    h("summary", {}, place ? `${caption}: ${place}` : caption),
    h("pre", { class: "rule", tabindex: 0 }, source),
  );
}

/** The finite difference of this very step. */
function checkView({ check, unchecked }) {
  if (check === null)
    return h("p", { class: "check" }, `– not checked by a finite difference: ${unchecked}`);
  const right = check < 1e-3;
  return h(
    "p",
    { class: `check ${right ? "right" : "wrong"}` },
    right ? "✓ " : "✗ ",
    `${right ? "agrees with" : "differs from"} a finite difference of the op: relative error ${number(check)}`,
  );
}

/** What every leaf has in the end. */
function endView(link) {
  const leaves = [...data.sharesOf].filter(([id]) => !["op", "fused"].includes(data.box(id).kind));
  return [
    h(
      "p",
      {},
      "Every leaf has the sum of its shares; this is what ",
      h("code", {}, ".grad"),
      " holds.",
    ),
    h(
      "ul",
      {},
      leaves.map(([id, shares]) => {
        const { part } = shares.at(-1);
        const { sign, words } = health(part.total ?? part.sent);
        return h(
          "li",
          {},
          link.box(id, data.box(id).label),
          ` ‖.grad‖ = ${sign && `${sign} `}${words}`,
        );
      }),
    ),
  ];
}
