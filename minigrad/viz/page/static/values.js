// Values of the forward pass: numbers on the picture, and the panel of a box's value.

/** A number alone is shown with all the digits that float32 has. */
const exactly = (value) => String(+value.toPrecision(7)).replaceAll("-", "−");

/** The gradient of a box so far; null if there is none. */
function gradientOf(id, came) {
  const at = data.stepOf.get(id)?.findLast((step) => step <= state.step);
  return came.get(id)?.total ?? (at ? data.steps[at - 1].cotangent : null);
}

/** Of a number, what micrograd shows: data | grad. */
function scalarText(id, came, digits = (value) => number(value, 4)) {
  const { value, kind } = data.box(id);
  const gradient = gradientOf(id, came);
  const known = kind !== "output" && gradient && entriesOf(gradient).length;
  const slope = known ? ` | grad ${digits(entriesOf(gradient)[0])}` : "";
  return `data ${digits(entriesOf(value)[0])}${slope}`;
}

const isScalar = ({ value }) => !!value && isNumber(value);

/** The line of a number in its box, as far as it is known at this step. */
function scalarNow(id, now) {
  if (data.order(id) > ranAt(state.step)) return "";
  const came = now.came.get(id);
  return scalarText(id, came && came.arrival < came.arrivals ? new Map() : now.came);
}

/** The panel of a value: all of it, or a summary, and how to see the rest. */
function valueView(id, node) {
  const own = node.several ? "Its first output" : "Its value";
  const title = e.h3(node.kind === "module" ? "Its output" : own);
  const { value } = node;
  if (!value) {
    const unknown = "Not recorded. viz.explore(model, x) and viz.trace() record values.";
    return node.error ? "" : e.section(title, e.p({ class: "quiet" }, unknown));
  }
  if (isScalar(node)) {
    const text = e.p({ class: "scalar" }, scalarText(id, now.came, exactly));
    return e.section(title, text, leafWork(id)?.(0));
  }
  const begin = lastChosen.id === id ? lastChosen.place : undefined;
  const work = valueWork(id) ?? leafWork(id);
  const gradient = node.several ? null : finalGradient(id);
  if (!gradient) return e.section(title, summaryView(value, id, work, begin));
  const side = (name, ...given) => e.figure(e.figcaption(name), arrayView(...given));
  return e.section(
    title,
    e.div({ class: "numbers" }, factsView(value)),
    e.div(
      { class: "pair" },
      side("value", value, id, work, begin),
      side("gradient", gradient, id, gradientWork(sharesOf(id))),
    ),
  );
}

/** The whole gradient of a box at the end of the pass; null if it gets none. */
function finalGradient(id) {
  const last = sharesOf(id).at(-1)?.part;
  const step = data.stepOf.get(id)?.at(-1);
  return last?.total ?? last?.sent ?? (step ? data.steps[step - 1].cotangent : null);
}
