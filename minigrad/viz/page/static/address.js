// The address keeps where one is: #step=3&open=encoder/layers.0&box=encoder/layers.0/norm1

/** Every node and group, to search for and to name in an address. */
const everything = () => [
  ...data.nodes,
  ...data.groups.map((group) => ({ ...group.box, id: group.id })),
];

const keyOf = new Map();
const byKey = new Map();
const alike = new Map();
/** A key for every box: the names of the modules around it and its own, numbered if need be. */
function nameKeys() {
  for (const { id } of everything()) {
    const base = [...pathOf(id), nameOf(id)].join("/");
    const n = (alike.get(base) ?? 0) + 1;
    alike.set(base, n);
    const key = n > 1 ? `${base}~${n}` : base;
    keyOf.set(id, key);
    byKey.set(key, id);
  }
}

let lastBox = null;

/** Write where one is into the address; a box that was gone to can be left by Back. */
function remember() {
  const list = (ids) => ids.map((id) => encodeURIComponent(keyOf.get(id))).join(",");
  const parts = {
    step: state.step || "",
    open: list(data.closed.filter((id) => !state.closed.has(id))),
    close: list([...state.closed].filter((id) => !data.closed.includes(id))),
    box: state.box === null ? "" : list([state.box]),
    walk: stopHere() ? state.stop + 1 : "",
  };
  const filled = Object.entries(parts).filter(([, value]) => value);
  const hash = filled.map((pair) => pair.join("=")).join("&");
  try {
    const write = state.box === lastBox ? history.replaceState : history.pushState;
    if (hash !== location.hash.slice(1)) write.call(history, null, "", `#${hash}`);
  } catch {
    /* a frame without an address of its own */
  }
  lastBox = state.box;
}

function recall() {
  if (!keyOf.size) nameKeys();
  const parts = location.hash.slice(1).split("&");
  const given = Object.fromEntries(parts.map((part) => part.split("=")));
  const idOf = (key) => byKey.get(decoded(key));
  const ids = (name) => (given[name] ?? "").split(",").map(idOf).filter(Boolean);
  const open = ids("open");
  Object.assign(state, {
    closed: new Set(
      [...data.closed, ...ids("close")].filter((id) => data.group.has(id) && !open.includes(id)),
    ),
    step: max(first, min(total, parseInt(given.step, 10) || 0)),
    box: ids("box")[0] ?? null,
    stop: (parseInt(given.walk, 10) || 0) - 1,
  });
  lastBox = state.box;
  state.tab = state.box !== null ? "box" : state.step ? "step" : "guide";
  redraw();
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
