"""Views of one memory, joined and cut: shapes against NumPy, writes that reach the base or fail."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad
from minigrad import Tensor, ops, tensor
from minigrad.autograd.views import Place

VALUES = np.arange(24.0).reshape(2, 3, 4)

VIEWS: dict[str, Callable[[Any], Any]] = {
    "ravel": ops.ravel, "flatten": lambda x: ops.flatten(x, 1),
    "moveaxis": lambda x: ops.moveaxis(x, 0, -1), "flip": lambda x: ops.flip(x, (0, 2)),
    "fliplr": ops.fliplr, "flipud": ops.flipud, "rot90": ops.rot90,
    "rot90 by 0": lambda x: ops.rot90(x, 0), "split": lambda x: ops.split(x, [1], axis=1)[1],
    "array_split": lambda x: ops.array_split(x, 2, axis=1)[0],
    "unbind": lambda x: ops.unbind(x, axis=1)[2],
    "diag": lambda x: ops.diag(x[0]), "diagonal": lambda x: ops.diagonal(x[0]),
}  # fmt: skip
READ_ONLY: dict[str, Callable[[Any], Any]] = {
    "expand": lambda x: ops.expand(x, 5, -1, -1, -1),
    "expand to its own shape": lambda x: ops.expand(x, -1, -1, -1),
    "broadcast_arrays": lambda x: ops.broadcast_arrays(x, np.zeros((5, 1, 1, 1)))[0],
    "meshgrid": lambda x: ops.meshgrid(x, np.zeros(2))[0],
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "roll": lambda x: ops.roll(x, 0), "repeat": lambda x: ops.repeat(x, 1, 0),
    "tile": lambda x: ops.tile(x, 1), "pad": lambda x: ops.pad(x, 0),
    "pad edge": lambda x: ops.pad(x, 0, "edge"), "tril": lambda x: ops.tril(x, 9),
    "triu": lambda x: ops.triu(x, -9), "take": lambda x: ops.take(x, [0, 1], 0),
    "gather": lambda x: ops.gather(x, 0, np.zeros((2, 3, 4), int)), "sort": ops.sort,
    "scatter_add": lambda x: ops.scatter_add(x, 0, np.zeros((0, 3, 4), int), x),
    "hstack": lambda x: ops.hstack([x]), "vstack": lambda x: ops.vstack([x]),
    "dstack": lambda x: ops.dstack([x]), "unique": ops.unique,
    "diag of a vector": lambda x: ops.diag(x[0, 0]),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_write_on_a_view_reaches_the_base(view: Callable[[Any], Any]) -> None:
    x = tensor(VALUES)
    seen = view(x)
    seen[...] = -1.0
    assert (x.numpy() == -1).sum() == np.size(seen)
    x[...] = 7.0
    assert (seen.numpy() == 7).all()


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_recorded_write_on_a_view_reaches_the_base_and_back(view: Callable[[Any], Any]) -> None:
    """Values and gradients: what was written to either is what both are made of."""
    x = tensor(VALUES, requires_grad=True)
    factor = tensor(np.array(2.0), requires_grad=True)
    base = x * 1
    seen = view(base)
    seen *= factor
    base *= 3.0
    array = VALUES.copy()
    places = view(tensor(np.arange(float(array.size)).reshape(array.shape))).numpy().astype(int)
    array.ravel()[places.ravel()] *= 2.0
    np.testing.assert_array_equal(base.numpy(), 3 * array)
    np.testing.assert_array_equal(seen.numpy(), 3 * array.ravel()[places])
    (base.sum() + 10 * seen.sum()).backward()
    slopes = np.full(array.size, 3.0)
    slopes[places.ravel()] *= 2.0 * 11.0
    np.testing.assert_allclose(x.grad.numpy(), slopes.reshape(array.shape))
    assert factor.grad.item() == pytest.approx(33.0 * VALUES.ravel()[places].sum())


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_value_written_through_a_view_after_it_was_saved_is_noticed(
    view: Callable[[Any], Any],
) -> None:
    weight = tensor(VALUES)
    x = tensor(VALUES, requires_grad=True)
    out = (x * weight).sum()
    view(weight)[...] = 0.0
    with pytest.raises(RuntimeError, match="^multiply: .*input b .*in place"):
        out.backward()


@pytest.mark.parametrize("view", READ_ONLY.values(), ids=READ_ONLY)
def test_where_elements_share_memory_writes_are_refused(view: Callable[[Any], Any]) -> None:
    x = tensor(VALUES)
    seen = view(x)
    assert np.shares_memory(seen.numpy(), x.numpy())
    with pytest.raises(RuntimeError, match="read-only"):
        seen[...] = 1.0
    np.testing.assert_array_equal(x.numpy(), VALUES)


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_has_memory_of_its_own(copy: Callable[[Any], Any]) -> None:
    """Also where nothing was to be done: what is a copy once is a copy always."""
    x = tensor(VALUES)
    result = copy(x)
    assert not np.shares_memory(result.numpy(), x.numpy())
    result[...] = -1.0
    np.testing.assert_array_equal(x.numpy(), VALUES)


# Cutting ------------------------------------------------------------------------------------------


@given(
    data=st.data(),
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7),
    parts=st.integers(1, 9),
)
def test_pieces_are_numpys_and_give_the_whole(
    data: Any, shape: tuple[int, ...], parts: int
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    values = np.arange(float(np.prod(shape))).reshape(shape)
    cuts = data.draw(st.lists(st.integers(-8, 8), max_size=3))
    for how in (parts, cuts, np.array(cuts, int)):
        found, wanted = ops.array_split(values, how, axis), np.array_split(values, how, axis)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one.numpy(), other)
            assert one.shape == other.shape
    pieces = minigrad.chunk(values, parts, axis)
    assert len(pieces) <= parts
    lengths = [piece.shape[axis] for piece in pieces]
    assert all(one == lengths[0] for one in lengths[:-1])
    assert lengths[-1] <= lengths[0]
    np.testing.assert_array_equal(ops.concatenate(pieces, axis).numpy(), values)


# Broadcasting -------------------------------------------------------------------------------------


def test_methods_take_lengths_one_by_one_or_in_a_tuple() -> None:
    x = tensor(np.ones((1, 3)))
    assert x.expand(2, -1).shape == x.expand((2, -1)).shape == x.expand([2, 3]).shape == (2, 3)
    assert Tensor(1.0).expand(2).shape == (2,)
    assert Tensor(1.0).expand().shape == ()
    assert x.expand(tensor([4, 3])).shape == (4, 3)


def test_the_index_of_a_view_is_found_from_its_memory() -> None:
    """Views of views by integers and slices: the index reads the same elements of the base."""
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(500):
        base = np.arange(60).reshape(3, 4, 5)[:, : rng.integers(1, 5)]
        view = base
        for _ in range(rng.integers(1, 4)):
            parts = [
                int(rng.integers(n)) if rng.random() < 0.2 else
                slice(*sorted(rng.integers(0, n + 1, 2)), rng.integers(1, 3))
                for n in view.shape
            ]  # fmt: skip
            view = view[(*parts, ...)]
            if not np.size(view):
                break
            view = view[::-1] if view.ndim and rng.random() < 0.3 else view
            view = view.T if rng.random() < 0.1 else view
        index = Place.of_array(base).index_of(Place.of_array(view))
        if index is not None:
            found += 1
            again = base[(*index, ...)]
            assert again.shape == view.shape
            assert again.base is not None
            np.testing.assert_array_equal(again, view)
        elif np.size(view):  # only the axes' order, or one of length 1, is no integer or slice
            assert view.ndim > 1
    assert found > 100
