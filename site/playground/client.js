// The page's side of the worker: starts it, stops it, and keeps a second one warm.
//
// A worker runs one program, and is then ended: nothing of a program is there for the next. Stopping
// a program means to end its worker too: nothing that it does can prevent that. The one that was
// kept warm takes its place.

export class Client {
  // `base`: the address of the playground's folder; `tell`: takes the worker's messages; `keeps`:
  // whether a worker goes on with the next job, which may need the names of the last.
  constructor(base, tell, keeps = false) {
    this.base = base;
    this.tell = tell;
    this.keeps = keeps;
    this.worker = this.spare = null;
    this.jobs = 0;
  }

  // Ask for something: { kind: "run" | "check" | "solution", ... }. The promise gives
  // the worker's last message; it is rejected if the worker is stopped, or after `seconds`.
  ask(job, seconds = Infinity) {
    if (this.running) throw new Error("a program is running");
    this.worker ??= this.start();
    const worker = this.worker;
    const id = ++this.jobs;
    return new Promise((resolve, reject) => {
      let timer = 0;
      const end = (settle, value) => {
        clearTimeout(timer);
        this.running = null;
        if (settle === resolve && !this.keeps) this.renew();
        settle(value);
      };
      this.running = { fail: (why) => end(reject, new Error(why)) };
      worker.onerror = (event) => this.stop(`the worker failed: ${event.message ?? "out of memory?"}`);
      worker.onmessage = ({ data }) => {
        if (data.kind === "ready" && data.id === id) {
          this.spare ??= this.start(); // one that is warm when this one is stopped
          if (seconds < Infinity) {
            timer = setTimeout(() => this.stop(`stopped after ${seconds} seconds`), 1000 * seconds);
          }
        }
        if (data.kind === "failed") this.stop(data.text);
        else if (data.id === id && data.kind === "done") end(resolve, data);
        else this.tell(data);
      };
      worker.postMessage({ ...job, id });
    });
  }

  // End the program that runs, whatever it does.
  stop(why = "stopped") {
    this.renew();
    this.running?.fail(why);
  }

  // Load Python before it is needed.
  warm() {
    this.worker ??= this.start();
  }

  renew() {
    this.worker?.terminate();
    [this.worker, this.spare] = [this.spare ?? this.start(), null];
  }

  // A worker whose first line is here, and not in a file, is bound by the rules of this page.
  start() {
    const line = `import ${JSON.stringify(new URL("worker.js", this.base))};`;
    const url = URL.createObjectURL(new Blob([line], { type: "text/javascript" }));
    const worker = new Worker(url, { type: "module" });
    worker.onmessage = ({ data }) => this.tell(data);
    worker.postMessage({ kind: "start" });
    return worker;
  }
}
