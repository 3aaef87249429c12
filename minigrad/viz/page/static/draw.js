// The picture: what Python drew of each box and title (minigrad/viz/drawing/svg.py), where it lies.

const HEAD = 6;

const $ = (id) => document.getElementById(id);

/** An SVG element; attributes that are undefined or null are left out. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== ""));
  return element;
}

const shapeText = (shape) => shape.join("×") || "scalar";

/** What a box is called aloud. */
function boxLabel(id, open) {
  const [node, group] = [data.box(id), data.group.get(id)];
  const module = group && node.kind === "module";
  const name = module ? `${group.path || group.module} (${group.module})` : node.label;
  const state = group ? (open ? ", open" : ", closed") : "";
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
  const layer = (name, children = []) => svg("g", { class: name }, ...children);
  return [
    layer("frames", frames.map((group) => drawFrame(group, level.get(group.id) % 2))),
    layer("edges", [
      ...lines.values(),
      ...placement.ports.map(([cx, cy]) => svg("circle", { class: "port", cx, cy, r: 2.5 })),
    ]),
    layer("gradients"),
    layer("boxes", Object.entries(placement.boxes).map(([id, area]) => drawBox(id, area))),
    layer("shapes", placement.texts.map(([tensor, x, y]) =>
      svg("text", { class: "small start", x, y: y + 9 }, data.skeleton.texts[tensor][0]),
    )),
    layer("badges"),
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
  const [x, y] = points.at(-1);
  const d = path(points);
  return svg(
    "g",
    { class: thick ? "edge residual" : "edge", "data-line": d },
    svg("title", {}, `${ends}${name ? ` as ${name}` : ""}: ${shapeText(shape)} ${dtype}`),
    svg("path", { class: "line", d }),
    svg("path", { class: "head", d: `M${x} ${y}l-4 ${-HEAD - 1}h8z` }),
  );
}

function drawFrame({ id, heading }, odd) {
  const [x, y, width, height] = placement.frames[id];
  const [left, top] = placement.titles[id];
  const wide = data.skeleton.scopes[id].title[0] + 12;
  const label = boxLabel(id, true);
  const words = svg("g", { transform: `translate(${left} ${top})` });
  words.innerHTML = heading;
  return svg(
    "g",
    { class: `frame${odd ? " odd" : ""}`, "data-id": id },
    svg("rect", { x, y, width, height, rx: 8 }),
    svg(
      "g",
      { class: "handle", role: "button", tabindex: 0, "aria-expanded": true, "aria-label": label },
      svg("title", {}, `${label}: double-click or Enter closes it`),
      svg("rect", { class: "grip", x: left - 6, y: top - 4, width: wide, height: 26, rx: 5 }),
      words,
    ),
  );
}

function drawBox(id, [x, y]) {
  const node = data.box(id);
  const group = data.group.has(id);
  const label = boxLabel(id, false);
  const kinds = [node.kind, node.recorded ? "" : "unrecorded", node.error ? "error" : ""];
  const box = svg("g", {
    class: ["box", ...kinds.filter(Boolean)].join(" "),
    "data-id": id,
    transform: `translate(${x} ${y})`,
    tabindex: 0,
    role: "button",
    "aria-label": label,
    "aria-expanded": group ? "false" : undefined,
  });
  box.innerHTML = node.drawn; // every name in it was escaped where it was drawn
  box.prepend(svg("title", {}, group ? `${label}: double-click or Enter opens it` : label));
  return box;
}
