"""``tools/check_ops.py``: every op of the library, and a wrong one is found."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import python
from op_samples import self_check

from minigrad import Tensor, ops

COMMAND = Path(__file__).resolve().parents[2] / "tools" / "check_ops.py"


@contextmanager
def planted(op: str, name: str, wrong: Callable[..., Any]) -> Iterator[None]:
    """Another rule of an op meanwhile: ``wrong(right, g, *saved)``."""
    function = getattr(ops, op)
    right = function.op.rules[name].function

    @functools.wraps(right)
    def rule(*given: Any, **named: Any) -> Any:
        return wrong(right, *given, **named)

    function.defvjp(**{name: rule})
    try:
        yield
    finally:
        function.defvjp(**{name: right})


@pytest.fixture
def wrong_tanh() -> Iterator[None]:
    with planted("tanh", "x", lambda right, g, out: -right(g, out)):
        yield


@pytest.mark.usefixtures("wrong_tanh")
def test_a_wrong_rule_is_reported() -> None:
    outcome = self_check.check_op("tanh")
    assert not outcome.right
    assert outcome.first > 0.1
    lines = list(self_check.report([outcome, self_check.check_op("exp")]))
    assert [line.split()[-1] for line in lines[1:3]] == ["WRONG", "right"]
    assert lines[-2].startswith("2 ops, 1 right")


@pytest.mark.usefixtures("wrong_tanh")
@pytest.mark.parametrize("asked", [("exp", "rnn", "tanh"), ("rnn", "exp")])
def test_what_is_wrong_stands_at_the_end_apart_from_what_is_composed_of_it(
    asked: tuple[str, ...],
) -> None:
    """Also where the wrong op itself was not asked for."""
    *_, summary, itself, composed = self_check.report(map(self_check.check_op, asked))
    assert composed == "wrong because composed of tanh: rnn"
    if "tanh" in asked:
        assert summary.startswith("3 ops, 1 right")
        assert itself.startswith("wrong by itself: tanh, in ")
    else:
        assert itself.startswith("2 ops, 1 right")


@pytest.mark.parametrize(("factor", "recorded"), [(2.0, False), (np.nan, False), (2.0, True)])
def test_a_rule_that_is_wrong_in_one_kind_of_pass_is_wrong(factor: float, recorded: bool) -> None:
    def wrong(right: Any, g: Any, *saved: Any) -> Any:
        return right(g, *saved) * (factor if isinstance(g, Tensor) == recorded else 1)

    with planted("softmax", "x", wrong):
        outcome = self_check.check_op("softmax")
    assert not outcome.right
    assert not outcome.second < 1e-6
    assert recorded == (outcome.first < 1e-6)
    assert [*self_check.report([outcome])][-1].startswith("wrong by itself: softmax, in ")


def test_the_calls_that_failed_are_named() -> None:
    wrong = lambda right, g, b: right(g, b) * (2 if g.shape == (2, 1, 3) else 1)
    with planted("multiply", "a", wrong):
        *_, last = self_check.report([self_check.check_op("multiply")])
    told = r"wrong by itself: multiply, in 1 of \d\d calls: \(\(1, 3\), \(2, 1, 1\)\)"
    assert re.fullmatch(told, last)


def test_a_rule_that_raises_is_an_outcome() -> None:
    def wrong(right: Any, g: Any, out: Any) -> Any:
        if not g.shape:
            raise ZeroDivisionError("planted")
        return right(g, out)

    with planted("exp", "x", wrong):
        outcomes = [self_check.check_op(name) for name in ("exp", "tan")]
    assert np.isnan(outcomes[0].first)
    assert outcomes[1].right
    *_, last = self_check.report(outcomes)
    assert re.search(r"wrong by itself: exp, in \d of \d calls: .*ZeroDivisionError: planted", last)


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [False, True])
def test_a_rule_of_which_many_ops_are_composed_is_blamed_alone(recorded: bool) -> None:
    wrong = lambda right, g, b: right(g, b) * (1 + (isinstance(g, Tensor) == recorded))
    with planted("multiply", "a", wrong):
        outcomes = [self_check.check_op(name) for name in ("multiply", "lstm", "gru", "softmax")]
    text = "\n".join(self_check.report(outcomes))
    assert "wrong by itself: multiply, in" in text
    assert re.search("wrong because composed of multiply: .*gru", text)


def test_the_command() -> None:
    done = python(COMMAND, "exp", "matmul", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "2 ops, 2 right" in done.stdout, done.stderr
    unknown = python(COMMAND, "frobnicate")
    assert unknown.returncode == 2
    assert "no op with a derivative is called frobnicate" in unknown.stderr
