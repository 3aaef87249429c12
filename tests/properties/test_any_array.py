"""Every op on arrays of any shape, dtype and layout of memory: values and dtypes are NumPy's.

The ops are those that answer for NumPy's functions: a new one is tested as soon as it is there.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import arrays, axes, axis, over

import minigrad
from minigrad import Tensor, get_default_dtype, ops
from minigrad.autograd import grad
from minigrad.autograd.primitives import by_numpy
from minigrad.tensors import numpy_functions

UFUNCS: dict[Any, Callable[..., Any]] = {
    function: op for function, op in (by_numpy | numpy_functions._TABLE).items()
    if isinstance(function, np.ufunc) and function.nout == 1 and function.signature is None
    # Of bools NumPy makes int8, or nothing.
    and function not in (np.conjugate, np.positive)
}  # fmt: skip
UNARY = {function: op for function, op in UFUNCS.items() if function.nin == 1}
BINARY = {function: op for function, op in UFUNCS.items() if function.nin == 2}
ROUNDING = (np.ceil, np.floor, np.rint, np.trunc)
"""Of integers NumPy makes floats: in np.rint, and before 2.1 in all of them."""


@contextmanager
def said_of(what: Any) -> Iterator[None]:
    """Have an error tell which op it is about."""
    try:
        yield
    except Exception as error:
        error.add_note(f"the op is {getattr(what, '__name__', what)}")
        raise


def listed(result: Any) -> list[Any]:
    """One result or several, as a list."""
    return list(result) if isinstance(result, (list, tuple)) else [result]


def same(ours: Any, wanted: Any) -> None:
    """Shape, dtype and values; strides may change the last bit, and float16 is summed wider."""
    wanted = np.asarray(wanted)
    assert type(ours) is Tensor
    assert (ours.shape, ours.dtype) == (wanted.shape, wanted.dtype)
    if wanted.dtype.kind == "f":
        eps = float(np.finfo(wanted.dtype).eps)
        np.testing.assert_allclose(ours.numpy(), wanted, rtol=8 * eps, atol=8 * eps)
    else:
        np.testing.assert_array_equal(ours.numpy(), wanted)


def has_a_gradient(op: Callable[..., Any], x: np.ndarray, **options: Any) -> None:
    """Of the shape and dtype of the array."""
    variable = over(x, requires_grad=True)
    (found,) = grad(op(variable, **options).sum(), variable)
    assert (found.shape, found.dtype) == (x.shape, x.dtype)


def computes_floats(function: np.ufunc) -> bool:
    """Whether NumPy makes floats of integers; we do in every division, and never to round."""
    if function in (np.reciprocal, *ROUNDING):
        return function is np.reciprocal
    with np.errstate(all="ignore"):
        return function(*[np.ones(1, np.int64)] * function.nin).dtype.kind == "f"


def takes(function: np.ufunc, dtype: Any) -> bool:
    try:
        function(*[np.ones(1, dtype)] * function.nin)
    except TypeError:
        return False
    return True


def common(function: np.ufunc, *operands: np.ndarray) -> Any:
    """The dtype in which operands are computed: 0-d ones are weak, integers never widen a float."""
    strong = [x.dtype for x in operands if x.ndim] or [x.dtype for x in operands]
    for dtypes in (strong, [x.dtype for x in operands]):
        if found := [dtype for dtype in dtypes if dtype.kind == "f"]:
            return np.result_type(*found)
    if computes_floats(function):
        return get_default_dtype()
    return np.result_type(*strong)


@given(x=arrays(special=True))
def test_functions_of_one_array(x: np.ndarray) -> None:
    for function, op in UNARY.items():
        with said_of(op), np.errstate(all="ignore"):
            dtype = common(function, x)
            if function is np.sign and dtype.kind == "b":
                same(op(over(x)), x)  # as in PyTorch
                continue
            if not takes(function, dtype):
                with pytest.raises(TypeError):
                    op(over(x))
                continue
            rounded = function in ROUNDING and dtype.kind != "f"
            wanted = x if rounded else function(x.astype(dtype))
            same(op(over(x)), wanted)
            same(function(over(x)), wanted)
            if dtype.kind == wanted.dtype.kind == "f" == x.dtype.kind:
                has_a_gradient(op, x)


@given(data=st.data(), shapes=strategies.broadcastable())
def test_functions_of_two_arrays(data: Any, shapes: Any) -> None:
    a, b = (data.draw(arrays(shape, special=True)) for shape in shapes)
    if b.dtype.kind == "i":
        b = np.asarray(np.abs(b))  # integers have no power below 0
    for function, op in BINARY.items():
        with said_of(op), np.errstate(all="ignore"):
            dtype = common(function, a, b)
            if not takes(function, dtype):
                with pytest.raises(TypeError):
                    op(over(a), over(b))
                continue
            wanted = function(a.astype(dtype), b.astype(dtype))
            same(op(over(a), over(b)), wanted)
            same(function(over(a), b), wanted)
            same(function(a, over(b)), wanted)


@given(data=st.data(), shapes=strategies.broadcastable())
def test_the_gradient_is_summed_over_what_was_broadcast(data: Any, shapes: Any) -> None:
    """As NumPy sums the gradients of copies that were made of the full shape beforehand."""
    full = np.broadcast_shapes(*shapes)
    a, b = (np.abs(data.draw(arrays(shape, np.float64))) + 0.5 for shape in shapes)
    precision = data.draw(st.sampled_from([np.float64, np.float32]))
    g = strategies.numbers(data.draw(strategies.seeds), full, np.float64)
    for function, op in BINARY.items():
        if not takes(function, np.float64) or function(a, b).dtype.kind != "f":
            continue
        with said_of(op):
            mixed = [over(a, requires_grad=True), over(b.astype(precision), requires_grad=True)]
            out = op(*mixed)
            whole_arrays = [np.broadcast_to(x.numpy(), full) for x in mixed]
            copies = [minigrad.tensor(x, dtype=out.dtype, requires_grad=True) for x in whole_arrays]
            wanted = grad(op(*copies), copies, g.astype(out.dtype))
            narrow = grad(out, mixed, g.astype(out.dtype))
            for x, found, whole in zip(mixed, narrow, wanted, strict=True):
                assert (found.shape, found.dtype) == (x.shape, x.dtype)
                summed = summed_to(whole.numpy(), x.shape)
                tolerance = 1e-10 if out.dtype == x.dtype == np.float64 else 1e-5
                scale = max(1.0, float(np.abs(whole.numpy()).sum()))
                np.testing.assert_allclose(found.numpy(), summed, tolerance, tolerance * scale)


def summed_to(g: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """One addition for each element of the full shape, at the place that it was read from."""
    total = np.zeros(shape)
    places = np.broadcast_to(np.arange(total.size).reshape(shape), g.shape)
    np.add.at(total.reshape(-1), places.ravel(), g.ravel())
    return total


REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "var": np.var,
    "std": np.std, "any": np.any, "all": np.all, "median": np.median,
    "count_nonzero": np.count_nonzero,
}  # fmt: skip


AVERAGES = {"mean", "var", "std", "median"}
NEED_AN_ELEMENT = {"max", "min", *AVERAGES}


def widened(x: np.ndarray) -> np.ndarray:
    """float16 as that in which it is added up."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def narrowed(wanted: Any, x: np.ndarray) -> np.ndarray:
    """What was computed in float32 for float16 is float16 in the end."""
    wanted = np.asarray(wanted)
    back = x.dtype == np.float16 and wanted.dtype.kind == "f"
    return wanted.astype(np.float16) if back else wanted


@given(data=st.data(), x=arrays())
def test_reductions_over_any_axes(data: Any, x: np.ndarray) -> None:
    options = {"axis": data.draw(axes(x.ndim)), "keepdims": data.draw(st.booleans())}
    for name, function in REDUCTIONS.items():
        if name in NEED_AN_ELEMENT and not x.size:
            continue
        if name == "count_nonzero" and options["axis"] == ():
            continue  # NumPy counts over all axes there
        op = getattr(ops, name)
        with said_of(name), np.errstate(all="ignore"):  # products in float16
            float_result = name in AVERAGES and x.dtype.kind != "f"
            values = x.astype(get_default_dtype()) if float_result else widened(x)
            wanted = narrowed(function(values, **options), x)
            same(op(over(x), **options), wanted)
            if x.dtype.kind == wanted.dtype.kind == "f":
                has_a_gradient(op, x, **options)


@given(data=st.data(), x=arrays(strategies.shapes(min_dims=1)))
def test_what_runs_along_an_axis(data: Any, x: np.ndarray) -> None:
    where = data.draw(axis(x.ndim))
    for name in ("cumsum", "cumprod", "sort", "argsort", "diff", "argmax", "argmin"):
        if (name == "diff" and x.dtype == bool) or (name in ("argmax", "argmin") and not x.size):
            continue
        options = {"kind": "stable"} if name == "argsort" else {}
        with said_of(name), np.errstate(all="ignore"):
            wanted = getattr(np, name)(widened(x), axis=where, **options)
            same(getattr(ops, name)(over(x), axis=where), narrowed(wanted, x))


@given(data=st.data(), x=arrays())
def test_what_moves_elements_gives_views_where_numpy_does(data: Any, x: np.ndarray) -> None:
    permutation = [a - x.ndim * data.draw(st.booleans())
                   for a in data.draw(st.permutations(range(x.ndim)))]  # fmt: skip
    new = data.draw(axis(x.ndim + 1))
    longer = (2, *x.shape)
    calls: dict[str, tuple[Any, ...]] = {
        "ravel": (), "reshape": ((*x.shape[::-1], 1),), "transpose": (tuple(permutation),),
        "expand_dims": (new,), "squeeze": (), "broadcast_to": (longer,), "atleast_3d": (),
        "flip": (data.draw(st.none() | hnp.valid_tuple_axes(x.ndim)),), "copy": (), "tile": (2,),
        "pad": (1,),
    }  # fmt: skip
    if x.ndim:
        one, other = data.draw(axis(x.ndim)), data.draw(axis(x.ndim))
        calls |= {"swapaxes": (one, other), "moveaxis": (one, other), "roll": (2, one),
                  "repeat": (2, one), "array_split": (2, one)}  # fmt: skip
    if x.ndim > 1:
        calls |= {"tril": (), "triu": (1,), "diagonal": (1,), "rot90": ()}
    if 0 < x.ndim < 3:
        calls["diag"] = (-1,)
    for name, args in calls.items():
        function = getattr(np, name)
        tensor = over(x)
        with said_of(name):
            results = [listed(function(tensor, *args)), listed(function(x, *args))]
            for one, other in zip(*results, strict=True):
                same(one, other)
                if other.size:
                    view = np.shares_memory(x.reshape(-1) if name == "ravel" else other, x)
                    assert np.shares_memory(one.numpy(), x) == view


matrices = strategies.broadcastable(signature=np.matmul.signature)


@given(data=st.data(), shapes=matrices, dtype=strategies.dtypes)
def test_products_of_any_matrices(data: Any, shapes: Any, dtype: Any) -> None:
    """Batches broadcast; vectors on either side; integers stay integers; any strides."""
    a, b = (data.draw(arrays(shape, dtype)) for shape in shapes)
    wide = np.float32 if dtype == np.float16 else dtype
    wanted = np.matmul(a.astype(wide), b.astype(wide)).astype(dtype)
    same(ops.matmul(over(a), over(b)), wanted)
    if np.dtype(dtype).kind == "f":
        variables = [over(a, requires_grad=True), over(b, requires_grad=True)]
        g = strategies.numbers(data.draw(strategies.seeds), wanted.shape, dtype)
        slopes = grad(ops.matmul(*variables), variables, g)
        exact = product_gradients(a.astype(float), b.astype(float), g.astype(float))
        for found, expected in zip(slopes, exact, strict=True):
            assert (found.shape, found.dtype) == (expected.shape, dtype)
            tolerance = 40 * float(np.finfo(dtype).eps)
            np.testing.assert_allclose(found.numpy(), expected, tolerance, tolerance)


def product_gradients(a: np.ndarray, b: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of ``g ᵀ (a @ b)``: vectors as matrices of one row or column, sums over the batch."""
    rows = a if a.ndim > 1 else a[None]
    columns = b if b.ndim > 1 else b[:, None]
    g = g if a.ndim > 1 else np.expand_dims(g, -1 if b.ndim == 1 else -2)
    g = g if b.ndim > 1 else g[..., None]
    to_a = summed_to(g @ columns.swapaxes(-1, -2), rows.shape)
    to_b = summed_to(rows.swapaxes(-1, -2) @ g, columns.shape)
    return to_a.reshape(a.shape), to_b.reshape(b.shape)
