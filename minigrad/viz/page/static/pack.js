// From sizes to positions: minigrad/viz/layout/pack.py again, for the groups that are open now.

const { abs, floor, max, min } = Math;
const TOP = "";
const [MARGIN, PAD] = [16, 14];
const [BESIDE, LANE, CLEAR] = [22, 12, 8];
const [GAP, STEEP, WIDEST, SHORT] = [24, 8, 48, 14];
const [TEXT, INDENT] = [15, 5];

const largest = (values, least) => values.reduce((a, b) => max(a, b), least);
const pairs = (list) => list.slice(1).map((two, at) => [list[at], two]);

/** The sizes of the items of a group, of which the groups in `packed` are open. */
function measure({ rows, items }, packed) {
  const inner = items.map((box) => packed.get(box.id));
  const sizes = items.map((box, at) => inner[at] ?? box);
  const reach = sizes.map((size) => size.reach ?? floor(size.width / 2));
  const margin = items.map((box) => (box.id ? BESIDE : LANE));
  return {
    inner,
    row: rows.flatMap((count, rank) => Array(count).fill(rank)),
    sizes,
    tall: sizes.map(({ height, texts }) => height + (texts?.length ? TEXT : 0)),
    reach,
    left: sizes.map((size, at) => floor((size.width + margin[at]) / 2)),
    right: reach.map((far, at) => far + floor(margin[at] / 2)),
    anchor: (item, [shift, port]) =>
      inner[item] ? inner[item].x[port] - floor(inner[item].width / 2) : shift,
  };
}

/** The items of a group with positions, from the upper left corner of its frame. */
function pack(scope, packed) {
  const m = measure(scope, packed);
  const { x, width, title, right } = across(scope, m);
  const ways = scope.lines.map((line) => wayOfLine(line, m, x, right));
  const { tops, bottoms, y } = downward(scope, m, ways);
  const lines = scope.lines.map(({ way: items }, number) => {
    const way = ways[number];
    const between = pairs(way).flatMap(([[above, from], [below, to]]) => [
      [from, bottoms[above]],
      [to, tops[below]],
    ]);
    const [start, end] = [items[0], items.at(-1)];
    return [[way[0][1], y[start] + m.sizes[start].height], ...between, [way.at(-1)[1], y[end]]];
  });
  return { width, height: bottoms.at(-1), title, x, y, lines };
}

function across(scope, m) {
  const { title: words, rows, items, lines } = scope;
  const middles = columnsOf(scope, m);
  const pad = words ? PAD : MARGIN;
  const none = items.length ? -Infinity : 0;
  const low = -largest(middles.map((x, at) => floor(m.sizes[at].width / 2) - x), none);
  const high = largest(middles.map((x, at) => x + m.reach[at]), none);
  const lanes = largest(lines.map(({ lane }) => lane), -1) + 1;
  let [width, shift, title] = [high - low + lanes * LANE + 2 * pad, pad - low, pad];
  if (words) {
    const ports = middles.slice(0, rows[0]).map((x) => x + shift);
    const free = pairs([pad - CLEAR, ...ports, width - pad + CLEAR]);
    const lacks = free.map(([start, end]) => words[0] + 2 * CLEAR - end + start);
    const fits = lacks.findIndex((lack) => lack <= 0);
    if (fits < 0) {
      const lack = ports.length ? lacks[0] : floor((lacks[0] + 1) / 2);
      const uneven = ports.length ? ports[0] + ports.at(-1) - width : 0;
      shift += lack;
      width += lack + min(max(uneven + lack, 0), lack);
    } else title = free[fits][0] + CLEAR;
  }
  const x = middles.map((middle) => middle + shift);
  return { x, width: width + (width % 2), title, right: high + shift };
}

function wayOfLine(line, m, x, right) {
  const way = line.way.map((item) => [m.row[item], x[item]]);
  const [[first], [last]] = [way[0], way.at(-1)];
  const beyond = right + (line.lane + 1) * LANE;
  if (line.lane >= 0) way.splice(1, 0, [first + 1, beyond], [last - 1, beyond]);
  way[0][1] += m.anchor(line.way[0], line.out);
  way.at(-1)[1] += m.anchor(line.way.at(-1), line.into);
  return way;
}

function downward({ title, rows, items }, m, ways) {
  const [aside, arrows, deep] = [0, false, 0].map((start) => rows.map(() => start));
  for (const [[, start], [rank, end]] of ways.flatMap(pairs))
    aside[rank] = max(aside[rank], abs(end - start));
  m.row.forEach((rank, at) => {
    arrows[rank] ||= !m.inner[at] && items[at].fed;
    deep[rank] = max(deep[rank], m.tall[at]);
  });
  const [tops, bottoms] = [[0], [title ? title[1] + 8 : MARGIN]];
  for (let rank = 1; rank < rows.length; rank++) {
    let gap = arrows[rank] || aside[rank] ? GAP : SHORT;
    gap = min(gap + floor(aside[rank] / STEEP), WIDEST);
    if (!rows[rank] && rank === rows.length - 1) gap = title ? PAD : MARGIN;
    else if (!rows[0] && rank === 1) gap = 0;
    tops.push(bottoms[rank - 1] + gap);
    bottoms.push(tops[rank] + deep[rank]);
  }
  const y = items.map(({ fed }, at) => {
    const spare = deep[m.row[at]] - m.tall[at];
    return tops[m.row[at]] + (fed ? floor(spare / 2) : spare);
  });
  return { tops, bottoms, y };
}

/** Place block after block, each as near as its neighbours allow to where its line leads. */
function columnsOf({ blocks }, { row, left, right, anchor }) {
  const [own, offset] = [[], []];
  const aways = blocks.map((block, number) => {
    const away = block.map(([item, end, other, port, slant], place) => {
      const found = other < 0 ? slant : slant + anchor(other, port) - anchor(item, end);
      own[item] = number;
      offset[item] = place ? offset[other] + found : 0;
      return found;
    });
    return away[0];
  });

  const after = blocks.map(() => []);
  const before = blocks.map(() => []);
  for (let one = 0, two = 1; two < row.length; one = two++) {
    if (row[one] !== row[two]) continue;
    const apart = offset[one] + right[one] + left[two] - offset[two];
    after[own[one]].push([own[two], apart]);
    before[own[two]].push([own[one], apart]);
  }

  const [least, most] = [0, 0].map(() => blocks.map(() => -Infinity)); // the latter negated
  blocks.forEach(([[, , other]], number) => {
    const wish = aways[number] + (other < 0 ? 0 : least[own[other]] + offset[other]);
    const at = min(max(wish, least[number]), -most[number]);
    for (const [limits, limit, pushed] of [[least, at, after], [most, -at, before]]) {
      limits[number] = limit;
      const queue = [number];
      for (const from of queue) {
        for (const [to, apart] of pushed[from]) {
          if (limits[from] + apart <= limits[to]) continue;
          limits[to] = limits[from] + apart;
          queue.push(to);
        }
      }
    }
  });
  return row.map((_, item) => least[own[item]] + offset[item]);
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
  for (const group of shown) {
    const [left, top] = origins.get(group);
    const [own, { title, rows, items, lines }] = [packed.get(group), scopes[group]];
    if (title) {
      result.frames[group] = [left, top, own.width, own.height];
      result.titles[group] = [left + own.title, top + 6];
    }
    items.forEach((box, at) => {
      const [x, y] = [left + own.x[at], top + own.y[at]];
      const inner = box.id && packed.get(box.id);
      if (inner) return origins.set(box.id, [x - floor(inner.width / 2), y]);
      if (box.id) result.boxes[box.id] = [x - floor(box.width / 2), y, box.width, box.height];
      else if (at < rows[0] || at >= items.length - rows.at(-1)) result.ports.push([x, y]);
      for (const [tensor, right] of box.texts)
        result.texts.push([tensor, x + right + INDENT, y + box.height + 2]);
    });
    lines.forEach(({ edges }, number) => {
      const points = own.lines[number].map(([x, y]) => [left + x, top + y]);
      for (const edge of edges) (result.edges[edge] ??= []).push(...points);
    });
  }
  for (const edge in result.edges) result.edges[edge] = thinned(result.edges[edge]);
  return result;
}

/** A line through points, from the top down; points within a straight stretch are left out. */
function thinned(points) {
  const line = [];
  for (const point of points.sort((one, two) => one[1] - two[1])) {
    const [last, before] = [line.at(-1), line.at(-2)];
    if (last && last[0] === point[0] && last[1] === point[1]) continue;
    if (before && last[0] === before[0] && last[0] === point[0]) line.pop();
    line.push(point);
  }
  return line;
}
