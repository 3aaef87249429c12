// Arrays in the panel, in numbers and as a heatmap.

const SMALL = 64; // elements: an array of no more is a table of tinted numbers
const WIDE = 150; // of a matrix as a picture, and the most that it is high
const CELL = 14; // the most that one of its cells is wide
const MATRICES = 12; // of a larger array, so many are drawn

/** The elements of an array that the page knows, in order. */
const entriesOf = ({ values }) => data.arrays[values].map(Number);

const precise = new WeakMap(); // of arrays that the page computed from the leaves: all digits

/** The elements of an array, with all digits if they are known. */
const preciseOf = (summary) => precise.get(summary) ?? entriesOf(summary);

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

const isNumber = (summary) => !summary.shape.length && entriesOf(summary).length === 1;

const isWhole = (summary) => entriesOf(summary).length === sizeOf(summary.shape);

/** An array in facts: its shape and norm, its range. */
function factsView(summary) {
  const { shape, cancelled } = summary;
  const { kind, sign, words } = health(summary);
  const size = isNumber(summary) ? words : `norm ${number(summary.norm)}`;
  const facts = [shapeView(shape), e.span({ class: kind }, size)];
  const rounded = "zero up to rounding: the terms of the sum cancel, and rounding leaves this";
  if (kind === "bad") facts.push(e.strong({ class: kind }, `${sign} ${words}`));
  else if (kind === "zero")
    facts.push(e.strong({ class: kind }, `${sign} ${cancelled ? rounded : "zero everywhere"}`));
  else if (sizeOf(shape) > 1)
    facts.push(rangeText(summary));
  return e.p({ class: "facts" }, listed(facts, " · "));
}

const rangeText = ({ low, high, mean, deviation }) =>
  `${number(low)} … ${number(high)}, mean ${number(mean)}, deviation ${number(deviation)}`;

/** An array that belongs to a box: facts and all elements; for the rest see `arrayView`. */
const summaryView = (summary, id, work, begin) =>
  e.div({ class: "numbers" }, factsView(summary), arrayView(summary, id, work, begin));

/**
 * All elements of an array, or how to see them. If `work` works out an entry, a click on one or the
 * arrow keys choose it; the one at `begin` is chosen at first.
 */
function arrayView(summary, id, work, begin) {
  const { shape } = summary;
  if (!isWhole(summary)) return restView(summary, id);
  if (!sizeOf(shape)) return "";
  const said = e.div({ class: "worked", role: "status" });
  const marks = [];
  const choose = (place) => {
    for (const mark of marks) mark(place);
    said.replaceChildren(...workedView(summary, place, work));
  };
  const chooser = work && chooserOf(shape, choose);
  const open = ({ target }) => {
    if (target.children.length < 2) target.append(tablesView(summary, chooser, marks));
  };
  const numbers = () => tablesView(summary, chooser, marks);
  const small = shape.length ? numbers : () => "";
  const large = () => [
    mapsView(summary, chooser, marks),
    e.details({ ontoggle: open }, e.summary("all numbers")),
  ];
  const view = sizeOf(shape) <= SMALL ? small() : large();
  if (!work) return view;
  if (!shape.length) choose(0);
  else if (begin !== undefined) choose(begin);
  else said.append(e.p({ class: "quiet" }, "Select a number: it is worked out here."));
  return [view, said];
}

/** What chooses an entry: clicks call it with its place, and keys move from the last one. */
function chooserOf(shape, choose) {
  const [columns, size] = [shape.at(-1), sizeOf(shape)];
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  let last = null;
  const chosen = (place) => choose((last = place));
  const onkeydown = (event) => {
    if (!by[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    chosen(last === null ? 0 : max(0, min(last + by[event.key], size - 1)));
  };
  return { chosen, onkeydown };
}

/** Of an array that is not known as a whole: the first elements, how to see the rest. */
function restView(summary, id) {
  const path = data.group.get(data.parent(id))?.path;
  const name = data.box(id).kind === "parameter" || !path ? nameOf(id) : path;
  const begins = `It begins with ${entriesOf(summary).map((one) => number(one)).join(", ")}, … All of it: `;
  return e.p({ class: "quiet" }, begins, e.code(`viz.explore(…, values=["${name}"])`));
}

/** A list in parts of one size. */
const slices = (list, size) =>
  Array.from({ length: list.length / size }, (_, at) => list.slice(at * size, (at + 1) * size));

/** A colour on the scale of an array: zero is in the middle, and the largest size at an end. */
function colourOf(value, { low, high }) {
  if (!Number.isFinite(value)) return { background: data.broken, dark: true };
  const place = value / (max(abs(low), abs(high)) || 1);
  const middle = (data.scale.length - 1) / 2;
  const at = Math.round(middle * (1 + place));
  return { background: data.scale[at], dark: data.dark[at] };
}

/** All numbers, as matrices side by side. */
function tablesView(summary, chooser, marks) {
  const { shape } = summary;
  const [columns, rows] = [shape.at(-1), shape.at(-2) ?? 1];
  const cells = entriesOf(summary).map((value, place) => {
    const { background, dark } = colourOf(value, summary);
    const style = `background:${background};color:${dark ? "#fff" : "#000"}`;
    return e.td({ style, onclick: chooser && (() => chooser.chosen(place)) }, number(value));
  });
  marks.push((place) => cells.forEach((cell, at) => cell.classList.toggle("chosen", at === place)));
  const body = slices(cells, columns).map((row) => e.tr(row));
  const tables = slices(body, rows).map((part, at) =>
    e.table({ class: "values" }, captionOf(shape, at), e.tbody(part)),
  );
  const label = chooser ? "values; the arrow keys choose one" : "values";
  const about = { class: chooser ? "matrices touch" : "matrices", tabindex: 0, role: "group", "aria-label": label };
  return e.div({ ...about, onkeydown: chooser?.onkeydown }, tables);
}

/** Which matrix of a larger array this is. */
function placeOf(shape, at) {
  const outer = shape.slice(0, -2);
  return outer.map((size, axis) => floor(at / sizeOf(outer.slice(axis + 1))) % size);
}
const captionOf = (shape, at) =>
  shape.length > 2 ? e.caption(`[${placeOf(shape, at).join(", ")}]`) : "";

/** The first matrices of an array as pictures, its scale, and the element under the mouse. */
function mapsView(summary, chooser, marks) {
  const { shape } = summary;
  const [columns, rows] = [shape.at(-1), shape.at(-2) ?? 1];
  const matrices = slices(entriesOf(summary), columns * rows);
  const said = e.output({ class: "quiet" });
  const far = max(abs(summary.low), abs(summary.high));
  const bar = e.i({ style: `background:linear-gradient(90deg,${data.scale.join(",")})` });
  const rest = matrices.length - MATRICES;
  const shown = matrices.slice(0, MATRICES);
  return [
    e.p({ class: "scale" }, `${number(-far)} `, bar, ` ${number(far)} `, said),
    e.div(
      { class: "maps", onkeydown: chooser?.onkeydown },
      shown.map((values, at) => mapView(summary, values, at, said, chooser, marks)),
    ),
    rest > 0 ? e.p({ class: "quiet" }, `The first ${MATRICES} of ${matrices.length} matrices.`) : "",
  ];
}

/** A matrix as a picture with a pixel for each cell, and indices beside it. */
function mapView(summary, values, at, said, chooser, marks) {
  const { shape } = summary;
  const [columns, rows] = [shape.at(-1), shape.at(-2) ?? 1];
  const side = min(CELL, WIDE / columns, WIDE / rows);
  const [width, height] = [max(columns * side, 1), max(rows * side, 3)];
  const [left, above] = [22, shape.length > 2 ? 26 : 14];
  const place = placeOf(shape, at);
  const cellAt = ({ offsetX, offsetY }) => {
    const [x, y] = [floor((offsetX - left) / side), floor(((offsetY - above) * rows) / height)];
    return [max(0, min(x, columns - 1)), max(0, min(y, rows - 1))];
  };
  const told = (event) => {
    const [column, row] = cellAt(event);
    const index = [...place, ...(shape.length > 1 ? [row] : []), column];
    said.textContent = `[${index.join(", ")}] = ${number(values[row * columns + column])}`;
  };
  const onclick = (event) => {
    const [column, row] = cellAt(event);
    chooser.chosen(at * values.length + row * columns + column);
  };
  const cell = svg.rect({ class: "chosen", width: side, height: height / rows, visibility: "hidden" });
  marks.push((chosen) => {
    const inside = chosen - at * values.length;
    const here = inside >= 0 && inside < values.length;
    cell.setAttribute("visibility", here ? "visible" : "hidden");
    cell.setAttribute("x", left + (inside % columns) * side);
    cell.setAttribute("y", above + floor(inside / columns) * (height / rows));
  });
  const label = `heatmap of ${[...place.map(String), `${rows} by ${columns}`].join(", ")}`;
  const size = { width: left + width + 10, height: above + height + 2 };
  const events = { onpointermove: told, onclick: chooser && onclick, tabindex: chooser ? 0 : null };
  return svg.svg(
    { class: "map", role: "img", "aria-label": label, ...size, ...events },
    place.length ? svg.text({ x: left, y: 10, class: "head" }, `[${place.join(", ")}]`) : "",
    ticks(columns, side, 22).map((i) => svg.text({ x: left + (i + 0.5) * side, y: above - 3 }, i)),
    shape.length > 1
      ? ticks(rows, side, 11).map((i) =>
          svg.text({ x: left - 3, y: above + (i + 0.5) * side + 3, class: "end" }, i))
      : "",
    svg.image({
      x: left, y: above, width, height, preserveAspectRatio: "none",
      href: pixels(values.map((value) => colourOf(value, summary).background), columns),
    }),
    svg.rect({ x: left, y: above, width, height }),
    cell,
  );
}

/** The indices that are written along an axis: so far apart that they can be read. */
function ticks(count, side, apart) {
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((n) => n * side >= apart) ?? count;
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}

/** The address of a picture with these colours, row by row. */
function pixels(colours, columns) {
  const sheet = e.canvas({ width: columns, height: colours.length / columns });
  const brush = sheet.getContext("2d");
  colours.forEach((colour, at) => {
    brush.fillStyle = colour;
    brush.fillRect(at % columns, floor(at / columns), 1, 1);
  });
  return sheet.toDataURL();
}
