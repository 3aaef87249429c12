"""A checkpointed call: the same values and gradients as without, and less kept alive."""

import gc
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, no_grad
from minigrad.autograd import Observer, checkpoint, grad, gradcheck, gradgradcheck, graph_memory
from minigrad.autograd.node import node_of


def float64(*shape: int, seed: int = 0) -> Tensor:
    return minigrad.tensor(
        np.random.default_rng([seed, *shape]).normal(size=shape), requires_grad=True
    )


def gradients(loss: Tensor, *tensors: Tensor) -> list[np.ndarray]:
    return [g.numpy() for g in grad(loss, list(tensors))]


def assert_same(
    function: Callable[..., Any], *tensors: Tensor, more: Iterable[Tensor] = ()
) -> None:
    """Value and gradients with respect to arguments and closed-over tensors, bit for bit."""
    state = minigrad.random.get_state()
    plain = function(*tensors)
    after = minigrad.random.get_state()
    minigrad.random.set_state(state)
    kept = checkpoint(function, *tensors)
    assert minigrad.random.get_state() == after
    np.testing.assert_array_equal(plain.numpy(), kept.numpy())
    each = [gradients((result * result).sum(), *tensors, *more) for result in (plain, kept)]
    for one, other in zip(*each, strict=True):
        np.testing.assert_array_equal(one, other)


def test_functions_modules_and_calls_within_calls() -> None:
    assert_same(lambda a, b: minigrad.tanh(a @ b) * a.sum(), float64(3, 4), float64(4, 2))
    layer = nn.TransformerEncoderLayer(d_model=8, num_heads=2, dim_feedforward=16, dropout=0.5)
    assert_same(layer, minigrad.randn(2, 5, 8, requires_grad=True), more=[*layer.parameters()])
    w = float64(4)
    inner = lambda x: minigrad.exp(-x) * w

    def outer(x: Tensor) -> Tensor:
        h = checkpoint(inner, x) + x
        return checkpoint(inner, h) * h

    assert_same(outer, float64(4, seed=2), more=(w,))


def test_batch_normalization_moves_its_statistics_in_both_runs() -> None:
    layer, plain = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    assert_same(layer, float64(4, 3, 2, 2), more=[*layer.parameters()])
    x = float64(4, 3, 2, 2)
    for _ in range(3):  # once without a checkpoint, twice with one
        plain(x)
    for found, wanted in zip(layer.buffers(), plain.buffers(), strict=True):
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_what_is_closed_over_gets_its_gradient_though_the_argument_is_constant() -> None:
    w, inner = float64(3), float64(3, seed=1)
    outer = inner * 2.0  # an interior tensor of the graph outside
    y = checkpoint(lambda x: (x * w * outer).sum(), np.arange(3.0))
    assert y.shape == ()  # and a result without axes
    y.backward()
    np.testing.assert_allclose(w.grad.numpy(), np.arange(3.0) * outer.numpy())
    np.testing.assert_allclose(inner.grad.numpy(), 2 * np.arange(3.0) * w.numpy())


def test_structures_in_and_out() -> None:
    x, y = float64(3), float64(3, seed=1)

    def function(pair: tuple[Tensor, Tensor], *, options: dict[str, Tensor], name: str) -> Any:
        a, b = pair
        return {"sum": a + options["scale"], "list": [a * b, b], "name": name, "none": None}

    scale = float64(3, seed=2)
    out = checkpoint(function, (x, y), options={"scale": scale}, name="kept")
    assert (out["name"], out["none"]) == ("kept", None)
    np.testing.assert_array_equal(out["list"][1].numpy(), y.numpy())
    found = gradients((out["sum"] * out["list"][0] * out["list"][1]).sum(), x, y, scale)
    s, p, q = x.numpy() + scale.numpy(), x.numpy() * y.numpy(), y.numpy()
    np.testing.assert_allclose(found[2], p * q)
    np.testing.assert_allclose(found[0], p * q + s * q * q)
    np.testing.assert_allclose(found[1], s * x.numpy() * q + s * p)


def test_outputs_that_nothing_uses_and_calls_that_are_not_recorded() -> None:
    x = float64(3)
    used, unused = checkpoint(lambda x: (x * x, minigrad.exp(x)), x)
    assert unused.requires_grad
    np.testing.assert_allclose(gradients(used.sum(), x)[0], 2 * x.numpy())
    with no_grad():
        assert not checkpoint(minigrad.exp, x).requires_grad
    assert not checkpoint(minigrad.exp, x.detach()).requires_grad


def test_every_order() -> None:
    w = float64(3, seed=1)

    def function(x: Tensor) -> Tensor:
        return checkpoint(lambda t: minigrad.sigmoid(t * w) * t, x)

    x = float64(3)
    assert gradcheck(function, x)
    assert gradgradcheck(function, x)
    assert gradcheck(lambda w: checkpoint(lambda t: (t * w) ** 3, x), w)
    y = Tensor(2.0, dtype="float64", requires_grad=True)
    z = checkpoint(lambda t: checkpoint(lambda s: s**4, t), y)
    for wanted in (16.0, 32.0, 48.0, 48.0):
        assert z.item() == wanted
        (z,) = grad(z, y, create_graph=True)


def test_hooks_on_the_edges_see_the_full_gradient_once() -> None:
    x, seen = float64(3), []
    h = x * 2.0
    for tensor in (h, x):
        tensor.register_hook(lambda g: seen.append(g.numpy().copy()))
    (checkpoint(lambda t: t * t, h) + h + checkpoint(lambda: x * 1.0)).sum().backward()
    expected = 2 * h.numpy() + 1
    np.testing.assert_allclose(seen, [expected, 2 * expected + 1])


@pytest.mark.parametrize("place", ["argument", "parameter", "constant"])
def test_a_write_between_the_two_runs_is_refused(place: str) -> None:
    x, w, c = float64(3), float64(3, seed=1), minigrad.tensor(np.ones(3))
    y = checkpoint(lambda x: (x * w * c).sum(), x)
    with no_grad():
        {"argument": x, "parameter": w, "constant": c}[place].mul_(2.0)
    with pytest.raises(RuntimeError, match="checkpoint: .*written"):
        y.backward()
    assert x.grad is None


def test_a_function_may_write_to_its_own_tensors_but_not_to_its_arguments() -> None:
    def function(x: Tensor) -> Tensor:
        h = x * 2.0
        h += 1.0
        h[0] = x[1]
        return (h * h * x).sum()

    assert_same(function, float64(3))
    y = float64(3) * 1.0

    def writes(x: Tensor) -> Tensor:
        x += 1.0
        return x.sum()

    with pytest.raises(RuntimeError, match="__iadd__: .* read-only .* a checkpoint"):
        checkpoint(writes, y)


def test_a_second_backward_pass_and_a_write_to_the_callers_array() -> None:
    x, array = float64(3), np.ones(3)
    y = checkpoint(lambda x, a: (x**3 * a).sum(), x, array)
    array[:] = 100.0
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * x.numpy() ** 2)
    with pytest.raises(RuntimeError, match="checkpoint: .*already used"):
        y.backward()


def test_a_function_that_does_something_else_the_second_time_is_refused() -> None:
    x, lengths, weights = float64(3), [3, 2], [float64(3, seed=1), float64(3, seed=2)]
    for function, told in (
        (lambda x: x[: lengths.pop(0)] * 2.0, r"\[\(3,\)\].*\[\(2,\)\]"),
        (lambda x: x * weights.pop(), "checkpoint: .*other tensors"),
    ):
        y = checkpoint(function, x).sum()
        with pytest.raises(RuntimeError, match=told):
            y.backward()
        assert x.grad is None


def test_an_error_names_the_module_and_leaves_no_state_behind() -> None:
    lengths = iter([3, 4])

    class Fails(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x @ minigrad.ones(next(lengths), dtype="float64")

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Fails()

        def forward(self, x: Tensor) -> Tensor:
            return checkpoint(self.inner, x)

    model = Outer()
    y = model(float64(2, 3)).sum()
    with pytest.raises(ValueError, match=r"matmul.*\[in inner\]"):
        y.backward()
    assert minigrad.is_grad_enabled()


@pytest.mark.slow
def test_it_keeps_only_the_inputs_alive() -> None:
    arrays: list[weakref.ref[Any]] = []

    class Watch(Observer):
        def ran(self, call: Any) -> None:
            if call.op.name != "checkpoint":
                arrays.append(weakref.ref(call.result._data))

    layers = [nn.Linear(8, 8) for _ in range(6)]
    x = minigrad.randn(4, 8, requires_grad=True)

    def deep(x: Tensor) -> Tensor:
        for layer in layers:
            x = minigrad.tanh(layer(x))
        return x

    gc.collect()
    gc.disable()
    try:
        with Watch():
            y = checkpoint(deep, x)
        assert len(arrays) == 12
        assert len([r for r in arrays if r() is not None]) == 1  # the result
        assert graph_memory(y).nbytes == 0 < graph_memory(deep(x)).nbytes
        y.sum().backward()
        graph = weakref.ref(y._node.node)
        del y
        assert graph() is None
    finally:
        gc.enable()


def test_threads_repeat_their_own_dropout() -> None:
    """A second run takes its random numbers from its own generator, not from everybody's."""
    drop = nn.Dropout(0.5)
    x = minigrad.ones(2000, requires_grad=True)
    results = [checkpoint(drop, x) for _ in range(8)]
    expected = [r.numpy().copy() for r in results]
    found: list[Any] = [None] * 8

    def work(i: int) -> None:
        for _ in range(20):
            minigrad.random.key()  # disturbs the common generator meanwhile
        (found[i],) = gradients(results[i].sum(), x)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    np.testing.assert_array_equal(found, expected)


def test_a_generator_of_ones_own_is_refused() -> None:
    for given in (minigrad.Generator(), np.random.default_rng(0)):
        with pytest.raises(RuntimeError, match=r"a generator of its own, at .*checkpointing.py:"):
            checkpoint(lambda x, own=given: x * minigrad.rand(3, generator=own), float64(3))
    assert_same(lambda x: x * minigrad.rand(3, generator=minigrad.default_generator), float64(3))


def test_what_it_keeps_stands_in_the_order_of_reading() -> None:
    """The same in each run, so that a drawing of it is the same."""
    layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    out = checkpoint(layers, minigrad.ones(2, 3))
    (segment,) = node_of(out._node).saved
    assert [array.shape for array in segment._arrays] == [(2, 3), (4, 3), (4,), (2, 4), (2,)]
