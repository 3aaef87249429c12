// The browser's storage: JSON under names. A private window may have none, and it may be full.

export function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null; // no storage, or something else was in it
  }
}

// Keep a value; false if that cannot be.
export function write(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

export function remove(name) {
  try {
    localStorage.removeItem(name);
  } catch {
    // there is none
  }
}

// The names that begin with a prefix, without it.
export function names(prefix) {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  } catch {
    return [];
  }
}
