// The programs of the reader: an example, or a program from a link, becomes one when it is changed.

import * as storage from "./storage.js";

const PREFIX = "minigrad program ";
const kept = new Map(); // of this tab, also where the browser keeps nothing

const whole = (value) => typeof value?.title === "string" && typeof value.code === "string";

// All programs in the order in which they were begun: { id, title, code, name of the example }.
export function all() {
  const found = new Map(storage.names(PREFIX).map((id) => [id, { id, ...storage.read(PREFIX + id) }]));
  for (const [id, program] of kept) found.set(id, program);
  return [...found.values()].filter(whole).sort((a, b) => (a.id < b.id ? -1 : 1));
}

export const find = (id) => all().find((each) => each.id === id) ?? null;

export const begun = () => Date.now().toString(36); // an id that no other tab gives

export const labelOf = ({ id, title }) => `${title}, ${new Date(parseInt(id, 36)).toLocaleString()}`;

// Keep a program, or forget one that is empty; false if the browser keeps nothing.
export function save({ id, title, name }, code) {
  if (code.trim()) {
    kept.set(id, { id, title, name, code });
    return storage.write(PREFIX + id, { title, name, code });
  }
  kept.delete(id);
  storage.remove(PREFIX + id);
  return true;
}
