// In the site's guide: "Run" and "Open in the playground" at each block of code.
//
// The blocks of a page are one program: running one runs those above it first, once, so that it
// finds the names that it needs.

import { Client } from "./client.js";
import { packed } from "./link.js";
import { put } from "./shown.js";

const playground = new URL("./", import.meta.url);
const blocks = [...document.querySelectorAll("div.highlight-python, div.highlight-pycon")];
let shown = null; // where the block that runs shows what it does

const client = new Client(playground, (message) => {
  if (message.kind === "output") shown?.append(message.text);
  else if (message.kind === "error") shown?.append(`${message.text}\n`);
  else if (message.kind === "shown" && shown) {
    put(shown.appendChild(document.createElement("div")), message, "The picture of this block");
  }
}, true);

// The code of a block, without prompts and what they printed.
function codeOf(block) {
  const lines = block.querySelector("pre").textContent.trimEnd().split("\n");
  if (!lines.some((line) => line.startsWith(">>>"))) return lines.join("\n");
  const typed = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
  return typed.map((line) => line.slice(4)).join("\n");
}

const isPrompt = (block) => block.textContent.trimStart().startsWith(">>>");

async function run(number) {
  if (client.running) return;
  const buttons = document.querySelectorAll("button.run-block");
  for (const button of buttons) button.disabled = true;
  const place = outputs[number];
  place.hidden = false;
  place.textContent = client.worker ? "Running ..." : "Loading Python (13 MB the first time) ...";
  try {
    for (const [above, block] of blocks.slice(0, number + 1).entries()) {
      shown = above === number ? place : null;
      const job = { kind: "run", code: codeOf(block), interactive: isPrompt(block) };
      const asked = client.ask({ ...job, going_on: above > 0 }, 60);
      if (above === number) place.textContent = "";
      await asked;
    }
    if (!place.hasChildNodes()) place.textContent = "(nothing is printed)";
  } catch (error) {
    place.append(error.message);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

async function open(number) {
  const program = blocks.slice(0, number + 1).map(codeOf).join("\n\n");
  const address = new URL("index.html", playground);
  address.hash = `code=${await packed(program)}`;
  window.open(address, "_blank", "noopener");
}

const outputs = blocks.map((block, number) => {
  const bar = document.createElement("div");
  bar.className = "run-bar";
  for (const [label, act] of [["Run", run], ["Open in the playground", open]]) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "run-block";
    button.textContent = label;
    button.addEventListener("click", () => act(number));
    bar.append(button);
  }
  const output = document.createElement("div");
  output.className = "run-output";
  output.setAttribute("role", "status");
  output.hidden = true;
  block.after(bar, output);
  return output;
});
