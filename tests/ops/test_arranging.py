"""Ops that only move elements: against NumPy on any shape, in values and in gradients."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad


def numbered(shape: tuple[int, ...], first: int = 0) -> np.ndarray:
    """Different numbers, so that it can be told where each has gone."""
    return np.arange(first, first + math.prod(shape)).reshape(shape)


def check(ours: Callable[..., Any], theirs: Callable[..., Any], shape: tuple[int, ...]) -> None:
    """The values are NumPy's; an element receives the cotangents of all its copies.

    Numbers from 1 on tell where an element has gone; 0 is what came in from outside.
    """
    values = numbered(shape, 1).astype(float)
    x = tensor(values, requires_grad=True)
    out, wanted = ours(x), theirs(values)
    assert out.shape == wanted.shape
    np.testing.assert_array_equal(out.numpy(), wanted)
    g = 1.0 + np.arange(out.numel()).reshape(out.shape) % 7
    counted = np.bincount(wanted.ravel().astype(int), g.ravel(), values.size + 1)[1:]
    for create_graph in (False, True):
        (found,) = grad(ours(x), x, g, create_graph=create_graph)
        np.testing.assert_array_equal(found.numpy(), counted.reshape(shape))


@given(
    data=st.data(),
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4),
    mode=st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]),
)
def test_pad_of_any_shape(data: Any, shape: tuple[int, ...], mode: str) -> None:
    width = data.draw(hnp.arrays(int, (len(shape), 2), elements=st.integers(0, 6))).tolist()
    check(lambda x: ops.pad(x, width, mode), lambda x: np.pad(x, width, mode), shape)  # type: ignore[call-overload]


def test_triangles_cut_off_what_is_not_finite() -> None:
    """A product with a mask would make NaN of it."""
    x = tensor([[1.0, math.inf], [math.nan, 1.0]], requires_grad=True)
    assert ops.tril(ops.triu(x)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert grad(ops.triu(x).sum(), x)[0].tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_copies_in_float16_are_counted_in_float32() -> None:
    """5,000 ones do not fit into float16 one by one: after 2,048 another 1 is rounded away."""
    ones = tensor(np.ones(2, np.float16), requires_grad=True)
    places = np.arange(10_000) % 2
    for call in (
        lambda x: ops.repeat(x, 5000), lambda x: ops.repeat(x, [5000, 5000]),
        lambda x: ops.tile(x, 5000), lambda x: ops.take(x, places), lambda x: x[places],
        lambda x: ops.gather(x, 0, places), lambda x: ops.pad(x, (0, 9998), "wrap"),
        lambda x: ops.take_along_axis(ops.reshape(x, (1, 2)), places[None]),
    ):  # fmt: skip
        (found,) = grad(call(ones), ones, np.ones(10_000, np.float16).reshape(call(ones).shape))
        assert found.dtype == np.float16
        assert found.tolist() == [5000.0, 5000.0]


def test_a_tensor_tells_how_far_and_how_often() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    assert ops.roll(x, tensor(1)).tolist() == [3.0, 1.0, 2.0]
    assert ops.repeat(x, tensor([0, 1, 2])).tolist() == [2.0, 3.0, 3.0]
    assert ops.pad(x, tensor([1, 0])).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert ops.tile(x, tensor([2])).tolist() == [1.0, 2.0, 3.0] * 2


def test_what_is_around_an_integer_tensor_is_an_integer() -> None:
    x = tensor([1, 2])
    assert ops.pad(x, 1, constant_values=-7).tolist() == [-7, 1, 2, -7]
    with pytest.raises(TypeError, match="^pad: .*constant_values.*inf.*int64"):
        ops.pad(x, 1, constant_values=-math.inf)
