"""What an autograd engine must get right: one case for each thing that some engine gets wrong.

Each is a line of a table. tests/autograd has those of order and state: passes over a shared graph
(test_graph_shapes.py), higher derivatives (test_orders.py), writes between a forward and a backward
pass (test_mutation.py), threads (test_threads.py), what is left behind (test_memory.py,
test_grad_mode.py). tests/ops has more about each op, among it range (test_range.py) and dtypes
(test_types.py), tests/nn rows that attend nowhere, tests/test_tensor.py Python objects.
"""

from __future__ import annotations

import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops, tensor
from minigrad.autograd import grad, gradcheck, gradgradcheck


def var(value: Any, dtype: Any = np.float64) -> Tensor:
    return tensor(np.array(value, dtype), requires_grad=True)


def normal(*shape: int, dtype: Any = np.float64) -> Tensor:
    return var(np.random.default_rng(shape).normal(size=shape), dtype)


INF = np.inf
ROW = [-1.0, 0.0, 0.5, 1.0, 2.0]
LOG4 = pytest.approx(8 * np.log(2))
SLOPES: dict[str, tuple[Callable[..., Tensor], list[Any], list[Any]]] = {
    # The function, its arguments, and the gradient of its sum with respect to each.
    "a number times a row": (lambda x, y: x * y, [2.0, [1.0, 2.0, 3.0]], [6.0, [2.0] * 3]),
    "a row read twice": (lambda x: x[[0, 0, 1]], [[1.0, 2.0, 3.0]], [[2.0, 1.0, 0.0]]),
    "max of equals": (minigrad.max, [[1.0] * 4], [[0.25] * 4]),
    "min of equals": (minigrad.min, [[1.0] * 4], [[0.25] * 4]),
    "max of rows": (lambda x: np.max(x, axis=1), [[[1.0] * 2] * 2], [[[0.5] * 2] * 2]),
    "min of axes": (lambda x: np.min(x, axis=(0, -1)), [[[1.0] * 2] * 2], [[[0.25] * 2] * 2]),
    "maximum with itself": (lambda x: minigrad.maximum(x, x), [[1.0, 2.0]], [[1.0, 1.0]]),
    "minimum with itself": (lambda x: minigrad.minimum(x, x), [[1.0, 2.0]], [[1.0, 1.0]]),
    "relu at zero": (minigrad.relu, [[0.0, -0.0]], [[0.0, 0.0]]),
    "abs at zero": (minigrad.abs, [[0.0, -0.0]], [[0.0, 0.0]]),
    "clip from below": (lambda x: minigrad.clip(x, 0.0, None), [ROW], [[0, 1, 1, 1, 1]]),
    "clip from above": (lambda x: minigrad.clip(x, None, 1.0), [ROW], [[1, 1, 1, 1, 0]]),
    "clip": (lambda x: minigrad.clip(x, 0.0, 1.0), [ROW], [[0, 1, 1, 1, 0]]),
    "norm of zero": (minigrad.norm, [[0.0] * 3], [[0.0] * 3]),
    "linalg.norm of zero": (minigrad.linalg.norm, [[0.0] * 3], [[0.0] * 3]),
    "std of a constant": (np.std, [[2.0] * 3], [[0.0] * 3]),
    "a zero factor": (minigrad.prod, [[2.0, 0.0, 3.0]], [[0.0, 6.0, 0.0]]),
    "two zero factors": (minigrad.prod, [[2.0, 0.0, 0.0]], [[0.0] * 3]),
    "x**0 at 0": (lambda x: x**0.0, [0.0], [0.0]),
    "x**1 at 0": (lambda x: x**1, [0.0], [1.0]),
    "x**2 at 0": (lambda x: x**2, [0.0], [0.0]),
    "x**-2": (lambda x: x**-2, [2.0], [-0.25]),
    "2**x": (lambda x: 2.0**x, [3.0], [LOG4]),
    "0**x": (lambda x: 0.0**x, [[0.0, 2.0]], [[0.0, 0.0]]),
    "powers of 0": (minigrad.power, [[0.0, 0.0], [2.0, 1.0]], [[0.0, 1.0], [0.0, 0.0]]),
    "rows of -inf": (lambda x: minigrad.logsumexp(x, axis=1), [[[-INF] * 2]], [[[0.0] * 2]]),
    "the mean of many halves": (
        lambda x: x * minigrad.mean(minigrad.ones(70_000, dtype=np.float16)), [1.0], [1.0]
    ),
    "softmax of -inf": (minigrad.softmax, [[[-INF] * 2]], [[[0.0] * 2]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
def test_slope(name: str) -> None:
    function, values, wanted = SLOPES[name]
    xs = [var(value) for value in values]
    assert [g.tolist() for g in grad(function(*xs).sum(), xs)] == wanted
    function(*xs).sum().backward()
    assert [x.grad.tolist() for x in xs] == wanted


class Tied(nn.Module):
    """An embedding whose matrix is that of the last layer too."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: np.ndarray) -> Tensor:
        return self.head(minigrad.tanh(self.embedding(ids)))


def encoder(norm_first: bool) -> nn.Module:
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, norm_first=norm_first)
    made = nn.TransformerEncoder(layer, 2).double()
    made.activation = minigrad.tanh
    return made


def called_twice() -> nn.Module:
    layer = nn.Linear(3, 3).double()
    return nn.Sequential(layer, nn.Tanh(), layer)


MODULES: dict[str, tuple[Callable[[], nn.Module], Any]] = {
    "encoder, norm first": (lambda: encoder(True), normal(2, 3, 4)),
    "encoder, norm last": (lambda: encoder(False), normal(2, 3, 4)),
    "one module called twice": (called_twice, normal(2, 3)),
    "shared weights": (lambda: Tied().double(), np.array([0, 3, 3])),
}


@pytest.mark.parametrize("name", MODULES)
def test_gradients_of_modules(name: str) -> None:
    make, x = MODULES[name]
    model = make()
    assert gradcheck(model, [x], directions=6, rtol=1e-4)
    parameters = [*model.parameters()]
    assert len(parameters) == len({*map(id, parameters)})


X = normal(2, 3, 4)
CHECKED: dict[str, tuple[Callable[..., Any], list[Tensor]]] = {
    # What is differentiated, once and twice.
    "a row times matrices": (minigrad.matmul, [normal(3), normal(2, 3, 2)]),
    "a matrix times a row": (minigrad.matmul, [normal(2, 4, 3), normal(3)]),
    "a row times a row": (minigrad.matmul, [normal(3), normal(3)]),
    "broadcast matrices": (minigrad.matmul, [normal(5, 1, 4, 3), normal(2, 3, 2)]),
    "no factor zero": (np.cumprod, [var([2.0, 0.0, 3.0])]),
    "all factors zero": (np.cumprod, [var([0.0, 0.0, 0.0])]),
    "negative axes": (lambda x: x.permute(-1, 0, -2), [X]),
    "a tensor beside itself": (lambda x: minigrad.concatenate([x, x * x, x], axis=-2), [X]),
    "repeats in an index": (lambda x: x[:, [0, 0, 2], None], [X]),
    "arrays apart": (lambda x: x[[0, 0], ..., [1, 1]], [X]),
    "steps and new axes": (lambda x: x[::-2, None, 1], [X]),
    "a mask": (lambda x: x[x > 0], [X]),
    "a trace": (lambda x: minigrad.einsum("ii->", x), [normal(3, 3)]),
    "ellipses": (lambda *xs: minigrad.einsum("...ij,...jk->...ik", *xs), [X, normal(4, 2)]),
    "NumPy's functions": (lambda x: np.einsum("ij,jk->ik", np.sin(x), np.where(x > 0, x, 0.0)),
                          [normal(2, 2)]),
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKED)
def test_gradients(name: str) -> None:
    function, inputs = CHECKED[name]
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs, directions=2)


TRAPS: dict[str, tuple[Callable[[Tensor], Tensor], float]] = {
    # The op, and a point where its slope is infinite; others are in tests/ops/test_corners.py.
    "power of a tensor": (lambda x: minigrad.power(x, x), 0.0),
    "norm": (lambda x: ops.norm(x.reshape(-1, 1), axis=1), 0.0),
    "norm, ord 3": (lambda x: ops.norm(x.reshape(-1, 1), ord=3, axis=1), 0.0),
    "std": (lambda x: minigrad.std(minigrad.stack([x, 0.0 * x], axis=1), axis=1), 0.0),
    "logsumexp": (lambda x: minigrad.logsumexp(minigrad.stack([x, x], axis=1), axis=1), -INF),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_branch_that_was_not_taken(name: str) -> None:
    """``where(ok, f(x), 0)``: no gradient comes through f where ok is false."""
    op, point = TRAPS[name]
    x = var([point, 0.5])

    def function(x: Tensor) -> Tensor:
        with np.errstate(all="ignore"):
            return minigrad.where(np.array([False, True]), op(x), 0.0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = grad(function(x).sum(), x)[0].tolist()
    beside = var([0.5])
    assert found == [0.0, grad(op(beside).sum(), beside)[0].item()]
    assert found[1] != 0.0
    (first,) = grad(function(x).sum(), x, create_graph=True)
    assert np.isfinite(grad(first[1], x)[0].tolist()[1])


# Indexing and mutation --------------------------------------------------------------------------


def test_thousands_of_reads_cost_what_they_read() -> None:
    """The buffer of the gradient is written in place: no read makes an array of its size."""
    x = minigrad.zeros(3000, 50, requires_grad=True)
    loss = sum((x[i].sum() for i in range(3000)), minigrad.zeros(()))
    tracemalloc.start()
    try:
        loss.backward()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (x.grad.numpy() == 1).all()
    assert peak < 4 * x.numpy().nbytes


def test_a_write_carries_both_gradients_and_the_last_one_wins() -> None:
    x, v = var([1.0, 2.0, 3.0]), var([5.0, 7.0])
    y = x * 1.0
    y[[0, 0]] = v
    assert y.tolist() == [7.0, 2.0, 3.0]
    found = grad((y * np.array([1.0, 10.0, 100.0])).sum(), [x, v])
    assert [g.tolist() for g in found] == [[0.0, 10.0, 100.0], [0.0, 1.0]]


def test_in_place_on_a_view_reaches_the_base() -> None:
    x = minigrad.zeros(2, 3)
    view = x.T[1]
    view += 1.0
    assert x.tolist() == [[0.0, 1.0, 0.0]] * 2
    w = var([[1.0, 2.0]])
    base = w * 1.0
    base.T[0:1].mul_(3.0)
    assert base.tolist() == [[3.0, 2.0]]
    base.sum().backward()
    assert w.grad.tolist() == [[3.0, 1.0]]
