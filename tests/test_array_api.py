"""The namespace of the array API standard, which `__array_namespace__` hands out."""

import functools
import inspect
import itertools
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.autograd import gradcheck

X = np.random.default_rng(0).standard_normal((2, 3, 4))
x = minigrad.tensor(X)
xp = x.__array_namespace__()

# What the standard calls otherwise than NumPy, or gives other arguments.
RESULTS: dict[str, tuple[Callable[[Any], Any], np.ndarray]] = {
    "permute_dims": (lambda x: xp.permute_dims(x, (2, 0, 1)), X.transpose(2, 0, 1)),
    "matrix_transpose": (lambda x: xp.matrix_transpose(x), X.swapaxes(1, 2)),
    "concat": (lambda x: xp.concat([x, x], axis=1), np.concatenate([X, X], 1)),
    "concat flat": (lambda x: xp.concat([x, x], axis=None), np.concatenate([X, X], None)),
    "pow": (lambda x: xp.pow(x, 2), X**2),
    "true_divide": (lambda x: xp.true_divide(x, 4), X / 4),
    "clip": (lambda x: xp.clip(x, max=0.5, min=-0.5), np.clip(X, -0.5, 0.5)),
    "var": (lambda x: xp.var(x, axis=1, correction=1), X.var(1, ddof=1)),
    "std": (lambda x: xp.std(x, axis=(0, 2), correction=1), X.std((0, 2), ddof=1)),
    "std, axes kept": (lambda x: xp.std(x, keepdims=True), X.std(keepdims=True)),
    "diagonal": (lambda x: xp.linalg.diagonal(x, offset=1), np.linalg.diagonal(X, offset=1)),
    "sum": (lambda x: xp.sum(x, axis=(0, 2)), X.sum((0, 2))),
    "take": (lambda x: xp.take(x, minigrad.tensor([2, 0]), axis=1), X[:, [2, 0]]),
    "astype": (lambda x: xp.astype(x, xp.float64), X),
    "asarray": (lambda x: xp.asarray(x, copy=True), X),
    "atan2": (lambda x: xp.atan2(x, 2.0), np.arctan2(X, 2)),
    "unstack": (lambda x: xp.unstack(x, axis=2)[1], X[:, :, 1]),
    "cumulative_sum": (lambda x: xp.cumulative_sum(x, axis=1), X.cumsum(1)),
    "cumulative_prod": (lambda x: xp.cumulative_prod(x[0, 0]), X[0, 0].cumprod()),
    "vecdot": (lambda x: xp.linalg.vecdot(x, x), (X * X).sum(-1)),
    "trace": (lambda x: xp.linalg.trace(x), np.linalg.trace(X)),
    "vector_norm": (lambda x: xp.linalg.vector_norm(x, axis=1), np.sqrt((X * X).sum(1))),
}


@pytest.mark.parametrize(("function", "wanted"), RESULTS.values(), ids=RESULTS)
def test_values_and_derivatives(function: Any, wanted: np.ndarray) -> None:
    np.testing.assert_allclose(function(x).numpy(), wanted, rtol=1e-12)
    assert gradcheck(function, [minigrad.tensor(X, requires_grad=True)])


@pytest.mark.needs("array_api_compat")
def test_array_api_compat_finds_it() -> None:
    import array_api_compat

    assert array_api_compat.array_namespace(x, x) is xp
    assert array_api_compat.is_array_api_obj(x)


def test_versions() -> None:
    assert x.__array_namespace__(api_version="2024.12") is xp
    assert xp.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match=r"^__array_namespace__: .*'1999\.12'"):
        x.__array_namespace__(api_version="1999.12")


def test_astype_copies_unless_told_not_to() -> None:
    assert xp.astype(x, xp.float64, copy=False) is x
    assert xp.astype(x, xp.float32, copy=False).dtype == np.float32


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_of_several_axes_one_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=r"^cum(sum|prod): axis must be given .*\(2, 3, 4\)$"):
        getattr(xp, name)(x)


def test_asarray() -> None:
    assert xp.asarray(x) is xp.asarray(x, dtype=xp.float64, copy=False) is x
    assert xp.asarray(X).dtype == np.float64
    assert xp.asarray(0.5).dtype == minigrad.get_default_dtype()
    assert xp.asarray([True], dtype=xp.int32, device="cpu").dtype == np.int32
    narrow = xp.asarray(x, dtype=xp.float32)
    for obj, dtype in (([1.0], None), (X, xp.float32), (x, xp.float32), (narrow, xp.float64)):
        with pytest.raises(ValueError, match="^asarray: copy=False"):
            xp.asarray(obj, dtype=dtype, copy=False)


@pytest.mark.parametrize("call", [
    lambda d: xp.asarray(X, device=d), lambda d: x.to_device(d),
    lambda d: xp.__array_namespace_info__().dtypes(device=d),
], ids=["asarray", "to_device", "dtypes"])  # fmt: skip
def test_there_is_one_device(call: Any) -> None:
    call("cpu")
    with pytest.raises(ValueError, match="CPU"):
        call("cuda")


@pytest.mark.parametrize("copied", [
    lambda: xp.asarray(x, copy=True), lambda: xp.astype(x, xp.float64), lambda: xp.positive(x),
], ids=["asarray", "astype", "positive"])  # fmt: skip
def test_copies(copied: Any) -> None:
    assert copied().tolist() == x.tolist()
    assert not np.shares_memory(copied().numpy(), x.numpy())


def test_creation_and_dtypes() -> None:
    assert xp.ones((2, 3), dtype=xp.float64, device="cpu").dtype == np.float64
    assert xp.ones((2, 3), dtype=xp.int8).dtype == xp.int8
    assert xp.zeros(3).shape == (3,)
    assert xp.arange(3, dtype=xp.int32).tolist() == [0, 1, 2]
    assert xp.eye(2, 3, k=1, dtype=xp.int8).tolist() == np.eye(2, 3, 1).tolist()
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]
    assert xp.isdtype(xp.bool, "bool")
    assert not xp.isdtype(xp.int8, "real floating")


# The functions of the standard, version 2024.12: those with positional parameters only, and the
# names of the others. The extension fft is left out.
POSITIONAL = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays can_cast ceil conj copysign cos cosh
divide equal exp expm1 finfo floor floor_divide greater greater_equal hypot iinfo imag isfinite
isinf isnan less less_equal linalg.det linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul
linalg.matrix_power linalg.matrix_transpose linalg.outer linalg.slogdet linalg.solve linalg.svdvals
log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul
matrix_transpose maximum minimum moveaxis multiply negative nextafter nonzero not_equal positive pow
real reciprocal remainder result_type round sign signbit sin sinh sqrt square subtract tan tanh tile
trunc unique_all unique_counts unique_inverse unique_values where __array_namespace_info__
"""
NAMED = """
all(axis, keepdims)  any(axis, keepdims)  arange(stop, step, dtype, device)  argmax(axis, keepdims)
argmin(axis, keepdims)  argsort(axis, descending, stable)  asarray(dtype, device, copy)
astype(copy, device)  broadcast_to(shape)  clip(min, max)  concat(axis)
count_nonzero(axis, keepdims)  cumulative_prod(axis, dtype, include_initial)
cumulative_sum(axis, dtype, include_initial)  diff(axis, n, prepend, append)
empty(shape, dtype, device)  empty_like(dtype, device)  expand_dims(axis)  eye(k, dtype, device)
flip(axis)  from_dlpack(device, copy)  full(shape, fill_value, dtype, device)
full_like(fill_value, dtype, device)  isdtype(dtype, kind)  linalg.cholesky(upper)
linalg.cross(axis)  linalg.diagonal(offset)  linalg.matrix_norm(keepdims, ord)
linalg.matrix_rank(rtol)  linalg.pinv(rtol)  linalg.qr(mode)  linalg.svd(full_matrices)
linalg.tensordot(axes)  linalg.trace(offset, dtype)  linalg.vecdot(axis)
linalg.vector_norm(axis, keepdims, ord)  linspace(num, dtype, device, endpoint)
max(axis, keepdims)  mean(axis, keepdims)  meshgrid(indexing)  min(axis, keepdims)
ones(shape, dtype, device)  ones_like(dtype, device)  permute_dims(axes)
prod(axis, dtype, keepdims)  repeat(axis)  reshape(shape, copy)  roll(shift, axis)
searchsorted(side, sorter)  sort(axis, descending, stable)  squeeze(axis)  stack(axis)
std(axis, correction, keepdims)  sum(axis, dtype, keepdims)  take(axis)  take_along_axis(axis)
tensordot(axes)  tril(k)  triu(k)  unstack(axis)  var(axis, correction, keepdims)  vecdot(axis)
zeros(shape, dtype, device)  zeros_like(dtype, device)
"""
PARAMETERS = dict.fromkeys(POSITIONAL.split(), "") | dict(re.findall(r"([\w.]+)\((.*?)\)", NAMED))
CONSTANTS = {"e", "inf", "nan", "newaxis", "pi", "linalg", "__array_api_version__"}
DTYPES = {"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
          "float32", "float64"}  # fmt: skip


def test_every_function_of_the_standard_takes_its_arguments() -> None:
    for name, parameters in PARAMETERS.items():
        function = functools.reduce(getattr, name.split("."), xp)
        wanted = {part for part in parameters.split(", ") if part}
        assert wanted <= {*inspect.signature(function).parameters}, name


def test_constants_dtypes_and_older_names_are_there() -> None:
    for name in CONSTANTS | DTYPES | {"concat", "true_divide"}:  # einx asks for the latter
        assert hasattr(xp, name), name


def test_what_is_missing_is_said_to_be() -> None:
    assert not hasattr(xp, "fft")
    with pytest.raises(AttributeError, match="minigrad .*'fft'"):
        xp.fft


def test_the_information_about_the_namespace() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert {*info.dtypes()} == DTYPES
    assert {*info.dtypes(kind=("bool", "real floating"))} == {"bool", "float32", "float64"}
    assert info.dtypes(kind="complex floating") == {}
    for name, dtype in info.dtypes(device=info.default_device()).items():
        assert getattr(xp, name) == xp.zeros(1, dtype=dtype).dtype == np.dtype(name)
    defaults = info.default_dtypes()
    assert defaults["real floating"] == xp.asarray(0.5).dtype
    assert defaults["integral"] == xp.asarray(1).dtype
    assert defaults["indexing"] == xp.argsort(x).dtype
    assert info.capabilities()["boolean indexing"]
    assert x[x > 0].ndim == 1
    assert xp.zeros((1,) * info.capabilities()["max dimensions"]).ndim == 64


def test_limits_of_dtypes() -> None:
    for dtype in (xp.float32, xp.float64):
        for of in (dtype, xp.zeros(2, dtype=dtype)):
            limits = xp.finfo(of)
            assert limits.dtype == dtype
            assert limits.bits == 8 * dtype.itemsize
            assert (limits.max, limits.eps) == (np.finfo(dtype).max, np.finfo(dtype).eps)
    assert xp.iinfo(xp.zeros(2, dtype=xp.uint8)).max == xp.iinfo(xp.uint8).max == 255


def test_can_cast() -> None:
    assert xp.can_cast(xp.int8, xp.int64)
    assert xp.can_cast(xp.zeros(2), xp.float64)
    assert not xp.can_cast(xp.int64, xp.int8)
    assert not xp.can_cast(x, xp.float32)


RESULT_TYPES = [xp.bool, xp.int8, xp.uint8, xp.int64, xp.float32, xp.float64]


@pytest.mark.parametrize("second", [*RESULT_TYPES, True, 2, 2.5])
def test_result_type_is_that_of_a_sum(second: Any) -> None:
    for first, shape in itertools.product(RESULT_TYPES, ((), (3,))):
        a = xp.ones(shape, dtype=first)
        b = xp.ones((3,), dtype=second) if isinstance(second, minigrad.dtype) else second
        assert xp.result_type(a, b) == xp.result_type(b, a) == (a + b).dtype
        if shape:
            assert xp.result_type(first, second) == xp.result_type(a, second) == (a + b).dtype


def test_result_type_of_what_is_no_dtype() -> None:
    with pytest.raises(TypeError, match="^result_type: .*complex"):
        xp.result_type(xp.float32, complex)


@pytest.mark.parametrize(("end", "kind"), [(np.nan, ValueError), ("a", TypeError)])
def test_arange_refuses_what_is_no_end(end: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="^arange: "):
        xp.arange(end)


def test_reshape_copies_as_told() -> None:
    for copy in (None, False, True):
        reshaped = xp.reshape(x, (6, 4), copy=copy)
        assert np.shares_memory(reshaped.numpy(), x.numpy()) is not copy or copy is None
    turned = xp.permute_dims(x, (2, 1, 0))
    np.testing.assert_array_equal(xp.reshape(turned, (-1,), copy=True).numpy(), X.T.ravel())
    assert xp.reshape(xp.zeros((0, 3)), (3, 0), copy=False).shape == (3, 0)
    with pytest.raises(ValueError, match="^reshape: .*copy=False"):
        xp.reshape(turned, (-1,), copy=False)


@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("descending", [True, False])
def test_sorts_return_one_tensor(stable: bool, descending: bool) -> None:
    values = np.array([[2.0, 1.0, 2.0], [0.0, 5.0, 5.0]])
    order = np.argsort(-values if descending else values, axis=1, kind="stable")
    given = {"axis": 1, "stable": stable, "descending": descending}
    found = xp.argsort(xp.asarray(values), **given)
    assert found.tolist() == order.tolist()
    wanted = np.take_along_axis(values, order, 1)
    assert xp.sort(xp.asarray(values), **given).tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", [None, xp.float32, xp.int64])
@pytest.mark.parametrize(("name", "initial"), [("cumulative_sum", 0), ("cumulative_prod", 1)])
def test_scans_begin_with_the_initial_value(name: str, initial: int, dtype: Any) -> None:
    values = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    scan = np.cumsum if initial == 0 else np.cumprod
    for axis in (0, 1, -1):
        plain = scan(values, axis, dtype=dtype)
        before = np.full_like(plain.take([0], axis), initial)
        for include, wanted in ((False, plain), (True, np.concatenate([before, plain], axis))):
            options = {"axis": axis, "dtype": dtype, "include_initial": include}
            found = getattr(xp, name)(xp.asarray(values), **options)
            assert found.dtype == wanted.dtype
            assert found.tolist() == wanted.tolist()
    run = lambda t: getattr(xp, name)(t, axis=1, include_initial=True)
    assert gradcheck(run, [minigrad.tensor(X[0], requires_grad=True)])


def test_searchsorted_with_a_sorter() -> None:
    values, order, asked = np.array([3.0, 1.0, 2.0]), np.array([1, 2, 0]), [1.0, 2.5, 9.0]
    for side in ("left", "right"):
        wanted = np.searchsorted(values, asked, side, order).tolist()
        given = map(xp.asarray, (values, asked))
        assert xp.searchsorted(*given, side=side, sorter=xp.asarray(order)).tolist() == wanted


def test_unique_elements() -> None:
    values = np.array([[2.0, np.nan, 1.0], [np.nan, 2.0, 2.0]])
    theirs, ours = np.unique_all(values), xp.unique_all(xp.asarray(values))
    assert ours._fields == ("values", "indices", "inverse_indices", "counts")
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.numpy(), other)
    for name in ("unique_counts", "unique_inverse"):
        result = getattr(xp, name)(xp.asarray(values))
        assert result._fields == getattr(np, name)(values)._fields
        for field, part in result._asdict().items():
            np.testing.assert_array_equal(part.numpy(), getattr(ours, field).numpy())
    np.testing.assert_array_equal(xp.unique_values(xp.asarray(values)).numpy(), theirs.values)
    np.testing.assert_array_equal(np.unique_values(xp.asarray(values)).numpy(), theirs.values)


def test_shifts() -> None:
    values = np.array([1, -5, 100])
    for name, symbol in (("left", "lshift"), ("right", "rshift")):
        shift, operation = getattr(xp, f"bitwise_{name}_shift"), getattr(operator, symbol)
        wanted = getattr(np, f"{name}_shift")(values, [0, 1, 2])
        t, by = xp.asarray(values), xp.asarray([0, 1, 2])
        assert shift(t, by).tolist() == operation(t, by).tolist() == wanted.tolist()
        assert getattr(operator, f"i{symbol}")(xp.asarray(values), by).tolist() == wanted.tolist()
        assert operation(12, by).tolist() == [operation(12, n) for n in range(3)]
        with pytest.raises(TypeError, match=f"^{name}_shift: "):
            shift(x, by)


def test_smaller_arguments() -> None:
    grids = xp.meshgrid(xp.ones(2), xp.ones(3))
    assert type(grids) is type(xp.broadcast_arrays(xp.ones(3), xp.ones(()))) is list
    assert [grid.shape for grid in grids] == [(3, 2), (3, 2)]
    assert xp.linalg.trace(xp.asarray([[200, 0], [0, 100]], dtype=xp.uint8), dtype=xp.uint8) == 44
    assert xp.signbit(xp.asarray([-0.0, 0.0])).tolist() == [True, False]
    one, two = xp.asarray(1.0), xp.asarray(2.0)
    assert xp.nextafter(one, two) == np.nextafter(one.numpy(), two.numpy())
    assert xp.conj(x).tolist() == xp.real(x).tolist() == x.tolist()
    assert xp.imag(x).tolist() == np.zeros(x.shape).tolist()
    assert x.to_device("cpu") is x
    np.testing.assert_array_equal(xp.count_nonzero(x > 0, axis=1).numpy(), (X > 0).sum(1))
    np.testing.assert_array_equal(xp.bitwise_invert(x > 0).numpy(), ~(X > 0))
    assert xp.linalg.pinv(xp.ones((3, 2, 2)), rtol=xp.ones(3)).shape == (3, 2, 2)


EINOPS: dict[str, Callable[[Any, Any], Any]] = {
    "rearrange": lambda module, x: module.rearrange(x, "a b (c d) -> d a (b c)", d=2),
    "repeat": lambda module, x: module.repeat(x, "a b c -> a n (b m) c", n=2, m=3),
    "reduce": lambda module, x: module.reduce(x, "a b c -> c", "mean"),
    "pack": lambda module, x: module.pack([x, x[0]], "* c")[0],
    "unpack": lambda module, x: module.unpack(x, [(1,), (3,)], "a b *")[1],
}


@pytest.mark.needs("einops")
@pytest.mark.parametrize("function", EINOPS.values(), ids=EINOPS)
def test_einops_through_the_standard(function: Any) -> None:
    import einops
    from einops import array_api

    np.testing.assert_array_equal(function(array_api, x).numpy(), function(einops, X))
    np.testing.assert_array_equal(array_api.asnumpy(x), X)
    assert gradcheck(lambda x: function(array_api, x), [minigrad.tensor(X, requires_grad=True)])
