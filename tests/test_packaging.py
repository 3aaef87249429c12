"""What is built can be installed and imported, from any folder, and costs little to import."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import minigrad
from minigrad.support import memory

ROOT = Path(__file__).resolve().parent.parent
EVERYTHING = "import minigrad, " + ", ".join(
    f"minigrad.{name}"
    for name in ("data", "io", "nn", "nn.functional", "onnx", "optim", "pretrained", "viz")
)
HERE = Path(minigrad.__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def python(*arguments: str, cwd: Path, path: Path | None = None, well: bool = True) -> Any:
    """Run a fresh interpreter, which finds packages in `path` before its own.

    Args:
        *arguments: What follows `python`.
        cwd: The folder that it runs in.
        path: Where it looks for packages first.
        well: Whether it should succeed.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True,
        check=False, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode == 0) == well, done.stdout + done.stderr
    return done


def files_of(wheel: Path) -> dict[str, str]:
    """The files of a wheel by their names, and what they contain."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def without_information(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if ".dist-info/" not in name and ".pyc" not in name)


def made_by_tools(name: str) -> bool:
    """Whether a file or folder of this name is not source: a cache, a build, an environment."""
    hidden = name.startswith(".") and name != ".ci"
    made = {"build", "dist", "out", "_build", "__pycache__"}
    return hidden or name in made or name.endswith(".egg-info")


def sources(folder: Path) -> set[str]:
    """The package's files in this repository, as they are called when installed."""
    files = {
        path.relative_to(folder).as_posix()
        for package in ("minigrad", "nn")
        for path in (folder / package).rglob("*")
        if path.suffix in {".py", ".js", ".css", ".html"} or path.name in ("py.typed", "walks.md")
    }
    return {f"minigrad/{name}" if name.startswith("nn/") else name for name in files}


def copied(folder: Path) -> Path:
    """A copy of the repository, its link included."""
    skip = {"ignore": lambda _, names: {*filter(made_by_tools, names)}, "symlinks": True}
    return Path(shutil.copytree(ROOT, folder, **skip))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist of the repository, and the wheel that is made of the sdist."""
    copy = copied(tmp_path_factory.mktemp("build") / "minigrad")
    python("-m", "build", "--no-isolation", "--outdir", "out", cwd=copy)
    return copy / "out"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def without_links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as Git makes it on Windows: in the place of the link a file that names it."""
    copy = copied(tmp_path_factory.mktemp("without_links") / "minigrad")
    link = copy / "minigrad" / "nn"
    target = os.readlink(link)
    link.unlink()
    link.write_text(target)
    return copy


@pytest.mark.slow
@pytest.mark.needs("build")  # and with it came the setuptools that pyproject.toml asks for
class TestBuilds:
    def test_a_wheel_holds_the_whole_package_and_nothing_else(self, wheel: Path) -> None:
        files = files_of(wheel)
        assert without_information(files) == sorted(sources(ROOT))
        described = next(text for name, text in files.items() if name.endswith("/METADATA"))
        assert f"Version: {minigrad.__version__}\n" in described
        assert "License-Expression: MIT\n" in described

    def test_the_sdist_holds_tests_and_docs_too_and_nn_once(self, built: Path) -> None:
        with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        others = ["LICENSE", "README.md", "Makefile", "docs/index.md", "tests/conftest.py"]
        assert {*others} <= names
        in_nn = {name for name in names if re.match(r"(minigrad/)?nn/.*\.py", name)}
        assert in_nn == {name[9:] for name in sources(ROOT) if name.startswith("minigrad/nn/")}

    def test_a_checkout_without_links_makes_the_same_wheel(self, without_links: Path) -> None:
        python("-m", "build", "--wheel", "--no-isolation", "-o", "out", cwd=without_links)
        (wheel,) = (without_links / "out").glob("*.whl")
        assert without_information(files_of(wheel)) == sorted(sources(ROOT))

    @pytest.mark.parametrize("kind", ["wheel", "repository"])
    def test_an_installed_package_imports_from_elsewhere(
        self, built: Path, wheel: Path, kind: str, tmp_path: Path
    ) -> None:
        """From the repository it is built without an sdist in between."""
        origin, target = wheel if kind == "wheel" else built.parent, tmp_path / "installed"
        options = ["--no-deps", "--no-build-isolation", "--no-index", "-q", "--no-compile"]
        install = ["-m", "pip", "install", *options, "--target", str(target), str(origin)]
        python(*install, cwd=tmp_path)
        files = [path for path in target.rglob("*") if path.is_file()]
        installed = without_information(path.relative_to(target).as_posix() for path in files)
        assert installed == sorted(sources(ROOT))
        show = f"{EVERYTHING}; print(minigrad.__version__, minigrad.__file__, minigrad.nn.__file__)"
        version, *packages = python("-c", show, cwd=tmp_path, path=target).stdout.split()
        assert version == minigrad.__version__
        assert packages == [
            str(target / place / "__init__.py") for place in ("minigrad", "minigrad/nn")
        ]

    def test_an_editable_install_is_a_path(self, tmp_path: Path) -> None:
        """Type checkers and editors follow it too, and a new file needs no second install."""
        copy = copied(tmp_path / "minigrad")
        call = "from setuptools import build_meta; print(build_meta.build_editable('out'))"
        (copy / "out").mkdir()
        python("-c", call, cwd=copy)
        files = files_of(next((copy / "out").glob("*.whl")))
        (path,) = without_information(files)
        assert Path(path).suffix == ".pth"
        assert files[path].split() == [str(copy)]

    def test_the_tests_run_against_what_is_installed(
        self, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = tmp_path / "installed"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
        tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_wrong_calls.py"]
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer than the tests
        python(*tests, "--installed", cwd=ROOT, path=target)
        done = python("-P", *tests, cwd=ROOT, path=target, well=False)
        assert done.returncode == 4
        assert "--installed tests the one that is" in done.stderr
        package = target / "minigrad" / "__init__.py"
        package.write_text(package.read_text().replace("__version__ =", "__version__ = '9' #"))
        done = python(*tests, "--installed", cwd=ROOT, path=target, well=False)
        assert done.returncode == 4
        assert "these tests are of" in done.stderr


ONE_COPY = f"""
{EVERYTHING}, sys, os
from minigrad.nn.layers.linear import Linear
assert Linear is minigrad.nn.Linear and Linear.__module__ == "minigrad.nn.layers.linear"
modules = [m.__file__ for m in sys.modules.values() if getattr(m, "__file__", None)]
real = [os.path.realpath(file) for file in modules if "minigrad" in file]
print(len(real) - len(set(real)), end="")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["repository", "without links"])
def test_it_imports_from_a_checkout_itself_and_once(kind: str, request: Any) -> None:
    checkout = ROOT if kind == "repository" else request.getfixturevalue("without_links")
    assert python("-c", ONE_COPY, cwd=checkout).stdout == "0"
    for beside in ("tests", "tools", "examples"):
        done = python("-c", f"import minigrad.{beside}", cwd=checkout, well=False)
        assert f"No module named 'minigrad.{beside}'" in done.stderr


def test_nn_on_its_own_is_refused_in_one_line() -> None:
    last = python("-c", "import nn", cwd=ROOT, well=False).stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert "`import minigrad.nn`" in last


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    shown = {*dir(minigrad)}
    assert shown - {"__version__", "bool"} < {*minigrad.__all__}
    things = {id(getattr(minigrad, name)) for name in minigrad.__all__}
    assert {id(getattr(minigrad, name)) for name in shown - {"__version__"}} == things
    assert len(shown - {"__version__"}) == len(things)  # under one name each
    assert {"Tensor", "exp", "float32", "linalg", "load", "nn", "ops", "optim", "viz"} <= shown
    assert not {name for name in shown if name.startswith("_")} - {"__version__"}
    assert not {"TYPE_CHECKING", "annotations", "importlib", "interop", "np", "os"} & shown
    modules = {name: getattr(minigrad, name) for name in shown}
    for name, module in modules.items():
        assert not isinstance(module, ModuleType) or module.__name__ == f"minigrad.{name}"
    assert not [name for name in vars(minigrad) if name in {"np", "os", "importlib", "sys"}]


LATE = {
    "graphviz", "tqdm", "matplotlib", "torch", "scipy", "sklearn", "einx", "safetensors", "onnx",
    "onnxruntime", "tokenizers", "tensorboardX", "minigrad.learn",
}  # fmt: skip


def test_importing_minigrad_does_not_import_others(tmp_path: Path) -> None:
    show = f"{EVERYTHING}, sys; print(*({LATE!r} & {{*sys.modules}}))"
    assert python("-c", show, cwd=tmp_path, path=HERE).stdout.split() == []


def test_random_numbers_are_loaded_when_one_is_drawn() -> None:
    show = "print('numpy.random' in sys.modules)"
    code = f"import sys, numpy; {show}; import minigrad; {show}; minigrad.rand(1); {show}"
    numpy_alone, imported, drawn = python("-c", code, cwd=ROOT).stdout.split()
    assert (imported, drawn) == (numpy_alone, "True")  # before 2.3, NumPy itself loads them


def test_importing_minigrad_writes_nothing(tmp_path: Path) -> None:
    done = python("-W", "error", "-c", EVERYTHING, cwd=tmp_path, path=HERE)
    assert (done.stdout, done.stderr) == ("", "")


PROCESS = """
import os, random, signal, sys, threading, warnings
import numpy as np

symbols = []
sys.addaudithook(lambda event, seen: symbols.append(seen[1]) if event == "ctypes.dlsym" else None)
random.seed(0), np.random.seed(0)

def state():
    return {
        "malloc": "mallopt" in symbols,
        "environment": dict(os.environ),
        "errors of NumPy": np.geterr(),
        "printing": repr(np.get_printoptions()),
        "random": (random.getstate(), repr(np.random.get_state())),
        "recursion": sys.getrecursionlimit(),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "threads": threading.active_count(),
        "traces": (sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook),
        "warnings": list(warnings.filters),
    }

before = state()
"""


def test_importing_minigrad_changes_nothing_of_the_process(tmp_path: Path) -> None:
    check = "print([name for name, value in state().items() if value != before[name]])"
    asked = "print(minigrad.keep_freed_memory(1024), state()['malloc'])"
    code = "\n".join((PROCESS, EVERYTHING, check, asked))
    done = python("-c", code, cwd=tmp_path, path=HERE)
    changed, asked_for = done.stdout.splitlines()
    assert changed == "[]", done.stderr
    assert asked_for in {"True True", "False False"}  # where there is no glibc, nothing is asked


def test_the_first_recorded_op_keeps_freed_memory(tmp_path: Path) -> None:
    lines = (
        "import minigrad\nx = minigrad.ones(3)\nx + x\nprint(state()['malloc'])",
        "x.requires_grad_() * x\nprint(state()['malloc'], minigrad.keep_freed_memory(0))",
    )
    done = python("-c", "\n".join((PROCESS, *lines)), cwd=tmp_path, path=HERE)
    before, after = done.stdout.splitlines()
    assert before == "False", done.stderr
    assert after in {"True True", "False False"}  # where there is no glibc, nothing is set


@pytest.mark.parametrize(("settled", "asked"), [(False, [32]), (True, [])])
def test_whoever_asked_before_has_the_last_word(
    settled: bool, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[int] = []
    monkeypatch.setattr(memory, "keep_freed_memory", found.append)
    monkeypatch.setattr(memory, "_settled", settled)
    memory.keep_by_default()
    assert found == asked


OPTIONAL = [
    "_asyncio", "_bz2", "_crypt", "_ctypes", "_curses", "_dbm", "_decimal", "_gdbm", "_hashlib",
    "_lzma", "_multiprocessing", "_posixshmem", "_posixsubprocess", "_socket", "_sqlite3", "_ssl",
    "_tkinter", "_uuid", "_zoneinfo", "fcntl", "grp", "mmap", "pwd", "readline", "resource",
    "select", "syslog", "termios",
]  # fmt: skip
"""Modules in C that a Python can be built without. NumPy itself needs zlib."""


def test_a_python_with_few_modules_trains_and_draws(tmp_path: Path) -> None:
    program = f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))
import importlib
import numpy as np
import minigrad
from minigrad import nn, optim
for part in ("data", "io", "viz", "onnx", "distributed", "pretrained", "distributions",
             "checking", "compiler"):
    importlib.import_module("minigrad." + part)
print("ctypes" in sys.modules, minigrad.keep_freed_memory(1024), minigrad.get_num_threads() >= 1)
model = nn.Linear(400, 400)
optimizer = optim.Adam(model.parameters())
loader = minigrad.data.DataLoader(minigrad.data.TensorDataset(minigrad.randn(900, 400)), 300)
for (x,) in loader:
    model(x).square().mean().backward()
    optimizer.step()
print(len(minigrad.viz.graph(model(x)).nodes))
"""
    found = python("-c", program, cwd=tmp_path, path=HERE).stdout.splitlines()
    assert found[0] == "False False True"


def wrong_installs(text: str) -> list[str]:
    """What a text tells to install that pip would fetch from a stranger, or cannot find.

    Neither the name on PyPI that is another project's, nor our own, under which nothing is there.
    """
    plain = re.sub(r"[\\'\"`]+", "", text)
    by_name = re.findall(r"\bminigrad(?:[-_.]numpy)?\s*\[\s*[a-z][^\]]*\]", plain)
    for line in re.findall(r"pip\d? install\b(.*)", plain):
        by_name += re.findall(r"(?<![-./\w])minigrad(?:[-_.]numpy)?(?![-./\w])", line)
    extras = re.findall(r"(?<=\s)\.\[([a-z, ]+)\]", plain)
    known = PROJECT["optional-dependencies"]
    return by_name + [name for names in extras for name in names.split(",") if name not in known]


@pytest.mark.parametrize("quote", ["", "'", '"', "`", "\\'", '\\"'])
@pytest.mark.parametrize(
    "name", ["{}[onnx]", "{}\\[onnx\\]", "{}_numpy[onnx]", "{}", "{}>=0.1", " .[nox]"]
)
def test_a_wrong_install_is_found_in_any_quotes(quote: str, name: str) -> None:
    requirement = name.format("minigrad")
    assert wrong_installs(f"pip install {quote}{requirement}{quote} next")


def test_right_installs_are_not_taken_for_wrong_ones() -> None:
    assert not wrong_installs("pip install '.[onnx]'\npip install -e .\npip install onnx\nminigrad")


@pytest.mark.slow
def test_no_text_sends_anybody_to_another_project() -> None:
    for path in ROOT.rglob("*"):
        inside = path.relative_to(ROOT).parts
        if path.is_file() and path != Path(__file__) and not any(map(made_by_tools, inside)):
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            if path != ROOT / "pyproject.toml":
                assert not wrong_installs(text), path


def test_extras_require_only_extras_of_this_project() -> None:
    requirements = [r for extra in PROJECT["optional-dependencies"].values() for r in extra]
    own = [r for r in requirements if r.lower().startswith("minigrad")]
    assert own
    for requirement in own:
        name, _, extras = requirement.rstrip("]").partition("[")
        assert name == PROJECT["name"] != "minigrad"
        assert {*extras.split(",")} <= {*PROJECT["optional-dependencies"]}
