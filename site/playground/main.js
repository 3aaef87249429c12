// The playground: puts the editor, the worker, the tabs, the examples and the exercises together.

import { Client } from "./client.js";
import { Editor } from "./editor.js";
import { Progress } from "./exercises.js";
import { packed, unpacked } from "./link.js";
import * as programs from "./programs.js";
import * as results from "./results.js";
import { save } from "./shown.js";

const SECONDS = 120; // for a program
const CHECKING = 30; // for a check of an answer
const part = (id) => document.getElementById(id);
const stacked = matchMedia("(max-width: 760px)"); // as in style.css: results are below the program
const say = (text) => { part("status").textContent = text; };

const FULL = "This browser keeps nothing, or its storage is full: save the progress as a file, or share the program.";

const client = new Client(new URL("./", import.meta.url), told);
const editor = new Editor(part("editor"), () => (open ? check() : run()), changed);
const progress = new Progress(() => { list(); show(); listPrograms(); });
const file = async (name) => (await fetch(new URL(name, import.meta.url))).json();
const [examples, exercises, config] = await Promise.all(
  ["examples.json", "exercises.json", "config.json"].map(file),
);
let open = null; // the exercise that is open
let program = null; // or the program: its title, the id of one of the reader's own, and the name of an example

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
    if (!progress.save(open.number)) say(FULL);
    return;
  }
  if (!program.id) { // an example or the program of a link becomes the reader's own
    program = { ...program, id: programs.begun() };
    editor.rename(`program ${program.id}`);
    history.replaceState(null, "", `?program=${program.id}`);
  }
  if (!programs.save(program, editor.text)) say(FULL);
  listPrograms();
}

// The exercises -------------------------------------------------------------------------------

async function check() {
  results.clear();
  editor.clear();
  const { number } = open; // another one may be open when the check has ended
  const code = editor.text;
  const done = await during({ kind: "check", number, code }, CHECKING);
  if (done === null) return;
  const { right, text, drawing } = done.result;
  results.print(`${text}\n`, right ? "right" : "out");
  if (drawing) results.show({ tab: "graph", svg: drawing, name: "The graph of your code" });
  results.select("output");
  if (!progress.checked(number, code, right)) say(FULL);
  list();
  show();
}

function hint() {
  const known = progress.of(open.number);
  known.hints = Math.min(known.hints + 1, open.hints.length);
  if (!progress.save(open.number)) say(FULL);
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

// Show an exercise, or with null none.
function openExercise(exercise) {
  open = exercise;
  list();
  show();
  if (open === null) return;
  program = null;
  listPrograms();
  editor.open(`exercise ${open.number}`, progress.of(open.number).code ?? open.skeleton);
  editor.scrollTo("raise NotImplementedError");
  part("task").scrollTop = 0;
  results.clear();
  client.warm(); // while the task is read
}

const numbered = (number) => exercises.find((each) => each.number === Number(number)) ?? null;
const following = () => exercises[exercises.indexOf(open) + 1]; // the list is in the order of the path

function again() {
  if (editor.text === open.skeleton || confirm("Begin again? Your code goes; undo brings it back.")) {
    editor.replace(open.skeleton);
  }
}

function saveFile() {
  save(new Blob([progress.file], { type: "application/json" }), "minigrad_exercises.json");
}

async function loadFile({ target }) {
  try {
    const read = Progress.read(await target.files[0].text());
    const begun = progress.begun.length;
    const question = `Replace the progress here (exercises begun: ${begun}) by that of the file?`;
    if (!begun || confirm(question)) {
      const kept = progress.replace(read);
      list();
      if (open) openExercise(open);
      say(kept ? "The progress is loaded." : FULL);
    }
  } catch (error) {
    say(`The file was not loaded: ${error.message}`);
  }
  target.value = "";
}

// Examples, programs and links ----------------------------------------------------------------

function listPrograms() {
  const option = (each) => each.id
    ? new Option(programs.labelOf(each), `program ${each.id}`) : new Option(each.title, each.name);
  const own = document.createElement("optgroup");
  own.label = "Your programs";
  own.append(...programs.all().map(option));
  const none = new Option("none", "");
  none.hidden = true; // shown while an exercise is open, and not to be chosen
  part("examples").replaceChildren(none, ...examples.map(option), ...(own.childElementCount ? [own] : []));
  part("examples").value = program?.id ? `program ${program.id}` : program?.name ?? "";
  part("original").hidden = !program?.id || !program.name;
}

// Show a program: { title, code, and perhaps the id of the reader's own or the name of an example }.
function openProgram(shown) {
  openExercise(null);
  program = shown;
  listPrograms();
  editor.open(shown.id ? `program ${shown.id}` : shown.name ?? "link", shown.code);
  results.clear();
}

const example = (name) => examples.find((each) => each.name === name) ?? examples[0];

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

// Go to an address of this page, from which Back leads here.
function go(address) {
  history.pushState(null, "", address);
  return openAddress();
}

function choose({ target: { value } }) {
  return go(value.startsWith("program ") ? `?program=${value.slice(8)}` : `?example=${value}`);
}

async function openAddress() {
  const asked = new URLSearchParams(location.search);
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  const own = programs.find(asked.get("program"));
  const exercise = numbered(asked.get("exercise"));
  if (code) {
    try {
      openProgram({ title: "a program from a link", code: await unpacked(code) });
      return;
    } catch (error) {
      say(`The program in the address is damaged: ${error.message}`);
    }
  } else if (exercise) return openExercise(exercise);
  else if (own) return openProgram(own);
  else if (asked.has("exercise")) say(`There is no exercise ${asked.get("exercise")}.`);
  else if (asked.has("program")) say("This program is not in this browser.");
  openProgram(example(asked.get("example")));
}

listPrograms();
part("examples").addEventListener("change", choose);
part("exercises").addEventListener("change", ({ target }) => go(target.value ? `?exercise=${target.value}` : "?example"));
part("run").addEventListener("click", run);
part("stop").addEventListener("click", () => client.stop("Stopped."));
part("original").addEventListener("click", () => go(`?example=${program.name}`));
part("share").addEventListener("click", share);
part("check").addEventListener("click", check);
part("hint").addEventListener("click", hint);
part("next").addEventListener("click", () => go(`?exercise=${following().number}`));
part("solution").addEventListener("click", solution);
part("again").addEventListener("click", again);
part("save").addEventListener("click", saveFile);
part("load").addEventListener("change", loadFile);
addEventListener("popstate", openAddress);
const host = config.pyodide.startsWith("http") ? ` and ${new URL(config.pyodide).host}, for Pyodide and NumPy, checked by their hashes` : "";
part("requests").textContent = `Programs run here, each in a Python of its own. They reach only this site${host}, and save nothing without a press.`;
await openAddress();
document.body.inert = false; // a press of a button before this would be lost
