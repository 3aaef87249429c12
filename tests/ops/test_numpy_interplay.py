"""NumPy in, NumPy out: arrays, NumPy scalars and NumPy's functions meet tensors."""

import operator
import re
import warnings
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from together import together

import minigrad
from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad, gradcheck
from minigrad.autograd.primitives import by_numpy
from minigrad.tensors import numpy_functions

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
P = np.abs(X) + 0.1
SQUARE = np.array([[1.0, 2.0], [3.0, 5.0]])


def variable(values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


def array(value: Any) -> np.ndarray:
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("other", [
    P, P[0], P[:, :1], P[::-1], np.float64(1.5), np.float32(1.5), np.int64(2), np.array(1.5), 2,
    1.5, [1.0, 2.0, 3.0], np.arange(1, 4), np.bool_(True),
], ids=lambda o: f"{type(o).__name__}{np.shape(o)}")  # fmt: skip
def test_operators_on_both_sides(op: Any, other: Any) -> None:
    x = variable(P)
    for left, right in ((x, other), (other, x)):
        result = op(left, right)
        assert type(result) is Tensor
        wanted = op(*(array(v) if not np.isscalar(v) else v for v in (left, right)))
        np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-15)
        assert grad(result.sum(), x)[0].shape == x.shape
    assert gradcheck(lambda x: [op(x, other), op(other, x)], x)


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_on_both_sides(op: Any) -> None:
    x = variable(X)
    zero_d, row = np.array(0.5), [0.5, 0.5, 0.5]
    for other in (X[:, ::-1], np.float64(0.5), 0.5, 1, zero_d, tensor(X[:1]), row):
        for left, right in ((x, other), (other, x)):
            result = op(left, right)
            assert type(result) is Tensor
            assert result.dtype == bool
            np.testing.assert_array_equal(result.numpy(), op(array(left), array(right)))


def test_matmul_on_both_sides() -> None:
    x = variable(X)
    for left, right in ((x, X.T), (X.T, x), (x, X[0]), (X[:, 0], x), (x, X.T.tolist())):
        result = left @ right
        assert type(result) is Tensor
        np.testing.assert_allclose(result.numpy(), array(left) @ array(right))
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
    assert (mask ^ (x < 1)).tolist() == ((X > 0) ^ (X < 1)).tolist()
    assert (np.array(True) ^ mask).tolist() == (True ^ mask).tolist() == (X <= 0).tolist()


# NumPy's functions, called with X, with X and P, or with the arrays that are given. What is called
# with arrays alone is in test_every_numpy_function…
FUNCTIONS: dict[str, Any] = {
    "multiply.reduce": (np.multiply.reduce, [X]), "add.reduce": (np.add.reduce, [X]),
    "add.accumulate": (np.add.accumulate, [X]), "cross": lambda x, y: np.cross(x, y),
    "linalg.cross": lambda x, y: np.linalg.cross(x, y),
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(x, axis=1),
    "round decimals": lambda x: np.round(x, decimals=-1),
    "matmul": (lambda a, b: np.matmul(a, b.T), [X, P]),
    "sum keepdims": lambda x: np.sum(x, axis=(0, 1), keepdims=True),
    "var ddof": lambda x: np.var(x, axis=1, ddof=1),
    "std correction": lambda x: np.std(x, axis=1, correction=1, keepdims=True),
    "multiply.reduce axis": lambda x: np.multiply.reduce(x, axis=1),
    "prod axis": lambda x: np.prod(x, axis=(0, 1), keepdims=True),
    "multiply.accumulate": lambda x: np.multiply.accumulate(x, axis=1),
    "diff edges": lambda x, y: np.diff(x, n=2, axis=0, prepend=y, append=1.5),
    "maximum.reduce": lambda x: np.maximum.reduce(x, axis=1),
    "norm of rows, 3": lambda x: np.linalg.norm(x, 3, axis=1),
    "norm of a vector, 1": lambda x: np.linalg.norm(x[0], 1),
    "norm of a vector, inf": lambda x: np.linalg.norm(x[0], np.inf),
    "clip": lambda x: np.clip(x, -0.5, 0.6),
    "clip named": lambda x: np.clip(x, a_min=None, a_max=0.6),
    "where": lambda x, y: np.where(X > 0, x, y), "where scalar": lambda x: np.where(X > 0, x, 0.0),
    "transpose named": lambda x: np.transpose(x, axes=[1, 0]),
    "squeeze": lambda x: np.squeeze(x[:1]), "squeeze axis": lambda x: np.squeeze(x[:1], axis=0),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
    "concatenate": lambda x, y: np.concatenate([x, y, X]),
    "concatenate axis": lambda x, y: np.concatenate((x, y), axis=1),
    "concatenate flat": lambda x, y: np.concatenate([x, y], axis=None),
    "stack": lambda x, y: np.stack([x, y], axis=-1),
    "stack named": lambda x: np.stack(arrays=[x, X]),
    "split": lambda x: np.split(x, [1], axis=1)[1],
    "split named": lambda x: np.split(ary=x, indices_or_sections=3, axis=1)[1],
    "array_split": lambda x: np.array_split(x, 2, axis=1)[0],
    "hstack": lambda x, y: np.hstack([x, y]), "vstack": lambda x, y: np.vstack(tup=[x, y]),
    "dstack": lambda x, y: np.dstack((x, y)),
    "moveaxis": lambda x: np.moveaxis(x, source=0, destination=-1),
    "permute_dims": lambda x: np.permute_dims(x, (1, 0)),
    "atleast_1d": lambda x: np.atleast_1d(x[0, 0]), "atleast_2d": lambda x: np.atleast_2d(x[0]),
    "atleast_3d": lambda x, y: np.atleast_3d(x, y)[1],
    "broadcast_arrays": (lambda x, y: np.broadcast_arrays(x, y)[0], [X[0], P]),
    "meshgrid": (lambda x, y: np.meshgrid(x, y)[0], [X[0], P[1]]),
    "meshgrid ij": (lambda x, y: np.meshgrid(x, y, indexing="ij")[1], [X[0], P[1]]),
    "flip": lambda x: np.flip(m=x, axis=(0, 1)), "flipud": lambda x: np.flipud(m=x),
    "rot90": lambda x: np.rot90(x, k=3, axes=(1, 0)),
    "roll": lambda x: np.roll(x, shift=(1, 2), axis=(0, 1)),
    "repeat": lambda x: np.repeat(x, repeats=[1, 2], axis=0),
    "repeat flat": lambda x: np.repeat(a=x, repeats=2), "tile": lambda x: np.tile(A=x, reps=(2, 1)),
    "pad": lambda x: np.pad(x, 1, constant_values=2.0),
    "pad named": lambda x: np.pad(array=x, pad_width=((1, 0), (0, 2)), mode="edge"),
    "tril": lambda x: np.tril(m=x, k=-1), "diag named": lambda x: np.diag(v=x[0], k=1),
    "take": lambda x: np.take(x, [0, 2, 2], axis=1),
    "take named": lambda x: np.take(a=x, indices=[0, 1]),
    "take_along_axis": lambda x: np.take_along_axis(arr=x, indices=X.argsort(0), axis=0),
    "take_along_axis flat": lambda x: np.take_along_axis(x, np.array([3, 3]), None),
    "unique named": lambda x: np.unique(ar=x, return_index=True)[0],
    "sort kind": lambda x: np.sort(x, 0, "stable"),
    "sort named": lambda x: np.sort(a=x, axis=None, kind="heapsort"),
    "median": lambda x: np.median(x, axis=0, keepdims=True),
    "where, one argument": lambda x: x[np.where(x > 0)],
    "einsum": lambda x, y: np.einsum("ij,kj->ik", x, y),
    "einsum mixed": lambda x: np.einsum("ij,ij", P, x),
    "einsum optimize": lambda x: np.einsum("ij,kj,kl", x, P, X, optimize=True),
    "dot mixed": lambda x: np.dot(a=P, b=x.T), "vecdot": lambda x, y: np.vecdot(x, y, axis=0),
    "cross axis": lambda x: np.cross(x.T, P.T, axis=0),
    "tensordot": lambda x, y: np.tensordot(x, y, axes=((0,), (0,))),
    "trace": lambda x: np.trace(a=x, offset=1),
    "diagonal": lambda x: np.diagonal(x, offset=-1, axis1=1, axis2=0),
    "linalg.cholesky": lambda x: np.linalg.cholesky(x @ x.T, upper=True),
    "linalg.diagonal": lambda x: np.linalg.diagonal(x[..., None], offset=-1),
    "linalg.eigh": (lambda x: np.linalg.eigh(x + x.T, UPLO="U").eigenvalues, [SQUARE]),
    "linalg.eigvalsh": (lambda x: np.linalg.eigvalsh(x + x.T), [SQUARE]),
    "linalg.inv": (lambda x: np.linalg.inv(a=x), [SQUARE]),
    "linalg.lstsq": (lambda x, y: np.linalg.lstsq(x.T, y, rcond=None)[1], [X, P[0]]),
    "linalg.matmul": (lambda x: np.linalg.matmul(x, SQUARE), [SQUARE]),
    "linalg.matrix_norm": lambda x: np.linalg.matrix_norm(x, ord="nuc"),
    "linalg.matrix_power": (lambda x: np.linalg.matrix_power(x, n=3), [SQUARE]),
    "linalg.multi_dot": lambda x, y: np.linalg.multi_dot([x, P.T, y]),
    "linalg.norm nuc": lambda x: np.linalg.norm(x, "nuc", keepdims=True),
    "linalg.norm 2": lambda x: np.linalg.norm(x, 2, axis=(1, 0)),
    "linalg.pinv": lambda x: np.linalg.pinv(x, rcond=1e-12),
    "linalg.pinv rtol": lambda x: np.linalg.pinv(x, rtol=1e-12),
    "linalg.qr": (lambda x: np.linalg.qr(x, mode="r"), [SQUARE]),
    "linalg.slogdet": (lambda x: np.linalg.slogdet(x)[1], [SQUARE]),
    "linalg.solve mixed": lambda x: np.linalg.solve(SQUARE, x),
    "linalg.svd": lambda x: np.linalg.svd(x, full_matrices=False).S,
    "linalg.svd alone": lambda x: np.linalg.svd(x, compute_uv=False),
    "linalg.tensordot": (lambda x, y: np.linalg.tensordot(x, y, axes=1), [X, X[0]]),
    "linalg.trace": lambda x: np.linalg.trace(x[..., None], offset=-1),
    "linalg.vecdot": lambda x, y: np.linalg.vecdot(x, y, axis=0),
    "linalg.vector_norm": lambda x: np.linalg.vector_norm(x, axis=0, ord=3),
    "amax": lambda x: np.amax(x, axis=1, keepdims=True), "amin": lambda x: np.amin(a=x, axis=0),
    "column_stack": lambda x, y: np.column_stack((x.T, y[0], X[1])),
    "hsplit of a vector": lambda x: np.hsplit(x[0], [1])[1],
    "vsplit": lambda x: np.vsplit(x, indices_or_sections=2)[1],
    "diagflat": lambda x: np.diagflat(x, k=1),
    "unique_values": (lambda x: np.unique_values(x[0]), [np.sort(X)]),
    "astype": lambda x: np.astype(x, np.float64),
}  # fmt: skip
if hasattr(np, "unstack"):  # newer than NumPy 2.0
    FUNCTIONS |= {
        "clip min max": lambda x: np.clip(x, min=-0.6, max=0.6),
        "reshape named": lambda x: np.reshape(x, shape=-1),
        "cumulative_prod": lambda x: np.cumulative_prod(x, axis=1),
        "cumulative_sum": lambda x: np.cumulative_sum(x[0]),
        "unstack": lambda x: np.unstack(x, axis=1)[2],
    }


@together(name=FUNCTIONS)
def test_numpy_functions_dispatch(name: str) -> None:
    """The value is NumPy's on arrays, the result a Tensor, the gradient right."""
    case = FUNCTIONS[name]
    call, arrays = case if isinstance(case, tuple) else (case, [X, P][: case.__code__.co_argcount])
    tensors = [variable(array) for array in arrays]
    result = call(*tensors)
    assert type(result) is Tensor
    np.testing.assert_allclose(result.numpy(), call(*arrays), rtol=1e-14)
    assert gradcheck(call, tensors)


def test_functions_that_only_ask() -> None:
    """Those with options; test_every_numpy_function… has the others."""
    x = variable(X)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)
    assert np.array_equal(x, X)
    assert np.array_equal(X, x)
    assert np.allclose(x, X + 1e-12)
    assert not np.allclose(x, X + 1, atol=0.1)
    assert np.array2string(x) == np.array2string(X)
    ascending, ordered = np.sort(x, None), np.sort(X, None)
    for ours, theirs in (
        (np.argmax(x, axis=1), [2, 0]),
        (np.argmin(x, axis=1), [1, 2]),
        (np.any(x > 1, axis=1), [True, True]),
        (np.all(x > -1, axis=1), [False, True]),
        (np.logical_and.reduce(x > -1, axis=1), [False, True]),
        (np.logical_or.reduce(x > 1.7, axis=1), [True, False]),
        (np.logical_xor(x > 0, True), X <= 0),
        (np.argsort(x, axis=0, kind="stable"), X.argsort(0)),
        (np.isin(x, [0.3, 2.0]), np.isin(X, [0.3, 2.0])),
        (np.isin(0.3, x), True),
        (np.searchsorted(ascending, x, side="right"), np.searchsorted(ordered, X, side="right")),
        (np.unique(x, return_counts=True)[1], [1] * 6),
        (np.ones_like(x, dtype=int), [[1] * 3] * 2),
        (np.greater(X, x), [[False] * 3] * 2),
    ):
        np.testing.assert_array_equal(array(ours), theirs)
        assert ours.dtype == np.asarray(theirs).dtype


@pytest.mark.parametrize("name", [
    "partition", "linalg.eig", "correlate", "delete", "multiply.outer", "heaviside", "spacing",
    "modf", "i0", "nancumsum", "maximum.accumulate", "hypot.reduce", "fft.fft",
])  # fmt: skip
def test_functions_without_a_rule_say_so(name: str) -> None:
    x = variable(SQUARE)
    more = {"heaviside": x, "correlate": x, "multiply.outer": x, "partition": 1, "delete": 1}
    arguments = (x, more[name]) if name in more else (x,)
    with pytest.raises(TypeError, match=rf"np\.{name}: .*numpy\(\)"):
        attrgetter(name)(np)(*arguments)


OPTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(x, dtype=np.float32), lambda x: np.sum(x, 0, np.float32),
    lambda x: np.mean(x, 0, None, None, True), lambda x: np.var(x, 0, None, None, 1),
    lambda x: np.max(x, 0, None, True), lambda x: np.std(x, 0, None, None, 1),
    lambda x: np.prod(x, 0, np.float32), lambda x: np.prod(x, initial=5.0),
    lambda x: np.prod(x, dtype=np.float32), lambda x: np.round(x, 1, np.zeros((2, 2))),
    lambda x: np.cumsum(x, 0, np.float32), lambda x: np.cumprod(x, dtype=np.float32),
    lambda x: np.any(x, 0, None, True), lambda x: np.all(x, where=SQUARE > 2),
    lambda x: np.add.accumulate(x, 0, np.float32), lambda x: np.exp(x, out=np.zeros((2, 2))),
    lambda x: np.exp(x, where=SQUARE > 2), lambda x: np.sum(x, initial=5.0),
    lambda x: np.sum(x, where=SQUARE > 2), lambda x: np.max(x, initial=100.0),
    lambda x: np.multiply(x, x, dtype=np.float32), lambda x: np.reshape(x, (4,), order="F"),
    lambda x: np.ravel(x, order="F"), lambda x: np.ravel(x, "F"),
    lambda x: np.concatenate([x, x], dtype=np.float32), lambda x: np.sort(x, order="a"),
    lambda x: np.sort(x, -1, "stable"), lambda x: np.take(x, [0, 5], None, None, "clip"),
    lambda x: np.take(x, [0, 1], 0, np.zeros((2, 2))),
    lambda x: np.pad(x, 1, "reflect", reflect_type="odd"), lambda x: np.pad(x, 1, "mean"),
    lambda x: np.pad(x, 1, lambda *_: None), lambda x: np.median(x, 0, np.zeros(2)),
    lambda x: np.median(x, 0, None, False, True), lambda x: np.unique(x, False, False, False, 0),
    lambda x: np.meshgrid(x, x, sparse=True)[0],
    lambda x: np.searchsorted(x[0], 1.5, "left", [1, 0]), lambda x: np.isin(x, [1.0], False, True),
    lambda x: np.linalg.norm(x, 2), lambda x: np.linalg.norm(x, 1),
    lambda x: np.linalg.norm(x, np.inf), lambda x: np.linalg.norm(x, "nuc"),
    lambda x: np.linalg.norm(x, 1, axis=(0, 1)), lambda x: np.linalg.norm(x[None], 2),
    lambda x: np.dot(x, x, np.zeros((2, 2))), lambda x: np.outer(x, x, np.zeros((4, 4))),
    lambda x: np.trace(x, 0, 0, 1, np.float32),
    lambda x: np.cross(np.kron(x, x)[:3, :3], np.eye(3), 0), lambda x: np.einsum(x, [0, 1], [1]),
    lambda x: np.linalg.svd(x, False, False, True), lambda x: np.linalg.pinv(x, 1e-15, True),
    lambda x: np.linalg.qr(x, "raw")[0], lambda x: np.linalg.matrix_rank(x, None, True),
    lambda x: np.linalg.multi_dot([x, x], out=np.zeros((2, 2))),
]  # fmt: skip


@pytest.mark.parametrize("call", OPTIONS)
def test_options_that_ops_lack_are_refused_or_mean_what_numpy_means(call: Any) -> None:
    """Never another meaning: here a dtype by position, there the norm of a matrix."""
    try:
        wanted = call(SQUARE)
    except Exception:  # noqa: BLE001  # NumPy refuses it
        wanted = None
    try:
        result = call(variable(SQUARE))
    except (TypeError, ValueError) as error:
        assert re.match(r"(np\.)?[\w.]+(: |\(\) )", str(error))  # it names the function
    else:
        assert wanted is not None
        assert result.shape == np.shape(wanted)
        np.testing.assert_allclose(result.numpy(), wanted)


def test_conversion_to_arrays() -> None:
    x = tensor(X)
    assert type(np.asarray(x)) is np.ndarray
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.array(x, copy=True).flags.writeable
    assert np.array([Tensor(1.0), Tensor(2.0)]).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(x, dtype=np.float32, copy=False)


# Each makes an array of a tensor x of length 2, next to an array a.
CONVERSIONS: dict[str, Callable[[Any, np.ndarray], Any]] = {
    "asarray": lambda x, a: np.asarray(x), "array": lambda x, a: np.array(x, np.float32),
    "array of elements": lambda x, a: np.array([x[0], x[1]]),
    "array of rows": lambda x, a: np.array([[1.0, 2.0], x]),
    "ascontiguousarray": lambda x, a: np.ascontiguousarray(x), "a method": lambda x, a: a.dot(x),
    "c_": lambda x, a: np.c_[x, a], "r_": lambda x, a: np.r_[x, a],
    "vectorize": lambda x, a: np.vectorize(lambda v: 2 * v)(x),
    "a random parameter": lambda x, a: np.random.default_rng(0).normal(x),
    "setitem": lambda x, a: a.__setitem__(..., x),
    "tensor of elements": lambda x, a: minigrad.tensor([x[0], x[1]]),
    "tensor of rows": lambda x, a: tensor([[x[0], x[1]], a]),
    "a list of rows in an operator": lambda x, a: tensor(a) * [x, a],
    "a list in an operator": lambda x, a: a * tensor(a) + [x[0], x[1]],
    "a list in an op": lambda x, a: ops.concatenate([tensor(a), [x[0], x[1]]]),
    "a list that is written": lambda x, a: minigrad.zeros(2).__setitem__(..., [x[0], x[1]]),
    "a gradient of rows": lambda x, a: setattr(tensor(a), "grad", [x[0], x[1]]),
    "full": lambda x, a: minigrad.full((2, 2), [x[0], x[1]]),
    "full_like": lambda x, a: np.full_like(x, x),
}  # fmt: skip


@pytest.mark.parametrize("convert", CONVERSIONS.values(), ids=CONVERSIONS)
def test_no_history_is_lost_in_an_array(convert: Callable[[Any, np.ndarray], Any]) -> None:
    """A leaf and a result alike; what records nothing, or has no history, converts freely."""
    leaf = variable([1.0, 2.0])
    for x in (leaf, 2 * leaf):
        with pytest.raises(RuntimeError, match=r"stack.*\.detach\(\).*\.numpy\(\)"):
            convert(x, np.ones(2))
        convert(x.detach(), np.ones(2))
        with minigrad.no_grad():
            convert(x, np.ones(2))


def test_a_tensor_of_a_tensor_is_a_detached_clone() -> None:
    x = variable(X)
    for source in (x, 2 * x):
        for twin in (minigrad.tensor(source), tensor(source, requires_grad=True)):
            assert twin.is_leaf
            assert twin.dtype == source.dtype
            assert twin.tolist() == source.tolist()
            assert not np.shares_memory(twin, source)
    assert tensor([[tensor(X[0, 0])], [tensor(X[1, :1])]]).dtype == X.dtype


def test_an_array_is_written_from_a_tensor() -> None:
    array = np.zeros((2, 3))
    array[...] = tensor(X)
    array += tensor(X)
    assert type(array) is np.ndarray
    assert array.tolist() == (2 * X).tolist()
    np.add.at(array, (0, 0), Tensor(1.0))
    assert array[0, 0] == 2 * X[0, 0] + 1
    with pytest.raises(TypeError, match=r"np.add: .*out.*gradient"):
        array += variable(X)
    target = minigrad.zeros(*X.shape, dtype=X.dtype)
    np.copyto(target, X)
    assert target.tolist() == X.tolist()


# NumPy's whole namespace ----------------------------------------------------------------------

ROW, GAPS = np.array([0.3, -1.2, 2.5, 0.7]), np.array([0.5, np.nan, -0.2, 2.0])
CUBE = np.random.default_rng(0).standard_normal((2, 3, 4))
SAMPLES: list[tuple[Any, ...]] = [
    (SQUARE,), (ROW,), (GAPS,), (ROW * np.inf,), (CUBE,), (SQUARE, SQUARE.T), (ROW, GAPS),
    (ROW, ROW), (SQUARE, ROW[:2]), ([SQUARE, SQUARE.T],), ([ROW, GAPS],), (SQUARE, 1), (CUBE, 2),
    (ROW, 0), (CUBE, 0, 1), (ROW, [0, 2]), (ROW > 0, ROW), (ROW, 0.5), (SQUARE, (0, 1)),
    (ROW, ROW, ROW), (GAPS, 0.5),
]  # fmt: skip
INDEPENDENT = {np.zeros_like, np.ones_like, np.full_like}  # of the values


def dispatching() -> dict[str, Any]:
    """Every function of NumPy that asks its arguments what to do."""
    return {
        f"{name}.{key}": function
        for name, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft))
        for key, function in sorted(vars(module).items())
        if isinstance(function, np.ufunc) or hasattr(function, "_implementation")
    }


def has_rule(function: Any) -> bool:
    return function in numpy_functions._TABLE or function in by_numpy


def each(value: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """The same with the float arrays changed."""
    if isinstance(value, (list, tuple)):
        return type(value)(each(part, change) for part in value)
    is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return change(value) if is_float else value


def outcome(function: Any, arguments: Any) -> Any:
    """What it returns, flattened, or the error."""

    def parts(value: Any) -> list[Any]:
        nested = isinstance(value, (list, tuple))
        return [x for each in value for x in parts(each)] if nested else [value]

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return parts(function(*arguments))
    except Exception as error:  # noqa: BLE001  # whether both fail is compared
        return error


def agree(one: Any, other: Any) -> bool:
    if isinstance(one, Exception) or isinstance(other, Exception):
        return isinstance(one, Exception) and isinstance(other, Exception)
    pairs = list(zip(one, other, strict=False))
    return len(one) == len(other) and all(
        np.shape(a) == np.shape(b)
        and np.asarray(a).dtype.kind == np.asarray(b).dtype.kind
        and np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in pairs
    )


@together(name=dispatching())
def test_every_numpy_function_keeps_a_gradient_or_says_that_it_would_be_lost(name: str) -> None:
    function = dispatching()[name]
    if function is np.empty_like:
        return  # its values are nobody's
    for sample in SAMPLES:
        wanted = outcome(function, each(sample, np.copy))
        if isinstance(wanted, Exception):
            continue
        found = outcome(function, each(sample, variable))
        if isinstance(found, Exception):
            assert isinstance(found, (TypeError, ValueError, RuntimeError))
            assert re.match(r"[\w.]+(: |\(\) | has no )|converting a tensor", str(found)), found
        elif function not in INDEPENDENT:
            floats = [v for v in found if isinstance(v, Tensor) and v.dtype.kind == "f"]
            if function is not np.histogram:  # the edges are not of the values
                assert not floats or any(v.requires_grad for v in floats)
            lost = [v for v in found if isinstance(v, (float, complex, np.inexact))]
            lost += [v for v in found if isinstance(v, np.ndarray) and v.dtype.kind in "fc"]
            assert not lost
        if has_rule(function):
            for value, expected in zip(found, wanted, strict=True) if type(found) is list else ():
                np.testing.assert_allclose(array(value), expected, rtol=1e-12)
            continue
        with minigrad.no_grad():
            values = outcome(function, each(sample, variable))
        if isinstance(values, Exception):
            assert "cannot write to a Tensor" in str(values)
        else:
            assert not any(isinstance(value, Tensor) for value in values)
            assert agree(values, wanted)


def test_every_name_of_a_function_that_has_a_rule_has_it() -> None:
    """Functions that answer alike on all samples are one function under two names."""
    results = {
        name: [outcome(function, each(sample, np.copy)) for sample in SAMPLES]
        for name, function in dispatching().items()
        if function not in numpy_functions._ABOUT
    }
    ruled = {name for name in results if has_rule(dispatching()[name])}
    for name in sorted(set(results) - ruled):
        if sum(not isinstance(result, Exception) for result in results[name]) < 3:
            continue
        for other in ruled:
            alike = all(agree(a, b) for a, b in zip(results[name], results[other], strict=True))
            assert not alike, f"{name} answers as {other}, which has a rule"


# Values for the positional parameters of NumPy's functions, by their names.
POSITIONAL: dict[str, Any] = {
    "axis": 1, "dtype": None, "out": None, "keepdims": True, "ddof": 1, "indices": [1, 0, 1],
    "q": 0.25, "a_min": -0.5, "a_max": 1.0, "decimals": 1, "offset": 1, "axis1": 0,
    "axis2": 1,
}  # fmt: skip


def positional() -> dict[str, list[Any]]:
    """The functions with a rule whose `out` can be given by position, and what is given."""
    found = {}
    for name, function in dispatching().items():
        names = numpy_functions._positional(function) if has_rule(function) else ()
        known = [n in POSITIONAL for n in names[1:]] + [False]
        given = [POSITIONAL[n] for n in names[1 : 1 + known.index(False)]]
        if len(given) > 1:
            found[name] = given
    return found


@pytest.mark.parametrize("name", positional())
def test_arguments_by_position_are_numpys(name: str) -> None:
    """Where NumPy has `dtype` and `out`, our ops have `keepdims`."""
    function = dispatching()[name]
    for count in range(1, len(positional()[name]) + 1):
        given = positional()[name][:count]
        wanted = outcome(function, (X, *given))
        if not isinstance(wanted, Exception):
            result = function(variable(X), *given)
            assert isinstance(result, Tensor)
            np.testing.assert_allclose(result.detach().numpy(), wanted[0], rtol=1e-12)
            assert result.shape == np.shape(wanted[0])


def test_functions_of_mixed_arguments() -> None:
    x = variable(X)
    assert type(ops.stack([X, x])) is Tensor
    assert ops.concatenate([x, X.tolist()]).shape == (4, 3)
    assert ops.concatenate(x).tolist() == X.ravel().tolist()  # a tensor is a sequence of rows
    assert ops.stack(list(x)).tolist() == X.tolist()
    assert ops.maximum(X, P).tolist() == np.maximum(X, P).tolist()
