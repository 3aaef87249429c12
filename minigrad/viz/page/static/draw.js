// The picture: what Python drew of each box and title (minigrad/viz/drawing/svg.py), where it lies.

const HEAD = 6;

const $ = (id) => document.getElementById(id);

/** A shape; of many samples, the axes that count them and the shape of one. */
function shapeText(shape, samples = 0) {
  const text = shape.slice(samples).join("×") || "scalar";
  return samples ? `${shape.slice(0, samples).join("×")} × (${text})` : text;
}

/**
 * All that can be drawn but the backward pass, layer by layer, in the order in which it is read:
 * { layer, area, draw }, of a box or a frame its id, of a line the edges that run together in it.
 */
function itemsOf({ frames, edges, ports, boxes, texts }) {
  const items = [];
  const level = new Map([[null, 0]]);
  for (const group of data.groups) {
    const { id, parent } = group;
    level.set(id, level.get(parent) + 1);
    const draw = () => drawFrame(group, level.get(id) % 2);
    if (id in frames) items.push({ layer: "frames", id, area: frames[id], draw });
  }
  const lines = new Map();
  for (const [index, points] of Object.entries(edges)) {
    const thick = data.residuals.has(+index);
    const d = path(points);
    if (!lines.has(d + thick)) {
      const draw = () => drawEdge(data.edges[index], points, d, thick);
      lines.set(d + thick, { layer: "edges", edges: [], points, area: around(points), draw });
    }
    lines.get(d + thick).edges.push(+index);
  }
  items.push(...lines.values());
  for (const [cx, cy] of ports) {
    const draw = () => svg.circle({ class: "port", cx, cy, r: 2.5 });
    items.push({ layer: "edges", area: [cx, cy, 0, 0], draw });
  }
  for (const [id, area] of Object.entries(boxes)) {
    items.push({ layer: "boxes", id, area, draw: () => drawBox(id) });
  }
  for (const [tensor, x, y] of texts) {
    const [text, width] = data.skeleton.texts[tensor];
    const draw = () => svg.text({ class: "small start", x, y: y + 9 }, text);
    items.push({ layer: "shapes", area: [x, y, width, 12], draw });
  }
  return items;
}

/** The smallest area with all of some points: left, top, width, height. */
function around(points) {
  const [across, down] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, top] = [min(...across), min(...down)];
  return [left, top, max(...across) - left, max(...down) - top];
}

/** Straight down where x stays, in a bow where it does not; it ends within the arrow's head. */
function path(points, head = HEAD) {
  let [x, y] = points[0];
  let d = `M${x} ${y}`;
  points.slice(1).forEach(([right, down], at) => {
    if (at === points.length - 2) down -= head;
    const middle = floor((y + down) / 2);
    d += right === x ? `V${down}` : `C${x} ${middle} ${right} ${middle} ${right} ${down}`;
    [x, y] = [right, down];
  });
  return d;
}

function drawEdge({ source, target, name, shape, samples, dtype }, points, d, thick) {
  const ends = `${data.node.get(source).label} → ${data.node.get(target).label}`;
  const [x, y] = points.at(-1);
  return svg.g(
    { class: thick ? "edge residual" : "edge" },
    svg.title(`${ends}${name ? ` as ${name}` : ""}: ${shapeText(shape, samples)} ${dtype}`),
    svg.path({ class: "line", d }),
    svg.path({ class: "head", d: `M${x} ${y}l-4 ${-HEAD - 1}h8z` }),
  );
}

/**
 * What opens and closes, and can be selected; `open` is null for what has no inside. It is called
 * its text aloud.
 */
function button(id, open, attributes, ...children) {
  const { kind, shape, samples } = data.box(id);
  const inside = svg.g(children);
  const texts = [...inside.querySelectorAll("text")];
  const words = texts.map((text) => text.textContent);
  for (const text of texts) text.before(" "); // so that they are words of their own
  const size = shapeText(shape, samples);
  if (!words.includes(size)) words.push(size);
  const label = `${kind} ${words.join(" ")}${open === null ? "" : open ? ", open" : ", closed"}`;
  const hint = open === null ? "" : `: double-click or Enter ${open ? "closes" : "opens"} it`;
  const about = { tabindex: 0, role: "button", "aria-label": label, "aria-expanded": open?.toString() };
  return svg.g({ ...attributes, ...about }, svg.title(label + hint), ...inside.childNodes);
}

function drawFrame({ id, heading }, odd) {
  const [x, y, width, height] = placement.frames[id];
  const [left, top] = placement.titles[id];
  const wide = data.skeleton.scopes[id].title[0] + 12;
  const grip = svg.rect({ class: "grip", x: left - 6, y: top - 4, width: wide, height: 26, rx: 5 });
  const words = filled(svg.g({ transform: `translate(${left} ${top})` }), heading);
  return svg.g(
    { class: `frame${odd ? " odd" : ""}`, "data-id": id },
    svg.rect({ x, y, width, height, rx: 8 }),
    button(id, true, { class: "handle" }, grip, words),
  );
}

function drawBox(id) {
  const [[x, y, width], node] = [placement.boxes[id], data.box(id)];
  const kinds = ["box", node.kind, !node.recorded && "unrecorded", node.error && "error"];
  const transform = `translate(${x} ${y})`;
  const attributes = { class: kinds.filter(Boolean).join(" "), "data-id": id, transform };
  const inside = filled(svg.g(), node.drawn).childNodes;
  const marks = data.born.filter((one) => shownAs(one.id) === id).map((one) => drawBorn(one, width));
  return button(id, data.group.has(id) ? false : null, attributes, ...inside, ...marks);
}
