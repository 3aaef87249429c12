"""``python -m minigrad check``: every op of the library, and a wrong one is found."""

from __future__ import annotations

import subprocess
import sys

import pytest

from minigrad import ops, self_check
from minigrad.autograd.op import Primitive


@pytest.mark.parametrize("name", self_check.checked_ops())
def test_every_op_is_right(name: str) -> None:
    outcome = self_check.check_op(name, seed=1)
    assert outcome.right, outcome
    op: Primitive = self_check.library[name]
    ruled = [op.params[slot] for slot in op.joint_slots] if op.joint else op.rules
    assert set(outcome.arguments) == set(ruled)


def test_a_wrong_rule_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ops.tanh.op.rules["x"].function
    ops.tanh.defvjp(x=lambda g, out: -right(g, out))
    try:
        outcome = self_check.check_op("tanh")
    finally:
        ops.tanh.defvjp(x=right)
    assert not outcome.right and outcome.first > 0.1
    lines = list(self_check.report([outcome, self_check.check_op("tanh")]))
    assert [line.split()[-1] for line in lines[1:3]] == ["WRONG", "right"]
    assert lines[-1].startswith("2 ops, 1 right")


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
