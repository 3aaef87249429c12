// The backward pass on top of the picture: gradients on their way up, what has come, the lit op.

const ASIDE = 5; // how far a gradient runs from the tensor whose gradient it is

/** The box that shows something: itself, or the outermost closed group around it. */
function shownAs(id) {
  let shown = null;
  for (let at = id; at !== null; at = data.parent(at)) {
    if (at in placement.boxes) shown = at;
  }
  return shown ?? (id in placement.frames ? id : null);
}

/** What there is to say of a gradient, shortest first: a sign and words, never a colour alone. */
function health(summary) {
  const { nans, infs } = summary;
  const bad = [nans && `NaN ×${nans}`, infs && `∞ ×${infs}`].filter(Boolean).join(", ");
  if (bad) return { kind: "bad", sign: "⬣", words: bad };
  if (summary.norm === 0) return { kind: "zero", sign: "○", words: "0" };
  if (summary.cancelled) return { kind: "zero", sign: "○", words: "≈ 0" };
  return { kind: "good", sign: "", words: number(summary.norm) };
}

/** A number with three digits, as people write it. */
function number(value) {
  if (value === null) return "> 1e308";
  if (value === 0) return "0";
  const usual = abs(value) >= 1e-3 && abs(value) < 1e5;
  const text = usual ? +value.toPrecision(3) : value.toExponential(1).replace("e+", "e");
  return String(text).replaceAll("-", "−");
}

/** One of five widths, by the order of magnitude of a norm. */
function widthOf(norm) {
  if (!norm) return 1;
  return 1.25 + 1.1 * min(4, max(0, floor(Math.log10(norm)) + 3));
}

/** Draw the state after some steps into the layers of the picture. */
function drawGradients(now, layers, norms) {
  const arrows = new Map();
  for (const [index, way] of now.edges) {
    const points = placement.edges[index];
    if (!points) continue;
    const line = path(points);
    const before = arrows.get(line);
    if (!before || before.state === "done") arrows.set(line, { points, ...way });
  }
  const badges = Object.entries(placement.boxes).map(([id, area]) => badgeOf(id, area, now));
  renew(
    layers.gradients,
    [...arrows.values()].map((way) => arrowOf(way, norms)),
    drawArrow,
  );
  renew(layers.badges, badges.filter(Boolean), drawBadge);
  const lit = now.step && shownAs(now.step.node);
  for (const element of [...layers.boxes.children, ...layers.frames.children]) {
    const { id } = element.dataset;
    element.classList.toggle("ran", now.done.has(id));
    element.classList.toggle("lit", id === lit);
  }
}

/** Draw into a layer what is not there yet, and take away what should not be. */
function renew(layer, wanted, draw) {
  const made = new Map(wanted.map((one) => [JSON.stringify(one), one]));
  for (const element of [...layer.children]) {
    if (!made.delete(element.dataset.key)) element.remove();
  }
  for (const [key, one] of made) {
    const element = draw(one);
    element.dataset.key = key;
    layer.append(element);
  }
}

/** A gradient on its way up, to the left of its tensor. */
function arrowOf({ points, state, sent }, norms) {
  const { kind, sign, words } = health(sent);
  const way = points.map(([x, y]) => [x - ASIDE, y]);
  const width = norms ? widthOf(sent.norm) : null;
  return { way, state, kind, width, words: norms ? `${sign} ${words}`.trim() : "" };
}

function drawArrow({ way, state, kind, width, words }) {
  const [x, y] = way[0];
  return svg(
    "g",
    { class: `gradient ${state} ${kind}` },
    svg("path", { class: "way", d: path(way, 1), "stroke-width": width }),
    svg("path", { class: "tip", d: `M${x - 4} ${y + 7}L${x} ${y + 1}L${x + 4} ${y + 7}` }),
    words ? svg("text", { class: "norm", x: x - 7, y: y + 17 }, words) : "",
  );
}

/** What has come to a box: so many of so many shares, or the norm of their sum; null if nothing. */
function badgeOf(id, area, now) {
  const came = now.came.get(id);
  const inside = now.inside.get(id);
  const group = data.group.get(id);
  if (came) {
    const { arrival, arrivals, total } = came;
    const { kind, sign, words } = health(total);
    const waits = arrival < arrivals;
    const norm = `${sign} ${arrivals > 1 ? "Σ " : ""}‖ḡ‖ ${words}`.trim();
    const place = group || data.into.has(id) ? "foot" : "top";
    return { area, kind, waits, place, words: waits ? `Σ ${arrival}/${arrivals}` : norm };
  }
  if (!inside || !group) return null;
  const all = data.inside.get(id);
  return { area, kind: "good", waits: inside < all, place: "corner", words: `∂ ${inside}/${all}` };
}

/** On top of a leaf, where nothing comes in; at the foot of an op, where its gradient arrives. */
function drawBadge({ area: [x, y, width, height], kind, waits, place, words }) {
  const long = Math.ceil(10 + 5.6 * [...words].length);
  const at = {
    top: [x + floor((width - long) / 2), y - 13],
    foot: [x + width / 2 - 12 - long, y + height + 4],
    corner: [x + width - long + 6, y - 9],
  }[place];
  return svg(
    "g",
    { class: `badge ${kind}${waits ? " waits" : ""}`, transform: `translate(${at})` },
    svg("rect", { width: long, height: 15, rx: 7.5 }),
    svg("text", { class: "small", x: long / 2, y: 11 }, words),
  );
}
