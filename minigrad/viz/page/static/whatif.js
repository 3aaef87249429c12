// What if a number were another: both passes are computed again, in the page.

// How far the page may be off a run that it repeats, of the largest entry.
const REPEATED = 2e-3;
const REPEATED_ROUNDED = 0.01; // of an array that is written with few digits

const changes = new Map(); // of leaves: { id, place, value }
const recorded = []; // how to undo the changes made here: [record, field, value]

class Unable extends Error {}

/** Set a field of a record until `restore`. */
function put(record, field, value) {
  recorded.push([record, field, record[field]]);
  record[field] = value;
}

function restore() {
  while (recorded.length) {
    const [record, field, value] = recorded.pop();
    record[field] = value;
  }
  relateShares(data);
}

/** An array in numbers, as Python summarizes one. */
function summarized({ shape, data: entries }, { dtype } = {}) {
  const finite = entries.filter(Number.isFinite);
  const mean = finite.reduce((sum, one) => sum + one, 0) / max(1, finite.length);
  const squares = (from) => finite.reduce((sum, one) => sum + (one - from) ** 2, 0);
  const nans = entries.filter(Number.isNaN).length;
  return {
    shape, dtype, mean, nans,
    infs: entries.length - finite.length - nans,
    norm: Math.sqrt(squares(0)),
    deviation: Math.sqrt(squares(mean) / max(1, finite.length)),
    low: finite.length ? min(...finite) : 0,
    high: finite.length ? max(...finite) : 0,
    cancelled: false,
    values: data.arrays.push(entries) - 1,
  };
}

/**
 * Compute both passes again from the leaves; `all` also where nothing was changed. Where that cannot
 * be done, nothing is changed.
 */
function computeAgain(all = false) {
  restore();
  const dirty = new Set();
  try {
    for (const { id, place, value } of changes.values()) {
      const { value: old } = data.box(id);
      const entries = entriesOf(old).with(place, value);
      const changed = summarized({ shape: old.shape, data: entries }, old);
      for (const box of boxesOf(id)) {
        dirty.add(box.id);
        put(box, "value", changed);
      }
    }
    forwardAgain(dirty, all);
    if (total) backwardAgain(dirty, all);
  } catch (error) {
    restore();
    throw error;
  }
}

/** The boxes that show a tensor while it has these numbers: it may be frozen or thawed. */
function boxesOf(id) {
  const { again, value } = data.box(id);
  const first = (box) => box.again || box.id;
  return data.nodes.filter((box) => first(box) === (again || id) && box.value?.values === value.values);
}

/** An op and its line. */
const placed = ({ label, line }) => `${label}${line && ` at ${line}`}`;

/** Compute the output of each op that reads a changed value. */
function forwardAgain(dirty, all) {
  const sources = (id) => neighbours(data, id, "into");
  for (const box of data.nodes) {
    const [id, changed] = [box.id, sources(box.id).some((source) => dirty.has(source))];
    if (box.kind === "output" || (!all && !changed)) continue;
    if (box.kind !== "op") { // a leaf, such as x.detach().requires_grad_(), that holds what an op made
      if (changed) put(box, "value", data.box(sources(id)[0]).value);
      if (changed) dirty.add(id);
      continue;
    }
    const { out } = box.terms;
    if (!out || !box.value) {
      if (!changed) continue; // it stays as it is
      throw new Unable(`the page does not know what ${placed(box)} computes`);
    }
    if (changed) dirty.add(id);
    const step = { node: id };
    const value = summarized(computed(step, out, box.value.shape, dirty), box.value);
    for (const one of [box, ...shownBy(id)]) put(one, "value", value);
    const saved = box.saved.map(({ name, numbers, ...more }) => {
      const found = numbers && summarized(computed(step, [name, {}], numbers.shape), numbers);
      return { name, numbers: found, ...more };
    });
    put(box, "saved", saved);
  }
}

/** The boxes whose value is that of an op: outputs, and modules that it ends. */
function shownBy(id) {
  const from = data.edges.filter(({ source }) => source === id).map(({ target }) => target);
  const outputs = from.map((target) => data.box(target)).filter(({ kind }) => kind === "output");
  const ended = data.groups.filter(
    (group) => within(data, id, group.id)
      && from.some((target) => !within(data, target, group.id)) && group.box.value,
  );
  return [...outputs, ...ended.map(({ box }) => box)].filter(({ value }) => value);
}

/** Run each rule whose op was computed again, or whose gradient is another. */
function backwardAgain(dirty, all) {
  const sums = new Map(); // by pass and target
  for (const step of data.steps) {
    const came = sums.get(`${step.run} ${step.node}`);
    if (came) put(step, "cotangent", summarized(came.array, step.cotangent));
    const parts = step.parts.map((part) => {
      const op = data.box(step.node);
      const inputs = [...op.arguments.map(([, id]) => id), step.node];
      const changed = came?.dirty || inputs.some((id) => dirty.has(id));
      if (changed && !part.term) throw new Unable(`the page does not know the rule of ${placed(op)}`);
      const again = changed || (all && part.term);
      const array = again ? computed(step, part.term, part.sent.shape, dirty) : arrayOf(part.sent);
      const key = `${step.run} ${part.target}`;
      const before = sums.get(key);
      const sum = before ? new Values((name) => (name === "a" ? before.array : array), {}).of(["add", "a", "b"]) : array;
      sums.set(key, { array: sum, dirty: changed || !!before?.dirty });
      if (!again && !before?.dirty) return part;
      return {
        ...part,
        sent: summarized(array, part.sent),
        total: before ? summarized(sum, part.sent) : null,
        check: null,
        unchecked: "numbers were changed in the page",
        kink: null,
      };
    });
    put(step, "parts", parts);
  }
  relateShares(data);
}

function arrayOf(summary) {
  if (!isWhole(summary)) throw new Unable("of an array only a part is in the page");
  return { shape: summary.shape, data: preciseOf(summary) };
}

/** The value of a term of a step, in a shape. Some arguments it takes as they are: if not `dirty`. */
function computed(step, [term, defined, fixed = []], shape, dirty) {
  const op = data.box(step.node);
  const taken = op.arguments.find(([name, id]) => fixed.includes(name) && dirty.has(id));
  if (taken) throw new Unable(`the page does not know what another ${taken[0]} makes of ${placed(op)}`);
  const values = valuesOf(step, defined);
  try {
    const found = values.array(term);
    if (found.data.length === sizeOf(shape)) return { shape, data: found.data };
    return values.array(["shrunk", term, ["row", ...shape]]);
  } catch (error) {
    if (error instanceof RangeError) throw new Unable(error.message);
    throw error;
  }
}

let ability = null; // why nothing can be changed; "" if it can

/** Why the page cannot repeat the run, by trying it: the first number that differs. */
function inability() {
  if (ability !== null) return ability;
  for (const { id, label, notes } of data.nodes) {
    const write = notes.find((note) => note.startsWith("after "));
    const [reader] = neighbours(data, id, "from").map(data.box);
    if (write) return `${label} was written to within the run: ${write}, read by ${placed(reader)}`;
  }
  if (data.left) return data.left;
  const known = () => [
    ...data.nodes.map((box) => [placed(box), box.value]),
    ...data.steps.flatMap(({ node, parts, cotangent }) => [
      [`gradient of ${placed(data.box(node))}`, cotangent],
      ...parts.map(({ sent }) => [`gradient from ${placed(data.box(node))}`, sent]),
    ]),
  ];
  const before = known();
  try {
    computeAgain(true);
    const differs = ([, one], at) => one && !near(one, before[at][1]);
    const wrong = known().find(differs);
    ability = wrong ? `the page computes another value than the run: ${wrong[0]}` : "";
    const found = known();
    if (!wrong) before.forEach(([, one], at) => one && precise.set(one, entriesOf(found[at][1])));
  } catch (error) {
    if (!(error instanceof Unable)) throw error;
    ability = error.message;
  }
  restore();
  return ability;

  function near(one, other) {
    if (one === other || other.cancelled || other.nans || other.infs) return true;
    const [mine, theirs] = [entriesOf(one), entriesOf(other)];
    const share = theirs.length > SMALL ? REPEATED_ROUNDED : REPEATED;
    const room = share * max(abs(other.low), abs(other.high)) + 1e-6;
    return theirs.every((value, at) => abs(value - mine[at]) <= room);
  }
}

const unable = new Map(); // why a leaf cannot be changed, by its id; "" if it can

/** Why the page cannot compute what a change of a leaf does, by trying it. */
function whyFixed(id) {
  const why = inability();
  if (why) return why;
  if (!unable.has(id)) {
    const before = [...changes];
    changes.clear();
    changes.set(id, { id, place: 0, value: entriesOf(data.box(id).value)[0] });
    unable.set(id, "");
    try {
      computeAgain();
    } catch (error) {
      if (!(error instanceof Unable)) throw error;
      unable.set(id, error.message);
    }
    changes.clear();
    for (const [key, change] of before) changes.set(key, change);
    computeAgain();
  }
  return unable.get(id);
}

/** Change a number. */
function change(one, value) {
  changes.set(`${one.id} ${one.place}`, { ...one, value });
  computeAgain();
  showChanges();
}

/** Say at the top which number was changed, and the new result; the panel is written anew. */
function showChanges() {
  for (const name of Object.keys(shown)) delete shown[name];
  const told = [...changes.values()].map(({ id, place, value }) =>
    `${nameOf(id)}${indexText(data.box(id).value.shape, place)} = ${number(value)}`);
  const ends = data.nodes.filter(({ kind, value }) => kind === "output" && value && isNumber(value));
  const outputs = ends.map(({ label, value }) => `${label} = ${number(entriesOf(value)[0], 5)}`);
  $("changes").hidden = !told.length;
  $("changed").textContent = `What if ${told.join(", ")}? ${outputs.join(", ")}`;
}

function changeNothing() {
  changes.clear();
  restore();
  showChanges();
  redraw();
}

/** Mark the changed values in the picture. */
function drawChanges() {
  const ids = new Set([...changes.values()].flatMap(({ id }) => boxesOf(id)).map(({ id }) => id));
  for (const { id, element } of inDocument("boxes"))
    element.classList.toggle("changed", ids.has(id));
}

let lastChosen = {}; // the entry of a leaf that has a slider: it keeps it when the panel is written anew

/** A slider for an entry of a leaf. */
function sliderView(one, value, spread) {
  const why = whyFixed(one.id);
  if (why) return e.p({ class: "quiet" }, `The page cannot compute what a change of it does: ${why}.`);
  const { base = value } = changes.get(`${one.id} ${one.place}`) ?? {};
  const far = max(3 * spread, 2 * abs(base), 1e-3);
  const options = { step: "any", value: +value.toPrecision(4), "aria-label": "this number, what if" };
  const input = (other) => ({ target }) => {
    if (!Number.isFinite(target.valueAsNumber)) return;
    const value = +target.valueAsNumber.toPrecision(4);
    other().value = value;
    change({ ...one, base }, value);
    now = progress(data, state.step);
    mark();
  };
  const range = { type: "range", min: base - far, max: base + far };
  const slider = e.input({ ...range, ...options, oninput: input(() => field), onchange: refresh });
  const field = e.input({ type: "number", ...options, oninput: input(() => slider), onchange: refresh });
  return e.p({ class: "whatif" }, e.b("What if it were "), slider, field);
}

/** What a click on an entry of a leaf shows: a slider for it. */
function leafWork(id) {
  const { kind, value, dtype } = data.box(id);
  const leaf = ["input", "parameter", "constant"].includes(kind) && /float/.test(dtype);
  if (!leaf || !data.forward.length) return null;
  return (place) => {
    lastChosen = { id, place };
    const one = { id: boxesOf(id)[0].id, place };
    return sliderView(one, entriesOf(value)[place], value.deviation || abs(value.mean));
  };
}
