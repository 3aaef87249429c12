// Formulas in the page: arrays { shape, data } in float64, and the functions that terms.py names.

const rangeOf = (n) => Array.from({ length: n }, (_, at) => at);

const asArray = (value) => {
  if (value?.data) return value;
  if (value?.shape) return { shape: value.shape, data: value.values.map(Number) };
  return { shape: [], data: [Number(value)] };
};

const stridesOf = (shape) => shape.map((_, axis) => sizeOf(shape.slice(axis + 1)));

/** Where the entries of an array with this shape and these strides lie in memory, in order. */
function placesOf(shape, strides) {
  let places = [0];
  shape.forEach((n, axis) => {
    const steps = rangeOf(n).map((i) => i * strides[axis]);
    places = places.flatMap((place) => steps.map((step) => place + step));
  });
  return places;
}

/** For each entry of a shape the place in an array that is broadcast to it. */
function spreadPlaces(own, shape) {
  const [extra, strides] = [shape.length - own.length, stridesOf(own)];
  const repeated = (axis) => axis < extra || own[axis - extra] === 1;
  return placesOf(shape, shape.map((_, axis) => (repeated(axis) ? 0 : strides[axis - extra])));
}

/** The shape that arrays are broadcast to. */
function commonShape(shapes) {
  const rank = max(0, ...shapes.map((shape) => shape.length));
  const longest = (sizes) => sizes.find((n) => n !== 1) ?? 1;
  return rangeOf(rank).map((axis) => longest(shapes.map((one) => one.at(axis - rank) ?? 1)));
}

const axesOf = (axis, rank) =>
  axis === null ? rangeOf(rank) : [axis].flat().map((one) => (one + rank) % rank);

/** The error function, by its series, or by its continued fraction where that converges. */
function erf(x) {
  if (abs(x) > 3) {
    let rest = 0;
    for (let k = 60; k; k--) rest = k / 2 / (abs(x) + rest);
    return Math.sign(x) * (1 - Math.exp(-x * x) / (abs(x) + rest) / Math.sqrt(Math.PI));
  }
  let [term, total] = [x, x];
  for (let n = 1; n < 80; n++) {
    term *= (-x * x) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

/** Functions of entries. */
const ELEMENTWISE = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  pow: (a, b) => a ** b,
  neg: (x) => -x,
  gt: (a, b) => +(a > b),
  ge: (a, b) => +(a >= b),
  lt: (a, b) => +(a < b),
  le: (a, b) => +(a <= b),
  eq: (a, b) => +(a === b),
  ne: (a, b) => +(a !== b),
  not: (x) => +!x,
  and: (a, b) => +!!(a && b),
  or: (a, b) => +!!(a || b),
  where: (test, a, b) => (test ? a : b),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  fmax: (a, b) => (b >= a || Number.isNaN(a) ? b : a),
  fmin: (a, b) => (b <= a || Number.isNaN(a) ? b : a),
  isnan: (x) => +Number.isNaN(x),
  isfinite: (x) => +Number.isFinite(x),
  erf,
  ...Object.fromEntries(
    [
      ..."exp log log1p expm1 log2 log10 sqrt cbrt abs sign floor ceil trunc hypot max min".split(" "),
      ..."sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh".split(" "),
    ].map((name) => [name, Math[name]]),
  ),
};

/** Functions that move entries: the shape of the result, and where each of its entries was. */
const MOVES = {
  reshape: ({ data }, shape) => ({ shape, places: rangeOf(data.length) }),
  broadcast: ({ shape: own }, shape) => ({ shape, places: spreadPlaces(own, shape) }),
  take: (_, shape, places) => ({ shape, places }),
  take_along: ({ shape }, indices, axis) => ({ shape: indices.shape, places: placesAlong(shape, indices, axis) }),
  swapaxes({ shape: own }, ...pair) {
    const [one, other] = axesOf(pair, own.length);
    const swapped = (list) => list.with(one, list[other]).with(other, list[one]);
    return { shape: swapped(own), places: placesOf(swapped(own), swapped(stridesOf(own))) };
  },
  highest: (x, axis, kept) => extremes(x, axis, kept, 1),
  lowest: (x, axis, kept) => extremes(x, axis, kept, -1),
};

/** Functions that add products, or entries: the shape, and of each result the places. */
const SUMS = {
  sum({ shape }, axis, kept) {
    const [axes, strides] = [axesOf(axis, shape.length), stridesOf(shape)];
    const within = axes.map((one) => shape[one]);
    const reach = placesOf(within, axes.map((one) => strides[one]));
    const outer = rangeOf(shape.length).filter((one) => !axes.includes(one));
    const starts = placesOf(outer.map((one) => shape[one]), outer.map((one) => strides[one]));
    const left = shape.flatMap((n, one) => (!axes.includes(one) ? [n] : kept ? [1] : []));
    return { shape: left, terms: (place) => reach.map((step) => [starts[place] + step]) };
  },
  mean(x, axis, kept) {
    const found = SUMS.sum(x, axis, kept);
    return { ...found, over: x.data.length / max(1, sizeOf(found.shape)) };
  },
  /** The sum over axes along which an array of this shape was broadcast. */
  shrunk: (x, shape) => SUMS.put(x, spreadPlaces(shape, x.shape), shape),
  /** Entries go to places, each with a factor. */
  weigh: (x, factors, shape, to, from) => gathered(shape, to.map((place, at) => [place, from[at], at])),
  /** Entries go to places, and several to one add up. */
  put: (x, places, shape) => gathered(shape, places.map((place, from) => [place, from])),
  put_along: (x, indices, shape, axis) => SUMS.put(x, placesAlong(shape, indices, axis), shape),
  matmul(a, b) {
    const one = a.shape.length > 1 ? a.shape : [1, ...a.shape];
    const two = b.shape.length > 1 ? b.shape : [...b.shape, 1];
    const [n, m, length] = [one.at(-2), two.at(-1), one.at(-1)];
    const stack = commonShape([one.slice(0, -2), two.slice(0, -2)]);
    const first = spreadPlaces(one.slice(0, -2), stack).map((place) => place * n * length);
    const second = spreadPlaces(two.slice(0, -2), stack).map((place) => place * length * m);
    const shape = [...stack, ...(a.shape.length > 1 ? [n] : []), ...(b.shape.length > 1 ? [m] : [])];
    const terms = (place) => {
      const [at, row, column] = [floor(place / (n * m)), floor(place / m) % n, place % m];
      return rangeOf(length).map((k) => [first[at] + row * length + k, second[at] + k * m + column]);
    };
    return { shape, terms };
  },
  convolution: (x, weight, _bias, ...options) =>
    windows(x.shape, weight.shape, options, (one, w, y) => [y, one, w]),
  convolution_transpose: (y, weight, size, ...options) =>
    windows([y.shape[0], weight.shape[1] * options.at(-1), ...size], weight.shape, options,
      (one, w, to) => [one, to, w], "x"),
  convolution_weight: (x, y, ...options) =>
    windows(x.shape, [y.shape[1], x.shape[1] / options.at(-1), ...options[0][0]], options,
      (one, w, to) => [w, one, to], "weight"),
};

/** Sums of products, which are given as the place of the sum and those of the factors. */
function gathered(shape, products) {
  const terms = new Map();
  for (const [place, ...product] of products) push(terms, place, product);
  return { shape, terms: (place) => terms.get(place) ?? [] };
}

/** All products of a convolution. */
function windows(inner, weight, [[, stride, padding, dilation], groups], order, result = "y") {
  const [outputs, channels, ...kernel] = weight;
  const spatial = inner.slice(2);
  const reach = kernel.map((n, axis) => (n - 1) * dilation[axis] + 1);
  const counts = spatial.map(
    (n, axis) => floor((n + padding[axis][0] + padding[axis][1] - reach[axis]) / stride[axis]) + 1,
  );
  const shapes = { x: inner, weight, y: [inner[0], outputs, ...counts] };
  const [from, to] = [stridesOf(inner), stridesOf(shapes.y)];
  const unravel = (place, shape) => stridesOf(shape).map((step, axis) => floor(place / step) % shape[axis]);
  const products = [];
  const near = rangeOf(sizeOf(counts)).map((place) => unravel(place, counts));
  rangeOf(sizeOf(weight)).forEach((w) => {
    const [o, c, ...k] = unravel(w, weight);
    const channel = c + channels * floor((o * groups) / outputs);
    for (const p of near) {
      const at = p.map((i, axis) => i * stride[axis] + k[axis] * dilation[axis] - padding[axis][0]);
      if (!at.every((i, axis) => i >= 0 && i < spatial[axis])) continue;
      for (let n = 0; n < inner[0]; n++) {
        const place = (index, strides) => index.reduce((sum, i, axis) => sum + i * strides[axis], 0);
        products.push(order(place([n, channel, ...at], from), w, place([n, o, ...p], to)));
      }
    }
  });
  return gathered(shapes[result], products);
}

/** Of each part along an axis, the place of the largest entry, or of the smallest. */
function extremes(x, axis, kept, sign) {
  const { shape, terms } = SUMS.sum(x, axis, kept);
  const best = (one, other) => (sign * x.data[other] <= sign * x.data[one] ? one : other);
  return { shape, places: rangeOf(sizeOf(shape)).map((at) => terms(at).flat().reduce(best, -1)) };
}

/** The places in an array of this shape that indices along an axis mean. */
function placesAlong(shape, indices, axis) {
  const [at] = axesOf(axis, shape.length);
  const [n, step, count] = [shape[at], stridesOf(shape)[at], indices.shape[at]];
  const around = (place) => floor(place / (count * step)) * n * step + (place % step);
  return indices.data.map((index, place) => around(place) + ((index + n) % n) * step);
}

/** The indices that sort along an axis, or the first of them; NaN is greater than any number. */
function sortedIndices({ shape, data }, axis, descending, count) {
  const [at] = axesOf(axis, shape.length);
  const [n, step, sign] = [shape[at], stridesOf(shape)[at], descending ? -1 : 1];
  const order = (a, b) => sign * (Number.isNaN(a) - Number.isNaN(b) || a - b);
  const found = { shape: shape.with(at, count ?? n), data: [] };
  data.forEach((_, place) => {
    if (floor(place / step) % n) return; // not the first along the axis
    const entry = (i) => data[place + i * step];
    const sorted = rangeOf(n).sort((i, j) => order(entry(i), entry(j)));
    const first = floor(place / (n * step)) * found.shape[at] * step + (place % step);
    rangeOf(found.shape[at]).forEach((k) => (found.data[first + k * step] = sorted[k]));
  });
  return found;
}

/** The values of terms: `arrays` finds those of names, and `defined` has terms for other names. */
class Values {
  constructor(arrays, defined) {
    Object.assign(this, { arrays, defined, known: new Map() });
  }

  /** The value of a term: an array, a row of numbers, or the term itself. */
  of(term) {
    if (!Array.isArray(term) && typeof term !== "string") return term?.shape ? asArray(term) : term;
    if (!this.known.has(term)) this.known.set(term, this.compute(term));
    return this.known.get(term);
  }

  array(term) {
    return asArray(this.of(term));
  }

  /** How a call moves or adds entries. */
  plan([name, x, ...rest]) {
    return (MOVES[name] ?? SUMS[name])(this.array(x), ...rest.map((one) => this.of(one)));
  }

  compute(term) {
    if (typeof term === "string") {
      return term in this.defined ? this.of(this.defined[term]) : this.arrays(term);
    }
    const [name, ...args] = term;
    if (name === "row") return args.map((arg) => this.of(arg));
    if (name === "order") return sortedIndices(...args.map((arg) => this.of(arg)));
    if (name === "join") {
      const data = args.flatMap((arg) => this.array(arg).data);
      return { shape: [data.length], data };
    }
    if (ELEMENTWISE[name]) {
      const arrays = args.map((arg) => this.array(arg));
      const shape = commonShape(arrays.map((array) => array.shape));
      const places = arrays.map((array) => spreadPlaces(array.shape, shape));
      const entry = (at) => ELEMENTWISE[name](...arrays.map(({ data }, i) => data[places[i][at]]));
      return { shape, data: rangeOf(sizeOf(shape)).map(entry) };
    }
    const { shape, places, terms, over = 1 } = this.plan(term);
    const [one, other] = args.map((arg) => this.array(arg).data);
    if (places) return { shape, data: places.map((place) => one[place] ?? 0) };
    const product = ([first, second]) => one[first] * (second === undefined ? 1 : other[second]);
    const sum = (at) => terms(at).reduce((total, places) => total + product(places), 0) / over;
    return { shape, data: rangeOf(sizeOf(shape)).map(sum) };
  }
}
