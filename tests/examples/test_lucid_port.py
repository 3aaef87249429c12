"""The guide for those who come from Lucid: the model that moves, and the names that are said to be.

What the examples of the page print is checked with those of all pages, in test_documentation.py.
"""

import contextlib
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from children import python
from together import together

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.nn import functional as F

PAGE = (Path(__file__).resolve().parents[2] / "docs/lucid_port.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
MODEL = SECTIONS["A model for which only the imports change"]
(LUCIDS,) = re.findall(r"^```py\n(.*?)^```$", MODEL, re.MULTILINE | re.DOTALL)
(OURS,) = re.findall(r"^```python\n(.*?)^```$", MODEL, re.MULTILINE | re.DOTALL)


def test_the_two_differ_in_import_lines_only() -> None:
    pairs = zip(LUCIDS.split("\n"), OURS.split("\n"), strict=True)
    changed = [(theirs, ours) for theirs, ours in pairs if theirs != ours]
    assert [ours for _, ours in changed] == [
        "import minigrad.nn as nn", "import minigrad.nn.functional as F",
        "import minigrad.optim as optim",
        "from minigrad import Tensor, no_grad, random, tensor, zeros",
    ]  # fmt: skip
    assert LUCIDS.replace("lucid", "minigrad") == OURS
    assert "lucid" not in OURS
    assert "minigrad" not in LUCIDS
    compile(LUCIDS, "lucid", "exec")


def test_it_learns(tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(OURS, encoding="utf-8")
    result = python(script, timeout=300)
    assert result.returncode == 0, result.stderr
    form = r"loss (\d+\.\d\d), after 100 steps (\d+\.\d\d); right: (\d+)%\n"
    said = re.fullmatch(form, result.stdout)
    assert said, result.stdout
    first, last, right = map(float, said.groups())
    assert last < first / 10
    assert right > 90
    assert f"`{result.stdout.strip()}`" in PAGE


def cells(section: str) -> list[list[str]]:
    """The table of a section: its rows, the heading left out."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


TABLES = [name for name, text in SECTIONS.items() if "\n|---|" in text]


def test_every_row_says_what_to_change() -> None:
    assert len(TABLES) == 7
    for section in TABLES:
        widths = {len(row) for row in cells(section)}
        assert widths == ({2} if section == "What is missing" else {3}), section


OWNERS = {"minigrad": minigrad, "nn": nn, "F": F, "optim": optim, "Tensor": Tensor}


@pytest.mark.parametrize("section", TABLES)
def test_what_is_named_as_ours_exists(section: str) -> None:
    for row in cells(section):
        for code in re.findall(r"`([^`]+)`", " ".join(row[1:])):
            for owner, path in re.findall(r"\b(minigrad|nn|F|optim)\.([a-zA-Z_][\w.]*)", code):
                found = OWNERS[owner]
                for name in path.split("."):
                    found = getattr(found, name)


def exists(name: str) -> bool:
    """Whether there is something of this name, looked for everywhere unless it says where."""
    path, _, last = name.replace("lucid.", "minigrad.").rpartition(".")
    owners = [OWNERS[path]] if path else [*OWNERS.values(), nn.Module]
    packages = [owner.__name__ for owner in owners if hasattr(owner, "__path__")]
    if any(hasattr(owner, last) for owner in owners):
        return True
    with contextlib.suppress(ModuleNotFoundError):  # whose message says why it is missing
        return any(importlib.util.find_spec(f"{package}.{last}") for package in packages)
    return False


def test_what_is_named_as_missing_is_missing() -> None:
    """What has come to be there meanwhile is to be taken off the list."""
    text = " ".join(row[0] for row in cells("What is missing"))
    names = re.findall(r"`([\w.]+)`", text)
    assert {"Conv3d", "lucid.models", "lucid.count_flops"} <= {*names}
    assert not [name for name in names if exists(name)]
    for name in ("Linear", "lucid.zeros", "optim.Adam", "nn.attention", "register_hook", "gelu"):
        assert exists(name), name


SIGNATURES = Path(__file__).with_name("lucid_signatures.txt").read_text(encoding="utf-8")
SPELLINGS = [
    {"A", "a", "x", "input_", "input", "v", "n", "N", "arr", "tensors", "args", "modules", "shape"},
    {"m", "M"}, {"k", "diagonal"}, {"hx", "h_0"}, {"shift", "shifts"}, {"p", "probs"},
    {"rcond", "rtol"}, {"value", "val", "seed", "generator"}, {"low", "min_value"},
    {"high", "max_value"}, {"start", "args"}, {"parameters", "tensors"},
    {"tensors", "tensors_or_arrays"}, {"None", "()"}, {"axes", "axis", "dim", "dims"},
    {"keepdims", "keepdim"}, {"start_axis", "start_dim"}, {"end_axis", "end_dim"},
    {"axis1", "dim1", "axis0"}, {"axis2", "dim2", "axis1"}, {"args", "shape", "size", "sizes"},
    {"B", "b", "other", "tensor", "vec2"}, {"reps", "repeats"},
]  # fmt: skip
"""Names of one argument, which is given by position; defaults that are the same."""
OTHERWISE = {"keep_grad", "requires_grad", "device", "dtype", "verbose", "epoch", "kind", "stable"}
"""What has its own row, or no meaning here."""


def arguments_of(path: str) -> list[tuple[str, str]]:
    """Name and default of the arguments of ours that Lucid 2.16 has under this path."""
    found: Any = minigrad
    for name in path.split("."):
        found = getattr(found, name)
    given = inspect.signature(found).parameters.values()
    ours = [p for p in given if p.name not in OTHERWISE | {"self"} and p.kind != p.VAR_KEYWORD]
    return [(p.name, getattr(p.default, "__name__", repr(p.default))) for p in ours]


def differs(theirs: list[tuple[str, str]], ours: list[tuple[str, str]]) -> bool:
    """Whether a call by position, or one that leaves something out, could mean something else."""
    for i, (name, default) in enumerate(theirs):
        mine, own = ours[i] if i < len(ours) else ("", "")
        if name != mine and not any({name, mine} <= names for names in SPELLINGS):
            return True
        defaults = {default, own} - {"_empty"}
        if len({*map(number, defaults)}) > 1 and defaults not in SPELLINGS:
            return True
    return False


def number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


@together(line=SIGNATURES.splitlines())
def test_what_is_called_otherwise_has_a_row(line: str) -> None:
    path, _, arguments = line.rstrip(")").partition("(")
    pairs = [each.partition("=")[::2] for each in re.split(r", (?=[\w*])", arguments)]
    theirs = [(name.lstrip("*"), default or "_empty") for name, default in pairs
              if name and name not in OTHERWISE]  # fmt: skip
    last = path.removesuffix(".forward").removesuffix(".step").rpartition(".")[2]
    if differs(theirs, arguments_of(path)):
        rows = " ".join(row[0] for section in TABLES for row in cells(section))
        assert re.search(rf"\b{last}\b", rows), f"{line}\nours: {arguments_of(path)}"
