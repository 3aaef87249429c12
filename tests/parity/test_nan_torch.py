"""NaN among the values, and among the cotangents, of every op that chooses, against PyTorch.

PyTorch's own two loops, over vectors and over single elements, differ in the gradients of some
activations where x is NaN. There ours is one of the two, and not the one that is 0: NaN stays.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from side_by_side import torch

import minigrad
from minigrad.nn import functional as F

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NAN = np.nan
VALUES = np.array([-6.5, -3.0, -1.0, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 2.0, 3.0, 6.0, 7.0])

ELEMENTWISE = """
F.celu(x) ; F.celu(x, 2.0) ; F.elu(x) ; F.elu(x, 2.0) ; F.gelu(x) ; F.gelu(x, approximate="tanh")
F.selu(x) ; F.hardshrink(x) ; F.softshrink(x) ; F.tanhshrink(x) ; F.threshold(x, 0.3, 9.0)
F.relu(x) ; F.relu6(x) ; F.hardtanh(x) ; F.hardtanh(x, -0.5, 2.0) ; F.hardswish(x)
F.hardsigmoid(x) ; F.leaky_relu(x, 0.2) ; F.rrelu(x) ; F.prelu(x, m.ones_like(x)[:1] * 0.5)
F.logsigmoid(x) ; F.mish(x) ; F.silu(x) ; F.sigmoid(x) ; m.tanh(x) ; F.softplus(x)
F.softplus(x, 1, 0.4) ; F.softsign(x) ; m.clamp(x, -1.0, 2.0) ; m.clamp(x, min=0.0)
m.clamp(x, max=0.0) ; m.abs(x) ; m.sign(x) ; m.round(x) ; m.floor(x) ; m.clamp(m.zeros_like(x), x)
m.clamp(m.zeros_like(x), max=x) ; m.logit(x, 0.01) ; m.nan_to_num(x) ; m.nan_to_num(x, 3.0)
m.where(x > 0, x, 2 * x) ; m.where(x != x, x, 2 * x) ; m.masked_fill(x, x > 0, 9.0)
m.masked_fill(x, x != x, 9.0) ; m.maximum(x, m.zeros_like(x)) ; m.minimum(m.zeros_like(x), x)
m.fmax(x, m.zeros_like(x)) ; m.fmin(m.zeros_like(x), x) ; m.fmod(x, 2.0) ; m.remainder(x, 2.0)
m.copysign(x, -m.ones_like(x)) ; m.copysign(m.ones_like(x), x)
F.smooth_l1_loss(x, 0 * x, reduction="none") ; F.huber_loss(x, 0 * x, reduction="none")
F.hinge_embedding_loss(x, -m.ones_like(x), reduction="none")
F.l1_loss(x, m.zeros_like(x), reduction="none")
"""

ALONG = """
m.max(x) ; m.min(x) ; m.median(x) ; m.max(x, -1)[0] ; m.min(x, -1)[0] ; m.median(x, -1)[0]
m.cummax(x, -1)[0] ; m.cummin(x, -1)[0] ; m.sort(x)[0] ; m.sort(x, descending=True)[0]
m.topk(x, 9)[0] ; m.kthvalue(x, 2)[0] ; m.topk(x, 3, largest=False)[0] ; m.amax(x, -1) ; m.amin(x)
m.nansum(x, -1) ; m.nanmean(x, -1) ; m.logsumexp(x, -1) ; m.quantile(x, 0.25)
m.quantile(x, 0.25, -1) ; m.std(x, -1) ; m.softmax(x, -1)
m.linalg.vector_norm(x, float("inf"), -1) ; m.linalg.vector_norm(x, 1, -1)
m.masked_select(x, ~(x < 0)) ; F.max_pool1d(x[None, None], 2) ; F.max_pool1d(x[None, None], 3, 1)
F.adaptive_max_pool1d(x[None, None], 3) ; F.scaled_dot_product_attention(*[x[:7, None]] * 3)
"""

BRANCH = "a branch that was not taken sends exactly 0, also of a NaN; PyTorch multiplies by 0"
SHARED = "equal ones share the gradient, and NaNs are equal; PyTorch divides by their number, 0"
DIFFERENT: dict[str, str] = {
    "F.hardsigmoid(x)": "hardtanh's slope at NaN; PyTorch's 0 loses the NaN",
    "m.sign(x)": "NaN, as NumPy's; PyTorch's 0 loses the NaN",
    "m.abs(x)": BRANCH, 'F.l1_loss(x, m.zeros_like(x), reduction="none")': BRANCH,
    "m.nan_to_num(x)": BRANCH, "m.nan_to_num(x, 3.0)": BRANCH, "m.nansum(x, -1)": BRANCH,
    "m.nanmean(x, -1)": BRANCH, "m.linalg.vector_norm(x, 1, -1)": BRANCH,
    'm.linalg.vector_norm(x, float("inf"), -1)': BRANCH,
    "m.copysign(x, -m.ones_like(x))": BRANCH,
    "m.amax(x, -1)": SHARED, "m.amin(x)": SHARED,
}  # fmt: skip


def calls(table: str) -> list[str]:
    return [call for line in table.strip().splitlines() for call in line.split(" ; ")]


def run(call: str, library: Any, x: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The value, and the gradient with `g`, whose first elements are taken, as a cotangent."""
    functional = F if library is minigrad else torch.nn.functional
    leaf = library.tensor(x, requires_grad=True)
    out = eval(call, {"F": functional, "m": library}, {"x": leaf})
    if out.requires_grad:
        out.backward(library.tensor(g.ravel()[: out.numel()].reshape(tuple(out.shape))))
    found = np.zeros_like(x) if leaf.grad is None else leaf.grad.numpy()
    return out.detach().numpy(), found


def holes(x: np.ndarray, places: list[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Values and cotangents with NaN in neither, in one of them, in both, and everywhere."""
    n = x.size
    for in_x, in_g in product(([], places, [*range(n)]), ([], [0, 3, 6, 11], [*range(n)])):
        values, cotangents = x.copy(), np.ones_like(x)
        values[in_x], cotangents[in_g] = NAN, NAN
        yield values, cotangents


def same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    near = 1e-4 if one.dtype == np.float32 else 1e-9
    return np.isclose(one, other, near, near, equal_nan=True)


def agrees(call: str, x: np.ndarray, g: np.ndarray) -> bool:
    """Whether an elementwise function treats NaN as PyTorch does, in small and in large arrays."""
    single = [run(call, torch, x[i : i + 1], g[i : i + 1]) for i in range(x.size)]
    value, slope = (np.concatenate(parts) for parts in zip(*single, strict=True))
    by_vectors = run(call, torch, np.tile(x, 64), np.tile(g, 64))[1][: x.size]
    wanted = np.where(slope == 0, by_vectors, slope)  # of the two, not the one that is 0
    either = (slope != 0) & (by_vectors != 0)
    return all(
        same(value, found[0][part]).all()
        and (same(wanted, found[1][part]) | (either & same(by_vectors, found[1][part]))).all()
        for times in (1, 2048)
        for found in [run(call, minigrad, np.tile(x, times), np.tile(g, times))]
        for part in (slice(x.size), slice(-x.size, None))
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("call", calls(ELEMENTWISE))
def test_an_element_that_is_nan(call: str, dtype: Any) -> None:
    found = [agrees(call, x, g) for x, g in holes(VALUES.astype(dtype), [3, 8])]
    assert all(found) == (call not in DIFFERENT), DIFFERENT.get(call, found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("call", calls(ALONG))
def test_nan_among_the_elements(call: str, dtype: Any) -> None:
    """Of several NaNs, any may be chosen: there is one."""
    found = []
    for more, (few, g) in product((0, 6000), holes(np.unique(VALUES).astype(dtype), [3])):
        if np.isnan(few).all():
            continue
        x = np.concatenate([few, np.linspace(-6.4, 6.4, more, dtype=dtype)])
        cotangents = np.concatenate([g, np.ones(more, dtype)])
        ours, theirs = (run(call, library, x, cotangents) for library in (minigrad, torch))
        found.append(same(ours[0], theirs[0]).all() and same(ours[1], theirs[1]).all())
    assert all(found) == (call not in DIFFERENT), DIFFERENT.get(call, found)
