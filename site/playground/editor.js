// The editor: CodeMirror with Python, and the error of a run at its line.

import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";

// Colours are variables of style.css, which has them for light and for dark.
const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--number)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.className], color: "var(--name)" },
]);
const frame = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--back)" },
  "&.cm-focused": { outline: "2px solid var(--main)", outlineOffset: "-2px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--panel)", borderColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--selected)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--panel)", borderColor: "var(--line)" },
});

export class Editor {
  // `run` is called by Ctrl+Enter, `changed` when the text changes.
  constructor(parent, run, changed) {
    this.extensions = [
      keymap.of([{ key: "Mod-Enter", run: () => (run(), true) }, indentWithTab]),
      basicSetup,
      python(),
      syntaxHighlighting(colours),
      frame,
      lintGutter(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        "aria-label": "Program. Escape, then Tab, leaves the editor; Control and Enter runs it.",
      }),
      EditorView.updateListener.of((update) => update.docChanged && changed()),
    ];
    this.states = new Map(); // of the texts that are not shown
    this.view = new EditorView({ parent, state: this.fresh("") });
    this.view.scrollDOM.tabIndex = 0; // a keyboard can scroll it
  }

  fresh(doc) {
    return EditorState.create({ doc, extensions: this.extensions });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // Show the text that is called `key`. Each has changes of its own to be undone, which stay while
  // another one is shown, unless `text` is another one now.
  open(key, text) {
    if (this.key) this.states.set(this.key, this.view.state);
    const known = this.states.get(key);
    this.view.setState(known?.doc.toString() === text ? known : this.fresh(text));
    this.key = key;
    this.clear();
  }

  // From now on the text that is shown is called `key`.
  rename(key) {
    this.states.delete(this.key);
    this.key = key;
  }

  // Change the whole text; that can be undone.
  replace(text) {
    const { length } = this.view.state.doc;
    this.view.dispatch({ changes: { from: 0, to: length, insert: text } });
    this.clear();
  }

  // Show a message at a line, from 1; 0 for none.
  fail(number, message) {
    const doc = this.view.state.doc;
    if (number < 1 || number > doc.lines) return;
    const { from, to } = doc.line(number);
    const diagnostic = { from, to, severity: "error", message };
    this.view.dispatch(setDiagnostics(this.view.state, [diagnostic]));
    this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }

  // Show the first place of a text, if it is there, and put the cursor on it.
  scrollTo(text) {
    const anchor = this.text.indexOf(text);
    if (anchor < 0) return;
    const effects = EditorView.scrollIntoView(anchor, { y: "center" });
    this.view.dispatch({ selection: { anchor }, effects });
  }

  clear() {
    this.view.dispatch(setDiagnostics(this.view.state, []));
  }
}
