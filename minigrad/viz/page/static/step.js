// The panel of a step: what came, what was saved for it, what is sent, and why.

/** The panel of a step. */
function stepView(at) {
  if (at < 0) return forwardView(at);
  if (!total) return [e.h2("No backward pass"), e.p(data.start)];
  if (!at) {
    const next = `The backward pass begins at ${data.start}. It has ${count(total, "step")}.`;
    return [
      e.h2("Before the first step"),
      e.p(`The forward pass is done. ${next}`),
      e.p(link.step(1, "Take the first step"), " (→)"),
    ];
  }
  const step = data.steps[at - 1];
  const node = data.box(step.node);
  const ofRank = (share) => share.step.rank === step.rank;
  const shares = sharesOf(step.node, step.run).filter(ofRank);
  const section = (n, words, ...content) => e.section(e.h3(e.b(n), " ", words), content);
  const turns = ["For each input that needs a gradient, the op's rule for it turns ", bar("g")];
  return [
    headView(`Step ${at} of ${total}${onRank(step)}`, step.node),
    argumentsView(step),
    section(
      1,
      ["What comes: ", bar("g")],
      e.p(came(step, shares)),
      summaryView(step.cotangent, step.node, node.several ? null : gradientWork(shares)),
    ),
    section(2, "What was saved for this", savedView(node)),
    heatmapView(step.node),
    section(
      3,
      "What is sent",
      e.p(turns, " into that input's share."),
      step.parts.map((part) => partView(step, part)),
    ),
    at === total ? e.section({ class: "end" }, e.h3("Done"), endView()) : "",
  ];
}

/** Which rank's step it is, where the place of the box does not tell: at a collective. */
const onRank = ({ node, rank }) => (rank === null || data.parent(node) ? "" : ` · on rank ${rank}`);

/** What both passes say of an op first: where it is, and its line. */
function headView(moment, id) {
  const [node, path] = [data.box(id), pathOf(id).join(" › ")];
  const open = () => go.show(id);
  return [
    e.p({ class: "over" }, path ? `${moment} · in ${path}` : moment),
    e.h2(link.box(id, nameOf(id)), node.fused ? e.small(" fused: one kernel, one rule") : ""),
    go.hidden(id) ? e.p(e.button({ onclick: open }, "Open the modules around it")) : "",
    lineView(node),
  ];
}

/** The shares that a box gets in a pass, the last one if none is given. */
function sharesOf(id, run) {
  const shares = data.sharesOf.get(id) ?? [];
  return shares.filter(({ step }) => step.run === (run ?? shares.at(-1).step.run));
}

/** How the cotangent of a step came together. */
function came({ op, node, cotangent }, shares) {
  if (data.box(node).several)
    return [`${op} has several outputs. This is how much the loss changes if the first one does.`];
  const what = `How much the loss changes if the output of ${op} does, element by element. `;
  if (!shares.length) {
    const loss = sizeOf(cotangent.shape) === 1 && entriesOf(cotangent)[0] === 1;
    const one = ": the gradient of the loss with respect to itself is 1.";
    return [what, "Here it begins", loss ? one : ", with these numbers, which it was given."];
  }
  const sources = shares.map(({ at, step, part }) => [link.step(at), ` (${step.op}, ${part.name})`]);
  if (sources.length === 1) return [what, "It came from ", sources, "."];
  const sum = e.strong({ class: "sum" }, `Σ of ${sources.length} shares: `);
  const used = `the output was used ${sources.length} times, so ${op} waited for all of them: from `;
  return [what, sum, used, listed(sources, ", ", " and "), "."];
}

/** What an op kept of the forward pass, and for which rule. */
function savedView(node) {
  const reasons = new Map(node.kept);
  if (node.freed)
    return e.p("It is not known any more: a backward pass has run and let go of it.");
  if (!node.saved.length && !node.kept.length) return e.p("Nothing.");
  const opened = groupsAround(node.id).find(({ fused }) => fused);
  const unkept = !node.saved.some(({ kept }) => kept.length);
  let told = "What the op's rules read of the forward pass; it is kept until the backward pass.";
  if (!node.saved.length) told = "Nothing: the rule needs shapes at most.";
  else if (opened) told = `What the op's rules read here, where ${opened.name} was opened: as one op, `
    + `it keeps ${bytes(max(0, ...opened.kept))} until the backward pass, and works out the rest again.`;
  else if (unkept && data.stepOf.has(node.id))
    told = "What the op's rules read: it ran again within the backward pass, and kept this for a moment.";
  else if (unkept) told = "Saved, but not kept for a backward pass: none came here.";
  const alive = unkept ? "" : "no bytes more: it is a leaf's memory, or an earlier op keeps it";
  const item = ({ name, shape, kept, numbers }) => {
    const out = name === "out" ? ", the output, y in the formula," : "";
    const size = [shapeText(shape), kept.some(Boolean) ? bytes(max(...kept)) : alive];
    const why = reasons.get(name) ? `: ${reasons.get(name)}` : "";
    const known = numbers && shape.length && isWhole(numbers);
    return e.li(
      e.code(name),
      `${out} ${size.filter(Boolean).join(", ")}${why}`,
      known ? e.details(e.summary("its values"), arrayView(numbers, node.id)) : "",
    );
  };
  const rest = node.kept.filter(([name]) => !name);
  return [
    e.p(told),
    e.ul({ class: "saved" }, node.saved.map(item)),
    rest.map(([, why]) => e.p({ class: "quiet" }, `Not kept: ${why}.`)),
  ];
}

/** What one argument gets. */
function partView(step, part) {
  const { target, raw_shape: raw, sent, arrival, arrivals, total, formula } = part;
  const shrunk = ["un-broadcast: ", shapeView(raw), " → ", shapeView(sent.shape)];
  const of = ` share ${arrival} of ${arrivals} that ${nameOf(target)} gets: it was used ${arrivals}`;
  const sum = total ? ` So far they add up to ${sized(total, "Σ")}.` : "";
  const sizes = entriesOf(sent).map(abs);
  const largest = sizes.indexOf(max(...sizes)); // -1 where one is NaN
  return e.article(
    e.h4(bar(part.name), e.span(" to ", link.box(target))),
    formula ? e.div({ class: "formula" }, bar(part.name), " = ", mathml(formula.mathml)) : "",
    formula ? formula.notes.map((note) => e.p({ class: "quiet" }, note)) : "",
    part.answers.map(([question, answer]) => e.p({ class: "why" }, e.b(question), " ", answer)),
    String(raw) === String(sent.shape) ? "" : e.p({ class: "unbroadcast" }, shrunk),
    summaryView(sent, target, partWork(step, part), max(largest, 0)),
    arrivals > 1
      ? e.p(e.strong({ class: "sum" }, `Σ ${arrival}/${arrivals}`), `${of} times.${sum}`)
      : "",
    checkView(part),
    formula?.source ? sourceView(formula) : "",
  );
}

/** The rule as it is written in the program. */
function sourceView({ source, place, origin }) {
  const tested = place.startsWith("minigrad/") ? " and tested" : ""; // a user's formula is not
  const kernel = `The rule is a kernel; its formula is written beside it${tested}`;
  const caption = origin === "written" ? kernel : "The rule";
  return e.details(
    { open: source.split("\n").length < 3 },
    e.summary(place ? `${caption}: ${place}` : caption),
    e.pre({ class: "rule", tabindex: 0 }, source),
  );
}

/** The finite difference of this very step. */
function checkView({ check, unchecked }) {
  if (check === null)
    return e.p({ class: "check" }, `– not checked by a finite difference: ${unchecked}`);
  const where = unchecked ? "beside it the rule " : "";
  const told = unchecked && e.p({ class: "check" }, `◇ a finite difference of the op: ${unchecked}`);
  const [kind, verdict] = check < 1e-3 ? ["right", "✓ agrees with"] : ["wrong", "✗ differs from"];
  const words = `${verdict} a finite difference of the op: relative error ${number(check)}`;
  return [told, e.p({ class: `check ${kind}` }, where + words)];
}

/** What every leaf has in the end. */
function endView() {
  const leaves = [...data.sharesOf].filter(([id]) => data.box(id).kind !== "op");
  const item = ([id, shares]) => {
    const { part } = shares.at(-1);
    const sum = ` ${sized(part.total ?? part.sent, "Σ")}. `;
    return e.li(link.box(id, data.box(id).label), sum, data.box(id).held);
  };
  return [
    e.p("Every leaf has the sum of its shares."),
    e.ul(leaves.map(item)),
  ];
}
