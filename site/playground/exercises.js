// What is kept of the exercises: their code, hints and checks. The texts and checks themselves are
// those of the command line, run by the worker.
//
// Each exercise has an entry of its own in the browser's storage. A write merges what another tab
// has written meanwhile, so that no tab loses the checks of another.

import * as storage from "./storage.js";

const PREFIX = "minigrad exercise ";
const text = (value) => typeof value === "string";

// A record of an exercise; null if the value is none.
function record(value) {
  const { code = null, hints = 0, done, checks } = value ?? {};
  const whole = (code === null || text(code)) && [0, 1, 2, 3].includes(hints)
    && typeof done === "boolean" && Array.isArray(checks)
    && checks.every((each) => text(each?.time) && text(each.code) && typeof each.right === "boolean");
  return whole ? { code, hints, done, checks } : null;
}

// All that two tabs know of an exercise, with the code of the first.
function merged(mine, other) {
  const checks = new Map([...other.checks, ...mine.checks].map((each) => [each.time, each]));
  return {
    code: mine.code ?? other.code,
    hints: Math.max(mine.hints, other.hints),
    done: mine.done || other.done,
    checks: [...checks.values()].sort((a, b) => (a.time < b.time ? -1 : 1)),
  };
}

export class Progress {
  // `changed` is called when another tab has changed something.
  constructor(changed) {
    this.kept = {};
    addEventListener("storage", ({ key }) => {
      if (key === null) this.kept = {};
      else if (key.startsWith(PREFIX)) this.of(key.slice(PREFIX.length), true);
      changed();
    });
  }

  of(number, again = false) {
    const known = this.kept[number];
    if (known && !again) return known;
    const stored = record(storage.read(PREFIX + number));
    const whole = known && stored ? merged(known, stored) : stored ?? known;
    return (this.kept[number] = whole ?? { code: null, hints: 0, done: false, checks: [] });
  }

  // Keep the record of an exercise; false if the browser keeps nothing.
  save(number) {
    return storage.write(PREFIX + number, this.of(number, true));
  }

  checked(number, code, right) {
    const known = this.of(number);
    known.done ||= right;
    known.checks.push({ time: new Date().toISOString(), right, code });
    return this.save(number);
  }

  // The numbers of the exercises that were begun.
  get begun() {
    const numbers = storage.names(PREFIX).map(Number);
    return numbers.filter((number) => this.of(number).code !== null || this.of(number).hints);
  }

  get file() {
    const exercises = Object.fromEntries(this.begun.map((number) => [number, this.of(number)]));
    return JSON.stringify({ kind: "minigrad exercises", version: 1, exercises }, null, 1);
  }

  // The exercises of a file that the playground has saved, by their numbers.
  static read(file) {
    const read = JSON.parse(file);
    if (read?.kind !== "minigrad exercises" || typeof read.exercises !== "object") {
      throw new Error("this is not a file that the playground has saved");
    }
    return Object.fromEntries(Object.entries(read.exercises).map(([number, value]) => {
      const known = /^\d{1,3}$/.test(number) && record(value);
      if (!known) throw new Error(`exercise ${number} cannot be read`);
      return [number, known];
    }));
  }

  // Put other exercises in the place of all.
  replace(exercises) {
    for (const number of this.begun) storage.remove(PREFIX + number);
    this.kept = exercises;
    return Object.keys(exercises).every((number) => this.save(number));
  }
}
