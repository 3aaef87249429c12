"""The namespace of the array API standard, which `__array_namespace__` hands out."""

from __future__ import annotations

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
    "std": (
        lambda x: xp.std(x, axis=(0, 2), correction=1, keepdims=True),
        X.std((0, 2), ddof=1, keepdims=True),
    ),
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


def test_questions() -> None:
    np.testing.assert_array_equal(xp.count_nonzero(x > 0, axis=1).numpy(), (X > 0).sum(1))
    np.testing.assert_array_equal(xp.bitwise_invert(x > 0).numpy(), ~(X > 0))


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
    assert not np.shares_memory(xp.astype(x, xp.float64).numpy(), x.numpy())
    assert xp.astype(x, xp.float32, copy=False).dtype == np.float32


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_of_several_axes_one_is_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: axis must be given .*\(2, 3, 4\)$"):
        getattr(xp, name)(x)


def test_asarray() -> None:
    assert xp.asarray(x) is x
    assert not np.shares_memory(xp.asarray(x, copy=True).numpy(), x.numpy())
    assert xp.asarray(X).dtype == np.float64
    assert xp.asarray(0.5).dtype == minigrad.get_default_dtype()
    assert xp.asarray([True], dtype=xp.int32, device="cpu").dtype == np.int32
    assert xp.asarray(x, dtype=xp.float64, copy=False) is x
    narrow = xp.asarray(x, dtype=xp.float32)
    for obj, dtype in ((X, None), (x, xp.float32), (narrow, xp.float64)):
        with pytest.raises(ValueError, match="^asarray: copy=False"):
            xp.asarray(obj, dtype=dtype, copy=False)
    with pytest.raises(ValueError, match="runs on the CPU"):
        xp.asarray(X, device="cuda")


def test_creation_and_dtypes() -> None:
    assert xp.ones((2, 3), dtype=xp.float64, device="cpu").dtype == np.float64
    assert xp.arange(3, dtype=xp.int32).tolist() == [0, 1, 2]
    assert xp.isdtype(xp.bool, "bool") and not xp.isdtype(xp.int8, "real floating")
    assert xp.finfo(xp.float32).eps == np.finfo(np.float32).eps


def test_what_is_listed_is_there() -> None:
    assert len({*xp.__all__}) == len(xp.__all__)
    for name in xp.__all__:
        assert hasattr(xp, name), name


def test_what_is_missing_is_said_to_be() -> None:
    assert not hasattr(xp, "fft")
    with pytest.raises(AttributeError, match="minigrad .*'fft'"):
        xp.fft


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
