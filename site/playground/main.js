// The playground: puts the editor, the worker, the tabs, the examples and the exercises together.

import { Client } from "./client.js";
import { Editor } from "./editor.js";
import { Progress } from "./exercises.js";
import { packed, unpacked } from "./link.js";
import * as results from "./results.js";

const SECONDS = 120; // for a program
const CHECKING = 30; // for a check of an answer
const part = (id) => document.getElementById(id);
const stacked = matchMedia("(max-width: 760px)"); // as in style.css: results are below the program
const say = (text) => { part("status").textContent = text; };

const client = new Client(new URL("./", import.meta.url), told);
const editor = new Editor(part("editor"), () => run(), changed);
const progress = new Progress();
const file = async (name) => (await fetch(new URL(name, import.meta.url))).json();
const [examples, exercises, config] = await Promise.all(
  ["examples.json", "exercises.json", "config.json"].map(file),
);
let open = null; // the exercise that is open

function told(message) {
  if (message.kind === "output") results.print(message.text, message.stream);
  else if (message.kind === "shown") results.show(message);
  else if (message.kind === "error") {
    results.print(`${message.line ? `Line ${message.line}: ` : ""}${message.text}\n`, "error");
    results.select("output");
    editor.fail(message.line, message.text);
  } else if (message.kind === "ready") say("Python is ready.");
}

// Do something in the worker, with the buttons as they have to be; null if it was stopped.
async function during(job, seconds) {
  if (client.running) return null;
  const buttons = ["run", "check"].map(part);
  for (const button of buttons) button.disabled = true;
  part("stop").disabled = false;
  say(client.worker ? "Running ..." : "Loading Python (13 MB the first time) ...");
  try {
    const done = await client.ask(job, seconds);
    say(`Done in ${done.seconds.toFixed(2)} s; Python's memory is ${Math.round(done.memory / 2 ** 20)} MB.`);
    return done;
  } catch (error) {
    say(error.message);
    results.print(`${error.message}\n`, "error");
    return null;
  } finally {
    for (const button of buttons) button.disabled = false;
    part("stop").disabled = true;
    if (stacked.matches) part("right").scrollIntoView();
    document.body.dataset.finished = Number(document.body.dataset.finished ?? 0) + 1;
  }
}

async function run() {
  results.clear();
  editor.clear();
  await during({ kind: "run", code: editor.text }, SECONDS);
}

function changed() {
  if (open) {
    progress.of(open.number).code = editor.text;
    progress.save();
  }
}

// The exercises -------------------------------------------------------------------------------

async function check() {
  results.clear();
  editor.clear();
  const code = editor.text;
  const done = await during({ kind: "check", number: open.number, code }, CHECKING);
  if (done === null) return;
  const { right, text, drawing } = done.result;
  results.print(`${text}\n`, right ? "right" : "out");
  if (drawing) results.show({ tab: "graph", svg: drawing, name: "The graph of your code" });
  results.select("output");
  progress.checked(open.number, code, right);
  list();
  show();
}

function hint() {
  const known = progress.of(open.number);
  known.hints = Math.min(known.hints + 1, open.hints.length);
  progress.save();
  show();
  part("task").scrollTop = part("task").scrollHeight; // to the hint
}

async function solution() {
  const done = await during({ kind: "solution", number: open.number });
  if (done === null) return;
  results.clear();
  results.print(`${done.result.code}\nWhy: ${done.result.why}\n`);
}

function list() {
  const options = exercises.map(({ number, title }) => {
    const mark = progress.of(number).done ? "✓ " : "";
    return new Option(`${mark}${number} ${title}`, number, false, number === open?.number);
  });
  part("exercises").replaceChildren(new Option("none", "", false, open === null), ...options);
}

// A text without its first line, which is the title, and without the breaks within paragraphs.
function flowing(text) {
  const rest = text.slice(text.indexOf("\n")).trim();
  return rest.replace(/(?<!\n)\n(?!\n|\d+\. |- |    )\s*/g, " ");
}

// Put a text into an element: the parts between backticks as code.
function write(element, text) {
  const parts = text.split("`").map((piece, at) => {
    if (at % 2 === 0) return piece;
    const code = document.createElement("code");
    code.textContent = piece;
    return code;
  });
  element.replaceChildren(...parts);
}

function show() {
  part("task").hidden = open === null;
  if (open === null) return;
  const known = progress.of(open.number);
  part("title").textContent = `${open.number} ${open.title}${known.done ? " ✓" : ""}`;
  write(part("text"), flowing(open.task));
  part("chapter").href = `../guide/${open.chapter}.html`;
  part("hint").disabled = known.hints === open.hints.length;
  part("hint").textContent = `Hint ${Math.min(known.hints + 1, 3)} of 3`;
  part("next").hidden = !known.done || open === exercises.at(-1);
  part("solution").hidden = !known.done && known.hints < open.hints.length;
  const hints = open.hints.slice(0, known.hints).map((text) => {
    const paragraph = document.createElement("p");
    write(paragraph, text);
    return paragraph;
  });
  part("hints").replaceChildren(...hints);
}

function openExercise(number) {
  open = exercises.find((each) => each.number === number) ?? null;
  list();
  show();
  if (open === null) return;
  part("examples").value = "";
  editor.text = progress.of(open.number).code ?? open.skeleton;
  editor.scrollTo("raise NotImplementedError");
  part("task").scrollTop = 0;
  history.replaceState(null, "", `?exercise=${open.number}`);
  results.clear();
}

function saveFile() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([progress.file], { type: "application/json" }));
  link.download = "minigrad_exercises.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function loadFile({ target }) {
  try {
    progress.file = await target.files[0].text();
    list();
    if (open) openExercise(open.number);
    say("The progress is loaded.");
  } catch (error) {
    say(`The file was not loaded: ${error.message}`);
  }
  target.value = "";
}

// Examples and links --------------------------------------------------------------------------

function openExample(name) {
  openExercise(0);
  const example = examples.find((each) => each.name === name) ?? examples[0];
  part("examples").value = example.name;
  editor.text = example.code;
  history.replaceState(null, "", `?example=${example.name}`);
  results.clear();
}

async function share() {
  const address = new URL(location.pathname, location.href);
  address.hash = `code=${await packed(editor.text)}`;
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address.href);
    say(`Copied: an address of ${address.href.length} letters that holds this program.`);
  } catch {
    say("The address of this page now holds the program.");
  }
}

async function openAddress() {
  const asked = new URLSearchParams(location.search);
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  try {
    if (code) {
      openExercise(0);
      editor.text = await unpacked(code);
    } else if (asked.has("exercise")) openExercise(Number(asked.get("exercise")));
    else openExample(asked.get("example"));
  } catch {
    openExample("");
    say("The program in the address is damaged.");
  }
}

const none = new Option("none", "");
none.hidden = true; // shown while an exercise is open, and not to be chosen
part("examples").replaceChildren(none, ...examples.map(({ name, title }) => new Option(title, name)));
part("examples").addEventListener("change", ({ target }) => openExample(target.value));
part("exercises").addEventListener("change", ({ target }) => openExercise(Number(target.value)));
part("run").addEventListener("click", run);
part("stop").addEventListener("click", () => client.stop("Stopped."));
part("share").addEventListener("click", share);
part("check").addEventListener("click", check);
part("hint").addEventListener("click", hint);
part("next").addEventListener("click", () => openExercise(open.number + 1));
part("solution").addEventListener("click", solution);
part("again").addEventListener("click", () => { editor.text = open.skeleton; });
part("save").addEventListener("click", saveFile);
part("load").addEventListener("change", loadFile);
addEventListener("hashchange", openAddress);
part("requests").textContent = config.pyodide.startsWith("http")
  ? `This page loads its own files and, from ${new URL(config.pyodide).host}, Pyodide and NumPy, checked by their hashes.`
  : "This page loads its own files only.";
await openAddress();
document.body.inert = false; // a press of a button before this would be lost
