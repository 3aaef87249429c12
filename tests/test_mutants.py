"""`make mutants`: every kind of mistake is made, a wrong rule is found out, a right one is not.

`make needed`: it finds every kind of function, and the tests that find nothing.
"""

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rule_mutants.listing import read_listing
from rule_mutants.mistakes import KINDS
from rule_mutants.mutations import Mutant, mutants_of
from rule_mutants.sites import find_sites

ROOT = Path(__file__).resolve().parent.parent

FUNCTION = """
def rule(g, x, out, axis):
    g = undo_reduction(-g, x.shape, axis)
    if x.ndim == 0 and axis is not None:
        raise ValueError("no axis 0 in ()")
    g += total(x[..., None] - out, axis=-1)
    return np.where(x > 0, g.T @ x, zero_safe(1 / x, g))
"""

OP = """
import numpy as np
from minigrad.autograd import primitive

@primitive
def curve(x):
    return x**3

def _slope(x):
    return 3 * x * x

def used_by_the_forward_too(x):
    return x

@primitive
def line(x):
    return used_by_the_forward_too(x)

curve.defvjp(x=lambda g, x: g * _slope(x))
line.defvjp(x=lambda g, x: used_by_the_forward_too(g) * (x * 0 + 1))
"""

TESTS = """
import numpy as np
import toy
from minigrad import Tensor

def gradient(op):
    x = Tensor([1.0, -2.0], requires_grad=True)
    op(x).backward([1.0, 0.5])
    return x.grad.tolist()

def test_curve(): assert gradient(toy.curve) == [3.0, 6.0]
def test_line(): assert gradient(toy.line) == [1.0, 0.5]
"""


def mutants(source: str, arrays: set[str]) -> list[Mutant]:
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return list(mutants_of(tree, frozenset(arrays), "rule.py"))


def mutated(source: str, arrays: set[str]) -> list[tuple[str, str, str]]:
    return [(mutant.kind, mutant.before, mutant.after) for mutant in mutants(source, arrays)]


def test_every_kind_of_mutant_is_made() -> None:
    found = mutated(FUNCTION, {"g", "x", "out"})
    assert {kind for kind, _, _ in found} == {*KINDS}
    lines = {
        "g = undo_reduction(-g, x.shape, axis)": [
            ("missing undo_reduction", "g = -g"), ("sign", "g = undo_reduction(g, x.shape, axis)"),
        ],
        "if x.ndim == 0 and axis is not None:": [
            ("branch", "if True:"), ("branch", "if x.ndim == 0:"),
        ],
        "g += total(x[..., None] - out, axis=-1)": [
            ("slice", "g += total(x - out, axis=-1)"), ("dropped term", "g += 0"),
            ("axis", "g += total(x[..., None] - out, axis=-2)"),
            ("sign", "g -= total(x[..., None] - out, axis=-1)"),
        ],
        "return np.where(x > 0, g.T @ x, zero_safe(1 / x, g))": [
            ("sign", "return -np.where(x > 0, g.T @ x, zero_safe(1 / x, g))"),
            ("factor", "return 2 * np.where(x > 0, g.T @ x, zero_safe(1 / x, g))"),
            ("factor", "return np.where(x > 0, g.T @ x, zero_safe(2 / x, g))"),
            ("dropped term", "return np.where(x > 0, g.T, zero_safe(1 / x, g))"),
            ("swapped operands", "return np.where(x > 0, x @ g.T, zero_safe(1 / x, g))"),
            ("swapped operands", "return np.where(x > 0, zero_safe(1 / x, g), g.T @ x)"),
            ("swapped operands", "return np.where(x > 0, g.T @ x, zero_safe(x / 1, g))"),
            ("missing transpose", "return np.where(x > 0, g @ x, zero_safe(1 / x, g))"),
            ("missing guard", "return np.where(x > 0, g.T @ x, 1 / x)"),
            ("missing guard", "return g.T @ x"),
            ("boundary", "return np.where(x >= 0, g.T @ x, zero_safe(1 / x, g))"),
            ("argument", "return np.where(out > 0, g.T @ x, zero_safe(1 / x, g))"),
        ],
    }  # fmt: skip
    for before, mistakes in lines.items():
        assert {(kind, before, after) for kind, after in mistakes} <= {*found}


def test_no_two_mutants_are_alike_and_messages_are_left_alone() -> None:
    found = mutated(FUNCTION, {"g", "x", "out"})
    assert len({(before, after) for _, before, after in found}) == len(found)
    assert not any("raise" in before for _, before, _ in found)


def test_what_is_the_same_by_contract_is_left_alone() -> None:
    """A cotangent has the shape and dtype of its output; of lengths, -1 is not an axis."""
    source = "def rule(g, x, out):\n    return x.reshape(-1) * np.ones(g.shape, out.dtype)"
    after = {after for _, _, after in mutated(source, {"g", "x", "out"})}
    assert "return x.reshape(-1) * np.ones(x.shape, out.dtype)" in after
    assert "return x.reshape(-1) * np.ones(g.shape, x.dtype)" in after
    for same in ("ones(out.shape, out.dtype)", "ones(g.shape, g.dtype)", "-2", "reshape(0)"):
        assert not any(same in text for text in after), same
    source = "def rule(g, x):\n    return in_blocks(slope, 3 * g.size, g, x)"
    after = {after for _, _, after in mutated(source, {"g", "x"})}
    assert all("3 * g.size" in text for text in after)  # how long it takes


@pytest.mark.long
def test_a_helper_of_rules_is_a_site_and_one_of_forward_functions_is_not() -> None:
    importlib.import_module("minigrad.viz.formula")  # names helpers, to draw them: no forward
    sites = {site.name: site for site in find_sites("minigrad.ops")}
    assert sites["_numerics.zero_safe"].ops > {"divide", "sqrt", "log"}
    assert sites["reductions._extreme"].ops == {"max", "min", "norm"}
    assert sites["elementwise.divide.b"].arrays == {"g", "a", "b"}
    assert {"dot_product_attention._attention_pull"} <= {*sites}
    assert "indexing.IndexUpdate.dense" in sites  # the engine calls it
    assert not {"_numerics.erf_array", "loss.row_weights", "indexing.IndexUpdate.add_to"} & {*sites}
    assert not any(name.startswith("_attention_kernel.Attention.") for name in sites)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    (tmp_path / "toy.py").write_text(OP)
    (tmp_path / "test_toy.py").write_text(TESTS)
    return tmp_path


def run(
    *arguments: str, path: str | Path = "", tool: str = "mutants"
) -> subprocess.CompletedProcess[str]:
    paths = [str(path), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(ROOT / "tools" / f"{tool}.py"), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


EQUIVALENT = {
    "dropped term 1": "used_by_the_forward_too(g)",
    "dropped term 4": "used_by_the_forward_too(g) * 1",
    "dropped term 6": "used_by_the_forward_too(g) * (0 + 1)",
    "argument 2": "used_by_the_forward_too(g) * (g * 0 + 1)",
}


def run_toy(toy: Path, *listed: str, doubt: bool = False) -> subprocess.CompletedProcess[str]:
    """Run on the toy, with mutants of `line` on the list."""
    list_ = toy / "equivalent.toml"
    line = f'"toy.line.x" = "{", ".join(listed)}"\n' if listed else ""
    list_.write_text(f'["plus 0"]\n{line}')
    options = ["--package", "toy", "--tests", str(toy / "test_toy.py"), "--equivalent", str(list_)]
    return run(*options, *(["--doubt"] if doubt else []), path=toy)


@pytest.mark.slow
def test_a_wrong_rule_is_killed_and_an_equivalent_one_survives(toy: Path) -> None:
    done = run_toy(toy)
    assert done.returncode == 1, done.stderr
    survivors = done.stdout.split("survived ")[1:]
    rule = "- lambda g, x: used_by_the_forward_too(g) * (x * 0 + 1)"
    for name, after in EQUIVALENT.items():
        assert f"toy.line.x: {name}\n{rule}\n+ lambda g, x: {after}\n" in done.stdout
    assert len(survivors) == len(EQUIVALENT)
    assert done.stdout.splitlines()[-2].split() == ["all", "29", "0", "25", "0", "4"]


@pytest.mark.slow
def test_a_list_that_is_not_true_is_refused(toy: Path) -> None:
    """A mutant that there is not, always; one that a test kills, where the list is in doubt.

    Otherwise survivors that are listed are not a fault.
    """
    believed = run_toy(toy, *EQUIVALENT, "dropped term 2")
    assert believed.returncode == 0, believed.stdout + believed.stderr
    assert believed.stdout.splitlines()[-2].split() == ["all", "29", "0", "24", "5", "0"]
    done = run_toy(toy, *EQUIVALENT, "dropped term 7, dropped term 2", doubt=True)
    assert done.returncode == 1
    complaint, _, rest = done.stdout.partition("\n\n")
    assert complaint == (
        "listed as equivalent, but there is no such mutant: toy.line.x: dropped term 7"
    )
    killed, _, by = rest.partition("\n")[0].partition(" by ")
    assert killed == "listed as equivalent, but it is killed"  # then the path, as the folder is
    assert by.endswith("test_toy.py::test_line: toy.line.x: dropped term 2")


def test_a_list_is_read_by_reason(tmp_path: Path) -> None:
    path = tmp_path / "list.toml"
    path.write_text('["y is 0"]\n"elementwise.f" = "missing guard 2, sign 1-3"\n')
    names = [("missing guard", 2), ("sign", 1), ("sign", 2), ("sign", 3)]
    assert read_listing(path) == {("elementwise.f", *name): "y is 0" for name in names}
    path.write_text(path.read_text() + '["z is 0"]\n"elementwise.f" = "sign 3"\n')
    with pytest.raises(ValueError, match=r"listed twice: elementwise\.f: sign 3"):
        read_listing(path)
    for wrong in ("sign", "sine 1", "sign 1-", "sign -1", ""):
        path.write_text(f'["z is 0"]\n"elementwise.f" = "{wrong}"\n')
        with pytest.raises(ValueError, match=r"elementwise\.f: kinds with numbers expected"):
            read_listing(path)


@pytest.mark.slow
@pytest.mark.needs("git")
def test_the_mutants_of_what_changed(toy: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=toy", "-c", "user.email=toy@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=toy, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "toy")
    given = ["--package", "toy", "--tests", str(toy / "test_toy.py"), "--changed", "HEAD"]
    done = run(*given, path=toy)
    assert (done.returncode, done.stdout) == (0, "changed since HEAD: the rules of no op\n")
    (toy / "toy.py").write_text(f"{OP}\n# changed\n")
    done = run(*given, "--at-most", "5", path=toy)
    assert done.stdout.startswith("changed since HEAD: the rules of curve, line\n"), done.stderr
    assert "29 mutants: a sample of 5" in done.stderr
    assert done.stdout.splitlines()[-2].split()[:2] == ["all", "5"]


ROOM = """
import functools
from dataclasses import dataclass

def counted(function):
    @functools.wraps(function)
    def call(*args):
        call.times = call.times + 1
        return function(*args)
    call.times = 0
    return call

class Base:
    def __init__(self, size):
        self.size = size

@dataclass
class Generated:
    width: int

class Box(Base):
    double = staticmethod(lambda x: 2 * x)

    def __init__(self, size):
        super().__init__(size + 1)
        self.__secret = 5

    @property
    def area(self):
        return self.size * self.__secret

    @counted
    def steps(self):
        k = 0
        while k < self.size:
            k += 1
        return k
"""

TESTS_OF_ROOM = """
import pytest
import room

def test_area(): assert room.Box(2).area == 15

@pytest.mark.parametrize("size", [1, 2, 3])
def test_steps(size):
    before = room.Box.steps.times
    assert room.Box(size).steps() == size + 1
    assert room.Box.steps.times == before + 1

def test_steps_again_and_longer(): assert {room.Box(2).steps() for _ in range(20_000)} == {3}
def test_double(): assert room.Box.double(2) == 4
def test_double_is_an_int_in_issue_1(): assert isinstance(room.Box.double(2), int)
def test_dataclass(): assert room.Generated(3).width == 3
"""


@pytest.mark.slow
def test_which_tests_are_needed(tmp_path: Path) -> None:
    (tmp_path / "room.py").write_text(ROOM)
    (tmp_path / "test_room.py").write_text(TESTS_OF_ROOM)
    given = ["room", "--tests", str(tmp_path / "test_room.py"), "--jobs", "1"]
    outs = [tmp_path / f"{seed}.json" for seed in range(2)]
    for seed, out in enumerate(outs):
        sample = ["--sample", "6", "--seed", str(seed), "--out", str(out)]
        done = run(*given, *sample, path=tmp_path, tool="needed")
        assert done.returncode == 0, done.stderr
    mutants = [mutant for out in outs for mutant in json.loads(out.read_text())["mutants"]]
    assert len({mutant["name"] for mutant in mutants}) == len(mutants) > 35
    # A method, an initializer with `super()`, a property, what a decorator returned, a lambda.
    changed = {mutant["name"].partition(":")[0].removeprefix("room.") for mutant in mutants}
    assert changed == {"Box.__init__", "Box.area", "Box.steps", "counted", "Box.<lambda> 22"}
    alive = {mutant["after"]: len(mutant["asked"]) for mutant in mutants if not mutant["killers"]}
    assert {after for after, asked in alive.items() if asked} == {"k = -1", "k = 1"}
    unasked = {after for after, asked in alive.items() if not asked}
    assert unasked >= {"call.times = 1", "return -call"}  # ran when it was imported
    sure = {m["killers"][0].partition("::")[2] for m in mutants if len(m["killers"]) == 1}
    assert sure == {"test_area", "test_steps", "test_double"}
    agreed = run("--agree", *map(str, outs), tool="needed").stdout.splitlines()
    report = "test_double_is_an_int_in_issue_1  (stays: a report)"
    assert [line.partition("::")[2] for line in agreed] == ["test_steps_again_and_longer", report]
