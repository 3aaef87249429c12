// From sizes to positions: minigrad/viz/layout/pack.py again, for what is open now.

const { abs, floor, max, min } = Math;
const TOP = "";
const [MARGIN, PAD, BESIDE, LANE] = [16, 14, 22, 12];
const [GAP, STEEP, WIDEST, SHORT] = [24, 8, 48, 14];
const [TEXT, INDENT] = [15, 5];

const largest = (values, least) => values.reduce((a, b) => max(a, b), least);

/** Widths, heights and ends of lines in a group, of which the groups in `packed` are open. */
function measure({ items, lines }, packed) {
  const inner = items.map((box) => (box && packed.get(box[0])) || null);
  const door = (item, [shift, port]) =>
    inner[item] ? inner[item].x[port] - floor(inner[item].width / 2) : shift;
  const width = items.map((box, at) => inner[at]?.width ?? box?.[1] ?? 0);
  return {
    inner,
    width,
    height: items.map((box, at) => inner[at]?.height ?? box?.[2] ?? 0),
    reach: items.map((box, at) => (box && !inner[at] ? box[3] : floor(width[at] / 2))),
    ends: lines.map(([way, out, into]) => [door(way[0], out), door(way.at(-1), into)]),
  };
}

/** The items of a group with positions, from the upper left corner of its frame. */
function pack(scope, packed) {
  const { title: words, rows, items, lines } = scope;
  const m = measure(scope, packed);
  const middles = columns(scope, m);

  // From left to right.
  const pad = words ? PAD : MARGIN;
  const empty = items.length ? -Infinity : 0;
  const low = -largest(middles.map((x, at) => floor(m.width[at] / 2) - x), empty);
  const high = largest(middles.map((x, at) => x + m.reach[at]), empty);
  let width = high - low + (largest(lines.map((line) => line[3]), -1) + 1) * LANE + 2 * pad;
  let [shift, title] = [pad - low, pad];
  if (words) {
    const ports = middles.slice(0, rows[0]).map((x) => x + shift);
    const [left, lack] = beside(words[0], ports, width);
    const balance = ports.length ? ports[0] + ports.at(-1) + lack - width : lack;
    title = left;
    shift += lack;
    width += lack + min(max(balance, 0), lack);
  }
  width += width % 2;
  const x = middles.map((middle) => middle + shift);

  // From the top down.
  const row = rows.flatMap((count, number) => Array(count).fill(number));
  const aside = rows.map(() => 0);
  const arrows = rows.map(() => false);
  lines.forEach(([way, , , lane], number) => {
    const last = way.length - 1;
    if (lane >= 0) aside[row[way[0]]] = aside[row[way[last]] - 1] = width;
    for (let at = 1; lane < 0 && at <= last; at++) {
      const [upper, lower] = [way[at - 1], way[at]];
      const start = x[upper] + (at === 1 ? m.ends[number][0] : 0);
      const end = x[lower] + (at === last ? m.ends[number][1] : 0);
      aside[row[upper]] = max(aside[row[upper]], abs(end - start));
      arrows[row[upper]] ||= items[lower] && !m.inner[lower];
    }
  });
  const tall = items.map(
    (box, at) => m.height[at] + (box && !m.inner[at] && box[5].length ? TEXT : 0),
  );
  const tops = [0];
  const bottoms = [words ? words[1] + 8 : MARGIN];
  for (let number = 1, item = rows[0]; number < rows.length; item += rows[number++]) {
    const above = number - 1;
    let gap = 0;
    if (number === rows.length - 1 && !rows[number]) gap = pad;
    else if (above || item) {
      gap = arrows[above] || aside[above] ? GAP : SHORT;
      gap = min(gap + floor(aside[above] / STEEP), WIDEST);
    }
    tops.push(bottoms[above] + gap);
    bottoms.push(tops[number] + largest(tall.slice(item, item + rows[number]), 0));
  }
  const y = items.map((box, at) => {
    const free = box ? bottoms[row[at]] - tops[row[at]] - tall[at] : 0;
    return tops[row[at]] + (box?.[4] ? floor(free / 2) : free);
  });
  const points = lines.map(([way, , , lane], number) => {
    const [first, last] = [way[0], way.at(-1)];
    const [out, into] = m.ends[number];
    return way.flatMap((item) => {
      const right = x[item] + (item === first ? out : 0) + (item === last ? into : 0);
      const found = item === first ? [] : [[right, tops[row[item]]]];
      found.push([right, y[item] + (item === first ? m.height[item] : 0)]);
      if (item !== last) found.push([right, bottoms[row[item]]]);
      if (lane < 0 || item !== first) return found;
      const beyond = high + shift + (lane + 1) * LANE;
      return [...found, [beyond, tops[row[item] + 1]], [beyond, bottoms[row[last] - 1]]];
    });
  });
  return { width, height: bottoms.at(-1), title, x, y, lines: points };
}

/** Place chain after chain, each as near as its neighbours allow to where its line leads. */
function columns({ rows, items, lines, chains }, { width, reach, ends }) {
  const [own, offset] = [[], []];
  const joined = (item, number, at, bow) => {
    const way = lines[number][0];
    const [out, into] = ends[number];
    const away = bow + (at === 1 ? out : 0) - (at === way.length - 1 ? into : 0);
    return item === way[at] ? [way[at - 1], away] : [way[at], -away];
  };
  chains.forEach((chain, number) =>
    chain.forEach((joint, place) => {
      const [other, away] = place ? joined(...joint) : [-1, 0];
      own[joint[0]] = number;
      offset[joint[0]] = place ? offset[other] + away : 0;
    }),
  );
  const after = chains.map(() => []);
  const before = chains.map(() => []);
  const margin = (item) => (items[item] ? BESIDE : LANE);
  let one = 0;
  for (const count of rows) {
    for (const end = one + count; one < end; one++) {
      const two = one + 1;
      if (two === end) continue;
      const left = floor((width[two] + margin(two)) / 2) - offset[two];
      const apart = offset[one] + reach[one] + floor(margin(one) / 2) + left;
      after[own[one]].push([own[two], apart]);
      before[own[two]].push([own[one], -apart]);
    }
  }
  const least = chains.map(() => -Infinity);
  const most = chains.map(() => Infinity);
  chains.forEach(([joint], number) => {
    let wish = joint[3];
    if (joint[1] >= 0) {
      const [other, away] = joined(...joint);
      wish = least[own[other]] + offset[other] + away;
    }
    least[number] = most[number] = min(max(wish, least[number]), most[number]);
    for (const [limits, beyond, tighter] of [[least, after, max], [most, before, min]]) {
      const queue = [number];
      for (const from of queue) {
        for (const [to, apart] of beyond[from]) {
          const limit = tighter(limits[to], limits[from] + apart);
          if (limit !== limits[to]) queue.push(to);
          limits[to] = limit;
        }
      }
    }
  });
  return items.map((_, item) => least[own[item]] + offset[item]);
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

/** Boxes, frames and lines for a choice of closed groups (a Set). */
function place({ scopes, parents }, closed) {
  const shown = new Set([TOP]);
  for (const [group, parent] of Object.entries(parents)) {
    if (!closed.has(group) && shown.has(parent)) shown.add(group);
  }
  const packed = new Map();
  for (const [group, scope] of Object.entries(scopes)) {
    if (shown.has(group)) packed.set(group, pack(scope, packed));
  }
  const { width, height } = packed.get(TOP);
  const empty = { boxes: {}, frames: {}, titles: {}, ports: [], texts: [], edges: {} };
  const result = { width, height, ...empty };
  const origins = new Map([[TOP, [0, 0]]]);
  const exits = ({ items, rows }) => items.length - rows.at(-1);
  for (const group of shown) {
    const [left, top] = origins.get(group);
    const [own, scope] = [packed.get(group), scopes[group]];
    if (scope.title) {
      result.frames[group] = [left, top, own.width, own.height];
      result.titles[group] = [left + own.title, top + 6];
    }
    scope.items.forEach((box, at) => {
      const [x, y] = [left + own.x[at], top + own.y[at]];
      if (!box) {
        if (at < scope.rows[0] || at >= exits(scope)) result.ports.push([x, y]);
        return;
      }
      const [id, wide, tall, , , texts] = box;
      if (packed.has(id)) return origins.set(id, [x - floor(packed.get(id).width / 2), y]);
      result.boxes[id] = [x - floor(wide / 2), y, wide, tall];
      for (const [tensor, shift] of texts)
        result.texts.push([tensor, x + shift + INDENT, y + tall + 2]);
    });
  }
  for (const outwards of [true, false]) {
    for (const group of outwards ? [...shown].reverse() : shown) {
      scopes[group].lines.forEach(([way, , , , edges], number) => {
        if (way.at(-1) >= exits(scopes[group]) !== outwards) return;
        for (const edge of edges)
          extend((result.edges[edge] ??= []), packed.get(group).lines[number], origins.get(group));
      });
    }
  }
  return result;
}

/** Add points to a line; those in the middle of a straight stretch are left out. */
function extend(line, points, [left, top]) {
  for (const point of points) {
    const [x, y] = [left + point[0], top + point[1]];
    const [last, before] = [line.at(-1), line.at(-2)];
    if (last && last[0] === x && last[1] === y) continue;
    if (before && last[0] === before[0] && last[0] === x) line.pop();
    line.push([x, y]);
  }
}
