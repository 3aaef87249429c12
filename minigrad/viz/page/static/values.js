// Values of the forward pass: the elements of arrays, and the panel of a box's value.

/** The elements of an array that the page knows, in order. */
const entriesOf = ({ values }) => values.map(Number);

const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** A number alone is shown with all the digits that float32 has. */
const exactly = (value) => String(+value.toPrecision(7)).replaceAll("-", "−");

/** The gradient of a box so far; null if there is none. */
function gradientOf(id, came) {
  const at = data.stepOf.get(id)?.findLast((step) => step <= state.step);
  return came.get(id)?.total ?? (at ? data.steps[at - 1].cotangent : null);
}

/** Of a number, what micrograd shows: data | grad. */
function scalarText(id, came, digits = number) {
  const { value } = data.box(id);
  const gradient = gradientOf(id, came);
  const known = gradient && entriesOf(gradient).length;
  const slope = known ? ` | grad ${digits(entriesOf(gradient)[0])}` : "";
  return `data ${digits(entriesOf(value)[0])}${slope}`;
}

const isScalar = ({ value }) => !!value && !value.shape.length && entriesOf(value).length === 1;

/** The panel of a value: all of it, or a summary, and how to see the rest. */
function valueView(id, node) {
  const title = e.h3(node.kind === "module" ? "Its output" : "Its value");
  const { value } = node;
  if (!value) {
    const unknown = "Not recorded. viz.explore(model, x) and viz.trace() record values.";
    return node.error ? "" : e.section(title, e.p({ class: "quiet" }, unknown));
  }
  if (isScalar(node)) {
    return e.section(title, e.p({ class: "scalar" }, scalarText(id, now.came, exactly)));
  }
  const few = entriesOf(value);
  const rest = sizeOf(value.shape) > few.length;
  const { histogram } = value;
  const path = data.group.get(data.parent(id))?.path;
  const name = node.kind === "parameter" || !path ? nameOf(id) : path;
  const begins = `It begins with ${few.map(number).join(", ")}, … All of it: `;
  const more = [begins, e.code(`viz.explore(…, values=["${name}"])`)];
  return e.section(
    title,
    summaryView(value),
    histogram.length ? histogramView(value) : "",
    rest ? e.p({ class: "quiet" }, more) : "",
  );
}

function histogramView({ histogram, low, high }) {
  const most = max(...histogram);
  const bars = histogram.map((n, at) =>
    svg.rect({ x: at * 10, y: 60 * (1 - n / most), width: 9, height: (60 * n) / most }),
  );
  const label = `histogram: ${histogram.join(", ")}`;
  return e.figure(
    { class: "histogram" },
    svg.svg({ viewBox: "0 0 240 60", role: "img", "aria-label": label }, bars),
    e.figcaption(e.span(number(low)), e.span(number(high))),
  );
}
