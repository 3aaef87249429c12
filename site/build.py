"""Write the static site: the documentation and the playground.

    python site/build.py --docs docs/_build --out site/build
    python site/build.py --docs docs/_build --out site/build --pyodide FOLDER

Without a folder, the playground loads Pyodide from its usual CDN. The folder is one that
`site/local_pyodide.py` has made: its files are copied into the site, which then needs no other
host. In both cases every file of Pyodide, and NumPy's wheel, is checked by its hash in the browser.
"""

import argparse
import base64
import hashlib
import json
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PLAYGROUND, NPM = HERE / "playground", HERE / "node_modules"
CORE = (
    "pyodide.mjs",
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
CDN = "https://cdn.jsdelivr.net/npm/pyodide@{version}/"
WHEELS = "https://cdn.jsdelivr.net/pyodide/v{version}/full/"
COPIED = ("index.html", "frame.html", "style.css", "runner.py", "page_runner.css")
RUNNER = (
    '<link rel="stylesheet" href="../playground/page_runner.css">'
    '<script type="module" src="../playground/page_runner.js"></script>'
)
BUNDLED = ("main.js", "worker.js", "page_runner.js")


def main() -> None:
    """Write the site."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE / "build", help="the folder to write")
    parser.add_argument("--pyodide", type=Path, help="a folder that local_pyodide.py has made")
    parser.add_argument("--docs", type=Path, required=True, help="the documentation as pages")
    options = parser.parse_args()
    install_packages()
    out = options.out
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(options.docs, out)
    write_playground(out / "playground", options.pyodide)
    pages = [*(out / "guide").glob("*.html")]
    for page in out.rglob("*.html"):
        extend(page, "../" * (len(page.relative_to(out).parts) - 1))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"site: {out}/index.html, {size / 2**20:.0f} MiB; code runs on {len(pages)} pages")


def install_packages() -> None:
    """Install what package-lock.json names, where it is not there yet."""
    wanted = (HERE / "package-lock.json").read_bytes()
    mark = NPM / ".installed"
    if not mark.exists() or mark.read_bytes() != wanted:
        if shutil.which("npm") is None:
            sys.exit("site: needs npm (Node.js 18 or newer), which bundles the editor")
        subprocess.run(["npm", "ci", "--silent", "--no-fund"], cwd=HERE, check=True)
        mark.write_bytes(wanted)


def write_playground(folder: Path, pyodide: Path | None) -> None:
    """Write the playground: its page, its bundles, the wheel, examples and exercises."""
    folder.mkdir(parents=True)
    for name in COPIED:
        shutil.copy(PLAYGROUND / name, folder)
    index, host = folder / "index.html", "" if pyodide else CDN.partition("/npm/")[0]
    index.write_text(index.read_text(encoding="utf-8").replace(" PYODIDE;", f" {host};"), "utf-8")
    bundle = map(str, (NPM / ".bin/esbuild", *(PLAYGROUND / name for name in BUNDLED)))
    options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--log-level=warning"]
    subprocess.run([*bundle, *options, f"--outdir={folder}"], check=True)
    wheel = built_wheel(folder)
    write_json(folder / "config.json", config(folder, wheel, pyodide))
    write_json(folder / "examples.json", examples())
    runner = runpy.run_path(str(PLAYGROUND / "runner.py"))
    write_json(folder / "exercises.json", runner["exercise_list"]())


def config(folder: Path, wheel: str, pyodide: Path | None) -> dict[str, Any]:
    """Where the worker finds Python, and the hashes of its files."""
    core = pyodide or NPM / "pyodide"
    lock = json.loads((core / "pyodide-lock.json").read_text(encoding="utf-8"))
    version, numpy = lock["info"]["version"], lock["packages"]["numpy"]
    base, wheels = CDN.format(version=version), WHEELS.format(version=version)
    if pyodide is not None:
        base = wheels = "pyodide/"
        (folder / "pyodide").mkdir()
        for name in (*CORE, numpy["file_name"]):
            shutil.copy(pyodide / name, folder / "pyodide")
    return {
        "pyodide": base,
        "integrity": {name: integrity((core / name).read_bytes()) for name in CORE},
        "numpy": {
            "url": wheels + numpy["file_name"],
            "integrity": f"sha256-{base64.b64encode(bytes.fromhex(numpy['sha256'])).decode()}",
        },
        "minigrad": wheel,
    }


def integrity(content: bytes) -> str:
    """The hash of a file as browsers check it."""
    return f"sha384-{base64.b64encode(hashlib.sha384(content).digest()).decode()}"


def built_wheel(folder: Path) -> str:
    """Build minigrad's wheel from a copy of the sources, so that nothing is left in them."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "minigrad")
        listed = subprocess.run(
            ["git", "ls-files", "-coz", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if name.startswith(("minigrad/", "nn/")) or "/" not in name:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        subprocess.run([*command, copy, "-w", folder], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel.name


def examples() -> list[dict[str, str]]:
    """The examples in order: their names, titles and code."""
    found = []
    for path in sorted((PLAYGROUND / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        title = code.split('"""')[1].partition(".")[0]
        found.append({"name": path.stem.partition("_")[2], "title": title, "code": code})
    return found


def extend(page: Path, root: str) -> None:
    """Put the playground first into the list of pages beside a page of the documentation.

    A page of the guide gets what runs its blocks of code.
    """
    before, tree, after = page.read_text(encoding="utf-8").partition('<div class="sidebar-tree">')
    link = f'<a class="reference internal" href="{root}playground/index.html">Playground</a>'
    entry = f'<ul>\n<li class="toctree-l1">{link}</li>'
    if page.parent.name == "guide":
        before = before.replace("</head>", f"{RUNNER}</head>", 1)
    page.write_text(before + tree + after.replace("<ul>", entry, 1), encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


if __name__ == "__main__":
    main()
