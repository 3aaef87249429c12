"""Function, with a context as in PyTorch: values, gradients of two orders, and what is refused."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import Function, gradcheck, gradgradcheck


class SinCos(Function):
    """Two outputs, of which the derivatives are each other: saved outputs and a saved input."""

    @staticmethod
    def forward(ctx: Any, x: Any, scale: float, places: Any) -> Any:
        sin, cos = (scale * x).sin(), (scale * x).cos()
        ctx.scale = scale
        ctx.save_for_backward(sin, cos, x)
        return sin, cos

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        sin, cos, _ = ctx.saved_tensors
        return ctx.scale * (grads[0] * cos - grads[1] * sin), None, None


class Product(Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, b = ctx.saved_tensors
        return g * b, g * a


def function_of(forward: Any, backward: Any) -> Any:
    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Odd", (Function,), methods)


def leaf(*values: float) -> Tensor:
    return tensor(np.array(values), requires_grad=True)


def two(x: Tensor) -> Any:
    first, second = SinCos.apply(x, 2.0, minigrad.tensor([1, 2]))
    return first * second + first


def test_gradients_of_two_orders() -> None:
    for check in (gradcheck, gradgradcheck):
        assert check(two, [leaf(0.3, 0.7)])
        assert check(Product.apply, [leaf(0.3, 0.7), leaf(2.0, 3.0)])


@pytest.mark.parametrize("output", [0, 1])
def test_one_output_of_two(output: int) -> None:
    x = leaf(0.3, 0.7)
    SinCos.apply(x, 1.0, minigrad.tensor([1]))[output].sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [np.cos(x.numpy()), -np.sin(x.numpy())][output])


def test_the_same_tensor_twice() -> None:
    x = leaf(0.3, 0.7)
    Product.apply(x, x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy())


def test_the_context_knows_who_needs_a_gradient() -> None:
    seen = []

    class Looks(Product):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return Product.forward(ctx, a, b)

    a, b = leaf(1.0), Tensor([2.0])
    Looks.apply(a, b).sum().backward()
    assert seen == [(True, False)]
    assert b.grad is None
    with minigrad.no_grad():
        assert not Looks.apply(a, b).requires_grad


def test_an_output_without_a_derivative() -> None:
    class Ranks(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            places = x.argsort()
            ctx.save_for_backward(x)
            ctx.mark_non_differentiable(places)
            return x * x, places

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    x = leaf(3.0, 1.0)
    squares, places = Ranks.apply(x)
    assert not places.requires_grad
    squares.sum().backward()
    assert x.grad.tolist() == [6.0, 2.0]


def test_it_returns_its_input() -> None:
    x = leaf(3.0)
    y = function_of(lambda ctx, x: x, lambda ctx, g: -g).apply(x)
    assert not np.shares_memory(x.numpy(), y.numpy())
    y.sum().backward()
    assert x.grad.tolist() == [-1.0]


def test_a_saved_output_is_no_cycle() -> None:
    x = leaf(0.3, 0.7)
    result = SinCos.apply(x, 2.0, minigrad.tensor([1]))
    seen = weakref.ref(result[0])
    gc.disable()
    try:
        del result
        assert seen() is None
    finally:
        gc.enable()


def test_a_saved_input_that_is_written_is_refused() -> None:
    a, b = leaf(1.0), Tensor([2.0])
    out = Product.apply(a, b)
    b[0] = 5.0
    with pytest.raises(RuntimeError, match="written in place"):
        out.sum().backward()


REFUSED: dict[str, tuple[Any, Any]] = {
    "forward: its output is a float": (lambda ctx, x: 3.0, None),
    "2 gradients; forward has 1": (lambda ctx, x: x * 1, lambda ctx, g: (g, g)),
    "gradient 0 is a float; a tensor": (lambda ctx, x: x * 1, lambda ctx, g: 1.0),
    r"shape \(1,\)": (lambda ctx, x: x * 1, lambda ctx, g: g[:1]),
    "a leaf that requires grad": (lambda ctx, x: ctx.mark_dirty(x) or x, None),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    kind = function_of(*REFUSED[message])
    with pytest.raises((TypeError, RuntimeError, ValueError), match=message):
        kind.apply(leaf(1.0, 2.0)).sum().backward()
    with pytest.raises(TypeError, match="no argument is a tensor"):
        kind.apply(1.0)


def test_backward_and_vjp() -> None:
    class Both(Product):
        vjp = Product.backward

    with pytest.raises(RuntimeError, match="^Both: define backward or vjp, not both"):
        Both.apply(leaf(1.0), leaf(2.0)).sum().backward()
