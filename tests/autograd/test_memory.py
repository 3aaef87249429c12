"""Graphs are freed by reference counting alone, and ops save what their rules read, no more."""

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops
from minigrad.autograd import Node, grad
from minigrad.autograd.node import nodes_behind


@pytest.fixture(autouse=True)
def without_the_cyclic_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def variable(*shape: int) -> Tensor:
    values = np.random.default_rng(0).uniform(0.5, 1.5, shape)
    return minigrad.tensor(values, requires_grad=True)


def nodes_of(*tensors: Tensor) -> list[Node]:
    behind = nodes_behind(*[tensor._node for tensor in tensors])
    return [node for node in behind if isinstance(node, Node)]


def watch(*tensors: Tensor) -> list[weakref.ref[Any]]:
    """Weak references to every node of a graph and to every array that it saved."""
    references: list[weakref.ref[Any]] = []
    for node in nodes_of(*tensors):
        references.append(weakref.ref(node))
        saved = node.saved if isinstance(node.saved, tuple) else ()
        flat = [a for s in saved for a in (s if isinstance(s, tuple) else (s,))]
        references += [weakref.ref(a) for a in flat if isinstance(a, np.ndarray)]
    assert len(references) > 3
    return references


def model(x: Tensor, w: Tensor) -> Tensor:
    """Every kind of node: one and two arrays, options, variadic, fused, views, updates."""
    h = ops.linear(x, w).tanh() + x[:, [0, 0, 1]] * x[0]
    h = ops.layer_norm(h + h * h)
    h = ops.attention(h, h, h, causal=True)
    h = ops.stack([h, h.T.T, ops.concatenate([h[:1], h[1:]])]).sum(axis=0)
    return ops.cross_entropy(h, np.zeros(len(x), int)) + (h.norm() + h.exp().max()) * 0.1


def alive(references: list[weakref.ref[Any]], *kept: Any) -> list[Any]:
    return [r() for r in references if r() is not None and not any(r() is k for k in kept)]


def no_pass(_y: Tensor, _inputs: Any, _references: Any) -> None:
    """The graph is freed without one too."""


def one_pass(y: Tensor, inputs: Any, references: Any) -> None:
    y.backward()
    left = alive(references, *(x._data for x in inputs))
    assert not [a for a in left if isinstance(a, np.ndarray)]
    assert all(node.freed or node.plan.static for node in nodes_of(y))


def grad_and_retained_passes(y: Tensor, inputs: Any, references: Any) -> None:
    grad(y, inputs, retain_graph=True)
    assert len(alive(references)) == len(references)
    y.backward(retain_graph=True)
    y.backward()


def a_pass_that_fails(y: Tensor, inputs: Any, _references: Any) -> None:
    def fail(_g: Tensor) -> None:
        raise LookupError

    inputs[0].register_hook(fail)
    try:
        y.backward()
    except LookupError as error:
        error.__traceback__ = None


@pytest.mark.parametrize("use", [no_pass, one_pass, grad_and_retained_passes, a_pass_that_fails])
def test_freed_after(use: Any) -> None:
    x, w = variable(4, 3), variable(3, 3)
    y = model(x, w)
    references = watch(y)
    use(y, (x, w), references)
    del y
    assert not alive(references, x._data, w._data)


@pytest.mark.parametrize("through_backward", [False, True])
def test_freed_with_create_graph(through_backward: bool) -> None:
    x, w = variable(4, 3), variable(3, 3)
    y = model(x, w)
    if through_backward:
        y.backward(create_graph=True)
    first: Any = (x.grad, w.grad) if through_backward else grad(y, (x, w), create_graph=True)
    penalty = (first[0] * first[0]).sum() + (first[1] ** 2).sum()
    references = watch(y, *first, penalty)
    second = grad(penalty, (x, w))
    assert second[0].shape == x.shape
    del y, first, penalty
    x.zero_grad()
    w.zero_grad()
    assert not alive(references, x._data, w._data, second[0]._data, second[1]._data)


def test_freed_with_hooks_and_retain_grad() -> None:
    x, w = variable(4, 3), variable(3, 3)
    interior = ops.linear(x, w)
    interior.retain_grad()
    seen: list[Any] = []
    handle = interior.register_hook(lambda g: seen.append(g.shape))
    y = (interior * interior).sum()
    references = watch(y)
    y.backward()
    assert seen == [(4, 3)]
    del y, interior, handle
    assert not alive(references, x._data, w._data)


def test_a_graph_keeps_neither_leaves_nor_interior_tensors_alive() -> None:
    x, w = variable(3), variable(3, 3)
    interior = (x + w.sum()).exp()
    references = [weakref.ref(x), weakref.ref(interior)]
    wanted = 2 * np.exp(x.numpy() + w.numpy().sum()).sum()
    y = (interior * 2).sum()
    del x, interior
    assert [reference() for reference in references] == [None, None]
    y.backward()
    np.testing.assert_allclose(w.grad.numpy(), np.full((3, 3), wanted))


@contextmanager
def traced() -> Iterator[Callable[[], tuple[int, int]]]:
    """Memory that is allocated meanwhile, and its peak."""
    tracemalloc.start()
    try:
        yield tracemalloc.get_traced_memory
    finally:
        tracemalloc.stop()


def assert_flat(step: Callable[[], Any]) -> None:
    """150 further steps leave neither objects nor memory behind, beyond NumPy's small cache."""
    for _ in range(30):
        step()
    objects = len(gc.get_objects())
    with traced() as memory:
        before, _ = memory()
        for _ in range(150):
            step()
        after, _ = memory()
    assert len(gc.get_objects()) - objects < 100
    assert after - before < 100_000


def test_memory_is_flat_over_150_training_steps() -> None:
    x, w, target = variable(4, 3).detach(), variable(3, 3), np.array([0, 1, 2, 0])
    momentum = np.zeros((3, 3))

    def step() -> None:
        nonlocal momentum
        h = ops.linear(x, w)
        h = h + ops.attention(h, h, h) + h[[0, 0, 1, 2]] * 0.1
        (slope,) = grad(h.sum(), w, create_graph=True)
        (ops.cross_entropy(h, target) + 0.1 * (slope**2).sum()).backward()
        with minigrad.no_grad():
            momentum = 0.9 * momentum + w.grad.numpy()
            w[...] = w - 0.01 * minigrad.tensor(momentum)
        w.zero_grad()

    assert_flat(step)


def test_inference_without_backward_leaks_nothing() -> None:
    w, x = variable(3, 3), minigrad.tensor(np.ones((2, 3)))
    assert_flat(lambda: model(x, w))


def test_a_backward_pass_frees_as_it_goes() -> None:
    """The peak of a chain's backward pass is a few arrays, not one for each node."""
    size = 100_000
    x = minigrad.tensor(np.full(size, 0.5), requires_grad=True)
    y = x
    for _ in range(30):
        y = y.tanh()
    out = y.sum()
    del y
    with traced() as memory:
        out.backward()
        _, peak = memory()
    assert peak < 8 * 8 * size


# What ops save --------------------------------------------------------------------------------


def test_saving_copies_no_tensor() -> None:
    x, y = variable(3), variable(3)
    z, e = x * y, x.exp()
    assert {id(x._data), id(y._data)} <= {*map(id, z._node.saved)}
    assert e._node.saved[0] is e._data


def test_no_weights_of_attention_and_no_probabilities_are_kept() -> None:
    """What attention saves grows with the length, not with its square, beyond one block."""
    q, logits = variable(512, 4), variable(8, 50)
    for out, most in ((ops.attention(q, q, q), q.numel()),
                      (ops.cross_entropy(logits, np.zeros(8, int)), 50)):  # fmt: skip
        arrays = [a for a in out._node.saved if isinstance(a, np.ndarray)]
        sizes = [a.size for a in arrays if a is not logits._data]
        assert max(sizes) <= most
