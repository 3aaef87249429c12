"""Every solution with one mistake in it is refused, and is not accused of another mistake."""

import ast
import contextlib
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest
from rule_mutants.listing import Name, read_listing, shown
from rule_mutants.mutations import mutants_of

from minigrad.learn.answer import Answer, Failure, confirmed
from minigrad.learn.statement import GAP, Exercise, exercises
from tests.learn.test_other_wrong_answers import ANSWERS

LISTING = Path(__file__).parent / "mutants_of_solutions.toml"
TEXTS = [
    (".sum(", ".mean("), (".mean(", ".sum("), (".max(", ".min("), (".max(", ".mean("),
    ("self.grad = 1.0", "self.grad += 1.0"), ('"*"', '"+"'), (".T ", " "),
]  # fmt: skip
"""Mistakes that learners make beside those of the rules: a text and its replacement."""
LINES = 300_000
"""How many lines of an answer may run where a mistake can make a loop endless."""


JUDGED = 12
"""Up to which exercise each cause that a mutant is told is compared with the wrong answers."""


LONG = {5, *range(JUDGED + 1, 100)}


class Endless(BaseException):
    """An answer has run for too long."""


class Record(Answer):
    """Keeps each value that a check compares, and goes on whatever it is."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self.values: dict[tuple[str, str], list[Any]] = {}

    def require(self, right: bool, facts: str, diagnosis: str) -> None:
        pass

    def compare(self, name: str, got: Any, want: Any, *rest: Any, **more: Any) -> None:
        try:
            mine: Any = np.round(np.asarray(got, float), 7).tolist()
        except (TypeError, ValueError):
            mine = repr(got)
        self.values.setdefault((self._function, name), []).append(repr(mine))


def limited(run: Callable[[], Any], one: Exercise) -> Any:
    """Run, and stop an answer with a `while` that runs too many lines."""
    count, file = 0, one.file

    def trace(frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename != file:
            return None
        count += 1
        if count > LINES:
            raise Endless
        return trace

    before = sys.gettrace()
    if "while " in one.solution:
        sys.settrace(trace)
    try:
        with np.errstate(all="ignore"):
            return run()
    finally:
        sys.settrace(before)


def names_of(one: Exercise, text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "answer"}
    exec(compile(text, one.file, "exec"), names)
    return names


NOWHERE = ("", "")


def told(one: Exercise, names: dict[str, Any]) -> tuple[str, tuple[str, str]]:
    """The diagnosis, empty if the answer is accepted, and the value at which the check failed."""

    def run() -> tuple[str, tuple[str, str]]:
        try:
            one.check(Answer(names))
        except Failure as failure:
            return confirmed(one.check, names, failure), failure.value
        return "", NOWHERE

    try:
        return limited(run, one)
    except Endless:
        return "time", NOWHERE
    except Exception as error:  # noqa: BLE001  # a mutant may raise any
        return type(error).__name__, NOWHERE


def record_of(one: Exercise, names: dict[str, Any]) -> dict[tuple[str, str], list[Any]]:
    record = Record(names)
    with contextlib.suppress(Exception, Endless):
        limited(lambda: one.check(record), one)
    return record.values


def mutants(one: Exercise) -> Iterator[tuple[Name, str, dict[str, Any]]]:
    """Every solution with one mistake within its gaps: its name, change, definitions."""
    gaps = [
        (one.marked.count("\n", 0, gap.start()) + 1, one.marked.count("\n", 0, gap.end()) + 1)
        for gap in GAP.finditer(one.marked)
    ]
    tree = ast.parse(one.marked)
    for path, function in functions(tree):
        if not any(function.lineno < start <= (function.end_lineno or 0) for start, _ in gaps):
            continue
        arrays = frozenset(argument.arg for argument in function.args.args) - {"self"}
        for mutant in mutants_of(function, arrays, one.file):
            if any(start <= mutant.line < end for start, end in gaps):
                names = names_of(one, one.solution)
                put(names, path, mutant.code)
                name = f"{one.name}.{'.'.join(path)}", mutant.kind, mutant.number
                yield name, f"- {mutant.before}\n+ {mutant.after}", names
    numbers = itertools.count(1)
    for gap in GAP.finditer(one.marked):
        for old, new in TEXTS:
            for place in re.finditer(re.escape(old), gap[3]):
                start, end = (gap.start(3) + at for at in place.span())
                text = one.marked[:start] + new + one.marked[end:]
                line = one.marked.rfind("\n", 0, start) + 1
                before, after = (all_[line:].splitlines()[0].strip() for all_ in (one.marked, text))
                names = names_of(one, GAP.sub(lambda one: one[3], text))
                yield (one.name, "text", next(numbers)), f"- {before}\n+ {after}", names


Place = tuple[str, ...]
"""The name of a function, after those of the classes around it."""


def functions(tree: ast.AST, path: Place = ()) -> Iterator[tuple[Place, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield (*path, node.name), node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, (*path, node.name))


def put(names: dict[str, Any], path: Place, code: CodeType) -> None:
    """Give a function or method other code."""
    found = names[path[0]]
    for name in path[1:]:
        found = vars(found)[name]
    found.__code__ = code


@cache
def listed() -> dict[Name, str]:
    return read_listing(LISTING)


ALL = [
    pytest.param(one, id=one.name, marks=pytest.mark.long if number in LONG else ())
    for number, one in exercises().items()
]


@pytest.mark.parametrize("one", ALL)
def test_each_mutant_is_refused_for_what_it_is(one: Exercise) -> None:
    """A mutant that is accepted is listed with the reason.

    One that is told a cause gives the same values, in the whole check, as a wrong answer with this
    cause.
    """
    records: dict[str, list[Any]] = {}
    for wrong in (*one.wrong, *ANSWERS.get(one.number, [])):
        record = record_of(one, names_of(one, wrong.apply(one.marked)))
        records.setdefault(wrong.diagnosis, []).append(record)
    complaints, made = [], set()
    for name, change, names in mutants(one):
        made.add(name)
        entry = f"{shown(name)}\n{change}"
        diagnosis, value = told(one, names)
        if not diagnosis and name not in listed():
            complaints.append(f"accepted: {entry}")
        elif diagnosis in one.diagnoses and value != NOWHERE and one.number <= JUDGED:
            mine = record_of(one, names).get(value)
            same = any(mine == record.get(value) for record in records.get(diagnosis, []))
            if not same and name not in listed():
                complaints.append(f"accused of {diagnosis!r} (at {value}): {entry}")
        elif diagnosis and name in listed():
            complaints.append(f"listed, but told {diagnosis!r}: {entry}")
    stale = [name for name in listed() if name[0].startswith(one.name) and name not in made]
    complaints += [f"listed, but not made: {shown(name)}" for name in stale]
    assert not complaints, "\n\n".join(complaints)


class Suspects(Answer):
    """Keeps what a right answer is compared with: the right value, and those of misconceptions."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self.cases: dict[tuple[str, str], list[tuple[np.ndarray, dict[tuple[str, int], Any]]]] = {}

    def compare(self, name: str, got: Any, want: Any, mistakes: Any = None, **more: Any) -> None:
        values: dict[tuple[str, int], Any] = {}
        for diagnosis, wrong in (mistakes or {}).items():
            every = wrong if isinstance(wrong, tuple) else (wrong,)
            for place, value in enumerate(every or ("impossible",)):
                if not callable(value) and not isinstance(value, bool):
                    values[diagnosis, place] = np.asarray(value)
        self.cases.setdefault((self._function, name), []).append((np.asarray(want), values))


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    if one.dtype.kind == "U" or other.dtype.kind == "U":
        return False
    return one.shape == other.shape and np.allclose(one, other, 1e-6, 1e-9, equal_nan=True)


@pytest.mark.parametrize("number", range(1, 13))
def test_no_two_misconceptions_give_the_same_values(number: int) -> None:
    """Where both are wrong, they differ in at least one case of the check."""
    one = exercises()[number]
    answer = Suspects(names_of(one, one.solution))
    with np.errstate(all="ignore"):
        one.check(answer)
    same = []
    for value, cases in answer.cases.items():
        every = sorted({key for _, values in cases for key in values})
        for first, second in itertools.combinations(every, 2):
            both = [
                (found[first], found[second]) for want, found in cases
                if {first, second} <= {*found}
                and not (alike(found[first], want) and alike(found[second], want))
            ]  # fmt: skip
            if first[0] != second[0] and both and all(alike(*pair) for pair in both):
                same.append(f"{value}: {first} and {second}")
    assert not same, "\n".join(same)
