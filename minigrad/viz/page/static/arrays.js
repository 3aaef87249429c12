// Arrays in the panel: what is known of one, in numbers and as a heatmap.

const SMALL = 64; // elements: an array of no more is a table of tinted numbers
const WIDE = 150; // of a matrix as a picture, and the most that it is high
const CELL = 14; // the most that one of its cells is wide
const MATRICES = 12; // of a larger array, so many are drawn

/** The elements of an array that the page knows, in order. */
const entriesOf = ({ values }) => data.arrays[values].map(Number);

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

const isNumber = (summary) => !summary.shape.length && entriesOf(summary).length === 1;

const isWhole = (summary) => entriesOf(summary).length === sizeOf(summary.shape);

/** An array in facts: its shape and norm, its range. */
function factsView(summary) {
  const { shape, cancelled } = summary;
  const { kind, sign, words } = health(summary);
  const size = isNumber(summary) ? words : `norm ${number(summary.norm)}`;
  const facts = [shapeView(shape), e.span({ class: kind }, size)];
  const rounded = "zero up to rounding: what is added up cancels, and rounding leaves this";
  if (kind === "bad") facts.push(e.strong({ class: kind }, `${sign} ${words}`));
  else if (kind === "zero")
    facts.push(e.strong({ class: kind }, `${sign} ${cancelled ? rounded : "zero everywhere"}`));
  else if (sizeOf(shape) > 1)
    facts.push(rangeText(summary));
  return e.p({ class: "facts" }, listed(facts, " · "));
}

const rangeText = ({ low, high, mean, deviation }) =>
  `${number(low)} … ${number(high)}, mean ${number(mean)}, deviation ${number(deviation)}`;

/** An array that belongs to a box: facts and all elements; `picks` says what a click on one does. */
const summaryView = (summary, id, picks) =>
  e.div({ class: "numbers" }, factsView(summary), arrayView(summary, id, picks));

/** All elements of an array, or how to see them. */
function arrayView(summary, id, picks) {
  const { shape } = summary;
  if (!isWhole(summary)) return restView(summary, id);
  if (!shape.length || !sizeOf(shape)) return "";
  if (sizeOf(shape) <= SMALL) return tablesView(summary, picks);
  const open = ({ target }) => {
    if (target.children.length < 2) target.append(tablesView(summary, picks));
  };
  return [mapsView(summary), e.details({ ontoggle: open }, e.summary("all numbers"))];
}

/** Of an array that is not known as a whole: a histogram, the first elements, how to see the rest. */
function restView(summary, id) {
  const path = data.group.get(data.parent(id))?.path;
  const name = data.box(id).kind === "parameter" || !path ? nameOf(id) : path;
  const begins = `It begins with ${entriesOf(summary).map((one) => number(one)).join(", ")}, … All of it: `;
  const more = [begins, e.code(`viz.explore(…, values=["${name}"])`)];
  return [
    summary.histogram.length ? histogramView(summary) : "",
    e.p({ class: "quiet" }, more),
  ];
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
function tablesView(summary, picks) {
  const { shape } = summary;
  const [columns, rows] = [shape.at(-1), shape.at(-2) ?? 1];
  const shown = (value, at) =>
    picks?.has(at) ? leading(picks.get(at), number(value)) : number(value);
  const cell = (value, at) => {
    const { background, dark } = colourOf(value, summary);
    const style = `background:${background};color:${dark ? "#fff" : "#000"}`;
    return e.td({ style }, shown(value, at));
  };
  const cells = slices(entriesOf(summary).map(cell), columns);
  const tables = slices(cells.map((row) => e.tr(row)), rows);
  return e.div(
    { class: "matrices", tabindex: 0, "aria-label": "values" },
    tables.map((body, at) => e.table({ class: "values" }, captionOf(shape, at), e.tbody(body))),
  );
}

/** Which matrix of a larger array this is. */
function placeOf(shape, at) {
  const outer = shape.slice(0, -2);
  return outer.map((size, axis) => floor(at / sizeOf(outer.slice(axis + 1))) % size);
}
const captionOf = (shape, at) =>
  shape.length > 2 ? e.caption(`[${placeOf(shape, at).join(", ")}]`) : "";

/** The first matrices of an array as pictures, its scale, and the element under the mouse. */
function mapsView(summary) {
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
    e.div({ class: "maps" }, shown.map((values, at) => mapView(summary, values, at, said))),
    rest > 0 ? e.p({ class: "quiet" }, `The first ${MATRICES} of ${matrices.length} matrices.`) : "",
  ];
}

/** A matrix as a picture with a pixel for each cell, and indices beside it. */
function mapView(summary, values, at, said) {
  const { shape } = summary;
  const [columns, rows] = [shape.at(-1), shape.at(-2) ?? 1];
  const side = min(CELL, WIDE / columns, WIDE / rows);
  const [width, height] = [max(columns * side, 1), max(rows * side, 3)];
  const [left, above] = [22, shape.length > 2 ? 26 : 14];
  const place = placeOf(shape, at);
  const told = ({ offsetX, offsetY }) => {
    const [x, y] = [floor((offsetX - left) / side), floor(((offsetY - above) * rows) / height)];
    const [column, row] = [max(0, min(x, columns - 1)), max(0, min(y, rows - 1))];
    const index = [...place, ...(shape.length > 1 ? [row] : []), column];
    said.textContent = `[${index.join(", ")}] = ${number(values[row * columns + column])}`;
  };
  const label = `heatmap of ${[...place.map(String), `${rows} by ${columns}`].join(", ")}`;
  const size = { width: left + width + 10, height: above + height + 2 };
  return svg.svg(
    { class: "map", role: "img", "aria-label": label, ...size, onpointermove: told },
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

function histogramView({ histogram, low, high }) {
  const most = max(...histogram);
  const bars = histogram.map((n, at) =>
    svg.rect({ x: at * 10, y: 60 * (1 - n / most), width: 9, height: (60 * n) / most }),
  );
  const label = `histogram: ${histogram.join(", ")}`;
  return e.figure(
    { class: "histogram" },
    svg.svg({ viewBox: "0 0 240 60", role: "img", "aria-label": label }, bars),
    e.figcaption(e.span(number(low)), e.span(number(high))),
  );
}
