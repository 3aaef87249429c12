"""`why_no_grad`: why a parameter gets no gradient."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, no_grad
from minigrad.autograd import Function, checkpoint, grad, why_no_grad


def test_connected_frozen_and_unused_parameters() -> None:
    w, layer = minigrad.ones(2, requires_grad=True), nn.Linear(2, 2)
    product, beside = lambda: (w * 2.0).sum(), lambda: (w * 2.0 + (w.detach() + 1)).sum()
    for loss in (product, product(), beside):
        assert why_no_grad(w, loss).startswith("connected: ")
    why = why_no_grad(layer.weight, product)
    assert why.startswith("unused: ")
    assert "the parameter 'weight' of shape (2, 2)" in why
    assert "does not lead to the parameter 'weight'" in why_no_grad(layer.weight, product())
    layer.requires_grad_(False)
    assert "frozen" in why_no_grad(layer.weight, layer(minigrad.ones(2)).sum())


def unrecorded_tanh(h: Tensor) -> Tensor:
    with no_grad():
        return minigrad.tanh(h)


VALUES_OF = "detach: the values of the parameter 'first.weight'"
LOSSES: dict[str, tuple[Callable[[Tensor], Any], str, str]] = {
    # what loses the connection, how the explanation begins, and what else is in it
    "detach": (lambda h: h.detach(), VALUES_OF, "lambda h: h.detach()"),
    "no_grad": (unrecorded_tanh, "no_grad: tanh is not recorded", "return minigrad.tanh(h)"),
    "integer": (lambda h: (h > 0) * 1.0, "greater has no derivative", "lambda h: (h > 0)"),
    "numpy": (lambda h: minigrad.exp(h.numpy()), VALUES_OF, "enter exp"),
}


class Losing(nn.Module):
    def __init__(self, lose: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.first, self.second, self.lose = nn.Linear(2, 2), nn.Linear(2, 1), lose

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.lose(self.first(x)) * 1.0).sum()


@pytest.mark.parametrize("how", LOSSES)
def test_the_op_that_loses_the_connection_is_named_with_its_line_and_module(how: str) -> None:
    lose, start, told = LOSSES[how]
    model = Losing(lose)
    loss = lambda: model(minigrad.ones(3, 2))
    why = why_no_grad(model.first.weight, loss)
    assert why.startswith(start), why
    for part in (told, Path(__file__).name):
        assert part in why, why
    assert why_no_grad(model.second.weight, loss).startswith("connected: ")
    assert "does not lead to" in why_no_grad(model.first.weight, loss())
    assert ("may be why" in why) == (how == "numpy")


def test_a_metric_beside_the_loss_is_not_the_reason() -> None:
    w = minigrad.ones(3, requires_grad=True)

    def loss() -> Tensor:
        y = w * 2.0
        _ = minigrad.argmax(y)  # a constant, but not on the way to the loss
        return (unrecorded_tanh(y) + 1.0).sum()

    assert why_no_grad(w, loss).startswith("no_grad: tanh is not recorded")


def test_a_detached_parameter_is_seen_in_the_graph_alone() -> None:
    w, v = (minigrad.ones(3, requires_grad=True) for _ in range(2))
    values = "detach: the values of the parameter of shape (3,) "
    for loss, start in (
        ((w.detach() * v).sum(), values + "enter multiply"),
        (w.detach(), "the loss has no history"),
        (lambda: w.detach(), values + "go on without"),
    ):
        assert why_no_grad(w, loss).startswith(start)


def test_what_is_no_tensor_is_refused() -> None:
    w = minigrad.ones(3, requires_grad=True)
    for tensor, loss, told in (
        (np.ones(3), lambda: w, "tensor.*ndarray"),
        (w, lambda: w.sum().item(), "float.*tensor"),
        (w, 3, "the loss, or a function .*got 3"),
    ):
        with pytest.raises(TypeError, match=told):
            why_no_grad(tensor, loss)


class Leaky(nn.Module):
    """Only the values of `a` reach the loss, through NumPy or Python numbers."""

    def __init__(self, convert: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.a, self.b, self.convert = nn.Linear(2, 1), nn.Linear(1, 1), convert

    def forward(self, x: Tensor) -> Tensor:
        held = minigrad.tensor(self.convert(self.a(x).sum()) * 2.0).reshape(1, 1)
        return self.b(held).sum()


@pytest.mark.parametrize("convert", [float, Tensor.item, Tensor.numpy, Tensor.tolist])
def test_lines_where_values_become_numbers_are_possible_causes(convert: Any) -> None:
    model, x = Leaky(convert), minigrad.ones(3, 2)
    line = "held = minigrad.tensor(self.convert(self.a(x).sum()) * 2.0)"
    why = why_no_grad(model.a.weight, lambda: model(x))
    for part in ("'a.weight'", f"{Path(__file__).name}:", line):
        assert part in why, why
    assert why_no_grad(model.b.weight, lambda: model(x)).startswith("connected")


def test_numbers_of_other_values_are_no_causes() -> None:
    a, x, other = (minigrad.ones(3, requires_grad=grad) for grad in (True, False, True))

    def loss() -> Tensor:
        (other * 2.0).tolist()
        x.tolist()
        return (other * 3.0).sum()

    assert "may be why" not in why_no_grad(a, loss)


def test_values_that_are_written_without_being_recorded_are_followed() -> None:
    """Into a buffer, by an op in place, by index, as a whole, and through a view."""
    w, one = minigrad.ones(3, requires_grad=True), minigrad.ones(3, requires_grad=True)

    for write, name in (
        (lambda buffer: buffer[:3].add_(w), "add"),
        (lambda buffer: buffer.__setitem__(slice(3), w), "setitem"),
        (lambda buffer: buffer[3].mul_(w[0]), "getitem"),
    ):

        def loss(write: Any = write) -> Tensor:
            buffer = minigrad.zeros(4)
            with no_grad():
                write(buffer)
            return (buffer[:3] * one).sum() + buffer.sum()

        why = why_no_grad(w, loss)
        assert why.startswith(f"no_grad: {name} is not recorded"), why


class Doubled(Function):
    """A Function that also reads a parameter which is not its argument."""

    extra: Tensor

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2 * Doubled.extra

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g * 2


def test_what_is_composed_and_what_passes_compute_is_followed() -> None:
    """To the line where the connection is lost; where it is not: tests/tracing."""
    w, v = (minigrad.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    Doubled.extra = w

    def held_gradient() -> Tensor:
        (w * v).sum().backward()
        return (v.grad * 2).sum()

    for function, start in (
        (lambda: checkpoint(lambda x: checkpoint(lambda y: y * w, x), v).sum(), "connected: "),
        (lambda: checkpoint(lambda x: (x * w.detach()).sum(), v), "detach: "),
        (lambda: Doubled.apply(v).sum(), "no_grad: multiply is not recorded"),
        (lambda: grad((w * w * w).sum(), w)[0].sum(), "backward: the gradients of multiply"),
        (lambda: (v - grad((v * w).sum(), v)[0]).sum(), "backward: the gradients of multiply"),
        (held_gradient, "backward: the gradients of multiply"),
    ):
        why = why_no_grad(w, function)
        assert why.startswith(start), why
        assert start == "connected: " or "test_missing_gradients.py:" in why


def test_the_line_of_a_copy_is_the_users() -> None:
    layer = nn.Linear(2, 2)
    why = why_no_grad(layer.weight, lambda: copy.deepcopy(layer)(minigrad.ones(2)).sum())
    assert "unused" in why
    assert "test_missing_gradients.py:" in why
    assert "copy.py:" not in why
