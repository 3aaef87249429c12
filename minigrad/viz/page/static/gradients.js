// The backward pass on top of the picture: gradients on their way up, what has come, the lit op.

const ASIDE = 5; // how far a gradient runs from the tensor whose gradient it is
const LONG = 3000; // of a line beyond that, only a part is dashed: dashes take long to paint

/** The box that shows something: itself, or the outermost closed group around it. */
function shownAs(id) {
  const shown = data.around(id).findLast((at) => at in placement.boxes);
  return shown ?? (id in placement.frames ? id : null);
}

/** What there is to say of a gradient, shortest first: a sign and words, never a colour alone. */
function health(summary) {
  const { nans, infs } = summary;
  const bad = [nans && `NaN ×${nans}`, infs && `∞ ×${infs}`].filter(Boolean).join(", ");
  if (bad) return { kind: "bad", sign: "⬣", words: bad };
  if (summary.norm === 0) return { kind: "zero", sign: "○", words: "0" };
  if (summary.cancelled) return { kind: "zero", sign: "○", words: "≈ 0" };
  const size = isNumber(summary) ? entriesOf(summary)[0] : summary.norm;
  return { kind: "good", sign: "", words: number(size) };
}

/** The norm of an array, "‖Σ‖ = 3"; of a number, the number. */
function sized(summary, letter) {
  const { sign, words } = health(summary);
  return `${isNumber(summary) ? letter : `‖${letter}‖`} = ${sign && `${sign} `}${words}`;
}

/** A number with three digits, as people write it. */
function number(value, digits = 3) {
  if (value === null) return "> 1e308";
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞").replace("-", "−");
  if (value === 0) return "0";
  const usual = abs(value) >= 1e-3 && abs(value) < 1e5;
  const text = usual ? +value.toPrecision(digits) : value.toExponential(1).replace("e+", "e");
  return String(text).replaceAll("-", "−");
}

/** Draw the state after some steps on what of the picture is in the document. */
function drawGradients(now) {
  for (const item of inDocument("edges")) {
    const ways = (item.edges ?? []).map((index) => now.edges.get(index)).filter(Boolean);
    const way = ways.find(({ state }) => state !== "done") ?? ways.at(-1);
    const part = item.area[3] > LONG ? drawn : null;
    const look = way && { ...way, part };
    renew(item, layers.gradients, look, () => drawArrow(item.points, look));
  }
  for (const item of inDocument("boxes")) {
    const badge = badgeOf(item.id, now);
    renew(item, layers.badges, badge, () => drawBadge(item.id, item.area, badge));
    const line = item.element.querySelector("text.data");
    if (line) line.textContent = scalarNow(item.id, now);
  }
  const lit = now.step && shownAs(now.step.node);
  for (const { id, element } of [...inDocument("boxes"), ...inDocument("frames")]) {
    element.classList.toggle("ran", now.done.has(id));
    element.classList.toggle("lit", id === lit);
  }
}

/** Draw the mark of an item, unless it looks like that already; null for nothing. */
function renew(item, layer, look, draw) {
  const names = Object.keys(look ?? {});
  const same = !look === !item.mark && names.every((name) => look[name] === item.look[name]);
  if (same) return;
  item.mark?.remove();
  item.look = look;
  item.mark = look ? draw() : null;
  if (look) layer.append(item.mark);
}

/** A gradient on its way up, to the left of its tensor. */
function drawArrow(points, { state, sent, part }) {
  const [, top, , bottom] = part ?? [0, -Infinity, 0, Infinity];
  const way = points.map(([x, y]) => [x - ASIDE, max(top, min(y, bottom))]);
  const [x, y] = way[0];
  return svg.g(
    { class: `gradient ${state} ${health(sent).kind}` },
    svg.path({ class: "way", d: path(way, 1) }),
    svg.path({ class: "tip", d: `M${x - 4} ${y + 7}L${x} ${y + 1}L${x + 4} ${y + 7}` }),
  );
}

/** What has come to a box: so many of so many shares, or the norm of their sum; null if nothing. */
function badgeOf(id, now) {
  const [came, inside] = [now.came.get(id), now.inside.get(id)];
  const told = data.box(id).kind !== "module" && isScalar(data.box(id)); // in the box
  if (told && (!came || came.arrival === came.arrivals)) return null;
  if (!came) {
    if (!inside || !data.group.has(id)) return null;
    const all = data.inside.get(now.step.run).get(id);
    return { kind: "good", waits: inside < all, text: `∂ ${inside}/${all}`, came };
  }
  const { arrival, arrivals, total } = came;
  const { kind, sign, words } = health(total);
  const waits = arrival < arrivals;
  const norm = `${sign} ${arrivals > 1 ? "Σ " : ""}‖ḡ‖ ${words}`.trim();
  return { kind, waits, text: waits ? `Σ ${arrival}/${arrivals}` : norm, came: true };
}

function drawBadge(id, [x, y, width, height], { kind, waits, text, came }) {
  const long = Math.ceil(10 + 5.6 * [...text].length);
  // On top of a leaf, where nothing comes in; at the foot of an op, where its gradient arrives.
  const inner = data.group.has(id) || data.into.has(id);
  let place = [x + floor((width - long) / 2), y - 13];
  if (!came) place = [x + width - long + 6, y - 9];
  else if (inner) place = [x + width / 2 - 12 - long, y + height + 4];
  return svg.g(
    { class: `badge ${kind}${waits ? " waits" : ""}`, transform: `translate(${place})` },
    svg.rect({ width: long, height: 15, rx: 7.5 }),
    svg.text({ class: "small", x: long / 2, y: 11 }, text),
  );
}
