// Runs tests of the repository in Pyodide, under Node.
//
//     node site/run_tests.mjs PYODIDE PACKAGES tests/autograd tests/ops/test_norm.py
//
// PYODIDE is a folder of local_pyodide.py, PACKAGES one with pytest and Hypothesis in pure Python.

import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [pyodide, packages, ...tests] = process.argv.slice(2);
const root = path.dirname(import.meta.dirname);

function failed(error) {
  console.log(String(error.message ?? error).slice(-3000)); // its source would be megabytes
  process.exit(3);
}
process.on("uncaughtException", failed);
process.on("unhandledRejection", failed);

const { loadPyodide } = await import(pathToFileURL(path.resolve(pyodide, "pyodide.mjs")));
const print = (line) => console.log(line);
const python = await loadPyodide({
  indexURL: path.resolve(pyodide) + path.sep, stdout: print, stderr: print,
});
const installed = python.runPython("import site; site.getsitepackages()[0]");
const numpy = fs.readdirSync(pyodide).find((name) => name.startsWith("numpy"));
const wheel = new Uint8Array(fs.readFileSync(path.join(pyodide, numpy)));
python.unpackArchive(wheel, "zip", { extractDir: installed });
for (const [place, folder] of [["/repo", root], ["/packages", path.resolve(packages)]]) {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, place);
}
python.globals.set("tests", python.toPy(tests));
process.exitCode = python.runPython(`
import os
import sys

sys.dont_write_bytecode = True
os.chdir("/repo")
sys.path[:0] = ["/repo", "/packages"]
import pytest

options = ["-q", "--tb=short", "--capture=sys", "-p", "no:cacheprovider", "-p", "no:unraisableexception"]
options += ["-o", "faulthandler_timeout=0"]  # it would take a thread
int(pytest.main([*options, *tests]))
`);
