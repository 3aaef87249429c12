"""Sorted order and search: ties and NaN as in NumPy, gradients back to where the values were."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import minigrad
from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad

NAN = math.nan
FEW = st.sampled_from([0.0, -1.0, 1.0, 2.0, math.inf, -math.inf, NAN])
DTYPES = st.sampled_from([np.float16, np.float32, np.float64])


def arrays(min_dims: int = 1, min_side: int = 0) -> Any:
    """Arrays of few different values, so that ties and NaN abound."""
    shapes = hnp.array_shapes(min_dims=min_dims, max_dims=3, min_side=min_side, max_side=6)
    return DTYPES.flatmap(lambda dtype: hnp.arrays(dtype, shapes, elements=FEW))


def same(a: Any, b: Any) -> None:
    np.testing.assert_array_equal(a.numpy() if isinstance(a, Tensor) else a, b)


@given(values=arrays(), data=st.data())
def test_sorting_with_ties_and_nan(values: np.ndarray, data: Any) -> None:
    axis = data.draw(st.integers(-values.ndim, values.ndim - 1))
    x = tensor(values, requires_grad=True)
    same(ops.sort(x, axis), np.sort(values, axis))
    same(ops.argsort(x, axis), np.argsort(values, axis, kind="stable"))
    same(ops.sort(x, None), np.sort(values, None))
    same(ops.argsort(x, None), np.argsort(values, None, kind="stable"))
    for descending in (False, True):
        places = ops.argsort(x, axis, descending)
        ordered = ops.sort(x, axis, descending)
        same(ordered, np.take_along_axis(values, places.numpy(), axis))
        g = 1.0 + np.arange(values.size).reshape(values.shape)
        wanted = np.zeros(values.shape)
        np.put_along_axis(wanted, places.numpy(), g, axis)
        same(grad(ordered, x, g)[0], wanted.astype(values.dtype))


@given(values=arrays())
def test_descending_is_the_mirror_image_but_ties_keep_their_order(values: np.ndarray) -> None:
    ordered = ops.sort(values, descending=True)
    same(ordered, np.sort(values)[..., ::-1])
    places = ops.argsort(values, descending=True).numpy()
    for line in np.ndindex(values.shape[:-1]):
        for one, other in itertools.pairwise(places[line]):
            first, second = values[line][one], values[line][other]
            if first == second or (np.isnan(first) and np.isnan(second)):
                assert one < other


@given(values=arrays(), data=st.data())
def test_topk_is_the_beginning_of_the_sorted(values: np.ndarray, data: Any) -> None:
    """With ties, NaN and infinities: of equal ones the first, in a fixed order."""
    axis = data.draw(st.integers(-values.ndim, values.ndim - 1))
    k = data.draw(st.integers(0, values.shape[axis]))
    for largest in (True, False):
        order = np.moveaxis(ops.argsort(values, axis, descending=largest).numpy(), axis, 0)[:k]
        for in_order in (True, False):
            wanted = np.moveaxis(order if in_order else np.sort(order, 0), 0, axis)
            found, places = ops.topk(values, k, axis, largest, in_order)
            assert places.dtype == np.int64
            same(places, wanted)
            same(found, np.take_along_axis(values, wanted, axis))


@given(values=arrays(min_side=1), keepdims=st.booleans(), data=st.data())
def test_the_median_of_ties_and_nan(values: np.ndarray, keepdims: bool, data: Any) -> None:
    axis = data.draw(st.none() | hnp.valid_tuple_axes(values.ndim, min_size=1))
    with np.errstate(invalid="ignore"):
        found = ops.median(values, axis, keepdims)
        wanted = np.median(values, axis, keepdims=keepdims)
    assert found.dtype == values.dtype
    same(found, wanted)


def test_elements_equal_to_the_median_share_its_gradient() -> None:
    """NumPy's median, and PyTorch's, which is the lower of the two in the middle."""
    for median, values, wanted in (
        (ops.median, [3.0, 1.0, 2.0], [0, 0, 1]), (ops.median, [7.0], [1]),
        (ops.median, [4.0, 1.0, 2.0, 9.0], [0.5, 0, 0.5, 0]),
        (ops.median, [2.0, 2.0, 2.0, 5.0], [1 / 3, 1 / 3, 1 / 3, 0]),
        (ops.median, [1.0, 1.0, 3.0, 3.0], [0.25] * 4),
        (ops.median, [3.0, 1.0, 1.0, 7.0], [0.5, 0.25, 0.25, 0]),
        (minigrad.median, [1.0, 2.0, 2.0, 3.0], [0, 0.5, 0.5, 0]),
        (minigrad.median, [NAN, 1.0, NAN], [0.5, 0, 0.5]),
        (minigrad.median, [4.0, 1.0, 3.0, 2.0], [0, 0, 0, 1]),
    ):  # fmt: skip
        x = tensor(values, requires_grad=True)
        np.testing.assert_allclose(grad(median(x), x)[0].numpy(), wanted, rtol=1e-6)
    assert minigrad.median(tensor([4, 1, 3, 2])).dtype == np.int64


@given(values=arrays(min_dims=0), data=st.data())
def test_unique_has_numpys_outputs(values: np.ndarray, data: Any) -> None:
    values = np.nan_to_num(values, posinf=3, neginf=-3)
    axis = data.draw(st.none() | st.integers(0, values.ndim - 1) if values.ndim else st.none())
    flags = data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    try:
        wanted = np.unique(values, *flags, axis=axis)
    except ValueError:  # an axis of no rows of nothing
        with pytest.raises(ValueError, match=r"^unique: "):
            ops.unique(values, *flags, axis=axis)
        return
    found = ops.unique(values, *flags, axis=axis)
    if not any(flags):
        found, wanted = (found,), (wanted,)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        same(one, other)


def test_the_gradient_of_unique_goes_to_the_first_of_equal_elements() -> None:
    x = Tensor([3.0, 1.0, 3.0, 2.0, 1.0], requires_grad=True)
    values, inverse, counts = ops.unique(x, return_inverse=True, return_counts=True)
    assert values.tolist() == [1.0, 2.0, 3.0]
    assert not inverse.requires_grad
    assert counts.tolist() == [2, 1, 2]
    assert grad(values, x, np.array([1.0, 10.0, 100.0]))[0].tolist() == [100.0, 1.0, 0.0, 10.0, 0.0]
    rows = Tensor([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]], requires_grad=True)
    found = ops.unique(rows, axis=0)
    assert found.tolist() == [[0.0, 5.0], [1.0, 2.0]]
    assert grad(found.sum(), rows)[0].tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


def test_unique_takes_all_nan_for_one() -> None:
    assert ops.unique(tensor([NAN, 1.0, NAN])).shape == (2,)


def test_a_python_number_is_found_among_float32() -> None:
    """0.1 as float64 is another number than 0.1 as float32, and would not be found."""
    x = Tensor([0.1, 0.2, 0.3])
    assert ops.isin(x, 0.2).tolist() == [False, True, False]
    assert ops.isin(0.2, x).item() is True
    assert ops.searchsorted(x, 0.1, "right").item() == 1
    assert ops.searchsorted(x, [0.3]).tolist() == [2]
    large = tensor([2**53, 2**53 + 1])
    assert ops.isin(large, 2**53 + 1).tolist() == [False, True]


# Quantiles ------------------------------------------------------------------------------------

METHODS = [
    "linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased",
    "normal_unbiased",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_are_numpys_and_add_up_to_one(method: str) -> None:
    """The gradient says how much of each element is in the value."""
    values = np.random.default_rng(0).permutation(np.arange(12.0)).reshape(4, 3)
    x = tensor(values, requires_grad=True)
    for q, axis in itertools.product((0.0, 0.2, 0.5, 0.81, 1.0), (None, 0, 1)):
        found = ops.quantile(x, q, axis, method=method)
        np.testing.assert_allclose(found.numpy(), np.quantile(x.numpy(), q, axis, method=method))
        (parts,) = grad(found.sum(), x)
        np.testing.assert_allclose((parts * x.numpy()).sum(axis=axis).numpy(), found.numpy())
        np.testing.assert_allclose(parts.sum(axis=axis).numpy(), 1)


def test_the_median_is_a_quantile() -> None:
    """In values and gradients, among equal elements and NaN."""
    for values in ([3.0, 1.0, 1.0, 7.0], [1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0], [1.0, NAN]):
        x = tensor(values, requires_grad=True)
        one, other = ops.median(x), ops.quantile(x, 0.5)
        same(one.numpy(), other.numpy())
        same(grad(one, x)[0].numpy(), grad(other, x)[0].numpy())


CHOOSERS: dict[str, Any] = {
    "max": ops.max, "min": ops.min, "median": ops.median,
    "quantile": lambda x, axis: ops.quantile(x, 0.25, axis),
    "sort": lambda x, axis: ops.take(ops.sort(x, axis), -1, axis),
    "topk": lambda x, axis: ops.topk(x, 1, axis).values.squeeze(axis),
}  # fmt: skip


@pytest.mark.parametrize("name", CHOOSERS)
def test_nan_is_chosen_and_gets_the_gradient(name: str) -> None:
    """Where an element is NaN, so is what is chosen, and the gradient goes there alone."""
    x = tensor([[1.0, NAN, 2.0], [3.0, 1.0, 2.0], [NAN, NAN, 0.0]], requires_grad=True)
    for axis, values in ((1, x), (0, x.T)):
        found = CHOOSERS[name](values, axis)
        assert np.isnan(found.numpy()).tolist() == [True, False, True]
        slope = grad(found, x, np.array([4.0, 0.0, 4.0]))[0].numpy()
        assert slope[0].tolist() == [0.0, 4.0, 0.0]
        assert (slope[1:, 2].tolist(), slope[2].sum()) == ([0.0, 0.0], 4.0)


def test_the_callers_fractions_may_change_between_forward_and_backward() -> None:
    x, q = Tensor([1.0, 2.0, 3.0], requires_grad=True), np.array([0.0])
    out = ops.quantile(x, q)
    q[:] = 1
    assert grad(out, x, np.array([1.0]))[0].tolist() == [1.0, 0.0, 0.0]
    assert ops.quantile(x, Tensor([0.0, 1.0])).tolist() == [1.0, 3.0]
    assert ops.quantile(x, []).shape == (0,)
    assert grad(ops.quantile(x, []).sum(), x)[0].tolist() == [0.0] * 3


def test_the_mode_counts_each_nan_as_another_number() -> None:
    for values, wanted, place in (
        ([NAN, NAN, 2.0, 2.0], 2.0, 3), ([1.0, NAN, -2.0, NAN], -2.0, 2), ([NAN, 3.0, 3.0], 3.0, 2),
    ):  # fmt: skip
        x = tensor(values, requires_grad=True)
        found, where = minigrad.mode(x)
        assert (found.item(), where.item()) == (wanted, place)
        assert grad(found, x)[0].tolist() == [float(i == place) for i in range(len(values))]
    assert math.isnan(minigrad.mode(tensor([NAN, NAN])).values.item())
