"""Write the live pages of the gallery, from the scripts in examples/gallery/.

    python tools/gallery.py                     all pages, into out/gallery
    python tools/gallery.py nan --out pages     some of them, into another folder
    python tools/gallery.py --docs              docs/gallery.md with its pictures

The documentation is built with these pages, and the tests open each of them in a browser.
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from minigrad.tracing.lines import remember_source
from minigrad.viz.drawing.style import STYLE

__all__ = [
    "MPIEXEC", "PICTURES", "Example", "example", "listed", "names", "picture_of", "write_page",
    "write_pages",
]  # fmt: skip

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "examples" / "gallery"
LISTED = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "_static" / "gallery"

_BESIDE = Path(sys.executable).parent / "mpiexec"
MPIEXEC = str(_BESIDE) if _BESIDE.exists() else shutil.which("mpiexec")
"""The program that starts several ranks; None if it is not here."""

RANKS = {"several_ranks": 2}
"""The scripts that run on more than one rank."""

ORDER = (
    "micrograd", "training_step", "cnn", "multi_head_attention", "encoder_layer", "gpt2", "vae",
    "gan_step", "nan", "several_ranks",
)  # fmt: skip
"""In which docs/gallery.md lists them."""


class Example(NamedTuple):
    """The docstring of a script.

    Attributes:
        name: The name of its file, and of its page.
        title: The first line of its docstring, without the full stop.
        text: The rest of the docstring: what to look at, in Markdown.
        code: The program below the docstring.
    """

    name: str
    title: str
    text: str
    code: str


def names() -> list[str]:
    """The names of all scripts, in alphabetical order."""
    return sorted(path.stem for path in SCRIPTS.glob("*.py"))


def example(name: str) -> Example:
    """Read a script."""
    source = (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, text = (ast.get_docstring(tree) or "").partition("\n")
    code = "".join(source.splitlines(keepends=True)[tree.body[0].end_lineno :])
    return Example(name, title.rstrip("."), text.strip(), code.strip())


def write_page(name: str, folder: Path) -> bool:
    """Run a script in a folder, into which it writes its page.

    Args:
        name: The name of the script.
        folder: The folder; it exists.

    Returns:
        Whether there is a page now. A script for several ranks is left out where there is no MPI.

    Raises:
        RuntimeError: The script failed on several ranks. On one, its own exception is raised.
    """
    if name not in RANKS:
        run(name, folder)
        return True
    if MPIEXEC is None or importlib.util.find_spec("mpi4py") is None:
        return False
    command = [MPIEXEC, "-n", str(RANKS[name]), sys.executable, __file__, name, "--here"]
    done = subprocess.run([*command, "--out", folder], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}, {RANKS[name]} ranks: {done.stdout}{done.stderr}")
    return True


def run(name: str, folder: Path) -> None:
    """Run a script in this process.

    It is called by its bare file name, so that a page shows its lines as `nan.py:17`, wherever the
    project lies.
    """
    file = f"{name}.py"
    source = (SCRIPTS / file).read_text(encoding="utf-8")
    remember_source(file, source)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, file, "exec"), {"__name__": "__main__"})


def write_pages(folder: Path, chosen: Iterable[str] | None = None) -> dict[str, bool]:
    """Write the pages of all scripts, or of some.

    Args:
        folder: Where; it is made if it is not there.
        chosen: The names of the scripts.

    Returns:
        For each name, whether there is a page; see `write_page`.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return {name: write_page(name, folder) for name in chosen or names()}


def picture_of(page: str) -> str:
    """The picture that a page shows to readers without a script, as a file of SVG."""
    start = page.index("<svg", page.index('<section id="stage"'))
    picture = page[start : page.index("</svg>", start) + len("</svg>")]
    return picture.replace(">", f"><style>{STYLE}</style>", 1)


def listed() -> str:
    """The text of docs/gallery.md: what to look at on each page, its picture and its program."""
    introduction = LISTED.read_text(encoding="utf-8").partition("\n## ")[0]
    sections = [
        f"\n## {one.title}\n\n{one.text}\n\n![The graph of {one.name}.py]"
        f"(_static/gallery/{one.name}.svg)\n\nThe program: "
        f"[`{one.name}.py`](../examples/gallery/{one.name}.py).\n"
        for one in map(example, ORDER)
    ]
    return "".join([introduction, *sections])


def write_docs(pages: Path) -> None:
    """Write docs/gallery.md, and a picture of each page."""
    LISTED.write_text(listed(), encoding="utf-8")
    for name, there in write_pages(pages).items():
        if there:
            page = (pages / f"{name}.html").read_text(encoding="utf-8")
            (PICTURES / f"{name}.svg").write_text(picture_of(page), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a script; all by default")
    parser.add_argument(
        "--out", type=Path, default=Path("out/gallery"), help="a folder (default out/gallery)"
    )
    parser.add_argument("--docs", action="store_true", help="docs/gallery.md and its pictures too")
    parser.add_argument("--here", action="store_true", help="in this process, on each of its ranks")
    options = parser.parse_args()
    unknown = sorted({*options.names} - {*names()})
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(names())}")
    if options.here:
        for name in options.names:
            run(name, options.out)
        return
    if options.docs:
        write_docs(options.out)
        return
    for name, there in write_pages(options.out, options.names).items():
        print(options.out / f"{name}.html" if there else f"{name}: left out, it needs MPI")


if __name__ == "__main__":
    main()
