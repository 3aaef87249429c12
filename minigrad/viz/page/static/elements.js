// What the panel is made of: elements, formulas, numbers, links, names.

const isPlain = (value) => !!value && Object.getPrototypeOf(value) === Object.prototype;

/**
 * Makes elements: `e.p({ class: "quiet" }, "text", child)`. Attributes may be left out; children are
 * text, elements, or lists of them, and text is only ever text.
 */
const builder = (namespace) =>
  new Proxy({}, {
    get: (_, name) => (...given) => {
      const element = document.createElementNS(namespace, name);
      for (const [key, value] of Object.entries(isPlain(given[0]) ? given.shift() : {})) {
        if (value === undefined || value === null || value === false) continue;
        if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
        else element.setAttribute(key, value);
      }
      element.append(...given.flat(Infinity).filter((child) => child !== "" && child != null));
      return element;
    },
  });
const e = builder("http://www.w3.org/1999/xhtml");
const svg = builder("http://www.w3.org/2000/svg");

/** An element with what Python wrote in it, where every name was escaped. */
function filled(element, markup) {
  element.innerHTML = markup;
  return element;
}

/** A list with a sign between each two; before the last one perhaps another sign. */
const listed = (parts, sign = ", ", end = sign) =>
  parts.map((one, at) => [at ? (at === parts.length - 1 ? end : sign) : "", one]);

/**
 * MathML from text. A term below a sum runs into it without a mathematical font, and a bar
 * through its letter: scripts are set beside their base, and bars are drawn.
 */
function mathml(text) {
  const barred = /<mover[^>]*>(<mi[^>]*>[^<]*<\/mi>)<mo[^>]*>[‾¯]<\/mo><\/mover>/g;
  const plain = text
    .replaceAll(barred, '<mrow class="bar">$1</mrow>')
    .replaceAll(/(<\/?m)(underover|under|over)\b/g, (_, start, kind) =>
      start + { under: "sub", over: "sup", underover: "subsup" }[kind],
    );
  return filled(e.div(), plain).firstChild;
}

/** A letter with a bar: the gradient with respect to it. */
function bar(name) {
  const letter = `<mi>${name.replace(/[^\w.]/g, "")}</mi><mo stretchy="false">‾</mo>`;
  return mathml(`<math><mover accent="true">${letter}</mover></math>`);
}

const count = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
function bytes(n) {
  if (n < 1024) return `${n} B`;
  return n < 1048576 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`;
}
const shapeView = (shape, samples) => e.span({ class: "shape" }, shapeText(shape, samples));

/** Buttons that lead to a step or to a box. */
const leading = (onclick, words) => e.button({ class: "link", onclick }, words);
const link = {
  step: (at, words = `step ${at}`) => leading(() => go.step(at), words),
  box: (id, words = fullName(id)) => leading(() => go.box(id), words),
};

/** Where a box is: the modules and functions around it, from the outermost. */
const pathOf = (id) => groupsAround(id).map(({ name, module }) => name || module).reverse();

/** The groups around a box, the innermost first. */
const groupsAround = (id) => data.around(id).slice(1).map((group) => data.group.get(group));

function nameOf(id) {
  const [group, box] = [data.group.get(id), data.box(id)];
  return group?.module && box.kind === "module" ? group.path || group.module : box.label;
}

/** A name that tells an op from its like: with its module, and its number among them. */
function fullName(id) {
  const own = nameOf(id);
  if (data.box(id).kind !== "op") return own;
  const alike = data.nodes.filter((one) => one.label === own && data.parent(one.id) === data.parent(id));
  const at = alike.findIndex((one) => one.id === id) + 1;
  const name = [...pathOf(id).slice(1), own].join(".");
  return alike.length < 2 ? name : `${name} (${at} of ${alike.length})`;
}

/** Where the program made it: the line, between its neighbours if they are known. */
function lineView(node) {
  if (!node.line) return "";
  const [, place, code] = /^(.*?:\d+)(?:: (.*))?$/s.exec(node.line) ?? [null, node.line, ""];
  const [before, own, after] = node.around ?? ["", code, ""];
  const quoted = [before && `${before}\n`, e.b(own), after && `\n${after}`];
  return e.div({ class: "line" }, place, own ? e.pre({ tabindex: 0 }, quoted) : "");
}
