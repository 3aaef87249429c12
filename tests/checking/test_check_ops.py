"""``tools/check_ops.py``: every op of the library, and a wrong one is found."""

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import check_ops
import numpy as np
import pytest
from children import python

from minigrad import Tensor, ops


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


def test_a_wrong_rule_is_reported_and_blamed_for_what_is_composed_of_it() -> None:
    with planted("tanh", "x", lambda right, g, out: -right(g, out)):
        assert check_ops.check_op("tanh").first > 0.1
        _, *lines, summary, composed, itself = check_ops.report(["exp", "rnn", "tanh"])
        *_, alone = check_ops.report(["rnn", "exp"])
    assert [line.split()[-1] for line in lines] == ["right", "WRONG", "WRONG"]
    assert summary.startswith("3 ops, 1 right")
    assert itself.startswith("wrong by itself: tanh, in ")
    assert composed.startswith("wrong because composed of tanh: rnn, in ")
    assert composed == alone


@pytest.mark.slow
@pytest.mark.parametrize("recorded", [False, True])
def test_a_rule_of_which_many_ops_are_composed_is_blamed_alone(recorded: bool) -> None:
    wrong = lambda right, g, b: right(g, b) * (1 + (isinstance(g, Tensor) == recorded))
    with planted("multiply", "a", wrong):
        text = "\n".join(check_ops.report(["multiply", "lstm", "gru", "softmax"]))
    assert "wrong by itself: multiply, in" in text
    assert re.search("wrong because composed of multiply: gru", text)


@pytest.mark.parametrize(("factor", "recorded"), [(2.0, False), (np.nan, False), (2.0, True)])
def test_a_rule_that_is_wrong_in_one_kind_of_pass_is_wrong(factor: float, recorded: bool) -> None:
    def wrong(right: Any, g: Any, *saved: Any) -> Any:
        return right(g, *saved) * (factor if isinstance(g, Tensor) == recorded else 1)

    with planted("softmax", "x", wrong):
        outcome = check_ops.check_op("softmax")
    assert outcome.wrong
    assert not outcome.second < 1e-6
    assert recorded == (outcome.first < 1e-6)


def test_the_calls_that_failed_are_named() -> None:
    wrong = lambda right, g, b: right(g, b) * (2 if g.shape == (2, 1, 3) else 1)
    with planted("multiply", "a", wrong):
        found = check_ops.check_op("multiply")
    assert re.match(r"1 of \d\d calls: \(\(1, 3\), \(2, 1, 1\)\): .*rule of multiply", found.wrong)


def test_a_rule_that_raises_is_an_outcome() -> None:
    def wrong(right: Any, g: Any, out: Any) -> Any:
        if not g.shape:
            raise ZeroDivisionError("planted")
        return right(g, out)

    with planted("exp", "x", wrong):
        found = check_ops.check_op("exp")
        assert not check_ops.check_op("tan").wrong
    assert np.isnan(found.first)
    assert re.match(r"\d of \d calls: .*ZeroDivisionError: planted", found.wrong)


def test_the_command() -> None:
    command = Path(check_ops.__file__)
    done = python(command, "exp", "matmul", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "2 ops, 2 right" in done.stdout, done.stderr
    unknown = python(command, "frobnicate")
    assert unknown.returncode == 2
    assert "no op with a derivative is called frobnicate" in unknown.stderr
