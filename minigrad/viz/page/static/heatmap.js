// Who attends to whom: a grid for each head, a query a row, a key a column.

const NUMBERED = 12; // up to so many, the numbers stand in the cells
const SIDE = 192; // of a larger grid
const BROKEN = 255; // the byte of what is not finite

/** The heatmaps of a box: the weights, and the gradient of the loss with respect to them. */
function heatmapView(id) {
  const map = data.heatmaps.find(({ node, group }) => node === id || group === id);
  if (!map) return "";
  const { shape, weights, gradients, mask } = map;
  const far = gradients && max(-gradients.low, gradients.high);
  const masked = mask ? "; × is masked" : "";
  /** All heads side by side, and the scale. */
  const grids = (values, scale, least, most) => {
    const [, queries, keys] = shape;
    const draw = max(queries, keys) <= NUMBERED ? numbered : painted;
    const heads = slices(cellsOf(map, values, scale, least, most), queries * keys);
    const figures = heads.map((cells, head) =>
      e.figure(e.figcaption(`head ${head}`), draw(cells, keys, `head ${head}`)),
    );
    const steps = `background:linear-gradient(90deg,${data.scales[scale].join()})`;
    return [
      e.div({ class: "matrices grids", tabindex: 0 }, figures),
      e.p({ class: "scale" }, number(least), e.span({ style: steps }), number(most)),
    ];
  };
  return e.section(
    e.h3("Who attends to whom"),
    grids(weights, "sequential", weights.low, weights.high),
    e.p({ class: "quiet" }, `Rows are queries, columns are keys${masked}. The first of the batch.`),
    gradients
      ? e.details(
          e.summary("The gradient of the loss with respect to the weights"),
          grids(gradients, "diverging", -far, far),
        )
      : "",
  );
}

/** What is known of each cell, by its number: heads, then queries, then keys. */
function cellsOf({ mask }, { low, high, data: text }, scale, least, most) {
  const [bits, colours] = [bytesOf(mask), data.scales[scale]];
  return [...bytesOf(text)].map((level, at) => {
    const masked = bits[at >> 3] & (128 >> (at % 8));
    if (level === BROKEN) return { masked, words: "NaN", colour: "#C2185B" };
    const value = low + (level * (high - low)) / (BROKEN - 1);
    const share = (value - least) / (most - least || 1);
    return {
      masked,
      words: value.toFixed(2).replace(/^(-?)0/, "$1"),
      colour: colours[floor(share * (colours.length - 1) + 0.5)],
    };
  });
}

/** How light a colour is, from 0 to 1, as WCAG reckons it: from 0.179 on, black is read best. */
function luminance(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red, green, blue] = parts.map((part) => ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function numbered(cells, keys) {
  const view = ({ masked, words, colour }, at) => {
    const style = `background:${colour};color:${luminance(colour) < 0.179 ? "#fff" : "#000"}`;
    const title = `query ${floor(at / keys)}, key ${at % keys}`;
    return e.td({ style, title }, masked ? "×" : words);
  };
  const rows = slices(cells.map(view), keys).map((row) => e.tr(row));
  return e.table({ class: "heat" }, e.tbody(rows));
}

function painted(cells, keys, label) {
  const queries = cells.length / keys;
  const side = max(1, floor(SIDE / max(queries, keys)));
  const [width, height] = [keys * side, queries * side];
  const sheet = e.canvas({ width, height, role: "img", "aria-label": label });
  const pen = sheet.getContext("2d");
  cells.forEach(({ masked, colour }, at) => {
    const [x, y] = [(at % keys) * side, floor(at / keys) * side];
    pen.fillStyle = colour;
    pen.fillRect(x, y, side, side);
    if (!masked) return;
    pen.moveTo(x, y + side); // hatched
    pen.lineTo(x + side, y);
  });
  pen.strokeStyle = "#7a818b";
  pen.stroke();
  return sheet;
}
