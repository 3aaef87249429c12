// The state of the player after each number of steps of a page.
unpack(given).then((data) => {
const table = (map, value) => Object.fromEntries([...map].map(([key, one]) => [key, value(one)]));
const states = [...Array(data.steps.length + 1).keys()].map((count) => {
  const { edges, came, done, inside } = progress(data, count);
  return {
    edges: table(edges, ({ state }) => state),
    came: table(came, ({ arrival, arrivals }) => [arrival, arrivals]),
    done: [...done],
    inside: table(inside, (count) => count),
  };
});
console.log(JSON.stringify(states));
});
