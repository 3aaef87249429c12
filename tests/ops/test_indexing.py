"""Reading and writing parts, in every form that NumPy has, against NumPy itself.

Forms by name are here; tests/properties/test_any_index.py draws them, on arrays of any layout.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from op_samples.indexing import INDICES

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad

VALUES = np.arange(60.0).reshape(3, 4, 5)
NUMPYS = {name: index for name, index in INDICES.items() if name != "int and array"}


def as_tensors(index: Any) -> Any:
    """The same index with tensors in the place of arrays."""
    if isinstance(index, tuple):
        return tuple(as_tensors(part) for part in index)
    return tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("spelled", [lambda i: i, as_tensors], ids=["arrays", "tensors"])
@pytest.mark.parametrize("index", NUMPYS.values(), ids=NUMPYS)
def test_writing(index: Any, spelled: Callable[[Any], Any]) -> None:
    """Recorded, unrecorded and as a function: the same values; the last write wins."""
    value = 100.0 + np.arange(VALUES[index].size).reshape(VALUES[index].shape)
    np.testing.assert_array_equal(tensor(VALUES)[spelled(index)].numpy(), VALUES[index])
    wanted = VALUES.copy()
    wanted[index] = value
    plain = tensor(VALUES)
    plain[spelled(index)] = value
    x, v = tensor(VALUES, requires_grad=True), tensor(value, requires_grad=True)
    recorded = x * 1
    recorded[spelled(index)] = v
    function = ops.setitem(x, spelled(index), v)
    for result in (plain, recorded, function):
        np.testing.assert_array_equal(result.numpy(), wanted)
    np.testing.assert_array_equal(x.numpy(), VALUES)
    g = np.cos(np.arange(60.0)).reshape(VALUES.shape)
    old = np.where(wanted >= 100, 0, g)
    survivors = dict(zip(wanted[wanted >= 100].tolist(), g[wanted >= 100].tolist(), strict=True))
    new = np.array([survivors.get(n, 0.0) for n in value.ravel()]).reshape(value.shape)
    for result in (recorded, function):
        to_x, to_v = grad(result, (x, v), g)
        np.testing.assert_array_equal(to_x.numpy(), old)
        np.testing.assert_array_equal(to_v.numpy(), new)


@pytest.mark.parametrize("spelled", [lambda i: i, as_tensors], ids=["arrays", "tensors"])
def test_an_integer_selects_before_an_array(spelled: Callable[[Any], Any]) -> None:
    """As in PyTorch, where a tensor is indexed; the op has NumPy's order of axes."""
    index = spelled(INDICES["int and array"])
    x = tensor(VALUES)
    np.testing.assert_array_equal(x[index].numpy(), VALUES[1][:, [0, 0]])
    numpys = VALUES[INDICES["int and array"]]
    np.testing.assert_array_equal(ops.getitem(x, index).numpy(), numpys)
    wanted = VALUES.copy()
    wanted[1, :, 0] = 1.0 + 2 * np.arange(4)
    x[index] = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(x.numpy(), wanted)
    written = ops.setitem(tensor(VALUES), index, np.arange(8.0).reshape(4, 2).T)
    np.testing.assert_array_equal(written.numpy(), wanted)


def test_slices_of_tensors_and_mixed_sequences() -> None:
    x = tensor(VALUES)
    one, two = tensor(1), tensor(2)
    np.testing.assert_array_equal(x[one:two].numpy(), VALUES[1:2])
    np.testing.assert_array_equal(x[one].numpy(), VALUES[1])
    np.testing.assert_array_equal(x[one, two].numpy(), VALUES[1, 2])
    np.testing.assert_array_equal(x[[one, two]].numpy(), VALUES[1, 2])
    np.testing.assert_array_equal(x[x > 30].numpy(), VALUES[VALUES > 30])


def test_rows_by_one_int_array_of_any_dtype() -> None:
    """Whole rows take a path of their own: against the slow and plain one."""
    rng = np.random.default_rng(0)
    for dtype, rows in itertools.product((np.int8, np.uint16, np.int64, np.uint64), (3, 127, 300)):
        ids = rng.integers(0, min(rows, 127), (5, 4)).astype(dtype)
        x = tensor(np.zeros((rows, 2)), requires_grad=True)
        g = rng.standard_normal((5, 4, 2))
        wanted = np.zeros((rows, 2))
        np.add.at(wanted, ids.astype(int), g)
        for out in (x[ids], ops.embedding(ids, x), x[(ids,)], x[(ids, ...)]):
            np.testing.assert_allclose(grad(out, x, g)[0].numpy(), wanted, atol=1e-12)
        if np.dtype(dtype).kind == "i":
            np.testing.assert_array_equal(x[-ids - 1].shape, (5, 4, 2))
            wanted = np.zeros((rows, 2))
            np.add.at(wanted, -ids.astype(int) - 1, g)
            np.testing.assert_allclose(grad(x[-ids - 1], x, g)[0].numpy(), wanted, atol=1e-12)


ERRORS: dict[str, tuple[Any, str]] = {
    "int": (7, "getitem: index 7 is out of bounds for axis 0 with size 3"),
    "negative int": (-4, "index -4 is out of bounds for axis 0"),
    "later axis": ((0, 4), "index 4 is out of bounds for axis 1"),
    "after a slice": ((slice(None), 9), "index 9 is out of bounds for axis 1"),
    "array": ([0, 5], "index 5 is out of bounds for axis 0"),
    "array after ellipsis": ((..., [0, 5]), "getitem: index 5"),
    "too many": ((0, 0, 0, 0), "getitem: .*3-dimensional, but 4"),
    "float": (1.5, r"integers or bools, got float64"),
    "float array": (np.array([0.0, 1.0]), r"integers or bools, got float64"),
    "float tensor": (Tensor([1.0]), r"integers or bools, got float32"),
    "text": ("a", r"integers or bools"),
    "mask of another shape": (np.ones((2, 4), bool), "getitem: .*boolean.*axis 0"),
    "arrays that do not broadcast": (([0, 1], [0, 1, 2]), r"getitem: .*\(2,\) \(3,\)"),
}


@pytest.mark.parametrize(("index", "message"), ERRORS.values(), ids=ERRORS)
def test_bad_indices(index: Any, message: str) -> None:
    x = tensor(VALUES, requires_grad=True)
    with pytest.raises(IndexError, match=message):
        x[index]
    constant = tensor(VALUES)
    for target in (constant, x * 1):
        with pytest.raises(IndexError):
            target[index] = 1.0
        np.testing.assert_array_equal(target.numpy(), VALUES)


def test_written_values_that_do_not_fit() -> None:
    for target in (tensor(VALUES), tensor(VALUES, requires_grad=True) * 1):
        for index, value in (
            (0, np.ones((4, 4))), ([0, 1], np.ones(3)), (..., np.ones((2, 3, 4, 5))),
        ):  # fmt: skip
            for given_value in (value, tensor(value), tensor(value, requires_grad=True)):
                with pytest.raises(ValueError, match=r"setitem: .*\(3, 4, 5\)"):
                    target[index] = given_value
        np.testing.assert_array_equal(target.numpy(), VALUES)


def test_the_padding_row_gets_no_gradient() -> None:
    table = tensor(np.ones((4, 2)), requires_grad=True)
    ids = np.array([0, 3, 3, 1])
    for padding in (3, -1):
        out = ops.embedding(ids, table, padding)
        assert out.tolist() == [[1.0, 1.0]] * 4
        for create_graph in (True, False):
            (found,) = grad(out, table, np.ones((4, 2)), create_graph=create_graph)
            assert found.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_functions_read_uint8_as_integers() -> None:
    """Between brackets it is a mask, as in PyTorch."""
    x, source = tensor(VALUES), tensor(VALUES[:3] * 2)
    places = np.array([2, 2, 1])
    calls = (
        lambda i: x.index_copy(0, i, source), lambda i: x.index_add(0, i, source),
        lambda i: x.index_select(0, i), lambda i: x.index_fill(0, i, 0.0), lambda i: x.take(i),
    )  # fmt: skip
    for call in calls:
        one, other = (call(tensor(places.astype(dtype))) for dtype in (np.uint8, np.int64))
        np.testing.assert_array_equal(one.numpy(), other.numpy())
