// Where everything lies: minigrad/viz/layout/place.py again, operation by operation.

const { abs, floor, max, min } = Math;
const TOP = "";

/** Boxes, frames and lines for a choice of closed groups (a Set). */
function place(skeleton, closed) {
  const shown = new Set([TOP]);
  const scopes = Object.keys(skeleton.parents);
  for (const scope of scopes) {
    if (!closed.has(scope) && shown.has(skeleton.parents[scope])) shown.add(scope);
  }
  const packed = new Map();
  for (const scope of [...scopes.slice().reverse(), TOP]) {
    if (shown.has(scope)) packed.set(scope, pack(scope, skeleton, packed));
  }
  const result = {
    width: packed.get(TOP).width,
    height: packed.get(TOP).height,
    boxes: {},
    frames: {},
    titles: {},
    ports: [],
    texts: [],
    edges: {},
  };
  const origins = new Map([[TOP, [0, 0]]]);
  const order = [TOP, ...scopes];
  for (const scope of order) {
    if (!origins.has(scope)) continue;
    const [left, top] = origins.get(scope);
    const group = packed.get(scope);
    if (scope !== TOP) {
      result.frames[scope] = [left, top, group.width, group.height];
      result.titles[scope] = [left + group.title[0], top + group.title[1]];
    }
    for (const [port, x] of group.doors) {
      result.ports.push([left + x, top + (port.startsWith("in:") ? 0 : group.height)]);
    }
    for (const [item, [x, y]] of group.corners) {
      if (packed.has(item)) origins.set(item, [left + x, top + y]);
      else result.boxes[item] = [left + x, top + y, ...skeleton.sizes[item]];
    }
    for (const [tensor, x, y] of group.texts) result.texts.push([tensor, left + x, top + y]);
  }
  const open = order.filter((scope) => origins.has(scope));
  for (const outwards of [true, false]) {
    for (const scope of outwards ? open.slice().reverse() : open) {
      const [left, top] = origins.get(scope);
      skeleton.scopes[scope].links.forEach(([way, , edges], index) => {
        if (way.at(-1).startsWith("out:") !== outwards) return;
        const points = packed.get(scope).lines[index].map(([x, y]) => [left + x, top + y]);
        for (const edge of edges) extend((result.edges[edge] ??= []), points);
      });
    }
  }
  return result;
}

/** Add points to a line; those in the middle of a straight stretch are left out. */
function extend(line, points) {
  for (const [x, y] of points) {
    const last = line.at(-1);
    const before = line.at(-2);
    if (last && last[0] === x && last[1] === y) continue;
    if (before && last[0] === before[0] && last[0] === x) line.pop();
    line.push([x, y]);
  }
}
