"""Function transforms against torch.func."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, draw, torch

import minigrad
from minigrad import func, ops
from minigrad.nn import functional as F

OURS = SimpleNamespace(
    exp=ops.exp, tanh=ops.tanh, softmax=lambda x: ops.softmax(x, axis=-1),
    layer_norm=lambda x: ops.layer_norm(x), attention=F.scaled_dot_product_attention,
    cross_entropy=lambda x: F.cross_entropy(x, np.array([2, 0])),
)  # fmt: skip
THEIRS = SimpleNamespace(
    exp=torch.exp, tanh=torch.tanh, softmax=lambda x: torch.softmax(x, -1),
    layer_norm=lambda x: composed_layer_norm(x),
    attention=lambda *qkv: composed_attention(*qkv),
    cross_entropy=lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([2, 0])),
)  # fmt: skip


def composed_attention(query: Any, key: Any, value: Any) -> Any:
    """PyTorch's fused kernel has no second derivative on the CPU."""
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    return torch.softmax(scores, -1) @ value


def composed_layer_norm(x: Any) -> Any:
    """PyTorch's own is right to the second order only: its third derivatives are not these."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)


Call = Callable[..., Any]
FUNCTIONS: dict[str, tuple[Call, tuple[tuple[int, ...], ...]]] = {
    "product": (lambda m, x, y: m.tanh(x * y) + x, ((2, 3), (3,))),
    "dict": (lambda m, x: {"a": m.exp(x) * 2, "b": (x.sum(), x[0] ** 3)}, ((2, 3),)),
    "softmax": (lambda m, x: m.softmax(x), ((2, 3),)),
    "layer_norm": (lambda m, x: m.layer_norm(x) ** 2, ((2, 4),)),
    "attention": (lambda m, q, k, v: m.attention(q, k, v), ((2, 3, 2), (2, 4, 2), (2, 4, 1))),
    "cross_entropy": (lambda m, x: m.cross_entropy(x), ((2, 3),)),
    "unused": (lambda m, x, y: m.exp(x), ((2,), (3,))),
}


def pair(shapes: Any, seed: int = 0) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    arrays = [draw(*shape, seed=seed + k) for k, shape in enumerate(shapes)]
    return tuple(map(minigrad.tensor, arrays)), tuple(map(torch.tensor, arrays))


def assert_same(ours: Any, theirs: Any, path: str = "") -> None:
    """Equality of two structures."""
    if isinstance(theirs, torch.Tensor):
        assert_close(ours.numpy(), theirs, path)
        return
    assert type(ours) is type(theirs), path
    entries = theirs.items() if isinstance(theirs, dict) else enumerate(theirs)
    assert len(ours) == len(theirs), path
    for key, part in entries:
        assert_same(ours[key], part, f"{path}[{key!r}]")


every_function = pytest.mark.parametrize(("call", "shapes"), FUNCTIONS.values(), ids=FUNCTIONS)


def total(structure: Any) -> Any:
    """A number that depends on every tensor of an output, beyond the second order."""
    if isinstance(structure, dict):
        return sum(total(part) for part in structure.values())
    if isinstance(structure, tuple):
        return sum(total(part) for part in structure)
    return (structure * structure * structure).sum()


@every_function
def test_gradients_and_hessians(call: Call, shapes: Any) -> None:
    mine, other = (lambda *x: total(call(OURS, *x))), (lambda *x: total(call(THEIRS, *x)))
    x, theirs_x = pair(shapes)
    every = tuple(range(len(shapes)))
    value, gradient = func.value_and_grad(mine, every)(*x)
    theirs_gradient, theirs_value = torch.func.grad_and_value(other, every)(*theirs_x)
    assert_same(value, theirs_value)
    assert_same(gradient, theirs_gradient)
    assert_same(func.grad(mine)(*x), torch.func.grad(other)(*theirs_x))
    assert_same(func.hessian(mine, every)(*x), torch.func.hessian(other, every)(*theirs_x))
    v, theirs_v = pair(shapes, 7)
    theirs_product = torch.func.jvp(torch.func.grad(other, every), theirs_x, theirs_v)[1]
    assert_same(func.hvp(mine, x, v), (theirs_value, theirs_product))
