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
  const told = `Rows are queries, columns are keys${mask ? "; × is masked" : ""}. The first of the batch.`;
  return h(
    "section",
    {},
    h("h3", {}, "Who attends to whom"),
    gridsView(map, cellsOf(map, weights, "sequential", weights.low, weights.high)),
    h("p", { class: "quiet" }, told),
    gradients
      ? h(
          "details",
          {},
          h("summary", {}, "The gradient of the loss by the weights"),
          gridsView(map, cellsOf(map, gradients, "diverging", -far, far)),
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
    h("figure", {}, h("figcaption", {}, `head ${head}`), draw(cells, head, queries, keys)),
  );
  const scale = h("span", { style: `background:linear-gradient(90deg,${cells.colours.join()})` });
  return [
    h("div", { class: "matrices grids", tabindex: 0 }, figures),
    h("p", { class: "scale" }, number(cells.least), scale, number(cells.most)),
  ];
}

function numbered({ masked, words, colour, dark }, head, queries, keys) {
  const cell = (at, query, key) =>
    h(
      "td",
      {
        style: `background:${colour(at)};color:${dark(at) ? "#fff" : "#111"}`,
        title: `query ${query}, key ${key}`,
      },
      masked(at) ? "×" : words(at),
    );
  const rows = [...Array(queries).keys()].map((query) =>
    h(
      "tr",
      {},
      [...Array(keys).keys()].map((key) => cell((head * queries + query) * keys + key, query, key)),
    ),
  );
  return h("table", { class: "heat" }, h("tbody", {}, rows));
}

function painted({ masked, colour }, head, queries, keys) {
  const side = max(1, floor(SIDE / max(queries, keys)));
  const sheet = h("canvas", {
    width: keys * side,
    height: queries * side,
    role: "img",
    "aria-label": `head ${head}`,
  });
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
