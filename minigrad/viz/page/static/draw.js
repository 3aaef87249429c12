// The picture: the same elements with the same classes as minigrad/viz/drawing/svg.py writes.

const HEAD = 6;
const SLANT = 8;
const SLOTS = 12;
const GLYPH = 15;
const LEADING = { name: 16, bold: 16, small: 13 };

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
  const node = data.box(id);
  const group = data.group.get(id);
  const name =
    group && node.kind === "module"
      ? `${group.path || group.module} (${group.module})`
      : node.label;
  const state = group ? (open ? ", open" : ", closed") : "";
  return `${node.kind} ${name}, ${shapeText(node.shape)}${state}`;
}

/** Draw everything but the backward pass: an <svg> with the layers frames, edges, boxes. */
function drawGraph() {
  const frames = svg("g", { class: "frames" });
  const edges = svg("g", { class: "edges" });
  const boxes = svg("g", { class: "boxes" });
  const level = new Map([[null, 0]]);
  for (const group of data.groups) {
    level.set(group.id, level.get(group.parent) + 1);
    if (group.id in placement.frames) {
      frames.append(drawFrame(group, level.get(group.id) % 2));
    }
  }
  const drawn = new Set();
  for (const [index, points] of Object.entries(placement.edges)) {
    const thick = data.residuals.has(+index);
    const d = path(points);
    const key = d + thick;
    if (drawn.has(key)) continue;
    drawn.add(key);
    const [x, y] = points.at(-1);
    const edge = data.edges[index];
    const ends = `${data.node.get(edge.source).label} → ${data.node.get(edge.target).label}`;
    const name = edge.name ? ` as ${edge.name}` : "";
    edges.append(
      svg(
        "g",
        { class: thick ? "edge residual" : "edge", "data-line": d },
        svg("title", {}, `${ends}${name}: ${shapeText(edge.shape)} ${edge.dtype}`),
        svg("path", { class: "line", d }),
        svg("path", { class: "head", d: `M${x} ${y}l-4 ${-HEAD - 1}h8z` }),
      ),
    );
  }
  for (const [x, y] of placement.ports)
    edges.append(svg("circle", { class: "port", cx: x, cy: y, r: 2.5 }));
  const slots = slotsOf();
  for (const [id, area] of Object.entries(placement.boxes)) {
    boxes.append(drawBox(id, area, slots.get(id) ?? []));
  }
  const texts = svg("g", { class: "shapes" });
  for (const [tensor, x, y] of placement.texts) {
    texts.append(line([data.skeleton.texts[tensor][0], "small"], x, y + 9, "start"));
  }
  return [
    frames,
    edges,
    svg("g", { class: "gradients" }),
    boxes,
    texts,
    svg("g", { class: "badges" }),
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

function drawFrame(group, odd) {
  const [x, y, width, height] = placement.frames[group.id];
  const [left, top] = placement.titles[group.id];
  const [name, kind, size] = group.title;
  const label = boxLabel(group.id, true);
  return svg(
    "g",
    { class: `frame${odd ? " odd" : ""}`, "data-id": group.id },
    svg("rect", { x, y, width, height, rx: 8 }),
    svg(
      "g",
      {
        class: "handle",
        role: "button",
        tabindex: 0,
        "aria-expanded": "true",
        "aria-label": label,
      },
      svg("title", {}, `${label}: double-click or Enter closes it`),
      svg("rect", {
        class: "grip",
        x: left - 6,
        y: top - 4,
        width: data.skeleton.titles[group.id][0] + 12,
        height: 26,
        rx: 5,
      }),
      svg(
        "text",
        { class: "start", x: left, y: top + 12 },
        svg("tspan", { class: "bold" }, name),
        ...(kind ? [" ", svg("tspan", { class: "small" }, kind)] : []),
      ),
      size ? line([size, "small"], left, top + 25, "start") : "",
    ),
  );
}

/** The operands that a box names, and how far from its left they come in. */
function slotsOf() {
  const slots = new Map();
  for (const [index, points] of Object.entries(placement.edges)) {
    const { target, name } = data.edges[index];
    if (!data.box(target).slots.length || !(target in placement.boxes)) continue;
    const short = name.slice(name.lastIndexOf("[") + 1).replace("]", "");
    push(slots, target, [points.at(-1)[0] - placement.boxes[target][0], short]);
  }
  return slots;
}

function drawBox(id, [x, y, width, height], slots) {
  const node = data.box(id);
  const group = data.group.get(id);
  const kinds = ["box", node.kind, node.recorded ? "" : "unrecorded", node.error ? "error" : ""];
  const label = boxLabel(id, false);
  const box = svg(
    "g",
    {
      class: kinds.filter(Boolean).join(" "),
      "data-id": id,
      transform: `translate(${x} ${y})`,
      tabindex: 0,
      role: "button",
      "aria-label": label,
      "aria-expanded": group ? "false" : undefined,
    },
    svg("title", {}, group ? `${label}: double-click or Enter opens it` : label),
  );
  box.append(...outline(node.kind, width, height));
  if (node.saved.length)
    box.append(svg("rect", { class: "saved", x: 8, y: height - 4, width: 10, height: 7 }));
  for (const [at, name] of slots) box.append(line([name, "slot"], at, 11));
  const lines = node.lines;
  const tall = lines.reduce((sum, [, style]) => sum + LEADING[style], 0);
  let base = floor((height - tall + (slots.length ? SLOTS : 0)) / 2);
  lines.forEach(([words, style, long], at) => {
    const foot = base + LEADING[style] - 4;
    if (at === 0 && node.glyph) {
      const left = floor(width / 2) - floor((GLYPH + floor(0.9 * long)) / 2);
      box.append(
        node.glyph === "⊞"
          ? svg("path", {
              class: "sign",
              d: `M${left}.5 ${foot - 9}.5h9v9h-9zm2 4.5h5m-2.5 -2.5v5`,
            })
          : svg("text", { class: "bold start glyph", x: left - 2, y: foot }, node.glyph),
      );
      box.append(line([words, style], left + GLYPH, foot, "start"));
    } else box.append(line([words, style], floor(width / 2), foot));
    base += LEADING[style];
  });
  return box;
}

function outline(kind, width, height) {
  if (kind === "input" || kind === "output") {
    const points = `${SLANT},0 ${width},0 ${width - SLANT},${height} 0,${height}`;
    return [svg("polygon", { class: "shape", points })];
  }
  const half = floor(height / 2);
  const rx = { op: 7, fused: 7, parameter: half, buffer: half }[kind] ?? 1;
  const shapes = [svg("rect", { class: "shape", width, height, rx })];
  if (kind === "module") {
    shapes.push(svg("rect", { class: "inner", x: 3, y: 3, width: width - 6, height: height - 6 }));
  }
  return shapes;
}

function line([words, style], x, y, more = "") {
  const kind = [style === "name" ? "" : style, more].filter(Boolean).join(" ");
  return svg("text", { class: kind || null, x, y }, words);
}
