"""Ops that only move elements, and those that read, write and add by integers along an axis."""

import itertools
import math
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_reference import NAIVE

from minigrad import Tensor, ops, tensor, torch
from minigrad.autograd import grad
from minigrad.ops.indexing import add_at


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


# Reading, writing and adding by integers along an axis --------------------------------------------


SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


def integers(data: Any, shape: Any, low: int, high: int) -> np.ndarray:
    dtype = data.draw(st.sampled_from([np.int64, np.int32, np.int8]))
    drawn: np.ndarray = data.draw(hnp.arrays(dtype, shape, elements=st.integers(low, high)))
    return drawn


@given(data=st.data(), shape=SHAPES)
def test_gather_and_scatter_add_of_any_shape(data: Any, shape: tuple[int, ...]) -> None:
    """One element at a time; and each is the other's transpose: <gather x, s> = <x, scatter s>."""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    shorter = [data.draw(st.integers(1, n)) for n in shape]
    shorter[axis] = data.draw(st.integers(0, 5))
    index = integers(data, tuple(shorter), 0, shape[axis] - 1)
    check(lambda x: ops.gather(x, axis, index), lambda x: NAIVE.gather(x, axis, index), shape)
    src = np.cos(np.arange(index.size)).reshape(index.shape)
    onto = np.sin(np.arange(math.prod(shape))).reshape(shape)
    added = ops.scatter_add(tensor(onto), axis, tensor(index), tensor(src))
    np.testing.assert_allclose(added.numpy(), NAIVE.scatter_add(onto, axis, index, src))
    zeros = np.zeros(shape)
    there = (ops.gather(onto, axis, index).numpy() * src).sum()
    back = (ops.scatter_add(zeros, axis, index, src).numpy() * onto).sum()
    np.testing.assert_allclose(there, back, atol=1e-12)


READS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "getitem": lambda x, i: x[i], "take": ops.take,
    "take along": ops.take_along_axis,
    "gather": lambda x, i: ops.gather(x, 0, i),
    "scatter_add": lambda x, i: ops.scatter_add(np.zeros(4), 0, i, x),
    "scatter": lambda x, i: ops.scatter(np.zeros(4), 0, i, x),
    "index_add": lambda x, i: ops.index_add(np.zeros(4), 0, i, x),
    "bincount": lambda x, i: ops.bincount(i, x), "repeat": ops.repeat,
    "roll": lambda x, i: ops.roll(x, i, (0, 0, 0)), "pad": lambda x, i: ops.pad(x, i[1:], "wrap"),
    "split": lambda x, i: ops.split(x, i)[1],
}  # fmt: skip


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_the_callers_integers_may_change_between_forward_and_backward(
    read: Callable[[Any, np.ndarray], Any],
) -> None:
    for create_graph in (False, True):
        x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
        index = np.array([0, 1, 2])
        g = np.arange(1.0, 1.0 + read(x, index).numel())
        (wanted,) = grad(read(x, index), x, g)
        out = read(x, index)
        index[:] = [2, 0, 0]
        (found,) = grad(out, x, g, create_graph=create_graph)
        assert found.tolist() == wanted.tolist()
        index[:] = [0, 1, 2]


@pytest.mark.parametrize("name", ["take", "take along", "gather", "scatter_add", "repeat", "roll"])
def test_an_index_tensor_written_before_backward_is_noticed(name: str) -> None:
    x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    index: Any = tensor([0, 1, 2])
    out = READS[name](x, index)
    index[0] = 2
    with pytest.raises(RuntimeError, match=r"(indices|index|repeats|shift) was written in place"):
        out.sum().backward()


def test_many_small_reads_of_a_large_tensor_share_one_buffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """3,000 × x[i] is linear, and so are 3,000 of each of these."""
    x = tensor(np.zeros((20, 50)), requires_grad=True)
    two = np.array([1, 1])
    reads = [ops.take(x, two + i) for i in range(50)]
    reads += [ops.take(x, [i], 1) for i in range(50)]
    reads += [ops.gather(x, 0, two[None] * i) for i in range(20)]
    reads += [ops.take_along_axis(x, two + i, None) for i in range(50)]
    reads += [*ops.split(x, 20), *ops.unbind(x)]
    reads += [x[0], x[[1, 2, 2]], x[10:]]
    out = ops.concatenate(reads, axis=None).sum()
    made = []
    zeros = np.zeros

    def counting(shape: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(shape)
        return zeros(shape, *args, **kwargs)

    monkeypatch.setattr(np, "zeros", counting)
    out.backward()
    assert made.count((20, 50)) == 1
    assert x.grad.sum().item() == 50 * 2 + 50 * 20 + 20 * 2 + 50 * 2 + 2 * 1000 + 50 * 14


def test_adding_is_linear_in_the_number_of_reads() -> None:
    """A hundred times the reads take no more calls, and a hundred times the memory."""

    def calls_and_memory(n: int) -> tuple[int, int]:
        index = np.arange(n) % 7
        x = tensor(np.zeros(10), requires_grad=True)
        outs = [ops.take(x, index), ops.gather(x, 0, index), ops.repeat(x, np.full(10, n // 10))]
        out = ops.concatenate(outs).sum()
        events: list[str] = []
        tracemalloc.start()
        sys.setprofile(lambda frame, event, arg: events.append(event))
        try:
            out.backward()
        finally:
            sys.setprofile(None)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return len(events), peak

    calls_and_memory(100)  # what is made once is made
    few, little = calls_and_memory(1_000)
    many, much = calls_and_memory(100_000)
    assert many <= 1.1 * few, (few, many)
    assert much <= 150 * little, (little, much)


def test_add_at_is_numpys_for_every_kind_of_index() -> None:
    """It has paths of its own for rows and for single elements, in any layout and dtype."""
    rng = np.random.default_rng(3)
    rows, columns = rng.integers(-4, 4, (2, 50))
    kinds: list[Any] = [
        (rows, columns), (rows[:, None], columns[None, :5]), (slice(None), columns), (rows,), rows,
        (rows.astype(np.int8), columns.astype(np.int16)), (rows % 4).astype(np.uint8), rows[:0],
        (rows, slice(1, 3)), (..., columns), (rows[:0], columns[:0]),
    ]  # fmt: skip
    layouts: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "C": lambda a: a,
        "Fortran": np.asfortranarray,
        "strided": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        "reversed": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    }
    for index, layout, dtype in itertools.product(
        kinds, layouts.values(), (np.float16, np.float32, np.float64)
    ):
        start = rng.integers(-9, 9, (4, 4)).astype(dtype)
        buffer, wanted = layout(start), start.copy()
        value = rng.integers(-9, 9, start[index].shape).astype(dtype)
        add_at(buffer, index, value)
        np.add.at(wanted, index, value)
        np.testing.assert_array_equal(buffer, wanted)
        assert buffer.dtype == dtype


def test_scatter_add_takes_the_common_dtype() -> None:
    for one, other, common in (
        (np.float32, np.float64, np.float64), (np.int64, np.float32, np.float32),
        (np.float32, np.int64, np.float32), (np.int32, np.int64, np.int64),
    ):  # fmt: skip
        out = ops.scatter_add(np.zeros(2, one), 0, [0], np.ones(1, other))
        assert out.dtype == common
    x, src = tensor(np.zeros(2, np.float32)), tensor(np.ones(2), requires_grad=True)
    x.requires_grad = True
    found = grad(ops.scatter_add(x, 0, [0, 0], src).sum(), (x, src))
    assert [g.dtype for g in found] == [np.float32, np.float64]


def test_scatter_writes_the_last_and_gives_it_the_gradient() -> None:
    for create_graph in (False, True):
        x, src = tensor(np.zeros(3), requires_grad=True), Tensor([1.0, 2.0, 3.0, 9.0])
        src.requires_grad = True
        out = ops.scatter(x, 0, [1, 0, 1], src)
        assert out.tolist() == [2.0, 3.0, 0.0]
        assert x.tolist() == [0.0] * 3
        to_x, to_src = grad(out, (x, src), np.array([1.0, 10.0, 100.0]), create_graph=create_graph)
        assert to_x.tolist() == [0.0, 0.0, 100.0]
        assert to_src.tolist() == [0.0, 1.0, 10.0, 0.0]


def test_writes_in_place_carry_gradients() -> None:
    """As the functions do; of what was overwritten nothing is left."""
    place = torch.tensor([2, 0])
    for write in (
        lambda x, v: x.scatter_(0, place, v),
        lambda x, v: x.scatter_add_(0, place, v),
        lambda x, v: x.index_add_(0, place, v),
    ):
        leaf = torch.ones(3, requires_grad=True)
        values = torch.tensor([5.0, 7.0], requires_grad=True)
        x = leaf * 1.0
        out = write(x, values)
        assert out is x
        assert x.tolist() in ([7.0, 1.0, 5.0], [8.0, 1.0, 6.0])
        (x * [1.0, 10.0, 100.0]).sum().backward()
        assert values.grad.tolist() == [100.0, 1.0]
        assert leaf.grad.tolist() in ([0.0, 10.0, 0.0], [1.0, 10.0, 100.0])


@given(data=st.data(), shape=SHAPES)
def test_index_add_of_any_shape(data: Any, shape: tuple[int, ...]) -> None:
    """It is a scatter_add with one index for each slice, in float16 too."""
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    index = integers(data, (data.draw(st.integers(0, 5)),), 0, shape[axis] - 1)
    longer = [*shape]
    longer[axis] = index.size
    source = np.cos(np.arange(math.prod(longer))).reshape(longer)
    spread = np.moveaxis(np.broadcast_to(index, (*np.delete(longer, axis), index.size)), -1, axis)
    for dtype, tolerance in ((np.float64, 1e-14), (np.float16, 4e-3)):
        found = ops.index_add(np.zeros(shape, dtype), axis, index, source.astype(dtype), alpha=0.5)
        wanted = ops.scatter_add(np.zeros(shape), axis, spread, 0.5 * source)
        assert found.dtype == dtype
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), atol=tolerance)


# scatter_reduce, index_fill and unfold -----------------------------------------------------------


@pytest.mark.parametrize("how", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce_takes_the_common_dtype(how: str) -> None:
    x, src = np.array([4, 7]), np.array([1, 2, 6])
    found = ops.scatter_reduce(x, 0, [0, 0, 0], src, how)
    wanted = {"sum": 13, "prod": 48, "mean": 3, "amax": 6, "amin": 1}[how]
    assert found.tolist() == [wanted, 7]
    assert found.dtype == x.dtype
    wide = ops.scatter_reduce(np.ones(2, np.float32), 0, [0], np.ones(1), how)
    assert wide.dtype == np.float64
    assert ops.scatter_reduce(x, 0, [], np.ones(0, int), how, include_self=False).tolist() == [4, 7]


def test_equal_extremes_share_the_gradient() -> None:
    x = Tensor([3.0, 1.0], requires_grad=True)
    src = tensor([3.0, 3.0, -np.inf, -np.inf], requires_grad=True)
    index = np.array([0, 0, 1, 1])
    out = ops.scatter_reduce(x, 0, index, src, "amax")
    index[:] = 0
    found = grad(out.sum(), (x, src))
    np.testing.assert_allclose(found[0].numpy(), [1 / 3, 1])
    np.testing.assert_allclose(found[1].numpy(), [1 / 3, 1 / 3, 0, 0])
    out = ops.scatter_reduce(x, 0, [0, 0, 1, 1], src, "amax", include_self=False)
    found = grad(out.sum(), (x, src))  # x[0] is 3 as well, and does not count
    np.testing.assert_allclose(found[0].numpy(), [0, 0])
    np.testing.assert_allclose(found[1].numpy(), [0.5, 0.5, 0.5, 0.5])


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_the_product_has_right_gradients_beside_zeros(n: int) -> None:
    values = np.array([0.0] * n + [2.0, 3.0, 5.0, 7.0][n:])
    src = tensor(values, requires_grad=True)
    out = ops.scatter_reduce(np.ones(1), 0, [0] * 4, src, "prod", include_self=False)
    wanted = [np.prod(np.delete(values, i)) for i in range(4)]
    np.testing.assert_allclose(grad(out.sum(), src)[0].numpy(), wanted)


def test_index_fill_of_a_number_and_with_a_tensor() -> None:
    assert ops.index_fill(Tensor(2.0), 0, [0], 5.0).tolist() == 5.0
    value = Tensor(3.0, requires_grad=True)
    ops.index_fill(np.zeros((2, 3)), 1, [0, 2], value).sum().backward()
    assert value.grad.tolist() == 4.0
