"""Graphs, not ops: fan-out, residuals, long chains, who owns a gradient, higher orders."""

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, concatenate, ops, tensor
from minigrad.autograd import grad, gradcheck, gradgradcheck


def variable(*values: float, shape: Any = None) -> Tensor:
    array = np.array(values, float)
    return tensor(array.reshape(shape) if shape is not None else array, requires_grad=True)


def scalar(value: float) -> Tensor:
    return tensor(np.array(value, float), requires_grad=True)


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
    "h = h + h thrice": (lambda x, y: repeated(x * y, 3, lambda h: h + h), (2,)),
    "h = h * h thrice": (lambda x, y: repeated(x * y, 3, lambda h: h * h), (2,)),
    "h = h + tanh(h)": (lambda x, y: residual(x * y, 6), (3,)),
    "h = tanh(h) + h, h + h": (lambda x, y: residual(x, 3) + residual(y + x, 2), (3,)),
    "fan-out of five": (lambda x, y: x * y + x.exp() + x.tanh() * y + x.sum() + x[0], (3,)),
    "diamond": (lambda x, y: (lambda a: a.sum() * a.mean() - (a * a).sum())(x * y), (3,)),
    "two paths of unlike length": (lambda x, y: x * (((x.exp() + y).tanh() * y).exp()), (2,)),
    "views and their base": (lambda x, y: (x + y)[1:] * (x + y)[:-1] + (x * 2)[0], (4,)),
    "x @ x": (lambda x, y: x @ x + y, (3, 3)),
    "x @ x @ x": (lambda x, y: x @ x @ x - y @ x, (3, 3)),
    "x @ x.T": (lambda x, y: x @ x.T + y @ x.T, (2, 3)),
    "stack of itself": (lambda x, y: ops.stack([x, y, x]) * ops.stack([y, x, x]), (2,)),
    "pre-norm block": (lambda x, y: attend(x + y), (3, 4)),
    "two pre-norm blocks": (lambda x, y: attend(attend(x)) * y, (3, 4)),
    "one block called twice": (lambda x, y: attend(x) + attend(y) + attend(x), (2, 4)),
    "q = k = v": (lambda x, y: ops.attention(x, x, x, keep=np.tri(3, dtype=bool)) * y, (3, 4)),
    "q = k": (lambda x, y: ops.attention(x, x, y), (3, 4)),
}


def repeated(h: Tensor, times: int, step: Any) -> Tensor:
    for _ in range(times):
        h = step(h)
    return h


def residual(h: Tensor, times: int) -> Tensor:
    for _ in range(times):
        h = h + h.tanh()
    return h


@pytest.mark.parametrize(("graph", "shape"), GRAPHS.values(), ids=GRAPHS)
def test_derivatives(graph: Any, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    x, y = (tensor(rng.standard_normal(shape), requires_grad=True) for _ in range(2))
    assert gradcheck(graph, (x, y))
    assert gradgradcheck(graph, (x, y), directions=2)
    assert gradcheck(lambda x: graph(x, x), x, directions=2)


TEXTBOOK: dict[str, tuple[Any, float, float]] = {
    # a graph of one number, the number, and the derivative
    "h + x": (lambda x: (x + 3.0) + x, 2.0, 2.0),
    "a * a": (lambda x: (lambda a: a * a)(x * 2), 3.0, 24.0),
    "h + h, 25 times": (lambda x: repeated(x, 25, lambda h: h + h), 1.0, 2.0**25),
    "h + 1, 5,000 times": (lambda x: repeated(x, 5000, lambda h: h + 1.0), 0.0, 1.0),
    "x * x ..., 3,000 times": (lambda x: repeated(x, 3000, lambda h: h * x), 1.0, 3001.0),
    "x + x ..., 5,000 times": (lambda x: repeated(x * 0.0, 5000, lambda h: h + x), 1.0, 5e3),
}


@pytest.mark.parametrize(("graph", "at", "wanted"), TEXTBOOK.values(), ids=TEXTBOOK)
def test_exact_numbers_of_the_textbook_graphs(graph: Any, at: float, wanted: float) -> None:
    """Also of chains that are far longer than Python's stack; they are freed, used or not."""
    limit = sys.getrecursionlimit()
    x = scalar(at)
    y = graph(x)
    y.backward()
    assert x.grad.item() == wanted
    del y
    graph(x)  # freed without a backward pass
    assert grad(graph(x), x, create_graph=True)[0].item() == wanted
    assert sys.getrecursionlimit() == limit


# Long chains ----------------------------------------------------------------------------------


def test_a_long_chain_of_multiplications_is_differentiated_twice() -> None:
    x = scalar(1.0)
    (first,) = grad(repeated(x, 3000, lambda h: h * x), x, create_graph=True)
    assert grad(first, x)[0].item() == 3001.0 * 3000.0


@pytest.mark.long
def test_a_chain_of_a_million_ops() -> None:
    x = scalar(0.0)
    repeated(x, 1_000_000, lambda h: h + 1.0).backward()
    assert x.grad.item() == 1.0


# One graph, several passes --------------------------------------------------------------------


def test_a_second_backward_needs_what_the_first_has_freed() -> None:
    x = variable(1.0, 2.0)
    unsaved = concatenate([x.reshape(1, 2), x.unsqueeze(0) + 3]).transpose(0, 1).sum()
    unsaved.backward()
    unsaved.backward()
    assert x.grad.tolist() == [4, 4]
    y = (x * x).sum()
    x.grad = None
    y.backward()
    once = x.grad.tolist()
    for again in (lambda: y.backward(), lambda: grad(y, x), lambda: y.backward(create_graph=True)):
        with pytest.raises(RuntimeError, match=r"already used .* retain_graph=True"):
            again()
    assert x.grad.tolist() == once


# Who owns a gradient --------------------------------------------------------------------------


HAND_THROUGH: dict[str, Any] = {
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
@pytest.mark.parametrize("name", HAND_THROUGH)
def test_gradients_share_no_memory(name: str, create_graph: bool) -> None:
    graph = HAND_THROUGH[name]
    x, y = variable(1, 2, 3, 4, shape=(2, 2)), variable(5, 6, 7, 8, shape=(2, 2))
    out = graph(x, y)
    g = tensor(np.ones(out.shape))
    out.backward(g, create_graph=create_graph)
    found = grad(graph(x, y), (x, y, x), g, create_graph=create_graph)
    arrays = [t.numpy() for t in (x, y, x.grad, y.grad, *found, g)]
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
    for given in (np.ones(2), tensor(np.ones(2))):
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
    (x * x).sum().backward()
    assert kept.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [5.0, 7.0]


def test_a_read_of_a_number_and_another_use() -> None:
    """The cotangent of x arrives first as a number, then as an update of a part; or after."""
    x = scalar(2.0)
    read, used = x[()], x * 3
    (read + used).backward()
    used, read = x * 3, x[None]
    (read.sum() + used).backward()
    assert x.grad.item() == 8.0


def test_reads_and_whole_uses_in_any_order() -> None:
    uses = {
        "read": lambda x: (x[1:] * 2).sum(),
        "repeated read": lambda x: (x[[0, 0, 2]] * 3).sum(),
        "whole": lambda x: (x * x).sum(),
        "handed through": lambda x: x.reshape(3, 1).sum(),
    }
    for order in itertools.permutations(uses):
        x = variable(1.0, 2.0, 3.0)
        sum((uses[name](x) for name in order[1:]), uses[order[0]](x)).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [2 + 6 + 1, 2 + 4 + 1, 2 + 3 + 6 + 1])


# Higher orders --------------------------------------------------------------------------------


def derivative(f: Callable[[Tensor], Tensor], x: Tensor, order: int) -> float:
    y = f(x)
    for _ in range(order):
        (y,) = grad(y + 0.0 * x, x, create_graph=True)  # a constant has a derivative too
    return y.item()


THIRD: dict[str, tuple[Any, float, list[float]]] = {
    "x**4": (lambda x: x**4, 2.0, [16, 32, 48, 48, 24, 0]),
    "x*x*x": (lambda x: x * x * x, 2.0, [8, 12, 12, 6, 0]),
    "tanh": (lambda x: x.tanh(), 0.0, [0, 1, 0, -2, 0, 16]),
    "x**x": (lambda x: x**x, 1.0, [1, 1, 2, 3, 8]),
    "logsumexp": (lambda x: ops.logsumexp(ops.stack([x, 0 * x])), 0.0,
                  [np.log(2), 1 / 2, 1 / 4, 0, -1 / 8]),
    "softmax": (lambda x: ops.softmax(ops.stack([x, 0 * x]))[0], 0.0, [1 / 2, 1 / 4, 0, -1 / 8]),
}  # fmt: skip


@pytest.mark.parametrize(("f", "at", "wanted"), THIRD.values(), ids=THIRD)
def test_derivatives_of_every_order(f: Any, at: float, wanted: list[float]) -> None:
    found = [derivative(f, scalar(at), order) for order in range(len(wanted))]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_recorded_pass_retains_the_graph_and_the_history_of_a_given_cotangent() -> None:
    x, c = scalar(2.0), scalar(5.0)
    y = x * x
    (first,) = grad(y, x, c * c, create_graph=True)
    assert first.item() == 100.0
    y.backward()
    assert x.grad.item() == 4.0
    assert [g.item() for g in grad(first, (x, c))] == [50.0, 40.0]
