// For each page what it computes when an entry of a leaf is another, and that it can go back.
let data, total;
const state = { step: 0 };
const all = (summary) => summary && entriesOf(summary).map(String);
const now = () => ({
  values: data.nodes.map(({ value }) => all(value)),
  sent: data.steps.map(({ parts }) => parts.map(({ sent }) => all(sent))),
});
const found = given.map(([one, moves]) => {
  data = connect(one);
  total = data.steps.length;
  ability = null;
  for (const table of [unable, changes]) table.clear();
  recorded.length = 0;
  const before = JSON.stringify(now());
  return moves.map(([id, place, value]) => {
    const why = whyFixed(id);
    changes.clear();
    changes.set(id, { id, place, value });
    let thrown = "";
    try { computeAgain(); } catch (error) { thrown = error.message; }
    const after = now();
    const half = thrown && JSON.stringify(after) !== before;
    changes.clear();
    computeAgain();
    return { why, thrown, half, back: JSON.stringify(now()) === before, ...after };
  });
});
console.log(JSON.stringify(found));
