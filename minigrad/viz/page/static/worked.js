// One entry of an array worked out in numbers, from the formula of the op or of its rule.

const SUMMANDS = 6; // a longer sum is written with its largest terms
const ROUNDED = 0.02; // of the largest entry: how far a result may be off that is made of three digits
const EXACT = 1e-4;

/** The values of what the terms of an op name, and those of a step of it, where `g` is known. */
function valuesOf({ node, cotangent }, defined = {}) {
  const op = data.box(node);
  const terms = Object.fromEntries(
    Object.entries(op.terms).flatMap(([name, [term, names]]) => Object.entries({ ...names, [name]: term })),
  );
  delete terms.out;
  const boxes = new Map(op.arguments);
  const arrays = (name) => {
    if (name in op.given) return asArray(op.given[name]);
    const known = { g: cotangent, out: op.value };
    const kept = op.saved.find((one) => one.name === name)?.numbers;
    const summary = known[name] ?? data.box(boxes.get(name))?.value ?? kept;
    if (!summary) throw new RangeError(`${name} is not known`);
    if (!isWhole(summary)) throw new RangeError(`only a part of ${name} is known`);
    values.rounded ||= sizeOf(summary.shape) > SMALL;
    return { shape: summary.shape, data: preciseOf(summary) };
  };
  const values = new Values(arrays, { ...terms, ...defined });
  return values;
}

/** The entry of a term at a place: { leaf, number }, { name, args } or a number. */
function entryOf(values, term, place, within = false) {
  if (typeof term !== "string" && !Array.isArray(term)) return values.array(term).data[place];
  if (typeof term === "string") return leafOf(values, term, place);
  const [name, ...args] = term;
  const at = (arg, own = place) => entryOf(values, arg, own, within);
  if (ELEMENTWISE[name]) {
    const { shape } = values.array(term);
    const spread = (arg) => spreadPlaces(values.array(arg).shape, shape)[place];
    if (name === "where") {
      const [test, then, other] = args;
      const [condition, entry, rest] = args.map((arg) => at(arg, spread(arg)));
      if (other === 0) return { name: "mul", args: [entry, condition] };
      if (then === 0) return { name: "mul", args: [rest, { name: "not", args: [condition] }] };
      return numberOf(condition) ? entry : rest;
    }
    return { name, args: args.map((arg) => at(arg, spread(arg))) };
  }
  if (MOVES[name]) {
    const from = values.plan(term).places[place];
    return from < 0 ? 0 : at(args[0], from);
  }
  if (name === "join") {
    const sizes = args.map((arg) => values.array(arg).data.length);
    let which = 0;
    while (place >= sizes[which]) place -= sizes[which++];
    return at(args[which], place);
  }
  return SUMS[name] && !within ? sumOf(values, term, place) : leafOf(values, term, place);
}

/** The sum that a product of matrices, a sum or a mean takes. */
function sumOf(values, term, place) {
  const { terms, over = 1 } = values.plan(term);
  const factors = terms(place).map((places) =>
    places.map((one, i) => entryOf(values, term[1 + i], one, true)),
  );
  const weighed = term[0] === "weigh"; // the factor comes first
  const products = factors.map(([one, other = 1]) =>
    other === 1 ? one : { name: "mul", args: weighed ? [other, one] : [one, other] },
  );
  const sum = added(products);
  return over === 1 ? sum : { name: "div", args: [sum, over] };
}

/** A sum of entries; of many, the largest are written. */
function added(entries) {
  const numbers = entries.map(numberOf);
  let shown = [...entries.keys()];
  const rest = [];
  if (entries.length > SUMMANDS) {
    const larger = (one, other) => abs(numbers[other]) - abs(numbers[one]);
    shown = shown.sort(larger).slice(0, SUMMANDS - 2).sort((one, other) => one - other);
    const left = numbers.reduce((sum, one, at) => (shown.includes(at) ? sum : sum + one), 0);
    rest.push({ leaf: `… (${entries.length - shown.length} more)`, number: left, rest: true });
  }
  const parts = [...shown.map((at) => entries[at]), ...rest];
  return parts.length ? parts.reduce((one, other) => ({ name: "add", args: [one, other] })) : 0;
}

function leafOf(values, term, place) {
  const { shape, data } = values.array(term);
  const leaf = namedAs(term) + indexText(shape, place);
  return { leaf, number: data[place], term, place, rounded: data.length > SMALL };
}

/** The place of an entry, as an index; nothing for a number. */
function indexText(shape, place) {
  const at = stridesOf(shape).map((step, axis) => floor(place / step) % shape[axis]);
  return shape.length ? `[${at.join(", ")}]` : "";
}

const numberOf = (entry) => {
  if (typeof entry === "number") return entry;
  return entry.args ? ELEMENTWISE[entry.name](...entry.args.map(numberOf)) : entry.number;
};

/** What a term is called: its name, or the function and its first argument. */
function namedAs(term) {
  if (Array.isArray(term)) return `${term[0]}(${namedAs(term[1])})`;
  return { g: "ḡ", out: "y" }[term] ?? (typeof term === "object" ? "constant" : String(term));
}

const SIGNS = { gt: ">", ge: "≥", lt: "<", le: "≤", eq: "=", ne: "≠", and: "and", or: "or" };
const SUPERSCRIPTS = { 2: "²", 3: "³", 4: "⁴", "−1": "⁻¹" };

/** An entry as text, and how closely it is bound: 1 a sum, 2 a product, 3 a power, 4 a whole. */
function spelled(entry, inNumbers) {
  const value = (one) => (one < 0 ? [number(one), 1] : [number(one), 4]);
  if (typeof entry === "number") return value(entry);
  const { name, args, leaf, rest } = entry;
  if (!args) return inNumbers && !rest ? value(entry.number) : [leaf, 4];
  const part = (at, least) => {
    const [text, bound] = spelled(args[at], inNumbers);
    return bound >= least ? text : `(${text})`;
  };
  if (name === "add" || name === "sub") {
    const [left, right] = [part(0, 1), part(1, name === "add" ? 1 : 2)];
    if (name === "add" && right.startsWith("−")) return [`${left} − ${right.slice(1)}`, 1];
    return [`${left} ${name === "add" ? "+" : "−"} ${right}`, 1];
  }
  if (name === "mul") return [`${part(0, 2)} · ${part(1, 2)}`, 2];
  if (name === "div") return [`${part(0, 2)} / ${part(1, 3)}`, 2];
  if (name === "neg") return [`−${part(0, 2)}`, 1];
  if (name === "pow") {
    const exponent = part(1, 4);
    return [`${part(0, 4)}${SUPERSCRIPTS[exponent] ?? `^${exponent}`}`, 3];
  }
  if (SIGNS[name]) return [`[${part(0, 1)} ${SIGNS[name]} ${part(1, 1)}]`, 4];
  if (name === "not") return [`[not ${part(0, 4).replace(/^\[(.*)\]$/, "$1")}]`, 4];
  const called = { sqrt: "√", sigmoid: "σ" }[name] ?? name;
  return [`${called}(${args.map((_, at) => part(at, 1)).join(", ")})`, 4];
}

/** All leaves of an entry. */
const leavesOf = (entry) => (entry.args ? entry.args.flatMap(leavesOf) : entry.leaf ? [entry] : []);

/** Lines of text: an entry in names and in numbers, then the meaning of its names. */
function equationsOf(values, term, place) {
  const lines = [];
  const seen = new Set();
  const entries = [["", entryOf(values, term, place)]];
  for (const [left, entry] of entries) {
    const result = numberOf(entry);
    const leaves = leavesOf(entry);
    const [names, numbers] = [false, true].map((inNumbers) => spelled(entry, inNumbers)[0]);
    const exact = [entry, ...leaves].every((one) => !one.rounded && threeDigits(numberOf(one)));
    const sides = [...new Set([numbers, number(result)])];
    lines.push([left + names, sides.map((side) => `${exact ? "=" : "≈"} ${side}`).join(" ")]);
    for (const leaf of leaves) {
      const inner = behind(values, leaf);
      if (inner === null || seen.has(String(leaf.term))) continue;
      seen.add(String(leaf.term));
      entries.push([`${leaf.leaf} = `, inner]);
    }
  }
  return lines;
}

/** What a leaf is if it is of a definition or a sum, unless that is just an entry. */
function behind(values, { term, place }) {
  let found = null;
  if (typeof term === "string" && term in values.defined)
    found = entryOf(values, values.defined[term], place);
  else if (Array.isArray(term) && SUMS[term[0]]) found = sumOf(values, term, place);
  return found?.args ? found : null;
}

const threeDigits = (value) => !(abs(value - +number(value).replace("−", "-")) > 1e-6 * abs(value));

// In the panel ------------------------------------------------------------------------------------

/** The equations of an entry of an array, in the page's arithmetic; what else there is to say. */
function worked(step, found, summary, place) {
  if (!found) return "The page cannot compute what this op does.";
  try {
    let [term] = found;
    const values = valuesOf(step, found[1]);
    if (values.array(term).data.length !== sizeOf(summary.shape))
      term = ["shrunk", term, ["row", ...summary.shape]];
    const right = entriesOf(summary)[place];
    const lines = equationsOf(values, term, place);
    const largest = max(abs(summary.low), abs(summary.high));
    const close = sizeOf(summary.shape) > SMALL || values.rounded ? ROUNDED : EXACT;
    const result = values.array(term).data[place];
    if (Object.is(result, right) || abs(result - right) <= close * largest) return lines; // ±∞ too
    return `From the rounded numbers of this page it would be ${number(result)}: it is not worked out here.`;
  } catch (error) {
    if (error instanceof RangeError) return `This entry cannot be worked out: ${error.message}.`;
    throw error;
  }
}

/** What a step sends to an argument, entry by entry. */
const partWork = (step, part) => (place) => worked(step, part.term, part.sent, place);

/** The value of a box, entry by entry; nothing if the page does not know how it is computed. */
function valueWork(id) {
  const leaves = ({ source, target }) => within(data, source, id) && !within(data, target, id);
  const last = data.group.has(id) ? data.edges.find(leaves)?.source : id;
  const { out } = data.box(last)?.terms ?? {};
  return out && ((place) => worked({ node: last }, out, data.box(id).value, place));
}

/** A gradient, entry by entry: the shares that it is the sum of. */
function gradientWork(shares) {
  if (!shares.length) return null;
  if (shares.length === 1) return partWork(shares[0].step, shares[0].part);
  return (place) => {
    const known = shares.every(({ part }) => isWhole(part.sent));
    if (!known) return "Of some of its shares only a part is known.";
    const leaf = ({ at, step, part }) => {
      const numbers = entriesOf(part.sent);
      const told = `${step.op}, ${part.name}`;
      return { leaf: `(step ${at}: ${told})`, number: numbers[place], rounded: numbers.length > SMALL };
    };
    const sum = added(shares.map(leaf));
    return [[spelled(sum)[0], `≈ ${spelled(sum, true)[0]} ≈ ${number(numberOf(sum))}`]];
  };
}

/** An index is not broken. */
const unbroken = (text) => text.replace(/(\d), (?=\d)/g, "$1,\u00a0");

/** One entry in names and numbers, with its place before it. */
function workedView(summary, place, work) {
  const head = summary.shape.length ? `The entry ${indexText(summary.shape, place)} ` : "This number ";
  const told = work(place);
  const line = ([names, numbers]) => e.p(unbroken(names), e.br(), unbroken(numbers));
  const value = `${head}is ${number(entriesOf(summary)[place])}`;
  if (told instanceof Element) return [e.p(e.b(value), "."), told];
  if (typeof told === "string") return [e.p(e.b(value), ". ", told)];
  return [e.p(e.b(value), ":"), e.div({ class: "equations", tabindex: 0 }, told.map(line))];
}

/** Which of the reader's tensors the arguments of a rule are. */
function argumentsView(step) {
  const told = data.box(step.node).arguments.map(([name, id]) => {
    const made = data.stepOf.has(id) ? "the output of " : "";
    return [e.i(name), ` is ${made}`, e.code(link.box(id))];
  });
  return told.length ? e.p({ class: "arguments" }, listed(told, ", ")) : "";
}
