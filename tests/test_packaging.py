"""What is built can be installed and imported, from any folder, and costs little to import."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).resolve().parent.parent
EVERYTHING = "import minigrad, " + ", ".join(
    f"minigrad.{name}"
    for name in ("data", "io", "nn", "nn.functional", "onnx", "optim", "pretrained", "viz")
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def python(
    *arguments: str, cwd: Path, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a fresh interpreter, which finds packages in `path` before its own."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
    )


def made_by_tools(name: str) -> bool:
    """Whether a file or folder of this name is no source: a cache, a build, an environment."""
    hidden = name.startswith(".") and name != ".ci"
    made = {"build", "dist", "out", "_build", "__pycache__"}
    return hidden or name in made or name.endswith(".egg-info")


def sources(folder: Path) -> set[str]:
    """The package's files in this repository, as they are called when installed."""
    files = {
        path.relative_to(folder).as_posix()
        for package in ("minigrad", "nn")
        for path in (folder / package).rglob("*")
        if path.suffix in {".py", ".js", ".css", ".html"} or path.name == "py.typed"
    }
    return {f"minigrad/{name}" if name.startswith("nn/") else name for name in files}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist and the wheel built from it, made in a copy of the repository."""
    copy = tmp_path_factory.mktemp("build") / "minigrad"
    shutil.copytree(ROOT, copy, ignore=lambda _, names: {*filter(made_by_tools, names)})
    done = python("-m", "build", "--no-isolation", "--outdir", "out", cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "out"


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_holds_the_whole_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        described = archive.read(metadata).decode()
    assert names == sources(ROOT)
    assert f"Version: {minigrad.__version__}\n" in described
    assert "License-Expression: MIT\n" in described


@pytest.mark.slow
def test_the_sdist_holds_tests_and_docs_too(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for name in ("LICENSE", "README.md", "Makefile", "nn/__init__.py", "tests/conftest.py"):
        assert name in names
    assert "docs/index.md" in names


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_an_installed_package_imports_from_elsewhere(
    built: Path, kind: str, tmp_path: Path
) -> None:
    archive, target = next(built.glob(kind)), tmp_path / "installed"
    install = ["-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    done = python(*install, "--target", str(target), str(archive), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    show = f"{EVERYTHING}; print(minigrad.__version__, minigrad.__file__, minigrad.nn.__file__)"
    done = python("-c", show, cwd=tmp_path, path=target)
    assert done.returncode == 0, done.stderr
    version, package, nn = done.stdout.split()
    assert version == minigrad.__version__
    assert Path(package) == target / "minigrad" / "__init__.py"
    assert Path(nn) == target / "minigrad" / "nn" / "__init__.py"


def test_every_folder_of_the_package_is_listed() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {str(Path(name).parent) for name in sources(ROOT) if name.endswith("__init__.py")}
    assert {*listed} == {folder.replace(os.sep, ".") for folder in folders}


def test_the_install_has_every_file_of_the_repository() -> None:
    for name in sources(ROOT):
        if name.endswith(".py"):
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            found = importlib.util.find_spec(module)
            assert found and found.origin, f"{module} is not installed: run `make install`"
            source = ROOT / name.removeprefix(
                "minigrad/" if name.startswith("minigrad/nn/") else ""
            )
            assert Path(found.origin).read_bytes() == source.read_bytes(), (
                f"{module} is an older one"
            )


@pytest.mark.slow
def test_the_tests_run_against_what_is_installed(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_creation.py"]
    done = python(*tests, "--installed", cwd=ROOT, path=target)
    assert done.returncode == 0, done.stdout + done.stderr
    done = python("-P", *tests, cwd=ROOT, path=target)
    assert done.returncode == 4 and "--installed tests the one that is" in done.stderr
    package = target / "minigrad" / "__init__.py"
    package.write_text(package.read_text().replace("__version__ =", "__version__ = '9' #"))
    done = python(*tests, "--installed", cwd=ROOT, path=target)
    assert done.returncode == 4 and "these tests are of" in done.stderr


def test_it_imports_from_the_repository_itself() -> None:
    """Python puts the current folder first, and there nn/ stands beside minigrad/, not in it."""
    done = python("-c", f"{EVERYTHING}; print(minigrad.nn.Linear.__module__)", cwd=ROOT)
    assert (done.returncode, done.stdout.split()) == (0, ["minigrad.nn.layers.linear"]), done.stderr


@pytest.mark.parametrize(
    ("wrong", "right"), [("nn", "minigrad.nn"), ("minigrad.minigrad", "minigrad")]
)
def test_a_second_copy_is_refused(wrong: str, right: str) -> None:
    done = python("-c", f"import {wrong}", cwd=ROOT)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ")
    assert f"`import {right}`" in last


@pytest.mark.parametrize(
    "late",
    [
        "graphviz", "tqdm", "matplotlib", "torch", "scipy", "sklearn", "einx", "safetensors",
        "onnx", "onnxruntime", "tokenizers",
    ],
)  # fmt: skip
def test_importing_minigrad_does_not_import(late: str, tmp_path: Path) -> None:
    path = Path(minigrad.__file__).parent.parent
    show = f"{EVERYTHING}, sys; print({late!r} in sys.modules)"
    done = python("-c", show, cwd=tmp_path, path=path)
    assert (done.returncode, done.stdout.split()) == (0, ["False"]), done.stderr


def test_importing_minigrad_writes_nothing(tmp_path: Path) -> None:
    path = Path(minigrad.__file__).parent.parent
    done = python("-W", "error", "-c", EVERYTHING, cwd=tmp_path, path=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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
    path = Path(minigrad.__file__).parent.parent
    check = "print([name for name, value in state().items() if value != before[name]])"
    asked = "print(minigrad.keep_freed_memory(1024), state()['malloc'])"
    code = "\n".join((PROCESS, EVERYTHING, check, asked))
    done = python("-c", code, cwd=tmp_path, path=path)
    changed, asked_for = done.stdout.splitlines()
    assert changed == "[]", done.stderr
    assert asked_for in {"True True", "False False"}  # where there is no glibc, nothing is asked


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
