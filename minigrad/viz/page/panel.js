// What stands beside the picture: the step that was just taken, and the box that is selected.

/** An HTML element; children are text, elements, or lists of them. Text is only ever text. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== "" && child !== null));
  return element;
}

// Without a mathematical font what stands under a sum runs into it: beside it is as good.
const SCRIPTS = { munder: "msub", mover: "msup", munderover: "msubsup" };

/** MathML from text. What is made is in MathML's namespace, so nothing of it runs or loads. */
function mathml(text) {
  const copy = (from) => {
    // The bar of a letter is drawn: fonts without mathematics set it through the letter.
    const barred = from.localName === "mover" && "‾¯".includes(from.lastChild.textContent);
    const name = barred ? "mrow" : (SCRIPTS[from.localName] ?? from.localName);
    const to = document.createElementNS("http://www.w3.org/1998/Math/MathML", name);
    for (const { name, value } of from.attributes)
      if (!/^on|href|src/.test(name)) to.setAttribute(name, value);
    if (barred) to.setAttribute("class", "bar");
    for (const child of barred ? [from.firstChild] : from.childNodes) {
      to.append(child.nodeType === 1 ? copy(child) : child.nodeValue);
    }
    return to;
  };
  return copy(new DOMParser().parseFromString(text, "application/xml").documentElement);
}

const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const bytes = (n) =>
  n < 1024
    ? `${n} B`
    : n < 1048576
      ? `${(n / 1024).toFixed(1)} KiB`
      : `${(n / 1048576).toFixed(1)} MiB`;

/** An array in numbers: its shape and norm, its range, and all of it where it is small. */
function summaryView(summary) {
  const { kind, sign, words } = health(summary);
  const facts = [
    h("span", { class: "shape" }, shapeText(summary.shape)),
    h("span", { class: kind }, `norm ${number(summary.norm)}`),
  ];
  if (kind === "bad") facts.push(h("strong", { class: "bad" }, `${sign} ${words}`));
  else if (kind === "zero") facts.push(h("strong", { class: "zero" }, `${sign} zero everywhere`));
  else if (summary.shape.reduce((a, b) => a * b, 1) > 1) {
    facts.push(
      h(
        "span",
        {},
        `${number(summary.low)} … ${number(summary.high)}, mean ${number(summary.mean)}`,
      ),
    );
  }
  return h(
    "div",
    { class: "numbers" },
    h(
      "p",
      { class: "facts" },
      facts.flatMap((one, at) => (at ? [" · ", one] : [one])),
    ),
    summary.values && summary.shape.length ? valuesView(summary) : "",
  );
}

/** All values, as matrices side by side. */
function valuesView({ shape, values }) {
  const columns = shape.at(-1),
    rows = shape.at(-2) ?? 1,
    size = rows * columns;
  if (!size) return "";
  const tables = [];
  for (let start = 0; start < values.length; start += size) {
    const body = Array.from({ length: rows }, (_, row) =>
      h(
        "tr",
        {},
        Array.from({ length: columns }, (_, column) => {
          const value = values[start + row * columns + column];
          return h("td", { class: value ? null : "zero" }, number(value));
        }),
      ),
    );
    tables.push(h("table", { class: "values" }, h("tbody", {}, body)));
  }
  return h("div", { class: "matrices", tabindex: 0, "aria-label": "values" }, tables);
}

/** Buttons that lead to a step or to a box. */
function links(go) {
  return {
    step: (at, words) =>
      h("button", { class: "link", onclick: () => go.step(at) }, words ?? `step ${at}`),
    box: (id, words) => h("button", { class: "link", onclick: () => go.box(id) }, words),
  };
}

/** Where a box is: the modules around it, from the outermost. */
function pathOf(id) {
  const names = [];
  for (let at = data.parent(id); at !== null; at = data.parent(at)) {
    const group = data.group.get(at);
    names.unshift(group.name || group.module);
  }
  return names;
}

function nameOf(id) {
  const group = data.group.get(id),
    box = data.box(id);
  return group && box.kind === "module" ? group.path || group.module : box.label;
}

/** Where the program made it. */
function lineView(node) {
  if (!node.line) return "";
  const [, place, code] = /^(.*?:\d+)(?:: (.*))?$/s.exec(node.line) ?? [null, node.line, ""];
  return h("p", { class: "line" }, h("span", {}, place), code ? h("code", {}, code) : "");
}

/** The panel of a step: what came, what was saved, what is sent, and why. */
function stepView(at, go) {
  const link = links(go),
    total = data.steps.length;
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
  const step = data.steps[at - 1],
    node = data.box(step.node),
    path = pathOf(step.node).join(" › ");
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
  if (!shares.length)
    return [what, "Here it begins: the gradient of the loss with respect to itself is 1."];
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
  if (!node.saved.length && !node.kept.length) return h("p", {}, "Nothing.");
  return [
    node.saved.length ? "" : h("p", {}, "Nothing: the rule needs shapes at most."),
    h(
      "ul",
      { class: "saved" },
      node.saved.map((one) =>
        h(
          "li",
          {},
          h("code", {}, one.name),
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
  const argument = part.name.replace(/\[.*/, "");
  const formula = data.formulas.find((one) => one.op === step.op && one.argument === argument);
  const { arrival, arrivals, total } = part;
  const turned = String(part.raw_shape) !== String(part.sent.shape);
  return h(
    "article",
    {},
    h("h4", {}, bar(part.name), h("span", {}, " to ", link.box(part.target, nameOf(part.target)))),
    formula ? h("div", { class: "formula" }, bar(part.name), " = ", mathml(formula.mathml)) : "",
    formula ? formula.notes.map((note) => h("p", { class: "quiet" }, note)) : "",
    part.equation ? h("div", { class: "formula indexed" }, mathml(part.equation)) : "",
    part.reasons.map(([question, math, answer]) =>
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
        const { part } = shares.at(-1),
          { sign, words } = health(part.total ?? part.sent);
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

/** The panel of a box. */
function boxView(id, go) {
  if (id === null)
    return [
      h("p", {}, "Select a box in the picture, or search for one with ", h("kbd", {}, "/"), "."),
    ];
  const link = links(go),
    node = data.box(id),
    group = data.group.get(id),
    path = pathOf(id).join(" › ");
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
      ? h("section", {}, h("h3", {}, "Saved for the backward pass"), savedView(node))
      : "",
    heatmapView(id),
    gradientView(id, node, link),
  ];
}

/** What a box gets in the backward pass, or why it gets nothing. */
function gradientView(id, node, link) {
  const steps = data.stepOf.get(id) ?? [],
    shares = sharesOf(id);
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
