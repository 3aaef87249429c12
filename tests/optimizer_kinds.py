"""Every optimizer, and what the tests do with them."""

from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, optim, tensor

KINDS: dict[str, Any] = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1),
    "AMSGrad": lambda p: optim.Adam(p, lr=0.1, amsgrad=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
    "Adamax": lambda p: optim.Adamax(p, lr=0.1, weight_decay=0.1),
    "NAdam": lambda p: optim.NAdam(p, lr=0.1, decoupled_weight_decay=True, weight_decay=0.1),
    "RAdam": lambda p: optim.RAdam(p, lr=0.1, betas=(0.9, 0.99), weight_decay=0.1),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.5, weight_decay=0.1),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True, eps=1e-2),
    "Adadelta": lambda p: optim.Adadelta(p, rho=0.5, eps=1e-2, weight_decay=0.1),
    "Rprop": lambda p: optim.Rprop(p, lr=0.1),
    "ASGD": lambda p: optim.ASGD(p, lr=0.1, t0=3.0),
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def leaf(values: Any, dtype: Any = np.float64) -> Tensor:
    return tensor(values, requires_grad=True, dtype=dtype)


def closure_of(optimizer: optim.Optimizer, loss: Any) -> Any:
    """What a step calls: it computes a loss and its gradients anew."""

    def closure() -> Tensor:
        optimizer.zero_grad()
        value: Tensor = loss()
        value.backward()
        return value

    return closure


def take_steps(optimizer: optim.Optimizer, n: int, loss: Any) -> None:
    for _ in range(n):
        optimizer.step(closure_of(optimizer, loss))


def arrays_of(optimizer: optim.Optimizer) -> list[np.ndarray]:
    states = optimizer.state.values()
    return [value for kept in states for value in kept.values() if isinstance(value, np.ndarray)]


def assert_same(a: Any, b: Any) -> None:
    """Equality of nested dicts, lists and arrays."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            assert_same(a[key], b[key])
    elif isinstance(a, list):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    else:
        np.testing.assert_array_equal(a, b)
