// The tabs on the right: output, the graph, the page of steps, figures.

import { put } from "./shown.js";

const tabs = [...document.querySelectorAll("[role=tab]")];
const panel = (name) => document.getElementById(name);
const hints = Object.fromEntries(tabs.map((tab) => {
  const name = tab.getAttribute("aria-controls");
  return [name, panel(name).innerHTML];
}));
const TITLES = {
  graph: "The compute graph of the program", steps: "The steps of the graph",
  figures: "A figure of the program",
};
const MOST = 200_000; // characters of the output that are kept

export function select(name, focus = false) {
  for (const tab of tabs) {
    const chosen = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    panel(tab.getAttribute("aria-controls")).hidden = !chosen;
    if (chosen) tab.classList.remove("new");
    if (chosen && focus) tab.focus();
  }
}

for (const [place, tab] of tabs.entries()) {
  tab.addEventListener("click", () => select(tab.getAttribute("aria-controls")));
  tab.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs[(place + step + tabs.length) % tabs.length];
    select(next.getAttribute("aria-controls"), true);
  });
}

export function clear() {
  for (const [name, hint] of Object.entries(hints)) panel(name).innerHTML = hint;
  for (const tab of tabs) tab.classList.remove("new");
  panel("output").textContent = "";
  select("output");
}

export function print(text, kind = "out") {
  const output = panel("output");
  const part = document.createElement("span");
  part.className = kind;
  part.textContent = text;
  output.append(part);
  while (output.textContent.length > MOST && output.childElementCount > 1) output.firstChild.remove();
  output.scrollTop = output.scrollHeight;
}

// Show { tab, name, svg or html }; one of the same name takes the place of the last.
export function show({ tab, name = "", svg, html }) {
  const place = panel(tab);
  place.querySelector(":scope > p")?.remove();
  const known = [...place.children].find((child) => name && child.dataset.name === name);
  const single = tab !== "figures" ? place.firstElementChild : null;
  const figure = known ?? single ?? place.appendChild(document.createElement("figure"));
  figure.dataset.name = name;
  if (tab === "steps") figure.style.height = "100%";
  put(figure, { svg, html }, name || TITLES[tab]);
  const shown = tabs.find((each) => each.getAttribute("aria-controls") === tab);
  if (panel("output").textContent === "" || shown.getAttribute("aria-selected") === "true") select(tab);
  else shown.classList.add("new");
}
