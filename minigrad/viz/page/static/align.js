// From left to right: minigrad/viz/layout/align.py again, operation by operation.

const ROUNDS = 6;
const FREE = 0.001;
const ALMOST = 14;

/** The middle of each item: as straight above each other as can be. */
function align(ranks, left, right, pulls) {
  const x = relaxed(ranks, left, right, pulls);
  const chains = chainsOf(ranks, x.length);
  chains.join(pulls.filter((pull) => pull[4]));
  const above = new Map(pulls.map((pull) => [pull[1], pull]));
  for (const chain of chains.all()) {
    if (chain.length < 2) continue;
    const [upper, , shift] = above.get(chain[0][0]);
    const source = x[upper] + shift;
    let furthest = x[chain[0][0]];
    for (const [item] of chain) {
      if (abs(x[item] - source) > abs(furthest - source)) furthest = x[item];
    }
    for (const [item] of chain) x[item] = furthest;
  }
  const almost = pulls.filter(
    ([upper, lower, shift, , rigid]) => !rigid && abs(x[upper] + shift - x[lower]) <= ALMOST,
  );
  chains.join(almost.sort((a, b) => b[3] - a[3]));
  return pushedApart(ranks, left, right, chains.all(), x);
}

/** Where the items would like to be, as far as their ranks have room. */
function relaxed(ranks, left, right, pulls) {
  const above = left.map(() => []);
  const below = left.map(() => []);
  for (const [upper, lower, shift, weight] of pulls) {
    above[lower].push([upper, shift, weight]);
    below[upper].push([lower, -shift, weight]);
  }
  const x = left.map(() => 0);
  for (const items of ranks) {
    let end = -items.reduce((sum, item) => sum + left[item] + right[item], 0) / 2;
    for (const item of items) {
      x[item] = end + left[item];
      end += left[item] + right[item];
    }
  }
  const upwards = ranks.slice().reverse();
  for (let round = 0; round < ROUNDS; round++) {
    const moved = settle(ranks, above, x, left, right);
    if (max(moved, settle(upwards, below, x, left, right)) < 0.5) break;
  }
  const both = above.map((ends, at) => [...ends, ...below[at]]);
  settle(ranks, both, x, left, right);
  settle(upwards, both, x, left, right);
  return x;
}

/** Move the ranks one after the other; return the longest way that an item moved. */
function settle(ranks, ends, x, left, right) {
  let longest = 0;
  for (const items of ranks) {
    const pools = [];
    const offsets = [];
    let offset = 0;
    items.forEach((item, at) => {
      if (at) offset += right[items[at - 1]] + left[item];
      offsets.push(offset);
      let wish = x[item] * FREE;
      let weight = FREE;
      let count = 1;
      for (const [other, shift, pull] of ends[item]) {
        wish += (x[other] + shift) * pull;
        weight += pull;
      }
      wish -= offset * weight;
      while (pools.length && pools.at(-1)[0] * weight >= wish * pools.at(-1)[1]) {
        const before = pools.pop();
        [wish, weight, count] = [wish + before[0], weight + before[1], count + before[2]];
      }
      pools.push([wish, weight, count]);
    });
    let at = 0;
    for (const [wish, weight, count] of pools) {
      for (let k = 0; k < count; k++, at++) {
        const item = items[at];
        const value = wish / weight + offsets[at];
        longest = max(longest, abs(value - x[item]));
        x[item] = value;
      }
    }
  }
  return longest;
}

/** Items that are to lie straight above each other; no two chains cross. */
function chainsOf(ranks, count) {
  const row = [];
  const index = [];
  const next = new Map();
  const before = new Set();
  const joints = ranks.map(() => []);
  ranks.forEach((items, at) =>
    items.forEach((item, place) => ([row[item], index[item]] = [at, place])),
  );
  return {
    join(pulls) {
      for (const [upper, lower, shift] of pulls) {
        if (next.has(upper) || before.has(lower)) continue;
        const here = joints[row[upper]];
        const [one, two] = [index[upper], index[lower]];
        let at = here.findIndex((joint) => joint[0] > one || (joint[0] === one && joint[1] > two));
        if (at < 0) at = here.length;
        if ((at && here[at - 1][1] > two) || (at < here.length && here[at][1] < two)) continue;
        here.splice(at, 0, [one, two]);
        next.set(upper, [lower, shift]);
        before.add(lower);
      }
    },
    all() {
      const chains = [];
      for (let first = 0; first < count; first++) {
        if (before.has(first)) continue;
        const chain = [[first, 0]];
        for (let item = first, offset = 0; next.has(item);) {
          const [lower, shift] = next.get(item);
          chain.push([(item = lower), (offset += shift)]);
        }
        chains.push(chain);
      }
      return chains;
    },
  };
}

/** Place chains as near to where their items are as fits, left and right making way alike. */
function pushedApart(ranks, left, right, chains, x) {
  const block = [];
  const offset = [];
  const wish = chains.map((chain, number) => {
    let total = 0;
    for (const [item, shift] of chain) {
      [block[item], offset[item]] = [number, shift];
      total += x[item] - shift;
    }
    return floor(total / chain.length + 0.5);
  });
  const after = chains.map(() => []);
  const missing = chains.map(() => 0);
  for (const items of ranks) {
    for (let at = 1; at < items.length; at++) {
      const [one, two] = [items[at - 1], items[at]];
      after[block[one]].push([block[two], offset[one] + right[one] + left[two] - offset[two]]);
      missing[block[two]]++;
    }
  }
  const order = [...chains.keys()].filter((number) => !missing[number]);
  for (const number of order) {
    // which grows
    for (const [other] of after[number]) if (!--missing[other]) order.push(other);
  }
  const rightmost = [...wish];
  const leftmost = [...wish];
  for (const number of order) {
    for (const [other, apart] of after[number]) {
      rightmost[other] = max(rightmost[other], rightmost[number] + apart);
    }
  }
  for (const number of order.reverse()) {
    for (const [other, apart] of after[number]) {
      leftmost[number] = min(leftmost[number], leftmost[other] - apart);
    }
  }
  return x.map(
    (_, item) => floor((rightmost[block[item]] + leftmost[block[item]]) / 2) + offset[item],
  );
}
