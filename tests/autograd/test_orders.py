"""Higher orders: third derivatives, Hessians, perturbation confusion, gradients of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad


def scalar(value: float) -> Tensor:
    return tensor(np.array(value, float), requires_grad=True)


def derivative(f: Callable[[Tensor], Tensor], x: Tensor, order: int) -> float:
    y = f(x)
    for _ in range(order):
        (y,) = grad(y + 0.0 * x, x, create_graph=True)  # a constant has a derivative too
    return y.item()


THIRD: dict[str, tuple[Any, float, list[float]]] = {
    "x**4": (lambda x: x**4, 2.0, [16, 32, 48, 48, 24, 0]),
    "x*x*x": (lambda x: x * x * x, 2.0, [8, 12, 12, 6, 0]),
    "1/x": (lambda x: 1 / x, 2.0, [0.5, -0.25, 0.25, -0.375, 0.75]),
    "exp": (lambda x: x.exp(), 0.0, [1, 1, 1, 1, 1]),
    "log": (lambda x: x.log(), 1.0, [0, 1, -1, 2, -6]),
    "sqrt": (lambda x: x.sqrt(), 1.0, [1, 1 / 2, -1 / 4, 3 / 8, -15 / 16]),
    "tanh": (lambda x: x.tanh(), 0.0, [0, 1, 0, -2, 0, 16]),
    "sigmoid": (lambda x: x.sigmoid(), 0.0, [1 / 2, 1 / 4, 0, -1 / 8, 0]),
    "2**x": (lambda x: 2.0**x, 0.0, [1, *(np.log(2) ** n for n in (1, 2, 3, 4))]),
    "x**x": (lambda x: x**x, 1.0, [1, 1, 2, 3, 8]),
    "erf": (lambda x: x.erf(), 0.0, [0, *(2 / np.sqrt(np.pi) * c for c in (1, 0, -2, 0, 12))]),
    "logsumexp": (lambda x: ops.logsumexp(ops.stack([x, 0 * x])), 0.0,
                  [np.log(2), 1 / 2, 1 / 4, 0, -1 / 8]),
    "softmax": (lambda x: ops.softmax(ops.stack([x, 0 * x]))[0], 0.0, [1 / 2, 1 / 4, 0, -1 / 8]),
    "getitem": (lambda x: (ops.stack([x, x])[[0, 0, 1]] ** 3).sum(), 2.0, [24, 36, 36, 18, 0]),
    "matmul": (lambda x: (x.reshape(1, 1) @ x.reshape(1, 1) @ x.reshape(1, 1)).sum(), 2.0,
               [8, 12, 12, 6, 0]),
    "(sqrt(x+1)-1)**2": (lambda x: ((x + 1).sqrt() - 1) ** 2, 0.0, [0, 0, 0.5, -0.75]),
    "var": (lambda x: ops.stack([x**2, 0 * x]).var(correction=0), 1.0, [1 / 4, 1, 3, 6, 6]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "at", "wanted"), THIRD.values(), ids=THIRD)
def test_derivatives_of_every_order(f: Any, at: float, wanted: list[float]) -> None:
    found = [derivative(f, scalar(at), order) for order in range(len(wanted))]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_recorded_pass_retains_the_graph_and_the_history_of_a_given_cotangent() -> None:
    x, c = scalar(2.0), scalar(5.0)
    y = x * x
    (first,) = grad(y, x, c * c, create_graph=True)
    assert first.item() == 100.0
    y.backward()
    assert x.grad.item() == 4.0
    assert [g.item() for g in grad(first, (x, c))] == [50.0, 40.0]
