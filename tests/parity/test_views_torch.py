"""Random programs that write through views of every rank, on PyTorch and here.

A program makes views of a buffer by all that makes views: indices that leave any number of axes,
none included, iteration, `unbind`, `diagonal`, `detach` and more. It writes to any of them in all
ways, with and without recording. Values and gradients are PyTorch's.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from side_by_side import draw, torch

import minigrad
from minigrad import tensor

SHAPES = [(4,), (3, 4), (2, 3, 4), ()]
Step = Callable[[Any, list[Any], Any], None]
"""A step of a library's program, on its list of views and its leaf."""


def drawn(number: int) -> tuple[tuple[int, ...], bool, list[Step]]:
    """The shape of the buffer, whether it is a constant at first, and the steps on its views."""
    rng = np.random.default_rng(number)
    shape = SHAPES[number % len(SHAPES)]
    views: list[Any] = [torch.zeros(shape)]
    steps: list[Step] = []
    for _ in range(rng.integers(4, 12)):
        step = new_view(rng, views) if rng.random() < 0.5 else new_write(rng, views)
        with torch.no_grad():
            step(torch, views, torch.zeros(4))
        steps.append(step)
    return shape, bool(rng.random() < 0.5), steps


def new_view(rng: np.random.Generator, views: list[Any]) -> Step:
    """A view of one of the views."""
    i = int(rng.integers(len(views)))
    shape = tuple(views[i].shape)
    axis = int(rng.integers(len(shape))) if shape else 0
    k = int(rng.integers(shape[axis])) if shape and shape[axis] else 0
    makers: list[Callable[[Any, Any], Any]] = [
        lambda m, v: v.detach(),
        lambda m, v: v[drawn_index],
        lambda m, v: v[...],
        lambda m, v: v[None],
        lambda m, v: v.reshape(-1),
    ]
    drawn_index = tuple(
        int(rng.integers(n)) if n and rng.random() < 0.6 else slice(int(rng.integers(2)), None)
        for n in shape[: rng.integers(len(shape) + 1)]
    )
    if 0 not in (*shape, len(shape)):
        makers += [
            lambda m, v: list(unbound(m, v, axis))[k],
            lambda m, v: v[(slice(None),) * axis + (k,)],
            lambda m, v: list(unbound(m, v, 0))[k % shape[0]],
            lambda m, v: v[m.tensor(k % shape[0])],
        ]
    if len(shape) == 2 and 0 not in shape:
        makers += [lambda m, v: v.T, lambda m, v: m.diagonal(v), lambda m, v: m.diagonal(v)[0]]
    maker = makers[rng.integers(len(makers))]
    return lambda m, views, x: views.append(maker(m, views[i]))


def unbound(m: Any, view: Any, axis: int) -> Any:
    """What `unbind` and iteration give. PyTorch refuses writes to its own: reads replace them."""
    if m is torch:
        return (view.select(axis, k) for k in range(view.shape[axis]))
    return m.unbind(view, axis) if axis else list(view)


def new_write(rng: np.random.Generator, views: list[Any]) -> Step:
    """A write to one of the views, of a constant or of something that depends on the leaf."""
    i, k, factor = int(rng.integers(len(views))), int(rng.integers(4)), float(rng.uniform(0.5, 2))
    values: list[Callable[[Any], Any]] = [lambda x: factor, lambda x: factor * x[k]]
    value = values[rng.integers(2)]
    shape = views[i].shape
    writes: list[Callable[[Any, Any, Any], Any]] = [
        lambda m, v, x: v.__setitem__(..., value(x)),
        lambda m, v, x: v.add_(value(x)),
        lambda m, v, x: v.mul_(value(x)),
        lambda m, v, x: v.__iadd__(value(x)),
        lambda m, v, x: v.__imul__(value(x)),
        lambda m, v, x: v.__setitem__(0 if len(shape) else (), value(x)),
        lambda m, v, x: [row.mul_(value(x)) for row in unbound(m, v, 0)],
    ]
    if shape and not shape[0]:
        del writes[5]
    if not shape:
        del writes[6]
    write = writes[rng.integers(len(writes))]
    recorded = rng.random() < 0.7

    def step(m: Any, views: list[Any], x: Any) -> None:
        if recorded:
            write(m, views[i], x)
        else:
            with m.no_grad():
                write(m, views[i], x)

    return step


def weights(shape: Any) -> np.ndarray:
    return 1 + 0.5 * np.cos(np.arange(np.prod(shape, dtype=int))).reshape(tuple(shape))


def outcome(m: Any, x: Any, number: int) -> list[np.ndarray]:
    """The values of all views and the gradient of their weighted sum."""
    shape, constant, steps = drawn(number)
    ones = m.ones(shape, dtype=m.float64)
    views = [ones if constant else ones * x[0]]
    for step in steps:
        step(m, views, x)
        assert len([view.grad_fn for view in views])  # PyTorch updates a view that is asked
    total = x[0] * 0.0
    for view in views:
        total = total + (view * m.tensor(weights(view.shape))).sum()
    total.backward()
    return [*(view.detach().numpy() for view in views), x.grad.numpy()]


@pytest.mark.parametrize("numbers", [range(150), range(150, 300)], ids=str)
def test_values_and_gradients_are_pytorchs(numbers: range) -> None:
    """None is refused: no rule saves what is written."""
    for number in numbers:
        array = draw(4, seed=number)
        ours = outcome(minigrad, tensor(array, requires_grad=True), number)
        theirs = outcome(torch, torch.tensor(array, requires_grad=True), number)
        for mine, their in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, their, rtol=1e-12, err_msg=str(number))


def test_a_copy_in_the_place_of_a_view_would_be_found() -> None:
    getitem = minigrad.ops.indexing._getitem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            minigrad.ops.indexing, "_getitem",
            lambda x, index: y.clone() if (y := getitem(x, index)).ndim == 0 else y,
        )  # fmt: skip
        with pytest.raises(AssertionError):
            test_values_and_gradients_are_pytorchs(range(150))
