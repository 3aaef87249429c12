// Mouse and keys.

let alternatives = [];

/** Go along a line from the selected box, to the nearest of those at its other end. */
function walk(end) {
  const from = state.box === null ? null : shownAs(state.box);
  const ids = from === null ? Object.keys(placement.boxes).slice(0, 1) : [...near(from, end)];
  if (!ids.length) return;
  const middle = (id) => areaOf(id)[0] + areaOf(id)[2] / 2;
  const away = (id) => abs(middle(id) - middle(from ?? id));
  alternatives = ids.sort((a, b) => middle(a) - middle(b));
  go.box(ids.reduce((best, id) => (away(id) < away(best) ? id : best)), true);
}

/** Go to the next of several that the last line might have led to. */
function turn(by) {
  const at = alternatives.indexOf(state.box);
  const { length } = alternatives;
  if (at >= 0) go.box(alternatives[(at + by + length) % length], true);
}

const ACTIONS = {
  first: () => go.step(state.step > 0 ? 0 : first),
  back: () => go.step(state.step - 1),
  on: () => go.step(state.step + 1),
  last: () => go.step(state.step < 0 ? 0 : total),
  forward: () => go.step(first),
  play: () => go.play(),
  in: () => look.zoom(1.25),
  out: () => look.zoom(0.8),
  fit: () => look.fit(),
  guide: () => turnTo("guide"),
  unchange: changeNothing,
  follow: () => go.follow(),
  print: () => print(),
  svg: () => save("svg"),
  png: () => save("png"),
  "open-all": () => closeOnly([]),
  "close-all": () => {
    const inner = data.groups.filter(({ parent }) => parent !== null);
    closeOnly(inner.map((group) => group.id));
  },
};

const KEYS = {
  ArrowLeft: (shift) => (shift ? turn(-1) : ACTIONS.back()),
  ArrowRight: (shift) => (shift ? turn(1) : ACTIONS.on()),
  ArrowUp: () => walk("into"),
  ArrowDown: () => walk("from"),
  Home: ACTIONS.first,
  End: ACTIONS.last,
  " ": ACTIONS.play,
  "+": ACTIONS.in,
  "=": ACTIONS.in,
  "-": ACTIONS.out,
  0: ACTIONS.fit,
  f: ACTIONS.forward,
  n: () => visit(state.stop + 1),
  N: () => visit(state.stop - 1),
  "?": ACTIONS.guide,
  "/": () => $("query").focus(),
  Escape: () => go.box(null),
  Enter: () => state.box !== null && go.toggle(state.box),
};

/** Whether an element wants a key for itself. */
function keeps(target, key) {
  if (target.closest("svg")) return false;
  if (target.closest("input")) return target.type !== "range" || /^(Arrow|Home|End)/.test(key);
  if (target.closest("[role=tablist]")) return /^(Arrow|Home|End|Enter| )/.test(key);
  if (target.closest("button, summary")) return key === "Enter" || key === " ";
  return !!target.closest("#panel") && /^(ArrowUp|ArrowDown|Home|End)$/.test(key);
}

/** The box or the title of a frame under the mouse. */
function idAt(target) {
  const element = target.closest(".frame") ? target.closest(".handle") : target;
  return element?.closest("[data-id]")?.dataset.id ?? null;
}

function listen() {
  picture.addEventListener("click", (event) => {
    if (!look.dragged()) go.box(idAt(event.target), false, true);
  });
  picture.addEventListener("dblclick", (event) => go.toggle(idAt(event.target)));
  picture.addEventListener("pointerover", (event) => {
    const id = idAt(event.target);
    if (id in placement.boxes)
      highlight(near(id, "from", near(id, "into", new Set([id]))));
  });
  picture.addEventListener("pointerout", () => highlight(null));
  picture.addEventListener("focusin", (event) => {
    const id = idAt(event.target);
    if (id !== state.box && event.target.matches(":focus-visible")) go.box(id);
  });
  document.body.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-move]");
    const tab = target.closest("[role=tab]");
    const row = target.closest("tr[data-id], button[data-id]");
    if (button?.closest("#player") && button.dataset.move !== "play") go.play(false);
    if (button) ACTIONS[button.dataset.move]();
    else if (tab) turnTo(tab.id.slice(4));
    else if (row) go.box(row.dataset.id);
  });
  $("slider").addEventListener("input", ({ target: { value } }) => {
    go.play(false);
    go.step(+value);
  });
  $("tabs").addEventListener("keydown", (event) => {
    const tabs = [...$("tabs").children];
    const at = tabs.indexOf(event.target);
    const moves = { ArrowLeft: at - 1, ArrowRight: (at + 1) % tabs.length, Home: 0, End: -1 };
    const to = tabs.at(moves[event.key] ?? at);
    if (to === event.target) return;
    to.click();
    to.focus();
    event.preventDefault();
  });
  addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || !KEYS[key] || keeps(target, key)) return;
    event.preventDefault();
    KEYS[event.key](event.shiftKey);
  });
  addEventListener("popstate", recall);
  addEventListener("beforeprint", layOutPaper);
  addEventListener("afterprint", clearPaper);
  let seen = stage.clientWidth > 0; // not in a frame that is hidden, or has no size yet
  new ResizeObserver(() => {
    if (seen) followCamera();
    else if (stage.clientWidth) begin();
    seen ||= stage.clientWidth > 0;
  }).observe(stage);
}
