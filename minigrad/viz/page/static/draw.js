// The picture: what Python drew of each box and title (minigrad/viz/drawing/svg.py), where it lies.

const HEAD = 6;

const $ = (id) => document.getElementById(id);

const shapeText = (shape) => shape.join("×") || "scalar";

/** What a box is called aloud. */
function boxLabel(id, open) {
  const [node, group] = [data.box(id), data.group.get(id)];
  const module = group && node.kind === "module";
  const name = module ? `${group.path || group.module} (${group.module})` : node.label;
  const state = open === null ? "" : open ? ", open" : ", closed";
  return `${node.kind} ${name}, ${shapeText(node.shape)}${state}`;
}

/** Draw everything but the backward pass: the layers of the picture, from the back to the front. */
function drawGraph() {
  const level = new Map([[null, 0]]);
  for (const { id, parent } of data.groups) level.set(id, level.get(parent) + 1);
  const frames = data.groups.filter(({ id }) => id in placement.frames);
  const lines = new Map();
  for (const [index, points] of Object.entries(placement.edges)) {
    const thick = data.residuals.has(+index);
    const key = path(points) + thick; // those that run together into a closed group are drawn once
    if (!lines.has(key)) lines.set(key, drawEdge(data.edges[index], points, thick));
  }
  const ports = placement.ports.map(([cx, cy]) => svg.circle({ class: "port", cx, cy, r: 2.5 }));
  const texts = placement.texts.map(([tensor, x, y]) =>
    svg.text({ class: "small start", x, y: y + 9 }, data.skeleton.texts[tensor][0]),
  );
  return [
    svg.g({ class: "frames" }, frames.map((group) => drawFrame(group, level.get(group.id) % 2))),
    svg.g({ class: "edges" }, ...lines.values(), ports),
    svg.g({ class: "gradients" }),
    svg.g({ class: "boxes" }, Object.keys(placement.boxes).map(drawBox)),
    svg.g({ class: "shapes" }, texts),
    svg.g({ class: "badges" }),
  ];
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

function drawEdge({ source, target, name, shape, dtype }, points, thick) {
  const ends = `${data.node.get(source).label} → ${data.node.get(target).label}`;
  const [[x, y], d] = [points.at(-1), path(points)];
  return svg.g(
    { class: thick ? "edge residual" : "edge", "data-line": d },
    svg.title(`${ends}${name ? ` as ${name}` : ""}: ${shapeText(shape)} ${dtype}`),
    svg.path({ class: "line", d }),
    svg.path({ class: "head", d: `M${x} ${y}l-4 ${-HEAD - 1}h8z` }),
  );
}

/** What opens and closes, and can be selected; `open` is null for what has no inside. */
function button(id, open, attributes, ...children) {
  const [label, verb] = [boxLabel(id, open), open ? "closes" : "opens"];
  const hint = open === null ? "" : `: double-click or Enter ${verb} it`;
  const about = { tabindex: 0, role: "button", "aria-label": label, "aria-expanded": open?.toString() };
  return svg.g({ ...attributes, ...about }, svg.title(label + hint), ...children);
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
  const [[x, y], node] = [placement.boxes[id], data.box(id)];
  const kinds = ["box", node.kind, !node.recorded && "unrecorded", node.error && "error"];
  const transform = `translate(${x} ${y})`;
  const attributes = { class: kinds.filter(Boolean).join(" "), "data-id": id, transform };
  const inside = filled(svg.g(), node.drawn).childNodes;
  return button(id, data.group.has(id) ? false : null, attributes, ...inside);
}
