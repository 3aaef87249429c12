// One entry of a gradient in numbers: the largest, or one that the reader picks.

/** An index is not broken. */
const unbroken = (text) => text.replace(/(\d), (?=\d)/g, "$1,\u00a0");

/** The entries that were worked out (worked.py), and what a click on each of them in a table does. */
function workedView({ worked, sent: { shape } }) {
  if (!worked.length) return ["", new Map()];
  const said = e.div({ class: "equations", tabindex: 0, role: "status" });
  const label = ({ index }) => (index.length ? `[${index.join(", ")}]` : "this number");
  const buttons = worked.map((one, at) => e.button({ onclick: () => show(at) }, label(one)));
  const show = (at) => {
    const lines = ([names, numbers]) => e.p(unbroken(names), e.br(), unbroken(numbers));
    said.replaceChildren(...worked[at].equations.map(lines));
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === at)));
  };
  show(0);
  const place = ({ index }) => index.reduce((at, i, axis) => at * shape[axis] + i, 0);
  const picks = new Map(worked.map((one, at) => [place(one), () => show(at)]));
  const all = worked.length === sizeOf(shape);
  const others = e.small(" any other: ", e.code("viz.explain(traced, entry=(0, 1))"));
  const head = e.p(e.b("In numbers:"), " the entry ", buttons, all ? "" : others);
  return [e.div({ class: "worked" }, head, said), picks];
}

/** Which of the reader's tensors the arguments of a rule are. */
function argumentsView(step) {
  const told = step.arguments.map(([name, id]) => {
    const made = data.stepOf.has(id) ? "the output of " : "";
    return [e.i(name), ` is ${made}`, e.code(link.box(id))];
  });
  return told.length ? e.p({ class: "arguments" }, listed(told, ", ")) : "";
}
