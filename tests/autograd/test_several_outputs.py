"""Ops with several outputs: one node, and an edge for each output that is used."""

import numpy as np
import pytest

import minigrad
from minigrad.autograd import grad, gradcheck, gradgradcheck, primitive

calls = []


@primitive(multiple_outputs=True)
def tanh_and_exp(x):
    return np.tanh(x), np.exp(x)


def _rule(g, out):
    calls.append(g)
    return g[0] * (1 - out[0] * out[0]) + g[1] * out[1]


tanh_and_exp.defvjp(x=_rule)


@primitive(multiple_outputs=True, arrays=2)
def sorted_pair(a, b):
    return np.minimum(a, b), np.maximum(a, b)


@sorted_pair.defjoint("a", "b")
def _sorted_pair(g, needed, a, b):  # noqa: ARG001
    first = a < b
    return np.where(first, g[0], g[1]), np.where(first, g[1], g[0])


@pytest.fixture
def x():
    calls.clear()
    return minigrad.randn(2, 3, dtype=minigrad.float64, requires_grad=True)


USES = {
    "both": lambda t, e: t * e,
    "first": lambda t, e: t * t,
    "second": lambda t, e: e.sum(),
    "both twice": lambda t, e: (t + e) * (t - e) + t,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_derivatives(x, use):
    assert gradcheck(lambda x: use(*tanh_and_exp(x)), x)
    assert gradgradcheck(lambda x: use(*tanh_and_exp(x)), x)


def test_the_rule_runs_once_with_zeros_for_what_is_unused(x):
    _, e = tanh_and_exp(x)
    (e.sum() + (2 * e).sum()).backward()
    assert len(calls) == 1
    unused, used = calls[0]
    assert unused.shape == used.shape == (2, 3)
    assert not unused.any()
    assert (used == 3).all()


def test_a_joint_rule_and_interior_gradients(x):
    y = minigrad.randn(2, 3, dtype=minigrad.float64, requires_grad=True)
    low, high = sorted_pair(x, y)
    (found,) = grad((low * high).sum(), [high], retain_graph=True)
    assert np.array_equal(found.numpy(), low.numpy())
    (low + 3 * high).sum().backward()
    assert np.array_equal(x.grad.numpy(), np.where(x.numpy() < y.numpy(), 1.0, 3.0))
    assert np.array_equal(y.grad.numpy(), np.where(x.numpy() < y.numpy(), 3.0, 1.0))


def test_an_edge_is_a_node_and_the_number_of_an_output(x):
    t, e = tanh_and_exp(x)
    assert t._node.node is e._node.node
    assert (t._node.number, e._node.number) == (0, 1)
    assert (e._node.shape, e._node.dtype) == ((2, 3), minigrad.float64)
    assert (t * e)._node.edges == (t._node, e._node) == t._node.node.outputs
    assert (t * e)._node.parents == (t._node.node, t._node.node)
    assert not e.is_leaf
    assert "grad_fn=<tanh_and_expBackward>" in repr(e)


def test_hooks_and_retained_gradients_of_one_output_each(x):
    t, e = tanh_and_exp(x)
    seen = []
    e.register_hook(lambda g: (seen.append(g.tolist()), 2 * g)[1])
    e.retain_grad()
    (t.sum() + 3 * e.sum()).backward()
    assert seen == [[[3.0] * 3] * 2]
    assert (e.grad.numpy() == 6).all()
    assert t.grad is None
    assert np.allclose(x.grad.numpy(), 1 - np.tanh(x.numpy()) ** 2 + 6 * np.exp(x.numpy()))


def test_outputs_of_one_call_as_two_roots_and_in_a_recorded_pass(x):
    """What the rule makes of an output counts for that output in later passes."""
    t, e = tanh_and_exp(x)
    (found,) = grad([t.sum(), e.sum()], [x], retain_graph=True)
    assert len(calls) == 1
    assert np.allclose(found.numpy(), 1 - np.tanh(x.numpy()) ** 2 + np.exp(x.numpy()))
    (first,) = grad(e.sum(), [x], create_graph=True)
    assert np.allclose(grad(first.sum(), [e])[0].numpy(), 1.0)


def test_plain_tensors_and_a_second_pass(x):
    with minigrad.no_grad():
        assert not any(output.requires_grad for output in tanh_and_exp(x))
    t, e = tanh_and_exp(x)
    t.sum().backward()
    with pytest.raises(RuntimeError, match="already used"):
        e.sum().backward()


def test_a_static_argument_takes_no_gradient():
    @primitive
    def scaled(x, factor=1.0):
        return x * factor

    scaled.defvjp(x=lambda g, factor: g * factor)
    with pytest.raises(TypeError, match=r"'factor' has a default.*arrays=2"):
        scaled.defvjp(factor=lambda g, x: g * x)
    with pytest.raises(TypeError, match="scaled: no derivative .* 'factor'.*detach"):
        scaled(minigrad.ones(2), minigrad.tensor(2.0, requires_grad=True))
    assert scaled(minigrad.ones(2), minigrad.tensor(2.0)).tolist() == [2.0, 2.0]
