"""NumPy in, NumPy out: arrays, NumPy scalars and NumPy's functions meet tensors."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops
from minigrad.autograd import grad, gradcheck

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
P = np.abs(X) + 0.1
SQUARE = np.array([[1.0, 2.0], [3.0, 5.0]])


def variable(values: Any) -> Tensor:
    return Tensor(np.array(values, float), requires_grad=True)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
@pytest.mark.parametrize(
    "other",
    [
        P,
        P[0],
        P[:, :1],
        P[::-1],
        np.float64(1.5),
        np.float32(1.5),
        np.int64(2),
        np.array(1.5),
        2,
        1.5,
        [1.0, 2.0, 3.0],
        np.arange(1, 4),
        np.bool_(True),
    ],
    ids=lambda o: f"{type(o).__name__}{np.shape(o)}",
)
def test_operators_on_both_sides(op: Any, other: Any) -> None:
    x = variable(P)
    for left, right in ((x, other), (other, x)):
        result = op(left, right)
        assert type(result) is Tensor
        wanted = op(*(np.asarray(v) if not np.isscalar(v) else v for v in (left, right)))
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-15)
        assert grad(result.sum(), x).shape == x.shape
    assert gradcheck(lambda x: [op(x, other), op(other, x)], x)


@pytest.mark.parametrize("op", COMPARISONS, ids=lambda op: op.__name__)
def test_comparisons_on_both_sides(op: Any) -> None:
    x = variable(X)
    for other in (
        X[:, ::-1],
        np.float64(0.5),
        0.5,
        1,
        np.array(0.5),
        Tensor(X[:1]),
        [0.5, 0.5, 0.5],
    ):
        for left, right in ((x, other), (other, x)):
            result = op(left, right)
            assert type(result) is Tensor
            assert result.dtype == bool
            np.testing.assert_array_equal(result.numpy(), op(np.asarray(left), np.asarray(right)))


def test_matmul_on_both_sides() -> None:
    x = variable(X)
    for left, right in ((x, X.T), (X.T, x), (x, X[0]), (X[:, 0], x), (x, X.T.tolist())):
        result = left @ right
        assert type(result) is Tensor
        np.testing.assert_allclose(result.numpy(), np.asarray(left) @ np.asarray(right))
        assert gradcheck(
            lambda x, s=left is x, o=right if left is x else left: x @ o if s else o @ x, x
        )


def test_unary_operators() -> None:
    x = variable(X)
    assert (-x).tolist() == (-X).tolist()
    assert abs(x).tolist() == np.abs(X).tolist()
    assert (+x).tolist() == X.tolist()
    mask = x > 0
    assert (~mask).tolist() == (X <= 0).tolist()
    assert (mask & (x < 1)).tolist() == ((X > 0) & (X < 1)).tolist()
    assert (mask | True).tolist() == [[True] * 3] * 2
    assert (np.array(True) & mask).tolist() == (X > 0).tolist()
    assert (False | mask).tolist() == (X > 0).tolist()


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "exp": (np.exp, [X]),
    "log": (np.log, [P]),
    "sqrt": (np.sqrt, [P]),
    "tanh": (np.tanh, [X]),
    "absolute": (np.absolute, [X]),
    "abs": (np.abs, [X]),
    "square": (np.square, [X]),
    "negative": (np.negative, [X]),
    "add": (np.add, [X, P]),
    "subtract": (np.subtract, [X, P]),
    "multiply": (np.multiply, [X, P]),
    "divide": (np.divide, [X, P]),
    "power": (np.power, [P, X]),
    "true_divide": (np.true_divide, [X, P]),
    "maximum": (np.maximum, [X, P]),
    "minimum": (np.minimum, [X, P]),
    "matmul": (lambda a, b: np.matmul(a, b.T), [X, P]),
    "sum": (np.sum, [X]),
    "sum axis": (lambda x: np.sum(x, axis=0), [X]),
    "sum positional": (lambda x: np.sum(x, 1), [X]),
    "sum keepdims": (lambda x: np.sum(x, axis=(0, 1), keepdims=True), [X]),
    "mean": (np.mean, [X]),
    "mean axis": (lambda x: np.mean(x, axis=-1, keepdims=True), [X]),
    "max": (np.max, [X]),
    "max axis": (lambda x: np.max(x, axis=1), [X]),
    "min": (np.min, [X]),
    "min axis": (lambda x: np.min(x, 0), [X]),
    "var": (np.var, [X]),
    "var ddof": (lambda x: np.var(x, axis=1, ddof=1), [X]),
    "add.reduce": (np.add.reduce, [X]),
    "add.reduce all": (lambda x: np.add.reduce(x, None), [X]),
    "add.reduce axis": (lambda x: np.add.reduce(x, axis=1), [X]),
    "add.reduce axis None": (lambda x: np.add.reduce(x, axis=None), [X]),
    "maximum.reduce": (lambda x: np.maximum.reduce(x, axis=1), [X]),
    "norm": (np.linalg.norm, [X]),
    "norm axis": (lambda x: np.linalg.norm(x, axis=1), [X]),
    "norm of rows, 3": (lambda x: np.linalg.norm(x, 3, axis=1), [X]),
    "norm of a vector, 1": (lambda x: np.linalg.norm(x[0], 1), [X]),
    "norm of a vector, inf": (lambda x: np.linalg.norm(x[0], np.inf), [X]),
    "clip": (lambda x: np.clip(x, -0.5, 0.6), [X]),
    "clip named": (lambda x: np.clip(x, a_min=None, a_max=0.6), [X]),
    "clip min max": (lambda x: np.clip(x, min=-0.6, max=0.6), [X]),
    "where": (lambda x, y: np.where(X > 0, x, y), [X, P]),
    "where scalar": (lambda x: np.where(X > 0, x, 0.0), [X]),
    "reshape": (lambda x: np.reshape(x, (3, 2)), [X]),
    "reshape named": (lambda x: np.reshape(x, shape=-1), [X]),
    "transpose": (np.transpose, [X]),
    "transpose axes": (lambda x: np.transpose(x, (1, 0)), [X]),
    "transpose named": (lambda x: np.transpose(x, axes=[1, 0]), [X]),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), [X]),
    "squeeze": (lambda x: np.squeeze(x[:1]), [X]),
    "squeeze axis": (lambda x: np.squeeze(x[:1], axis=0), [X]),
    "expand_dims": (lambda x: np.expand_dims(x, 1), [X]),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 2, 3)), [X]),
    "concatenate": (lambda x, y: np.concatenate([x, y, X]), [X, P]),
    "concatenate axis": (lambda x, y: np.concatenate((x, y), axis=1), [X, P]),
    "concatenate flat": (lambda x, y: np.concatenate([x, y], axis=None), [X, P]),
    "stack": (lambda x, y: np.stack([x, y], axis=-1), [X, P]),
    "split": (lambda x: np.split(x, [1], axis=1)[1], [X]),
    "einsum": (lambda x, y: np.einsum("ij,kj->ik", x, y), [X, P]),
    "einsum mixed": (lambda x: np.einsum("ij,ij", P, x), [X]),
    "copy": (np.copy, [X]),
    "astype": (lambda x: np.astype(x, np.float64), [X]),
}


@pytest.mark.parametrize(("call", "arrays"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_numpy_functions_dispatch(call: Any, arrays: list[np.ndarray]) -> None:
    """The value is NumPy's on arrays, the result a Tensor, the gradient right."""
    tensors = [variable(array) for array in arrays]
    result = call(*tensors)
    assert type(result) is Tensor
    np.testing.assert_allclose(result.numpy(), call(*arrays), rtol=1e-14)
    assert gradcheck(call, tensors)


def test_functions_that_only_ask() -> None:
    x = variable(X)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
    assert np.array_equal(x, X)
    assert np.array_equal(X, x)
    assert np.allclose(x, X + 1e-12)
    assert not np.allclose(x, X + 1, atol=0.1)
    assert np.argmax(x) == 2
    assert np.argmax(x, axis=1).tolist() == [2, 0]
    assert np.sign(x).tolist() == np.sign(X).tolist()
    assert np.isnan(x).tolist() == [[False] * 3] * 2
    assert np.isfinite(x).tolist() == [[True] * 3] * 2
    assert np.zeros_like(x).tolist() == [[0.0] * 3] * 2
    assert np.ones_like(x, dtype=int).tolist() == [[1] * 3] * 2
    assert np.greater(X, x).tolist() == [[False] * 3] * 2
    assert np.array2string(x) == np.array2string(X)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (np.sin, "np.sin"),
        (np.arctan2, "np.arctan2"),
        (np.floor, "np.floor"),
        (np.sort, "np.sort"),
        (np.cumsum, "np.cumsum"),
        (np.prod, "np.prod"),
        (np.linalg.inv, "np.inv"),
        (np.dot, "np.dot"),
        (np.tile, "np.tile"),
        (np.multiply.accumulate, "np.multiply.accumulate"),
        (np.multiply.outer, "np.multiply.outer"),
        (np.multiply.reduce, "np.multiply.reduce"),
        (np.fft.fft, "np.fft"),
        (np.round, "np.round"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_functions_without_a_rule_say_so(call: Any, name: str) -> None:
    x = variable(SQUARE)
    arguments = (x, x) if name in ("np.arctan2", "np.dot", "np.multiply.outer") else (x,)
    arguments = (x, 2) if name == "np.tile" else arguments
    with pytest.raises(TypeError, match=rf"{name}: .*numpy\(\)"):
        call(*arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.sum(x, dtype=np.float32),
        lambda x: np.sum(x, 0, np.float32),
        lambda x: np.mean(x, 0, None, None, True),
        lambda x: np.var(x, 0, None, None, 1),
        lambda x: np.max(x, 0, None, True),
        lambda x: np.exp(x, out=np.zeros((2, 2))),
        lambda x: np.exp(x, where=SQUARE > 2),
        lambda x: np.sum(x, initial=5.0),
        lambda x: np.sum(x, where=SQUARE > 2),
        lambda x: np.max(x, initial=100.0),
        lambda x: np.multiply(x, x, dtype=np.float32),
        lambda x: np.reshape(x, (4,), order="F"),
        lambda x: np.linalg.norm(x, 2),
        lambda x: np.linalg.norm(x, 1),
        lambda x: np.linalg.norm(x, np.inf),
        lambda x: np.linalg.norm(x, "nuc"),
        lambda x: np.linalg.norm(x, 1, axis=(0, 1)),
        lambda x: np.linalg.norm(x[None], 2),
    ],
)
def test_options_that_ops_lack_are_refused_or_mean_what_numpy_means(call: Any) -> None:
    """Never another meaning: here a dtype by position, there the norm of a matrix."""
    try:
        wanted = call(SQUARE)
    except Exception:
        wanted = None
    try:
        result = call(variable(SQUARE))
    except (TypeError, ValueError) as error:
        assert re.match("(np.)?(linalg.)?(sum|mean|var|max|exp|multiply|reshape|norm)", str(error))
    else:
        assert wanted is not None
        assert result.shape == np.shape(wanted)
        np.testing.assert_allclose(result.numpy(), wanted)


def test_conversion_to_arrays() -> None:
    x = variable(X)
    assert type(np.asarray(x)) is np.ndarray
    assert np.shares_memory(np.asarray(x), x.data)
    assert not np.shares_memory(np.array(x), x.data)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.array(x, copy=True).flags.writeable
    assert np.array([Tensor(1.0), Tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError):
        np.array(x, dtype=np.float32, copy=False)


def test_an_array_is_written_from_a_tensor() -> None:
    array = np.zeros((2, 3))
    array[...] = Tensor(X)
    assert array.tolist() == X.tolist()


def test_a_tensor_is_no_object_array() -> None:
    for result in (X * variable(X), np.float64(2) * variable(X), [1.0, 2.0, 3.0] + variable(X)):  # noqa: RUF005
        assert type(result) is Tensor
        assert result.dtype == np.float64


def test_functions_of_mixed_arguments() -> None:
    x = variable(X)
    assert type(ops.stack([X, x])) is Tensor
    assert ops.concatenate([x, X.tolist()]).shape == (4, 3)
    assert ops.concatenate(x).tolist() == X.ravel().tolist()  # a tensor is a sequence of rows
    assert ops.stack(list(x)).tolist() == X.tolist()
    assert ops.maximum(X, P).tolist() == np.maximum(X, P).tolist()
