// The worker: Python with minigrad, in a thread of its own. See client.js.

import { Outbox } from "./outbox.js";

const here = new URL("./", import.meta.url);
const post = self.postMessage.bind(self);
let ready = null;
let refused = ""; // the file that is missing or another

// A file, refused if it is not the one that the site was built with.
async function fetched(url, integrity) {
  const response = await fetch(url, integrity ? { integrity } : {});
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

async function imported(url, integrity) {
  const text = await (await fetched(url, integrity)).text();
  const blob = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ blob);
  } finally {
    URL.revokeObjectURL(blob);
  }
}

// Pyodide with NumPy and minigrad; every file of Pyodide is checked.
async function start() {
  const config = await (await fetched(new URL("config.json", here))).json();
  const base = new URL(config.pyodide, here).href;
  const plain = self.fetch;
  self.fetch = async (request, options = {}) => {
    const url = String(request.url ?? request);
    const integrity = url.startsWith(base) && config.integrity[url.slice(base.length)];
    try {
      return await plain(request, integrity ? { ...options, integrity } : options);
    } catch (error) {
      refused = `${url} cannot be loaded, or is not the file that this site was built with`;
      throw error;
    }
  };
  await imported(`${base}pyodide.asm.js`, config.integrity["pyodide.asm.js"]);
  const { loadPyodide } = await imported(`${base}pyodide.mjs`, config.integrity["pyodide.mjs"]);
  const python = await loadPyodide({ indexURL: base, lockFileURL: `${base}pyodide-lock.json` });
  const packages = python.runPython("import site; site.getsitepackages()[0]");
  const wheels = [
    fetched(new URL(config.numpy.url, here), config.numpy.integrity),
    fetched(new URL(config.minigrad, here)),
  ];
  for (const wheel of wheels) {
    const content = new Uint8Array(await (await wheel).arrayBuffer());
    python.unpackArchive(content, "zip", { extractDir: packages });
  }
  const runner = await (await fetched(new URL("runner.py", here))).text();
  python.FS.writeFile(`${packages}/playground_runner.py`, runner);
  return { python, runner: python.pyimport("playground_runner") };
}

// Take from programs what they could flood the page, or fill the browser's storage, with.
for (const name of ["postMessage", "Worker", "BroadcastChannel", "indexedDB", "caches"]) {
  for (let place = self; place; place = Object.getPrototypeOf(place)) delete place[name];
}

self.onmessage = async ({ data: job }) => {
  try {
    ready ??= start();
    const { python, runner } = await ready;
    post({ kind: "ready", id: job.id });
    if (job.kind === "start") return;
    const began = performance.now();
    const outbox = new Outbox(post);
    const tell = (message) => outbox.add(JSON.parse(message));
    let result = null;
    if (job.kind === "run") {
      const { going_on = false, interactive = false } = job;
      runner.run.callKwargs(job.code, tell, { going_on, interactive });
    } else if (job.kind === "check") {
      result = JSON.parse(runner.check(job.number, job.code));
    } else {
      result = JSON.parse(runner.solution(job.number));
    }
    outbox.send(Infinity, Infinity);
    const seconds = (performance.now() - began) / 1000;
    const memory = python._module.HEAPU8.length;
    post({ kind: "done", id: job.id, result, seconds, memory });
  } catch (error) {
    // The runner tells errors of Python. What arrives here has ended Python itself.
    const text = String(error.message ?? error);
    const deep = text.includes("call stack") ? " (the calls are nested too deeply)" : "";
    post({ kind: "failed", text: refused || `Python has ended: ${text}${deep}` });
  }
};
