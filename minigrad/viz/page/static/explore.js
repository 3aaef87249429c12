// The page at work: what is open, selected and stepped to, and everything that changes it.

if (!globalThis.DecompressionStream) {
  $("facts").append(" · To step through it, open this page in a browser of 2023 or later.");
  return;
}
const data = await unpack($("data").textContent);
const total = data.steps.length;
const first = -1 - data.forward.length; // before the forward pass; 0 is between the two
const stage = $("stage");
const state = {
  closed: new Set(data.closed),
  step: 0,
  box: null,
  tab: "guide",
  follow: false, // whether a step opens the modules around it
};
const canvas = svg.g(Object.values(layers));
const label = `Compute graph: ${$("facts").textContent}`;
const picture = svg.svg({ class: "minigrad-graph", role: "group", "aria-label": label }, canvas);
const look = camera(stage, picture, canvas, followCamera);
let placement; // where everything lies
let now; // what has happened in the backward pass
let joined; // what reads what
let playing = 0;

document.documentElement.classList.add("scripted");
stage.firstElementChild.replaceWith(picture); // the one that shows without a script

// Drawing -----------------------------------------------------------------------------------------

/** Lay out and draw anew, after something was opened or closed. */
function redraw() {
  const focused = document.activeElement?.closest?.("[data-id]")?.dataset.id;
  placement = place(data.skeleton, state.closed);
  findJoined();
  setItems(itemsOf(placement));
  look.resize(placement.width, placement.height);
  drawVisible(look.area());
  refresh();
  if (focused) elementOf(focused)?.focus({ preventScroll: true });
}

/** Draw what a move of the camera has brought into view. */
function followCamera() {
  if (drawVisible(look.area())) mark();
}

/** Mark the step, the selection and all that goes with it in the picture. */
function mark() {
  drawGradients(now);
  drawForward(state.step);
  drawChanges();
  for (const { id, element } of [...inDocument("boxes"), ...inDocument("frames")]) {
    element.classList.toggle("selected", id === state.box);
  }
  highlight(null);
}

/** Show the step, the selection and what goes with it; boxes and lines stay where they are. */
function refresh() {
  now = progress(data, state.step);
  mark();
  showPanel();
  showPlayer();
  remember();
}

function elementOf(id) {
  const element = canvas.querySelector(`[data-id="${CSS.escape(id)}"]`);
  return element?.querySelector(".handle") ?? element;
}
const areaOf = (id) => placement.boxes[id] ?? placement.frames[id];

/** Let a set of boxes and the lines between them stand out; null lets all be equal. */
function highlight(ids) {
  canvas.classList.toggle("dimmed", !!ids);
  const between = (index) => endsOf(index).every((id) => ids.has(id));
  for (const { id, element } of inDocument("boxes"))
    element.classList.toggle("near", !!ids?.has(id));
  for (const { edges, element } of inDocument("edges"))
    element.classList.toggle("near", !!ids && !!edges?.some(between));
}

/** What each box reads ("into") and what reads it ("from"), as they show. */
function findJoined() {
  joined = { into: new Map(), from: new Map() };
  for (const index of Object.keys(placement.edges)) {
    const [source, target] = endsOf(index);
    if (source === target) continue;
    push(joined.into, target, source);
    push(joined.from, source, target);
  }
}

/** The boxes that an edge joins, as they show. */
function endsOf(index) {
  const { source, target } = data.edges[index];
  return [shownAs(source), shownAs(target)];
}

/** Add to a set the boxes at the other end of the lines to or from a box. */
function near(id, end, seen = new Set()) {
  for (const other of joined[end].get(id) ?? []) seen.add(other);
  return seen;
}

// What can be done --------------------------------------------------------------------------------

const go = {
  step(at) {
    Object.assign(state, { step: max(first, min(total, at)), tab: "step" });
    const node = nodeAt(state.step);
    if (node && state.follow) go.show(node);
    refresh();
    if (node) look.reveal(areaOf(shownAs(node)));
  },
  /** Select a box, and open what is closed around it. One that was clicked stays where it is. */
  box(id, focus, clicked) {
    if (id !== null && !clicked) go.show(id);
    Object.assign(state, { box: id }, id === null ? {} : { tab: "box" });
    refresh();
    if (focus) elementOf(id)?.focus({ preventScroll: true });
  },
  show(id) {
    if (data.around(id).slice(1).filter((at) => state.closed.delete(at)).length) redraw();
    look.reveal(areaOf(id));
  },
  toggle(id) {
    if (!data.group.has(id)) return;
    const before = areaOf(id);
    if (!state.closed.delete(id)) state.closed.add(id);
    redraw();
    if (before) look.hold(before, areaOf(id));
  },
  follow() {
    state.follow = !state.follow;
    $("follow").setAttribute("aria-pressed", state.follow);
    if (state.step) go.step(state.step);
  },
  play(on = !playing) {
    clearInterval(playing);
    playing = 0;
    if (on) {
      if (state.step === total) go.step(total ? 0 : first);
      playing = setInterval(() => {
        go.step(state.step + 1);
        if (state.step === total) go.play(false);
      }, 1400);
    }
    showPlayer();
  },
  isOpen: (id) => !state.closed.has(id),
  hidden: (id) => !areaOf(id),
};

function closeOnly(groups) {
  state.closed = new Set(groups);
  redraw();
  look.begin();
  const at = state.box === null ? now.step?.node : state.box;
  if (at) look.reveal(areaOf(shownAs(at)));
}

// The panel and the player ------------------------------------------------------------------------

const shown = {}; // what each part of the panel shows
const kept = {}; // and what it showed before numbers were changed
/** Fill a part of the panel, unless it holds that already. */
function fill(name, key, content) {
  if (shown[name] === key) return;
  const again = (name in kept) && kept[name] === key;
  shown[name] = kept[name] = key;
  const { scrollTop } = $(name);
  const { type } = document.activeElement.closest(".whatif input") ?? {};
  $(name).replaceChildren(...e.div(content()).childNodes);
  $(name).scrollTop = again ? scrollTop : 0; // numbers were changed, and one reads on
  if (again && type) $(name).querySelector(`.whatif input[type=${type}]`)?.focus();
}

function turnTo(tab) {
  state.tab = tab;
  showPanel();
}

/** The list, if it is too long for the page to begin with. */
function showList() {
  const long = $("list").querySelector("noscript");
  long?.replaceWith(filled(e.div(), long.textContent));
}

function showPanel() {
  for (const tab of $("tabs").children) {
    const on = tab.id === `tab-${state.tab}`;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !on;
  }
  if (state.tab === "list") showList();
  const node = nodeAt(state.step);
  fill("step", `${state.step} ${node && go.hidden(node)}`, () => stepView(state.step));
  fill("box", `${state.box} ${go.isOpen(state.box)} ${state.step}`, () => boxView(state.box));
  showWalk();
}

function showPlayer() {
  const { step } = state;
  const begins = `forward pass done; the backward pass begins (${count(total, "step")})`;
  const between = total ? begins : "forward pass done; no backward pass";
  const op = nodeAt(step) && data.box(nodeAt(step)).label;
  let words = step ? `step ${step} of ${total}: ${op}` : between;
  if (step < 0) words = `forward ${ranAt(step)} of ${data.forward.length}${op ? `: ${op}` : ""}`;
  Object.assign($("slider"), { min: first, max: total, value: step });
  $("slider").setAttribute("aria-valuetext", words);
  if ($("status").textContent !== words) $("status").textContent = words;
  $("player").classList.toggle("playing", !!playing);
  for (const button of $("player").querySelectorAll("button")) {
    const move = button.dataset.move;
    const end = { first, back: first, on: total, last: total }[move];
    button.disabled = step === end;
    if (move === "play") button.setAttribute("aria-label", playing ? "Pause" : "Play");
  }
}

/** Look at what the address asks for. */
function begin() {
  look.begin();
  if (state.step) go.step(state.step);
  if (state.box !== null) go.box(state.box);
}

for (const { id, what } of data.born.slice(0, 1)) {
  const words = `⬣ ${what} born in ${data.box(id).label}: go there`;
  $("facts").after(e.button({ class: "born", "data-id": id }, words));
}
layOutWalk();
search();
listen();
recall();
begin();
