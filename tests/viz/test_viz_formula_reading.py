"""Whatever a rule does in assignments and conditions, its term computes the same."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from formula_values import value_of

from minigrad.autograd.primitive import Primitive
from minigrad.viz import formulas
from minigrad.viz.formula import readings
from minigrad.viz.formula.terms import Call

PROGRAMS = 80


class Writer:
    """Writes functions of g, a, b (arrays) and k (a number) as text."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def expression(self, names: list[str], depth: int = 2) -> str:
        choose = self._random.choice
        if depth == 0:
            return choose([*names, *names, "2", "0.5", "3.0"])
        one, other = self.expression(names, depth - 1), self.expression(names, depth - 1)
        return choose(
            [
                f"({one} {choose('+-*')} {other})", f"({one} / (9 + {other} * {other}))",
                f"(-{one})", f"np.where({one} > 0, {other}, 0)", f"np.tanh({one})",
                f"({one} * ({other} < {one}))", f"({one} if k > 1 else {other})",
                f"({one} * (k and {self._random.randrange(3)}))", f"halved({one}, {other})",
            ]
        )  # fmt: skip

    def statements(self, names: list[str], indent: str, count: int) -> Iterator[str]:
        """Lines of a body; what they define is added to `names`."""
        for _ in range(count):
            kind = self._random.choice(["assign", "assign", "add", "pair", "if", "leave"])
            if kind == "assign":
                name = self._random.choice("pqrg")
                yield f"{indent}{name} = {self.expression(names)}"
                names.append(name)
            elif kind == "add":
                name = self._random.choice([name for name in names if name != "k"])
                yield f"{indent}{name} = {name} {self._random.choice('+*')} {names[0]}"
            elif kind == "pair":
                yield f"{indent}p, q = {self.expression(names)}, {self.expression(names, 1)}"
                names += ["p", "q"]
            elif kind == "leave":
                yield f"{indent}if k == {self._random.randrange(4)}:"
                yield f"{indent}    return {self.expression(names)}"
            else:
                yield f"{indent}if k > {self._random.randrange(3)}:"
                inner = [*names]
                yield from self.statements(inner, indent + "    ", 2)
                yield f"{indent}else:"
                yield from self.statements([*names], indent + "    ", 1)

    def function(self, name: str) -> str:
        names = ["g", "a", "b", "k"]
        lines = [*self.statements(names, "    ", 4)]
        return "\n".join([f"def {name}(g, a, b, k):", *lines, f"    return {names[-1]} * g", ""])


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    path = tmp_path_factory.mktemp("rules") / "programs_of_a_test.py"
    helper = "import numpy as np\n\ndef halved(p, g):\n    q = p - g\n    return q / 2 * q\n\n"
    functions = [Writer(seed).function(f"program{seed}") for seed in range(PROGRAMS)]
    path.write_text(helper + "\n".join(functions), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[path.stem]


def test_programs_and_their_terms_agree(programs: ModuleType) -> None:
    for seed in range(PROGRAMS):
        agree(programs, seed)


def agree(programs: ModuleType, seed: int) -> None:
    rule = getattr(programs, f"program{seed}")
    op = Primitive(lambda a, b, k=1: a * b * k, arrays=2)
    op.defvjp(a=rule)
    ((_, _, reading),) = readings(op)
    assert not (isinstance(reading.value, Call) and reading.value.function is rule)
    assert formulas(op)["a"].text
    g, a, b = np.random.default_rng(seed).normal(size=(3, 5))
    for k in range(4):
        said = value_of(reading, {"g": g, "a": a, "b": b, "k": k})
        np.testing.assert_allclose(
            said, rule(g, a, b, k), rtol=1e-9, atol=1e-12, err_msg=rule.__name__
        )
