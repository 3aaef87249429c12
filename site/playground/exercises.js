// The exercises: their texts and checks are those of the command line, run by the worker; what is
// kept here is which are done, with the code and the time of each check.

const KEY = "minigrad exercises";

export class Progress {
  constructor() {
    try {
      this.kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      this.kept = {}; // no storage, or something else was in it
    }
  }

  of(number) {
    return (this.kept[number] ??= { code: null, hints: 0, done: false, checks: [] });
  }

  save() {
    try {
      localStorage.setItem(KEY, JSON.stringify(this.kept));
    } catch {
      // private windows keep nothing; the file can be saved all the same
    }
  }

  checked(number, code, right) {
    const known = this.of(number);
    known.code = code;
    known.done ||= right;
    known.checks.push({ time: new Date().toISOString(), right, code });
    this.save();
  }

  get file() {
    const exercises = Object.fromEntries(
      Object.entries(this.kept).filter(([, known]) => known.code !== null || known.hints),
    );
    return JSON.stringify({ kind: "minigrad exercises", version: 1, exercises }, null, 1);
  }

  set file(text) {
    const read = JSON.parse(text);
    if (read?.kind !== "minigrad exercises" || typeof read.exercises !== "object") {
      throw new Error("this is not a file that the playground has saved");
    }
    for (const [number, known] of Object.entries(read.exercises)) {
      const whole = Array.isArray(known?.checks) && typeof known.done === "boolean";
      if (!/^\d+$/.test(number) || !whole) throw new Error(`exercise ${number} cannot be read`);
    }
    this.kept = read.exercises;
    this.save();
  }
}
