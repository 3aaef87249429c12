"""Random programs of ops give the same numbers plainly and captured, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_ways import Made, batches, check

import minigrad
from minigrad import optim
from minigrad.compiler.program import Program

ONE: list[Any] = [
    lambda a: a.exp(), lambda a: a.tanh(), lambda a: a.relu(), lambda a: -a, lambda a: a * 2.5,
    lambda a: a.T, lambda a: a.reshape(4, 4).T, lambda a: a[::-1], lambda a: a[1:2] + a,
    lambda a: a - a.mean(axis=0), lambda a: a / (1 + a.abs().sum(axis=1, keepdims=True)),
    lambda a: a.detach() + a, lambda a: minigrad.concatenate([a[:1], a[1:]]), lambda a: a + 0,
    lambda a: minigrad.where(a > 0, a, a * 0.1), lambda a: a.softmax(axis=-1),
    lambda a: a.cumsum(0),
    lambda a: minigrad.split(a, 2)[1].sum(0) + a, lambda a: a[[0, 2, 2, 1]],
    lambda a: a.amax(0) * a,
    lambda a: a.astype("float64"), lambda a: a.astype("float32"), lambda a: a.clone(),
    lambda a: minigrad.stack([a, a.T]).sum(0), lambda a: a * minigrad.rand(4, 1).astype(a.dtype),
]  # fmt: skip
TWO: list[Any] = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a @ b / 4,
    lambda a, b: minigrad.maximum(a, b), lambda a, b: a + b[0], lambda a, b: a.T * b,
    lambda a, b: a + b[:, :1], lambda a, b: a / (b * b + 1), lambda a, b: (a + b).T + a,
]  # fmt: skip
IN_PLACE: list[Any] = [
    lambda a, b: (a * 1.5).add_(b), lambda a, b: (a + b).mul_(2).relu(),
    lambda a, b: (a - 1).sub_(b).mul_(b),
]  # fmt: skip


def program(seed: int) -> Made:
    """A step of random ops on what it has computed so far, which trains two weights."""
    draw = np.random.default_rng(seed)
    first, second = (
        minigrad.tensor(draw.standard_normal(s).astype("f4"), requires_grad=True)
        for s in ((4, 4), (4,))
    )
    plan = []
    for n in range(3, 3 + draw.integers(4, 14)):
        functions = [ONE, TWO, TWO, IN_PLACE][draw.integers(4)]
        plan.append((functions[draw.integers(len(functions))], draw.integers(n, size=2)))
    returned = draw.integers(3, 3 + len(plan), size=2)
    optimizer = optim.SGD([first, second], lr=0.01, momentum=0.5)
    keep = bool(draw.integers(2))

    def step(x: Any) -> Any:
        known = [first, x, second + x]
        for function, (i, j) in plan:
            more = () if function in ONE else (known[j],)
            known.append(function(known[i], *more).clip(-3, 3))
        loss = sum(((each * each).mean() for each in known[3:]), (known[0] * second).sum())
        if not keep:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss, known[returned[0]], known[returned[1]].T

    return step, (first, second, optimizer)


def checked(seed: int) -> Program:
    def make() -> Made:
        return program(seed)

    step = check(make, batches(5, (4, 4), seed=seed))
    assert step.program.instructions
    found: Program = step.program
    return found


@pytest.mark.parametrize(
    "seeds",
    [
        range(8),
        pytest.param(range(8, 30), marks=pytest.mark.slow),
        pytest.param(range(30, 60), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_random_programs(seeds: range) -> None:
    for seed in seeds:
        checked(seed)


@pytest.mark.long
def test_many_random_programs() -> None:
    for seed in range(100, 2100):
        checked(seed)
