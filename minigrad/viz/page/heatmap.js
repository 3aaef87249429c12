// Who attends to whom: a grid for each head, a query a row, a key a column.

const NUMBERED = 12,
  SIDE = 192,
  BROKEN = 255;

/** The heatmaps of a box: the weights, and the gradient of the loss by them. */
function heatmapView(id) {
  const map = data.heatmaps.find(({ node, group }) => node === id || group === id);
  if (!map) return "";
  const { weights, gradients } = map,
    far = gradients && max(-gradients.low, gradients.high);
  return h(
    "section",
    {},
    h("h3", {}, "Who attends to whom"),
    gridsOf(map, weights, "sequential", weights.low, weights.high),
    h(
      "p",
      { class: "quiet" },
      `Rows are queries, columns are keys${map.mask ? "; × is masked" : ""}. The first of the batch.`,
    ),
    gradients
      ? h(
          "details",
          {},
          h("summary", {}, "The gradient of the loss by the weights"),
          gridsOf(map, gradients, "diverging", -far, far),
        )
      : "",
  );
}

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function gridsOf(
  { shape: [heads, queries, keys], mask },
  { low, high, data: text },
  scale,
  least,
  most,
) {
  const levels = bytesOf(text),
    bits = bytesOf(mask),
    colours = data.scales[scale];
  const value = (at) => low + (levels[at] * (high - low)) / (BROKEN - 1);
  const masked = (at) => bits[at >> 3] & (128 >> (at % 8));
  const share = (at) => (value(at) - least) / (most - least || 1);
  const colour = (at) =>
    levels[at] === BROKEN ? "#c2185b" : colours[floor(share(at) * (colours.length - 1) + 0.5)];
  const dark = (at) => (scale === "sequential" ? share(at) : abs(share(at) - 0.5) * 2) > 0.55;
  const grid = (head) => {
    const at = (query, key) => (head * queries + query) * keys + key;
    const rows = [...Array(queries).keys()],
      columns = [...Array(keys).keys()];
    if (max(queries, keys) <= NUMBERED) {
      return h(
        "table",
        { class: "heat" },
        h(
          "tbody",
          {},
          rows.map((query) =>
            h(
              "tr",
              {},
              columns.map((key) => {
                const cell = at(query, key);
                return h(
                  "td",
                  {
                    style: `background:${colour(cell)};color:${dark(cell) ? "#fff" : "#111"}`,
                    title: `query ${query}, key ${key}`,
                  },
                  masked(cell)
                    ? "×"
                    : levels[cell] === BROKEN
                      ? "NaN"
                      : value(cell)
                          .toFixed(2)
                          .replace(/^(-?)0/, "$1"),
                );
              }),
            ),
          ),
        ),
      );
    }
    const side = max(1, floor(SIDE / max(queries, keys)));
    const canvas = h("canvas", {
      width: keys * side,
      height: queries * side,
      role: "img",
      "aria-label": `head ${head}`,
    });
    const pen = canvas.getContext("2d");
    for (const query of rows) {
      for (const key of columns) {
        const [x, y] = [key * side, query * side];
        pen.fillStyle = colour(at(query, key));
        pen.fillRect(x, y, side, side);
        if (!masked(at(query, key))) continue;
        pen.moveTo(x, y + side);
        pen.lineTo(x + side, y);
      }
    }
    pen.strokeStyle = "#7a818b";
    pen.stroke();
    return canvas;
  };
  return [
    h(
      "div",
      { class: "matrices grids", tabindex: 0 },
      [...Array(heads).keys()].map((head) =>
        h("figure", {}, h("figcaption", {}, `head ${head}`), grid(head)),
      ),
    ),
    h(
      "p",
      { class: "scale" },
      number(least),
      h("span", { style: `background:linear-gradient(90deg,${colours.join()})` }),
      number(most),
    ),
  ];
}
