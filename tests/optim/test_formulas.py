"""Every optimizer beside its formula: one number, in plain Python, as the paper writes it."""

from collections.abc import Iterator
from math import copysign, sqrt
from typing import Any

import numpy as np
import pytest
from optimizer_kinds import leaf
from optimizer_options import CASES, OTHER

from minigrad import nn, optim, tensor

GRADIENTS = [2.0, -0.5, 0.25, 3.0, 3.0, -1.0, 0.125, 0.5, -2.0, -0.25]
Steps = Iterator[float]


def sgd(
    x: float, lr: float = 1e-3, momentum: float = 0, weight_decay: float = 0,
    dampening: float = 0, nesterov: bool = False,
) -> Steps:  # fmt: skip
    v = 0.0
    for t, g in enumerate(GRADIENTS):
        g += weight_decay * x
        v = momentum * v + (1 - dampening if t else 1) * g
        x -= lr * (g + momentum * v if nesterov else v)
        yield x


def asgd(
    x: float, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, weight_decay: float = 0
) -> Steps:
    for t, g in enumerate(GRADIENTS):
        eta = lr / (1 + lambd * lr * t) ** alpha
        x = (1 - lambd * eta) * x - eta * (g + weight_decay * x)
        yield x


def decayed(
    x: float, g: float, lr: float, weight_decay: float, decoupled: bool
) -> tuple[float, float]:
    """The parameter and its gradient after the decay of weights."""
    return (x - lr * weight_decay * x, g) if decoupled else (x, g + weight_decay * x)


def adam(
    x: float, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0, amsgrad: bool = False, decoupled: bool = False, sparse: bool = False,
) -> Steps:  # fmt: skip
    (b1, b2), m, v, most = betas, 0.0, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, 1):
        x, g = decayed(x, g, lr, weight_decay, decoupled)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        most = max(most, v)
        root, rest = sqrt(most if amsgrad else v), sqrt(1 - b2**t)
        x -= lr * m / (1 - b1**t) / ((root + eps) / rest if sparse else root / rest + eps)
        yield x


def adamw(x: float, weight_decay: float = 0.01, **options: Any) -> Steps:
    return adam(x, weight_decay=weight_decay, decoupled=True, **options)


def adamax(
    x: float, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0,
) -> Steps:  # fmt: skip
    (b1, b2), m, u = betas, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, 1):
        g += weight_decay * x
        m, u = b1 * m + (1 - b1) * g, max(b2 * u, abs(g) + eps)
        x -= lr * m / (1 - b1**t) / u
        yield x


def nadam(
    x: float, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False,
) -> Steps:  # fmt: skip
    (b1, b2), m, v, product = betas, 0.0, 0.0, 1.0
    for t, g in enumerate(GRADIENTS, 1):
        x, g = decayed(x, g, lr, weight_decay, decoupled_weight_decay)
        now, ahead = (b1 * (1 - 0.96 ** (s * momentum_decay) / 2) for s in (t, t + 1))
        product *= now
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        mean = ahead * m / (1 - product * ahead) + (1 - now) * g / (1 - product)
        x -= lr * mean / (sqrt(v / (1 - b2**t)) + eps)
        yield x


def radam(
    x: float, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
    weight_decay: float = 0, decoupled_weight_decay: bool = False,
) -> Steps:  # fmt: skip
    (b1, b2), m, v = betas, 0.0, 0.0
    whole = 2 / (1 - b2) - 1
    for t, g in enumerate(GRADIENTS, 1):
        x, g = decayed(x, g, lr, weight_decay, decoupled_weight_decay)
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        rho, step = whole - 2 * t * b2**t / (1 - b2**t), m / (1 - b1**t)
        if rho > 5:
            r = (rho - 4) * (rho - 2) * whole / ((whole - 4) * (whole - 2) * rho)
            step *= sqrt(r) * sqrt(1 - b2**t) / (sqrt(v) + eps)
        x -= lr * step
        yield x


def adagrad(
    x: float, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
    initial_accumulator_value: float = 0, eps: float = 1e-10,
) -> Steps:  # fmt: skip
    s = initial_accumulator_value
    for t, g in enumerate(GRADIENTS):
        g += weight_decay * x
        s += g * g
        x -= lr / (1 + t * lr_decay) * g / (sqrt(s) + eps)
        yield x


def rmsprop(
    x: float, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
    momentum: float = 0, centered: bool = False,
) -> Steps:  # fmt: skip
    m = v = b = 0.0
    for g in GRADIENTS:
        g += weight_decay * x
        m, v = alpha * m + (1 - alpha) * g, alpha * v + (1 - alpha) * g * g
        b = momentum * b + g / (sqrt(v - m * m if centered else v) + eps)
        x -= lr * b
        yield x


def adadelta(
    x: float, lr: float = 1, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0
) -> Steps:
    v = u = 0.0
    for g in GRADIENTS:
        g += weight_decay * x
        v = rho * v + (1 - rho) * g * g
        delta = g * sqrt(u + eps) / sqrt(v + eps)
        u = rho * u + (1 - rho) * delta**2
        x -= lr * delta
        yield x


def rprop(
    x: float, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
    step_sizes: tuple[float, float] = (1e-6, 50),
) -> Steps:  # fmt: skip
    size, before = lr, 0.0
    for g in GRADIENTS:
        if g * before:
            size *= etas[1] if g * before > 0 else etas[0]
            size = min(max(size, step_sizes[0]), step_sizes[1])
        before = 0.0 if g * before < 0 else g
        x -= copysign(size, g) if before else 0
        yield x


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_every_step_is_the_formula(name: str, options: dict[str, Any]) -> None:
    x, formula = leaf([1.5, -0.75]), globals()[name.lower()]
    optimizer = getattr(optim, name)([x], **options)
    wanted = zip(formula(1.5, **options), formula(-0.75, **options), strict=True)
    for gradient, both in zip(GRADIENTS, wanted, strict=True):
        x.grad = tensor([gradient, gradient], dtype=np.float64)
        optimizer.step()
        np.testing.assert_allclose(x.numpy(), both, rtol=1e-12)


def test_every_step_of_sparse_adam_is_the_formula() -> None:
    layer = nn.Embedding(2, 1, sparse=True).double()
    layer.weight.data[:] = [[1.5], [7.0]]
    options = {name: value for name, value in OTHER.items() if name != "weight_decay"}
    optimizer = optim.SparseAdam(layer.parameters(), **options)
    for gradient, wanted in zip(GRADIENTS, adam(1.5, sparse=True, **options), strict=True):
        optimizer.zero_grad()
        layer([0]).sum().backward(gradient)
        optimizer.step()
        np.testing.assert_allclose(layer.weight.numpy(), [[wanted], [7.0]], rtol=1e-12)


def test_the_average_of_asgd_begins_late() -> None:
    x, average = leaf([1.5]), 0.0
    optimizer = optim.ASGD([x], lr=0.1, lambd=0.3, t0=4.0)
    for t, wanted in enumerate(asgd(1.5, lr=0.1, lambd=0.3)):
        x.grad = tensor(GRADIENTS[t : t + 1], dtype=np.float64)
        optimizer.step()
        average += (wanted - average) / max(1, t - 4)
        np.testing.assert_allclose(optimizer.state[x]["ax"], [average], rtol=1e-12)
