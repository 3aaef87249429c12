// One open group with numbers: minigrad/viz/layout/pack.py again, operation by operation.

const MARGIN = 16;
const PAD = 14;
const BESIDE = 22;
const LANE = 12;
const PIN = 16;
const GAP = 24;
const STEEP = 8;
const WIDEST = 48;
const SHORT = 14;
const TEXT = 15;
const INDENT = 5;

/** One open group, measured from the left upper corner of its frame. */
function pack(scope, skeleton, inner) {
  const { ranks, links: rows } = skeleton.scopes[scope];
  const links = rows.map(([way, tensor]) => ({ way, tensor, source: way[0], target: way.at(-1) }));
  const rank = {};
  const index = {};
  const items = ranks.flat();
  ranks.forEach((row, at) =>
    row.forEach((item, place) => ([rank[item], index[item]] = [at, place])),
  );
  const isBox = (item) => inner.has(item) || item in skeleton.sizes;
  const sizes = {};
  for (const item of items) {
    const group = inner.get(item);
    sizes[item] = group ? [group.width, group.height] : (skeleton.sizes[item] ?? [0, 0]);
  }
  const fed = new Set(links.map((link) => link.target));
  const outside = (link) => rank[link.target] - rank[link.source] > link.way.length - 1;
  const weigh = (link) => {
    if (link.way.length > 2 || outside(link)) return 1;
    return fed.has(link.source) || !isBox(link.source) ? 2 : 0;
  };

  /** How far right of the middle of an item a tensor comes in or goes out. */
  function door(item, port) {
    const width = sizes[item][0];
    if (inner.has(item)) return inner.get(item).doors.get(port) - floor(width / 2);
    if (item in skeleton.scopes) {
      const ports = skeleton.scopes[item].ranks.at(port.startsWith("in:") ? 0 : -1);
      return part(width, ports.indexOf(port), ports.length);
    }
    return 0;
  }

  // What is written at the foot of each box.
  const texts = new Map();
  for (const link of links) {
    const closed = !inner.has(link.source) && link.source in skeleton.sizes;
    if (closed && link.tensor in skeleton.texts) {
      if (!texts.has(link.source)) texts.set(link.source, new Map());
      texts.get(link.source).set(link.tensor, door(link.source, `out:${link.tensor}`));
    }
  }

  // How far right of the middle of its target each link comes in.
  const pins = links.map(() => 0);
  const into = new Map();
  links.forEach((link, number) => {
    if (link.target in skeleton.scopes) pins[number] = door(link.target, `in:${link.tensor}`);
    else if (link.target in skeleton.sizes) {
      const upper = link.way.at(-2);
      const far = outside(link);
      const key = [+far, far ? 0 : index[upper], door(upper, `out:${link.tensor}`), number];
      if (!into.has(link.target)) into.set(link.target, []);
      into.get(link.target).push([...key, weigh(link)]);
    }
  });
  for (const [target, found] of into) {
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]);
    const width = sizes[target][0];
    const count = found.length;
    const weights = found.map((key) => key[4]);
    const most = max(...weights);
    let middle = weights.indexOf(most) * 2;
    if (weights.filter((weight) => weight === most).length > 1) middle = count - 1;
    const widest = max(middle, 2 * (count - 1) - middle, 1);
    const step = min(PIN, floor((width - 16) / widest));
    found.forEach((key, at) => {
      pins[key[3]] = skeleton.named.includes(target)
        ? part(width, at, count)
        : floor(((2 * at - middle) * step) / 2);
    });
  }

  // The ways of all links from rank to rank; those of one tensor share the first part.
  const segments = new Map();
  links.forEach((link, number) => {
    if (outside(link)) return;
    let leaves = door(link.source, `out:${link.tensor}`);
    for (let at = 1; at < link.way.length; at++) {
      const [upper, lower] = [link.way[at - 1], link.way[at]];
      const segment = [upper, lower, leaves, lower === link.target ? pins[number] : 0];
      segments.set(segment.join("\n"), segment);
      leaves = 0;
    }
  });

  // From left to right.
  const right = (item) => {
    const ends = [...(texts.get(item) ?? [])].map(
      ([tensor, shift]) => shift + INDENT + skeleton.texts[tensor][1],
    );
    return max(floor(sizes[item][0] / 2), ...ends, 0);
  };
  const number = Object.fromEntries(items.map((item, at) => [item, at]));
  const rooms = items.map((item) => {
    const margin = isBox(item) ? BESIDE : LANE;
    return [floor((sizes[item][0] + margin) / 2), right(item) + floor(margin / 2)];
  });
  const ways = new Map();
  for (const [upper, lower, leaves, enters] of segments.values()) {
    const key = `${upper}\n${lower}`;
    if (!ways.has(key)) ways.set(key, [upper, lower, []]);
    ways.get(key)[2].push(leaves - enters);
  }
  const isDummy = (item) => !isBox(item) && rank[item] > 0 && rank[item] < ranks.length - 1;
  const pulls = [...ways.values()].map(([upper, lower, shifts]) => {
    const dummies = isDummy(upper) + isDummy(lower);
    const leaf = isBox(upper) && !fed.has(upper);
    const shift = floor(shifts.reduce((a, b) => a + b) / shifts.length);
    return [number[upper], number[lower], shift, dummies ? 0.02 : leaf ? 0.5 : 4, dummies === 2];
  });
  const aligned = align(
    ranks.map((row) => row.map((item) => number[item])),
    rooms.map((room) => room[0]),
    rooms.map((room) => room[1]),
    pulls,
  );
  const middles = Object.fromEntries(items.map((item, at) => [item, aligned[at]]));

  // The lanes of tensors that run outside.
  const spans = new Map();
  const lanes = new Map();
  const free = [];
  for (const link of links) {
    if (!outside(link)) continue;
    const first = rank[link.source];
    const last = rank[link.target];
    if (!spans.has(link.tensor)) spans.set(link.tensor, [first, last]);
    spans.get(link.tensor)[1] = max(last, spans.get(link.tensor)[1]);
  }
  for (const [tensor, [first, last]] of spans) {
    let lane = free.findIndex((until) => until <= first);
    if (lane < 0) lane = free.length;
    free[lane] = last;
    lanes.set(tensor, lane);
  }

  // Everything into the frame.
  const least = (values) => values.reduce((a, b) => min(a, b), Infinity);
  const most = (values) => values.reduce((a, b) => max(a, b), -Infinity);
  const pad = scope === TOP ? MARGIN : PAD;
  const low = items.length
    ? least(items.map((item) => middles[item] - floor(sizes[item][0] / 2)))
    : 0;
  const high = items.length ? most(items.map((item) => middles[item] + right(item))) : 0;
  let width = high - low + (max(...lanes.values(), -1) + 1) * LANE + 2 * pad;
  let shift = pad - low;
  let start = pad;
  if (scope !== TOP) {
    const ports = ranks[0].map((port) => middles[port] + shift);
    const [left, lack] = beside(skeleton.titles[scope][0], ports, width);
    const balance = ports.length ? ports[0] + ports.at(-1) + lack - width : lack;
    start = left;
    shift += lack;
    width += lack + min(max(balance, 0), lack);
  }
  for (const item of items) middles[item] += shift;
  for (const [tensor, lane] of lanes) lanes.set(tensor, high + shift + (lane + 1) * LANE);
  width += width % 2;

  // From the top down.
  const tall = (item) => sizes[item][1] + (texts.has(item) ? TEXT : 0);
  const aside = ranks.map(() => 0);
  const arrows = ranks.map(() => false);
  for (const [upper, lower, leaves, enters] of segments.values()) {
    const row = rank[upper];
    const way = middles[lower] + enters - middles[upper] - leaves;
    aside[row] = max(aside[row], abs(way));
    arrows[row] ||= isBox(lower) && !inner.has(lower);
  }
  for (const link of links) {
    if (!outside(link)) continue;
    for (const row of [rank[link.source], rank[link.target] - 1]) aside[row] = width;
  }
  let y = scope === TOP ? MARGIN : skeleton.titles[scope][1] + 8;
  const tops = [0];
  const bottoms = [y];
  const last = ranks.length - 1;
  for (let row = 0; row < last; row++) {
    if (row === last - 1 && !ranks[last].length) y += scope === TOP ? MARGIN : PAD;
    else if (row || ranks[0].length) {
      const gap = arrows[row] || aside[row] ? GAP : SHORT;
      y += min(gap + floor(aside[row] / STEEP), WIDEST);
    }
    tops.push(y);
    y += ranks[row + 1].reduce((most, item) => max(most, tall(item)), 0);
    bottoms.push(y);
  }
  const head = (item) => {
    const row = rank[item];
    const room = bottoms[row] - tops[row] - tall(item);
    return tops[row] + (fed.has(item) ? floor(room / 2) : room);
  };
  const foot = (item) => (isBox(item) ? head(item) + sizes[item][1] : 0);

  /** The points of a link, from its source down to its target. */
  function line({ source, target, tensor, way }, pin) {
    let x = middles[source] + door(source, `out:${tensor}`);
    const points = [
      [x, foot(source)],
      [x, bottoms[rank[source]]],
    ];
    for (const dummy of way.slice(1, -1)) {
      x = middles[dummy];
      points.push([x, tops[rank[dummy]]], [x, bottoms[rank[dummy]]]);
    }
    if (outside({ source, target, way })) {
      x = lanes.get(tensor);
      points.push([x, tops[rank[source] + 1]], [x, bottoms[rank[target] - 1]]);
    }
    x = middles[target] + pin;
    points.push([x, tops[rank[target]]]);
    if (isBox(target)) points.push([x, head(target)]);
    return points;
  }

  const doors = new Map();
  for (const port of [...ranks[0], ...ranks.at(-1)]) doors.set(port, middles[port]);
  return {
    width,
    height: bottoms.at(-1),
    title: [start, 6],
    doors,
    corners: new Map(
      items
        .filter(isBox)
        .map((item) => [item, [middles[item] - floor(sizes[item][0] / 2), head(item)]]),
    ),
    lines: links.map((link, at) => line(link, pins[at])),
    texts: [...texts].flatMap(([item, found]) =>
      [...found].map(([tensor, at]) => [tensor, middles[item] + at + INDENT, foot(item) + 2]),
    ),
  };
}

/** The left end of a title beside the tensors that come in, and how much room it lacks. */
function beside(need, ports, width) {
  const starts = [PAD, ...ports.map((port) => port + 8)];
  const ends = [...ports.map((port) => port - 8), width - PAD];
  const fits = starts.findIndex((start, at) => ends[at] - start >= need);
  if (fits >= 0) return [starts[fits], 0];
  const lack = need - (ends[0] - starts[0]);
  return [PAD, ports.length ? lack : floor((lack + 1) / 2)];
}

/** How far right of the middle the middle of one of so many equal parts is. */
function part(width, index, count) {
  return floor((width * (2 * index + 1)) / (2 * count)) - floor(width / 2);
}
