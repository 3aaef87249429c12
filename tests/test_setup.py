"""tools/setup.sh: which Python and which installer it takes, when it does nothing, what it says.

It runs in a folder of its own, with programs that write down how they are called: nothing is
installed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ["cat", "cksum", "cp", "dirname", "mkdir", "rm", "sh", "tr"]
PYTHON = """#!/bin/sh
case "$*" in
    "-m venv"*) echo "$(basename "$0") $*" >> "{log}"; mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    "-m pip"*) echo "python $*" >> "{log}"; case "$*" in *" install "*) exit {failure} ;; esac ;;
    {answers}
    *) exec "{real}" "$@" ;;
esac
"""
UV = """#!/bin/sh
echo "uv $*" >> "{log}"
case "$*" in venv*) mkdir -p .venv/bin; cp python .venv/bin ;; *) exit {failure} ;; esac
"""
OLD = '*"%d.%d"*) echo 3.9 ;; *"< (3, 11)"*) exit 1 ;;'
BARE = '*"import ensurepip, venv"*) exit 1 ;;'

pytestmark = pytest.mark.needs("sh", "cksum")


class Clone:
    """A folder with setup.sh, and the programs that it finds."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs, self.log = folder / "clone", folder / "bin", folder / "log"
        (self.folder / "tools").mkdir(parents=True)
        self.programs.mkdir()
        shutil.copy(ROOT / "tools" / "setup.sh", self.folder / "tools")
        for name in ("pyproject.toml", "setup.py"):
            (self.folder / name).write_text("as it was")
        for name in [*TOOLS, "basename"]:
            (self.programs / name).symlink_to(str(shutil.which(name)))

    def has(self, name: str, text: str, answers: str = "", failure: int = 0) -> None:
        """Have a program that it finds."""
        path = self.programs / name
        path.write_text(
            text.format(log=self.log, real=sys.executable, answers=answers, failure=failure)
        )
        path.chmod(0o755)
        if name == "python3":
            shutil.copy(path, self.folder / "python")  # what the fake uv puts into .venv

    def set_up(self, extra: str = "demo", **environment: str) -> tuple[str, str]:
        """Run it; what it printed, and its complaint."""
        done = subprocess.run(
            ["sh", "tools/setup.sh", extra], cwd=self.folder, capture_output=True, text=True,
            env={"PATH": str(self.programs)} | environment, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode == 0) == (not done.stderr), done
        return done.stdout, done.stderr

    def calls(self) -> list[str]:
        """How the programs were called since it was last asked."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path)
    made.has("python3", PYTHON)
    return made


UNINSTALL = "python -m pip uninstall -qq --yes minigrad"
BY_PIP = "python -m pip install --quiet --disable-pip-version-check --no-compile --editable .[demo]"
BY_UV = "uv pip install --quiet --python .venv/bin/python --editable .[demo]"


def test_without_uv_venv_and_pip_do_it(clone: Clone) -> None:
    said, _ = clone.set_up()
    assert clone.calls() == ["python3 -m venv .venv", UNINSTALL, BY_PIP]
    assert "making .venv with Python 3." in said
    assert "installing into .venv what `demo` needs" in said


def test_with_uv_it_does_and_pip_is_there_too(clone: Clone) -> None:
    clone.has("uv", UV)
    clone.set_up()
    made = f"uv venv --quiet --seed --python {clone.programs / 'python3'} .venv"
    assert clone.calls() == [made, UNINSTALL, BY_UV]


def test_it_does_only_what_is_missing(clone: Clone) -> None:
    clone.set_up()
    clone.calls()
    assert clone.set_up() == ("", "")
    assert clone.calls() == []
    clone.set_up("dev")
    assert clone.calls() == [UNINSTALL, BY_PIP.replace("demo", "dev")]
    (clone.folder / "pyproject.toml").write_text("changed")
    clone.set_up()
    assert clone.calls() == [UNINSTALL, BY_PIP]
    moved = clone.folder.rename(clone.folder.with_name("moved"))
    clone.folder = moved
    clone.set_up()
    assert clone.calls() == [UNINSTALL, BY_PIP]


def test_the_python_that_was_asked_for(clone: Clone) -> None:
    clone.set_up(PYTHON="python3")
    assert clone.calls()[0] == "python3 -m venv .venv"
    assert clone.set_up(PYTHON="python3") == ("", "")
    clone.has("another", PYTHON, '*"sys.base_prefix"*) echo another ;;')
    clone.set_up(PYTHON="another")
    assert clone.calls() == ["another -m venv .venv", UNINSTALL, BY_PIP]
    _, said = clone.set_up(PYTHON="none")
    assert "Python 3.11 or newer is needed (none does not run)" in said


def test_a_python_that_is_too_old_is_named(clone: Clone) -> None:
    clone.has("python3", PYTHON, OLD)
    _, said = clone.set_up()
    assert "Python 3.11 or newer is needed (python3 is Python 3.9)" in said
    assert "make PYTHON=" in said
    clone.has("python3.12", PYTHON)
    clone.set_up()
    assert clone.calls()[0] == "python3.12 -m venv .venv"


def test_a_python_without_its_venv_module(clone: Clone) -> None:
    clone.has("python3", PYTHON, BARE)
    _, said = clone.set_up()
    version = "{}.{}".format(*sys.version_info)
    assert f"Python {version} is here without its venv module" in said
    assert f"apt install python{version}-venv" in said
    clone.has("uv", UV)  # which needs none
    clone.set_up()
    assert clone.calls()[-1] == BY_UV


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_what_cannot_be_installed_is_tried_again(clone: Clone, installer: str) -> None:
    clone.has("python3", PYTHON, failure=1)
    if installer == "uv":
        clone.has("uv", UV, failure=1)
    _, said = clone.set_up()
    assert f"{installer} could not install what is needed" in said
    assert clone.set_up()[1] == said
