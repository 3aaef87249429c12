// What a program tells the page, which a flood of messages would freeze: text and pictures are sent
// at most four times a second. A program in a loop never returns to the worker, so that no timer of
// the worker could send them: each message looks at the clock.

const EVERY = 250; // milliseconds
const CHARACTERS = 10_000; // in one message
const LINES = 100;
const KEPT = 200_000; // characters that wait; the older ones are left out
const PICTURES = 50; // in one program, without a name

export class Outbox {
  constructor(post) {
    this.post = post;
    this.texts = []; // what waits: { stream, text } in order
    this.pictures = new Map(); // by tab and name, the last that waits
    this.size = this.unnamed = 0;
    this.sent = -Infinity;
  }

  add(message) {
    if (message.kind === "shown") {
      if (!message.name && ++this.unnamed > PICTURES) return;
      this.pictures.set(`${message.tab} ${message.name || this.unnamed}`, message);
    } else if (message.kind === "output") this.write(message);
    else {
      this.send(Infinity, Infinity);
      this.post(message);
    }
    if (performance.now() - this.sent >= EVERY) this.send(CHARACTERS, LINES);
  }

  write({ stream, text }) {
    const last = this.texts.at(-1);
    if (last?.stream === stream) last.text += text;
    else this.texts.push({ stream, text });
    this.size += text.length;
    if (this.size <= 2 * KEPT && this.texts.length < 1000) return;
    const all = this.texts.map((each) => each.text).join("");
    const left = `(${all.length - KEPT} characters are left out)\n`;
    this.texts = [{ stream, text: left + all.slice(-KEPT) }];
    this.size = this.texts[0].text.length;
  }

  // Send what waits: of the text at most so many characters and lines.
  send(characters, lines) {
    do this.next(characters, lines); while (characters === Infinity && this.texts.length);
    for (const picture of this.pictures.values()) this.post(picture);
    this.pictures.clear();
    this.sent = performance.now();
  }

  // Send the beginning of the text.
  next(characters, lines) {
    const [first] = this.texts;
    if (!first) return;
    let end = Math.min(first.text.length, characters);
    for (let at = first.text.indexOf("\n"); at >= 0 && at < end; at = first.text.indexOf("\n", at + 1)) {
      if (--lines === 0) end = at + 1;
    }
    this.post({ kind: "output", stream: first.stream, text: first.text.slice(0, end) });
    first.text = first.text.slice(end);
    this.size -= end;
    if (!first.text) this.texts.shift();
  }
}
