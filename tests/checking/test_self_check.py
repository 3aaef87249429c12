"""``python -m minigrad check``: every op of the library, and a wrong one is found."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops
from minigrad.autograd.primitive import Primitive, registry
from minigrad.checking import self_check

OPS = ["astype", "attention", "convolution", "eigh", "identity", "lstm", "matmul", "norm", "where"]


@pytest.mark.parametrize("name", OPS)
def test_an_op_is_right(name: str) -> None:
    is_right(name)


@pytest.mark.long
@pytest.mark.parametrize("name", self_check.checked_ops())
def test_every_op_is_right(name: str) -> None:
    """tests/ops/test_derivatives.py tries the same calls more thoroughly."""
    is_right(name)


def is_right(name: str) -> None:
    outcome = self_check.check_op(name, seed=1)
    assert outcome.right, outcome
    op: Primitive = registry[name]
    ruled = [op.params[slot] for slot in op.joint_slots] if op.joint else op.rules
    assert set(outcome.arguments) == set(ruled)


@pytest.fixture
def wrong_tanh() -> Iterator[None]:
    right = ops.tanh.op.rules["x"].function
    ops.tanh.defvjp(x=lambda g, out: -right(g, out))
    yield
    ops.tanh.defvjp(x=right)


@pytest.mark.usefixtures("wrong_tanh")
def test_a_wrong_rule_is_reported() -> None:
    outcome = self_check.check_op("tanh")
    assert not outcome.right and outcome.first > 0.1
    lines = list(self_check.report([outcome, self_check.check_op("exp")]))
    assert [line.split()[-1] for line in lines[1:3]] == ["WRONG", "right"]
    assert lines[-2].startswith("2 ops, 1 right")


@pytest.mark.usefixtures("wrong_tanh")
@pytest.mark.parametrize("asked", [("exp", "rnn", "tanh", "lstm"), ("lstm", "rnn")])
def test_what_is_wrong_stands_at_the_end_apart_from_what_is_composed_of_it(
    asked: tuple[str, ...],
) -> None:
    """Also where the wrong op itself was not asked for."""
    *_, summary, itself, composed = self_check.report(map(self_check.check_op, asked))
    assert {*composed.removeprefix("wrong because composed of tanh: ").split(", ")} == {
        "rnn", "lstm",
    }  # fmt: skip
    if "tanh" in asked:
        assert summary.startswith("4 ops, 1 right") and itself == "wrong by itself: tanh"
    else:
        assert itself.startswith("2 ops, 0 right")


@pytest.mark.parametrize("factor", [2.0, np.nan])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_rule_that_is_wrong_in_one_kind_of_pass_is_wrong(factor: float, recorded: bool) -> None:
    right = ops.softmax.op.rules["x"].function

    def wrong(g: Any, out: Any, axis: int) -> Any:
        return right(g, out, axis) * (factor if isinstance(g, Tensor) == recorded else 1)

    ops.softmax.defvjp(x=wrong)
    try:
        outcome = self_check.check_op("softmax")
    finally:
        ops.softmax.defvjp(x=right)
    assert not outcome.right and not outcome.second < 1e-6
    assert recorded == (outcome.first < 1e-6)
    assert [*self_check.report([outcome])][-1] == "wrong by itself: softmax"


def test_the_command() -> None:
    def command(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "minigrad", *args], capture_output=True, text=True, check=False
        )

    done = command("check", "exp", "matmul", "--seed", "3")
    assert done.returncode == 0 and "2 ops, 2 right" in done.stdout, done.stderr
    unknown = command("check", "frobnicate")
    assert unknown.returncode == 2
    assert "no op with a derivative is called frobnicate" in unknown.stderr
