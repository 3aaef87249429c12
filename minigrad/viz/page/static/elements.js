// What the panel is made of: elements, formulas, numbers, links, names.

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
  else if (kind === "zero") {
    const all = summary.cancelled
      ? "zero up to rounding: what is added up cancels, and rounding leaves this"
      : "zero everywhere";
    facts.push(h("strong", { class: "zero" }, `${sign} ${all}`));
  }
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
  const columns = shape.at(-1);
  const rows = shape.at(-2) ?? 1;
  const size = rows * columns;
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
  const group = data.group.get(id);
  const box = data.box(id);
  return group && box.kind === "module" ? group.path || group.module : box.label;
}

/** Where the program made it: the line, between its neighbours if they are known. */
function lineView(node) {
  if (!node.line) return "";
  const [, place, code] = /^(.*?:\d+)(?:: (.*))?$/s.exec(node.line) ?? [null, node.line, ""];
  const [before, own, after] = node.around ?? ["", code, ""];
  return h(
    "div",
    { class: "line" },
    place,
    own
      ? h(
          "pre",
          { tabindex: 0 },
          before ? `${before}\n` : "",
          h("b", {}, own),
          after ? `\n${after}` : "",
        )
      : "",
  );
}
