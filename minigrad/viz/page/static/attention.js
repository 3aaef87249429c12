// Says which weight is under the pointer. With the arrow keys one goes from cell to cell.
const layers = JSON.parse(document.getElementById("weights").textContent);
const said = document.getElementById("said");
const mark = document.createElementNS("http://www.w3.org/2000/svg", "rect");
mark.setAttribute("class", "mark");

/** Say and mark a cell. */
function show(grid, { path, queries, keys, heads }, row, column) {
  const weight = heads[grid.dataset.head][row * keys.length + column];
  said.textContent =
    `${path} · head ${grid.dataset.head}: query “${queries[row]}” → key “${keys[column]}”: ${weight ?? "masked"}`;
  const { width, height } = grid.querySelector(".grid").getBBox();
  const [w, h] = [width / keys.length, height / queries.length];
  for (const [name, value] of Object.entries({ x: column * w, y: row * h, width: w, height: h }))
    mark.setAttribute(name, value);
  grid.append(mark);
  grid.place = [row, column];
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

for (const [number, section] of document.querySelectorAll("section").entries()) {
  section.querySelector("svg").setAttribute("role", "group");
  for (const grid of section.querySelectorAll(".cells")) {
    const layer = layers[number];
    const within = (at, tokens) => Math.min(Math.max(Math.floor(at), 0), tokens.length - 1);
    const pointed = ({ clientX, clientY }) => {
      const { left, top, width, height } = grid.querySelector(".grid").getBoundingClientRect();
      const [x, y] = [(clientX - left) / width, (clientY - top) / height];
      if (x < 0 || y < 0 || x > 1 || y > 1) return;
      const { queries, keys } = layer;
      show(grid, layer, within(y * queries.length, queries), within(x * keys.length, keys));
    };
    grid.setAttribute("tabindex", "0");
    grid.addEventListener("pointermove", pointed);
    grid.addEventListener("pointerdown", pointed);
    grid.addEventListener("focus", () => grid.place || show(grid, layer, 0, 0));
    grid.addEventListener("keydown", (event) => {
      const step = STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const [row, column] = grid.place;
      show(grid, layer, within(row + step[0], layer.queries), within(column + step[1], layer.keys));
    });
  }
}
