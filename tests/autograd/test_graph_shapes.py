"""Graphs, not ops: fan-out, residuals, shared parts, long chains, and who owns a gradient."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops
from minigrad.autograd import grad, gradcheck, gradgradcheck


def variable(*values: float, shape: Any = None) -> Tensor:
    array = np.array(values, float)
    return Tensor(array.reshape(shape) if shape is not None else array, requires_grad=True)


def scalar(value: float) -> Tensor:
    return Tensor(np.array(value, float), requires_grad=True)


def attend(x: Tensor) -> Tensor:
    """A pre-norm block: attention with q = k = v, a residual, then a map with its own residual."""
    h = ops.layer_norm(x)
    x = x + ops.attention(h, h, h)
    return x + ops.gelu(ops.linear(ops.layer_norm(x), MAP))


MAP = np.array(
    [[0.3, -0.5, 0.2, 0.1], [0.7, 0.4, -0.3, 0.9], [0.2, 0.1, 0.5, -0.4], [-0.6, 0.3, 0.8, 0.2]]
)

GRAPHS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "z=x+y; w=z+x": (lambda x, y: (x + y) + x, (2, 2)),
    "z=x*y; w=z*x": (lambda x, y: (x * y) * x, (2, 2)),
    "a*a, a not a leaf": (lambda x, y: (x + y) * (x + y), (3,)),
    "a*a, one node": (lambda x, y: (lambda a: a * a)(x * y), (3,)),
    "x - x*y": (lambda x, y: x - x * y - x, (3,)),
    "h = h + h thrice": (lambda x, y: double(x * y, 3), (2,)),
    "h = h * h thrice": (lambda x, y: square(x * y, 3), (2,)),
    "h = h + tanh(h)": (lambda x, y: residual(x * y, 6), (3,)),
    "h = tanh(h) + h, h + h": (lambda x, y: residual(x, 3) + residual(y + x, 2), (3,)),
    "fan-out of five": (lambda x, y: x * y + x.exp() + x.tanh() * y + x.sum() + x[0], (3,)),
    "diamond": (lambda x, y: (lambda a: a.sum() * a.mean() - (a * a).sum())(x * y), (3,)),
    "two paths of unlike length": (lambda x, y: x * (((x.exp() + y).tanh() * y).exp()), (2,)),
    "views and their base": (lambda x, y: (x + y)[1:] * (x + y)[:-1] + (x * 2)[0], (4,)),
    "x @ x": (lambda x, y: x @ x + y, (3, 3)),
    "x @ x @ x": (lambda x, y: x @ x @ x - y @ x, (3, 3)),
    "x @ x.T": (lambda x, y: x @ x.T + y @ x.T, (2, 3)),
    "stack of itself": (
        lambda x, y: (
            ops.stack([x, y, x]) * ops.concatenate([[y], [x], [x]])
            if False
            else ops.stack([x, y, x]) * ops.stack([y, x, x])
        ),
        (2,),
    ),
    "pre-norm block": (lambda x, y: attend(x + y), (3, 4)),
    "two pre-norm blocks": (lambda x, y: attend(attend(x)) * y, (3, 4)),
    "one block called twice": (lambda x, y: attend(x) + attend(y) + attend(x), (2, 4)),
    "q = k = v": (lambda x, y: ops.attention(x, x, x, keep=np.tri(3, dtype=bool)) * y, (3, 4)),
    "q = k": (lambda x, y: ops.attention(x, x, y), (3, 4)),
}


def double(h: Tensor, times: int) -> Tensor:
    for _ in range(times):
        h = h + h
    return h


def square(h: Tensor, times: int) -> Tensor:
    for _ in range(times):
        h = h * h
    return h


def residual(h: Tensor, times: int) -> Tensor:
    for _ in range(times):
        h = h + h.tanh()
    return h


@pytest.mark.parametrize(("graph", "shape"), GRAPHS.values(), ids=GRAPHS)
def test_derivatives(graph: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    x, y = (Tensor(rng.standard_normal(shape), requires_grad=True) for _ in range(2))
    assert gradcheck(graph, (x, y))
    assert gradcheck(graph, (x, y), directions=3)
    assert gradgradcheck(graph, (x, y))
    if x.shape == y.shape:
        assert gradcheck(lambda x: graph(x, x), x)


@pytest.mark.parametrize(("graph", "shape"), GRAPHS.values(), ids=GRAPHS)
def test_every_way_to_differentiate_agrees(graph: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(4)
    values = [rng.standard_normal(shape) for _ in range(2)]

    def gradients(**options: Any) -> tuple[np.ndarray, ...]:
        x, y = (Tensor(value, requires_grad=True) for value in values)
        graph(x, y).sum().backward(**options)
        return tuple(t.grad.numpy() for t in (x, y))

    plain = gradients()
    for options in ({"retain_graph": True}, {"create_graph": True}):
        for one, other in zip(plain, gradients(**options), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    for create_graph in (False, True):
        x, y = (Tensor(value, requires_grad=True) for value in values)
        found = grad(graph(x, y).sum(), (x, y), create_graph=create_graph)
        for one, other in zip(plain, found, strict=True):
            np.testing.assert_allclose(one, other.numpy(), rtol=1e-12, atol=1e-14)
        assert x.grad is None
        assert y.grad is None


def test_exact_numbers_of_the_textbook_graphs() -> None:
    x, y = scalar(2.0), scalar(3.0)
    z = x + y
    (z + x).backward()
    assert (x.grad.item(), y.grad.item()) == (2.0, 1.0)
    x = scalar(3.0)
    a = x * 2
    (a * a).backward()
    assert x.grad.item() == 24.0
    x = scalar(1.0)
    double(x * 1, 3).backward()
    assert x.grad.item() == 8.0
    x = scalar(1.0)
    double(x, 25).backward()
    assert x.grad.item() == 2.0**25


@pytest.mark.parametrize(
    ("left", "right"),
    [
        *itertools.product(
            [(3,), (2, 3), (4, 2, 3), (5, 4, 2, 3)], [(3,), (3, 2), (4, 3, 2), (5, 4, 3, 2)]
        ),
        ((1, 2, 3), (4, 3, 2)),
        ((4, 2, 3), (1, 3, 2)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((5, 4, 2, 3), (1, 3, 2)),
        ((4, 2, 3), (5, 1, 3, 2)),
    ],
    ids=str,
)
def test_matmul_of_every_pair_of_ranks(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """Value and both gradients against einsum, whose rule is another one, and NumPy."""
    rng = np.random.default_rng(0)
    a, b = (Tensor(rng.standard_normal(s), requires_grad=True) for s in (left, right))
    product = a @ b
    np.testing.assert_allclose(product.numpy(), a.numpy() @ b.numpy(), rtol=1e-12)
    rows = "k" if a.ndim == 1 else "...nk"
    columns = "k" if b.ndim == 1 else "...km"
    out = (
        ("" if a.ndim == b.ndim == 1 else "...")
        + ("n" if a.ndim > 1 else "")
        + ("m" if b.ndim > 1 else "")
    )
    spelled = minigrad.einsum(f"{rows},{columns}->{out}", a, b)
    g = rng.standard_normal(product.shape)
    for one, other in zip(grad(product, (a, b), g), grad(spelled, (a, b), g), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12, atol=1e-14)


# Long chains ----------------------------------------------------------------------------------


def chain(x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        x = x + 1.0
    return x


def test_a_chain_of_20_000_ops_runs_and_is_freed() -> None:
    limit = sys.getrecursionlimit()
    x = scalar(0.0)
    y = chain(x, 20_000)
    y.backward()
    assert x.grad.item() == 1.0
    del y
    chain(x, 20_000)  # freed without a backward pass
    assert grad(chain(x, 20_000), x, create_graph=True).item() == 1.0
    assert sys.getrecursionlimit() == limit


def test_a_long_chain_of_multiplications_is_differentiated_twice() -> None:
    x = scalar(1.0)
    y = x
    for _ in range(3000):
        y = y * x
    first = grad(y, x, create_graph=True)
    assert first.item() == 3001.0
    assert grad(first, x).item() == 3001.0 * 3000.0


@pytest.mark.long
def test_a_chain_of_a_million_ops() -> None:
    x = scalar(0.0)
    chain(x, 1_000_000).backward()
    assert x.grad.item() == 1.0


def test_a_wide_sum_is_linear() -> None:
    x = scalar(1.0)
    total = x * 0.0
    for _ in range(20_000):
        total = total + x
    total.backward()
    assert x.grad.item() == 20_000.0


# One graph, several passes --------------------------------------------------------------------


def test_two_losses_on_a_shared_part() -> None:
    x = variable(1.0, 2.0)
    shared = x.exp()
    first, second = shared.sum(), (shared * shared).sum()
    first.backward(retain_graph=True)
    e = np.exp([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), e)
    second.backward()
    np.testing.assert_allclose(x.grad.numpy(), e + 2 * e * e)


def test_two_losses_on_a_shared_part_need_retain_graph() -> None:
    x = variable(1.0, 2.0)
    shared = x.exp()
    first, second = shared.sum(), (shared * shared).sum()
    first.backward()
    with pytest.raises(RuntimeError, match=r"exp: .*already.*retain_graph=True"):
        second.backward()


def test_a_second_backward_is_refused() -> None:
    x = variable(1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    for again in (lambda: y.backward(), lambda: grad(y, x), lambda: y.backward(create_graph=True)):
        with pytest.raises(RuntimeError, match=r"already used .* retain_graph=True"):
            again()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def test_a_second_backward_is_refused_also_where_nothing_was_saved() -> None:
    x = variable(1.0, 2.0)
    y = (x + 1.0).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="already used"):
        y.backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_retain_graph_exactly_doubles(create_graph: bool) -> None:
    x = variable(0.3, -0.7)
    y = (x.tanh() * x).sum()
    y.backward(retain_graph=True, create_graph=create_graph)
    once = x.grad.numpy().copy()
    y.backward(retain_graph=True, create_graph=create_graph)
    np.testing.assert_array_equal(x.grad.numpy(), 2 * once)


def test_gradients_accumulate_over_graphs() -> None:
    x = variable(1.0, 2.0)
    (3 * x).sum().backward()
    before = x.grad.numpy().copy()
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), before + np.array([2.0, 4.0]))


# Who owns a gradient --------------------------------------------------------------------------


def graphs_that_hand_a_cotangent_through() -> dict[str, Any]:
    return {
        "add": lambda x, y: (x + y).sum(),
        "add, not summed": lambda x, y: x + y,
        "reshape": lambda x, y: x.reshape(4) + y.reshape(4),
        "transpose": lambda x, y: (x.T + y.T).sum(),
        "concatenate": lambda x, y: ops.concatenate([x, y]),
        "split and add": lambda x, y: ops.split(x, 2)[0] + ops.split(y, 2)[1],
        "getitem": lambda x, y: x[:1] + y[:1],
        "broadcast": lambda x, y: (x + y + 0.0 * x.sum()).mean(),
        "stack": lambda x, y: ops.stack([x, y]).sum(axis=0),
        "einsum": lambda x, y: ops.einsum("ij->ji", x) + ops.einsum("ij->ji", y),
    }


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", graphs_that_hand_a_cotangent_through())
def test_gradients_share_no_memory(name: str, create_graph: bool) -> None:
    graph = graphs_that_hand_a_cotangent_through()[name]
    x, y = variable(1, 2, 3, 4, shape=(2, 2)), variable(5, 6, 7, 8, shape=(2, 2))
    out = graph(x, y)
    g = Tensor(np.ones(out.shape))
    out.backward(g, create_graph=create_graph)
    found = grad(graph(x, y), (x, y, x), g, create_graph=create_graph)
    arrays = [t.data for t in (x, y, x.grad, y.grad, *found, g)]
    for one, other in itertools.combinations(arrays, 2):
        assert not np.shares_memory(one, other)
    assert x.grad is not y.grad
    for array in arrays[2:-1]:
        assert array.flags.writeable
        assert array.base is None or create_graph or array.flags.owndata or array.size == 4
    x.grad.data[...] = 99.0
    assert not (y.grad.numpy() == 99.0).any()


def test_the_gradient_is_not_what_the_caller_passed() -> None:
    x = variable(1.0, 2.0)
    for given in (np.ones(2), Tensor(np.ones(2))):
        x.zero_grad()
        (x + 0.0).backward(given)
        assert not np.shares_memory(np.asarray(x.grad), np.asarray(given))
        x.zero_grad()
        x.backward(given)  # a leaf itself
        assert not np.shares_memory(np.asarray(x.grad), np.asarray(given))
        assert np.asarray(given).tolist() == [1.0, 1.0]


def test_a_gradient_is_not_a_saved_array() -> None:
    x, y = variable(1.0, 2.0), variable(3.0, 4.0)
    z = x * y
    z.sum().backward(retain_graph=True)
    x.grad.data[...] = 0
    y.grad.data[...] = 0
    assert y.tolist() == [3.0, 4.0]
    assert x.tolist() == [1.0, 2.0]
    x.zero_grad()
    z.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_accumulating_leaves_earlier_gradients_alone() -> None:
    x = variable(1.0, 2.0)
    (3 * x).sum().backward()
    kept = x.grad
    (3 * x).sum().backward()
    assert kept.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_read_of_a_number_and_another_use() -> None:
    """The cotangent of x arrives first as a number, then as an update of a part."""
    x = scalar(2.0)
    read, used = x[()], x * 3
    (read + used).backward()
    assert x.grad.item() == 4.0
    x = scalar(2.0)
    used, read = x * 3, x[None]
    (read.sum() + used).backward()
    assert x.grad.item() == 4.0


def test_reads_and_whole_uses_in_any_order() -> None:
    uses = {
        "read": lambda x: (x[1:] * 2).sum(),
        "repeated read": lambda x: (x[[0, 0, 2]] * 3).sum(),
        "whole": lambda x: (x * x).sum(),
        "handed through": lambda x: x.reshape(3, 1).sum(),
    }
    for order in itertools.permutations(uses):
        x = variable(1.0, 2.0, 3.0)
        parts = [uses[name](x) for name in order]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        total.backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2 + 6 + 1, 2 + 4 + 1, 2 + 3 + 6 + 1])
