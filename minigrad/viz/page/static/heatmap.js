// Who attends to whom: a grid for each head, a query a row, a key a column.

const NUMBERED = 12; // up to so many, the numbers stand in the cells
const SIDE = 192; // of a larger grid
const BROKEN = 255; // the byte of what is not finite

/** The heatmaps of a box: the weights, and the gradient of the loss by them. */
function heatmapView(id) {
  const map = data.heatmaps.find(({ node, group }) => node === id || group === id);
  if (!map) return "";
  const { weights, gradients, mask } = map;
  const far = gradients && max(-gradients.low, gradients.high);
  const masked = mask ? "; × is masked" : "";
  const grids = (values, scale, least, most) =>
    gridsView(map, cellsOf(map, values, scale, least, most));
  return e.section(
    e.h3("Who attends to whom"),
    grids(weights, "sequential", weights.low, weights.high),
    e.p({ class: "quiet" }, `Rows are queries, columns are keys${masked}. The first of the batch.`),
    gradients
      ? e.details(
          e.summary("The gradient of the loss by the weights"),
          grids(gradients, "diverging", -far, far),
        )
      : "",
  );
}

/** What is known of each cell, by its number: heads, then queries, then keys. */
function cellsOf({ mask }, { low, high, data: text }, scale, least, most) {
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const levels = bytesOf(text);
  const bits = bytesOf(mask);
  const colours = data.scales[scale];
  const value = (at) => low + (levels[at] * (high - low)) / (BROKEN - 1);
  const share = (at) => (value(at) - least) / (most - least || 1);
  return {
    colours,
    least,
    most,
    masked: (at) => bits[at >> 3] & (128 >> (at % 8)),
    words: (at) =>
      levels[at] === BROKEN
        ? "NaN"
        : value(at)
            .toFixed(2)
            .replace(/^(-?)0/, "$1"),
    colour: (at) =>
      levels[at] === BROKEN ? "#c2185b" : colours[floor(share(at) * (colours.length - 1) + 0.5)],
    dark: (at) => (scale === "sequential" ? share(at) : abs(share(at) - 0.5) * 2) > 0.55,
  };
}

/** All heads side by side, and the scale. */
function gridsView({ shape: [heads, queries, keys] }, cells) {
  const draw = max(queries, keys) <= NUMBERED ? numbered : painted;
  const figures = [...Array(heads).keys()].map((head) =>
    e.figure(e.figcaption(`head ${head}`), draw(cells, head, queries, keys)),
  );
  const scale = e.span({ style: `background:linear-gradient(90deg,${cells.colours.join()})` });
  return [
    e.div({ class: "matrices grids", tabindex: 0 }, figures),
    e.p({ class: "scale" }, number(cells.least), scale, number(cells.most)),
  ];
}

function numbered({ masked, words, colour, dark }, head, queries, keys) {
  const cell = (query, key) => {
    const at = (head * queries + query) * keys + key;
    const style = `background:${colour(at)};color:${dark(at) ? "#fff" : "#111"}`;
    const title = `query ${query}, key ${key}`;
    return e.td({ style, title }, masked(at) ? "×" : words(at));
  };
  const row = (_, query) => e.tr(Array.from({ length: keys }, (_, key) => cell(query, key)));
  return e.table({ class: "heat" }, e.tbody(Array.from({ length: queries }, row)));
}

function painted({ masked, colour }, head, queries, keys) {
  const side = max(1, floor(SIDE / max(queries, keys)));
  const [width, height, label] = [keys * side, queries * side, `head ${head}`];
  const sheet = e.canvas({ width, height, role: "img", "aria-label": label });
  const pen = sheet.getContext("2d");
  for (let place = 0; place < queries * keys; place++) {
    const [x, y] = [(place % keys) * side, floor(place / keys) * side];
    const at = head * queries * keys + place;
    pen.fillStyle = colour(at);
    pen.fillRect(x, y, side, side);
    if (!masked(at)) continue;
    pen.moveTo(x, y + side); // hatched
    pen.lineTo(x + side, y);
  }
  pen.strokeStyle = "#7a818b";
  pen.stroke();
  return sheet;
}
