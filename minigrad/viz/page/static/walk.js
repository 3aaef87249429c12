// A walk through the page: stops with a text, each at a box or a step.

const [previous, next] = [["← previous", -1, "N"], ["next →", 1, "n"]].map(([words, by, key]) =>
  e.button({ onclick: () => visit(state.stop + by), title: `(${key})` }, words),
);
const numbered = e.span({ class: "over" });
const stopPanel = e.section(
  { id: "stop", class: "script", "aria-label": "Stop of the walk" },
  e.p({ class: "buttons" }, numbered, previous, next),
  e.div({ id: "stop-text", tabindex: 0, "aria-live": "polite" }),
);

/** Text in which words in backticks are code. */
const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? e.code(part) : part));

/** The stop that was gone to last, as long as the page shows what it is about. */
function stopHere() {
  const stop = data.walk[state.stop];
  return stop?.tab === state.tab && stop.at === state[stop.tab] ? stop : null;
}

function visit(at) {
  const stop = data.walk[at];
  if (!stop) return;
  go.play(false);
  Object.assign(state, { stop: at, box: null });
  if (stop.tab === "step") go.show(nodeAt(stop.at));
  go[stop.tab](stop.at);
  $("panel").scrollTop = 0; // on a small screen text and numbers scroll together
  const focused = document.activeElement; // the list that was clicked is hidden now
  if (!stopPanel.contains(focused) || focused.disabled) $("stop-text").focus({ preventScroll: true });
}

function layOutWalk() {
  const { length } = data.walk;
  if (!length) return;
  const item = ({ title }, at) => e.li(leading(() => visit(at), withCode(title)));
  const tab = { role: "tab", id: "tab-walk", "aria-controls": "walk" };
  const panel = { role: "tabpanel", id: "walk", "aria-labelledby": "tab-walk", tabindex: 0 };
  const keys = [e.kbd("n"), " goes to the next stop, ", e.kbd("Shift"), " ", e.kbd("n"), " back."];
  $("tabs").append(e.button(tab, "Walk"));
  $("tabs").after(stopPanel);
  $("panel").append(
    e.div(panel, e.h2("A walk through this page"), e.ol(data.walk.map(item)), e.p(keys)),
  );
  const begin = e.button({ onclick: () => turnTo("walk") }, `See the ${count(length, "stop")}`);
  $("guide").prepend(e.p("A walk explains this page. ", begin));
}

/** Show the text of the stop above its box or step. */
function showWalk() {
  const stop = stopHere();
  const { length } = data.walk;
  stopPanel.hidden = !stop;
  if (!stop) return;
  numbered.textContent = `Stop ${state.stop + 1} of ${length}`;
  fill("stop-text", state.stop, () => [e.h2(withCode(stop.title)), e.p(withCode(stop.text))]);
  previous.disabled = !state.stop;
  next.disabled = state.stop === length - 1;
  $("walk").querySelectorAll("li button").forEach((button, at) =>
    button.setAttribute("aria-current", at === state.stop ? "step" : "false"),
  );
}
