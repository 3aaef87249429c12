// What a page says of each output and each gradient, entry by entry.
let data;
const found = [];
for (const [name, one] of given) {
  data = connect(one);
  for (const step of data.steps) {
    const op = data.box(step.node), all = [["out", op.terms.out, op.value]];
    for (const part of step.parts) all.push([part.name, part.term, part.sent]);
    for (const [argument, term, summary] of all) {
      if (!isWhole(summary) || summary.nans || summary.infs || !sizeOf(summary.shape)) continue;
      const places = rangeOf(min(sizeOf(summary.shape), 12));
      const told = term && places.map((place) => worked(step, term, summary, place));
      found.push([name, step.op, argument, term ? told : null]);
    }
  }
}
console.log(JSON.stringify(found));
