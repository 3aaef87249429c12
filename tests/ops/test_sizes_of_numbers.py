"""Squares overflow from 1e19 on in float32, and underflow below 1e-19, where the result need not.

A function of degree k has ``f(s x) = s^k f(x)``, and its gradient has degree k - 1: so each is
checked far from 1, also where a pass records its own graph.
"""

import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, ops
from minigrad import tensor as made
from minigrad.autograd import grad
from minigrad.nn import functional as F
from minigrad.ops import linalg

# The layers warn that squares overflow, as NumPy does; the result is right.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

LARGE, SMALL = (1e15, 1e19, 1e22, 1e30, 1e35), (1e-15, 1e-19, 1e-25, 1e-30)
X = np.random.default_rng(5).standard_normal((4, 6, 3))
SCALE, SHIFT = np.linspace(0.5, 1.5, 6), np.linspace(-1.0, 1.0, 6)


# The degree, the function, and whether small numbers keep it too: nothing is added to squares.
FUNCTIONS: dict[str, tuple[int, Any, bool]] = {
    **{f"norm {p}": (1, lambda x, p=p: ops.norm(x, p, axis=1), True)
       for p in (0.5, 1, 2, 3, -1, math.inf)},
    "linalg.norm": (1, linalg.norm, True),
    "matrix_norm": (1, lambda x: linalg.matrix_norm(x, ord=2), True),
    "matrix_norm fro": (1, lambda x: linalg.matrix_norm(x, ord="fro"), True),
    "matrix_norm nuc": (1, lambda x: linalg.matrix_norm(x, ord="nuc"), True),
    "matrix_norm -2": (1, lambda x: linalg.matrix_norm(x, ord=-2), True),
    "svdvals": (1, linalg.svdvals, True),
    "cond": (0, linalg.cond, True),
    "hypot": (1, lambda x: ops.hypot(x, x[::-1]), True),
    "arctan2": (0, lambda x: ops.arctan2(x, x[::-1]), True),
    "cdist": (1, lambda x: ops.cdist(x, x[::-1] * 0.7), True),
    "std": (1, lambda x: ops.std(x, axis=1), True),
    "std of all": (1, lambda x: ops.std(x, ddof=1), True),
    "normalize": (0, lambda x: F.normalize(x, eps=0.0), True),
    "cosine_similarity": (0, lambda x: F.cosine_similarity(x, x * 0.5 + x[::-1]), False),
    "cosine_embedding_loss": (
        0, lambda x: F.cosine_embedding_loss(x[0], x[1], np.ones(6, int)), False,
    ),
    "pairwise_distance": (1, lambda x: F.pairwise_distance(x, x[::-1], eps=0.0), True),
    "layer_norm": (0, lambda x: F.layer_norm(x, 3, made(SCALE[:3]), made(SHIFT[:3])), False),
    "layer_norm of two axes": (0, lambda x: F.layer_norm(x, (6, 3)), False),
    "rms_norm": (0, lambda x: F.rms_norm(x, 3, made(SCALE[:3])), False),
    "group_norm": (0, lambda x: F.group_norm(x, 2, made(SCALE), made(SHIFT)), False),
    "instance_norm": (0, F.instance_norm, False),
    "batch_norm": (0, lambda x: F.batch_norm(x, None, None, made(SCALE), made(SHIFT), True), False),
}  # fmt: skip


def value_and_slopes(name: str, scale: float, dtype: Any) -> list[np.ndarray]:
    """The value, the gradient, and the recorded gradient."""
    degree, function, _ = FUNCTIONS[name]
    x = made(X * scale, dtype=dtype, requires_grad=True)
    out = function(x)
    weights = np.cos(np.arange(out.numel())).reshape(out.shape).astype(out.dtype)
    slopes = [
        grad(out, x, weights, create_graph=kept, retain_graph=True)[0] for kept in (False, True)
    ]
    parts = [out.numpy().astype(float) / scale**degree]
    return parts + [slope.numpy().astype(float) / scale ** (degree - 1) for slope in slopes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_large_and_small_numbers(name: str, dtype: Any) -> None:
    wanted = value_and_slopes(name, 1e9, np.float64)  # where eps does not matter
    wide = 1 if dtype == np.float32 else 8  # the exponents of float64 are so much larger
    for scale in (*LARGE, *SMALL * FUNCTIONS[name][2]):
        found = value_and_slopes(name, scale**wide, dtype)
        for part, exact in zip(found, wanted, strict=True):
            error = np.abs(part - exact).max() / np.abs(exact).max()
            assert error < 2e-5, f"{name} of {scale}: {error}"


def test_the_variance_whose_squares_do_not_fit_together() -> None:
    """Their sum overflows, their mean does not."""
    x = made(np.tile([1e18, -1e18], 700).astype(np.float32), requires_grad=True)
    assert ops.var(x).item() == pytest.approx(1e36, rel=1e-6)
    np.testing.assert_allclose(grad(ops.var(x), x)[0].numpy(), x.numpy() * (2 / 1400), rtol=1e-5)
    assert ops.var(x * 1e10).item() == math.inf  # the result itself is too large


@pytest.mark.parametrize("norm_type", [0.5, 1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_any_size_are_clipped(dtype: Any, norm_type: float) -> None:
    parts = [X[0], X[1, :2], X[2, 0]]
    total = np.linalg.norm(np.concatenate([part.ravel() for part in parts]), norm_type)
    for scale in (*LARGE, *SMALL):
        tensors = [minigrad.zeros(*part.shape, dtype=dtype, requires_grad=True) for part in parts]
        for tensor, part in zip(tensors, parts, strict=True):
            tensor.grad = made(part * scale, dtype=dtype)
        gradients = [tensor.grad for tensor in tensors]
        found = nn.utils.get_total_norm(gradients, norm_type)
        assert found.item() == pytest.approx(total * scale, rel=1e-5)
        assert nn.utils.clip_grad_norm(tensors, 1.0, norm_type) == found
        for gradient, part in zip(gradients, parts, strict=True):
            factor = 1 / total if scale > 1 else scale
            np.testing.assert_allclose(gradient.numpy(), part * factor, rtol=1e-5)


def test_weights_of_any_length_are_normalized() -> None:
    for scale in (*LARGE, *SMALL):
        layer = nn.Linear(9, 8)
        layer.weight.data[...] = X.reshape(8, 9) * scale
        before = layer.weight.numpy().copy()
        nn.utils.weight_norm(layer)
        np.testing.assert_allclose(layer.weight.numpy(), before, rtol=1e-6)


def test_long_rows_of_an_embedding_are_shortened() -> None:
    for scale in LARGE:
        rows = made(X.reshape(8, 9) * scale, dtype=np.float32)
        found = F.embedding([1, 0, 5], rows, max_norm=1.0).numpy()
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
