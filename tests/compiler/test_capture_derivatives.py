"""Every derivative, and what a backward pass can do besides, plainly and captured, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_ways import batches, check, owning, updated
from custom_functions import Cube, StraightThrough

import minigrad
from minigrad import func as transforms
from minigrad import nn, no_grad, optim
from minigrad.autograd import Function, checkpoint, grad
from minigrad.nn import functional as F

CALLS = batches(6, (3,))


def weight(*shape: int) -> Any:
    return minigrad.randn(*(shape or (3,)), requires_grad=True)


def network(inputs: int = 3) -> Any:
    return nn.Sequential(nn.Linear(inputs, 4), nn.Tanh(), nn.Linear(4, 1))


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": lambda w: transforms.grad(lambda x: (x * w).exp().sum()),
    "grad of grad": lambda w: transforms.grad(
        lambda a: (transforms.grad(lambda b: (b * w).exp().sum())(a) ** 2).sum()),
    "value_and_grad": lambda w: transforms.value_and_grad(lambda x: (x * x).tanh().sum()),
    "hessian": lambda w: transforms.hessian(lambda x: (x**3).prod() + (x * w).sum()),
    "jacrev": lambda w: transforms.jacrev(lambda x: {"a": x[::2] ** 2, "b": (w * x).sum()}),
    "vjp": lambda w: lambda x: transforms.vjp(lambda x: (x * 2, x * w), x)[1]((x, x + 1)),
    "jvp": lambda w: lambda x: transforms.jvp(lambda x: (x**3, x * w), (x,), (x + 1,)),
    "hvp": lambda w: lambda x: transforms.hvp(lambda x: (x**3 * w).sum(), (x,), (x + 1,)),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name: str) -> None:
    check(owning(lambda: [weight()], lambda x, w: TRANSFORMS[name](w)(x)), CALLS)


def several(x: Any, w: Any) -> Any:
    y = w * x
    z = y * y
    return grad([y.sum(), z.sum()], [w, y])


def a_root_within(x: Any, w: Any) -> Any:
    y = (w * x).sum()
    return grad([y, y * y], [w], [None, minigrad.tensor(3.0)])


def seeded(x: Any, w: Any) -> Any:
    (w * x).backward(x + 1)
    return grad(w * x, w, x * 2)[0]


def of_second_order(x: Any, w: Any) -> Any:
    w.grad = None
    ((w * x) ** 3).sum().backward(create_graph=True)
    penalty = (w.grad * w.grad).sum()
    return penalty, grad(penalty, w)[0]


def meta_learning(x: Any, w: Any) -> Any:
    (slope,) = grad(((w * x) ** 2).sum(), w, create_graph=True)
    loss = (((w - 0.01 * slope) * x - 1) ** 2).sum()
    loss.backward()
    return loss


def by_hand(x: Any, w: Any) -> Any:
    w.grad = None
    loss = ((w * x) ** 2).sum()
    loss.backward()
    with no_grad():
        w.sub_(0.1 * w.grad)
        w[0] *= 0.5
        w[...] = w - 0.01 * w.grad
    return loss


def by_data(x: Any, w: Any) -> Any:
    ((w * x) ** 2).sum().backward()
    w.data = w.detach() - 0.1 * w.grad
    w.grad = None
    return (w * x).sum()


def if_there_is_a_gradient(x: Any, w: Any) -> Any:
    first = w.grad is None
    (w * x).sum().backward()
    return w.grad * 2 if first else w.grad * 3


def changed_gradients(x: Any, w: Any) -> Any:
    w.grad = None
    (w * x).sum().backward()
    with no_grad():
        w.grad.mul_(0.5)
        w.grad += x
    w.grad = w.grad * 2
    found = w.grad
    found.add_(1)
    return found


def local_leaf(x: Any, w: Any) -> Any:
    fast = w.detach().clone().requires_grad_()
    for _ in range(2):
        loss = ((fast * x) ** 2).sum()
        loss.backward()
    return fast.grad, loss


def local_writes(x: Any, w: Any) -> Any:
    y = x * w
    view = y.reshape(3, 1)
    y[0] = 5
    view.mul_(2)
    y[1:] += x[:2]
    view.sum().backward()
    order = minigrad.zeros(3)
    order[minigrad.argsort(x)] = minigrad.arange(3).astype("float32")
    return y, view, order


def created(x: Any, w: Any) -> Any:
    out, parts = minigrad.zeros(3), minigrad.zeros(4)
    for i in range(3):
        out += x * i * w
    parts[:3] = x
    parts[3] = 7
    out.sum().backward()
    return out, parts


def retained(x: Any, w: Any) -> Any:
    y = w * x
    y.register_hook(lambda g: g + 1)
    y.retain_grad()
    (y * y).sum().backward()
    return y.grad


def some_inputs(x: Any, w: Any) -> None:
    v = x.detach().requires_grad_()
    (w * v).sum().backward(inputs=[w])


def one_hot(x: Any, _w: Any) -> Any:
    return F.one_hot(x.astype("int64").abs() % 9, 9)


class Reversed(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return -g


def functions(x: Any, w: Any) -> Any:
    y = Cube.apply(w * x) + StraightThrough.apply(w) * x + Reversed.apply(w * 2)
    y.sum().backward()
    (slope,) = grad(Cube.apply(w * x).sum(), w, create_graph=True)
    return y, slope, grad(slope.sum(), w)[0]


STEPS = (
    several, a_root_within, seeded, of_second_order, meta_learning, by_hand, by_data,
    if_there_is_a_gradient, changed_gradients, local_leaf, local_writes, created, retained,
    some_inputs, one_hot, functions,
)  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_steps(step: Callable[[Any, Any], Any]) -> None:
    check(owning(lambda: [weight()], step), CALLS)


HOOKS: dict[str, Callable[[Any], Any]] = {
    "scales": lambda w: w.register_hook(lambda g: g * 10),
    "writes": lambda w: w.register_hook(lambda g: [g.mul_(3)][1:] or None),
    "looks at nothing": lambda w: w.register_hook(lambda g: None),
    "two": lambda w: [w.register_hook(lambda g: g + 1), w.register_hook(lambda g: g * w)],
}


def backpropagated(loss: Any) -> Any:
    loss.backward()
    return loss


@pytest.mark.parametrize("name", HOOKS)
def test_hooks(name: str) -> None:
    def owners() -> Any:
        w = weight()
        HOOKS[name](w)
        return [w]

    check(owning(owners, lambda x, w: backpropagated((w * x * w).sum())), CALLS)


def test_an_optimizer_within_the_backward_pass() -> None:
    def owners() -> Any:
        w = weight()
        optimizer = optim.SGD([w], lr=0.01)

        def update(_parameter: Any) -> None:
            optimizer.step()
            optimizer.zero_grad()

        w.register_post_accumulate_grad_hook(update)
        return w, optimizer

    check(owning(owners, lambda x, w, _: backpropagated(((w * x) ** 2).sum())), CALLS)


def gradient_penalty(x: Any, model: Any, optimizer: Any) -> Any:
    x = x.reshape(1, 3).detach().requires_grad_()
    out = model(x).sum()
    return updated(optimizer, out**2 + (grad(out, x, create_graph=True)[0].norm() - 1) ** 2)


def physics_informed(t: Any, model: Any, optimizer: Any) -> Any:
    t = t.reshape(3, 1).clone().requires_grad_()
    u = model(t)
    (first,) = grad(u.sum(), t, create_graph=True)
    (second,) = grad(first.sum(), t, create_graph=True)
    return updated(optimizer, ((second + u) ** 2).mean())


@pytest.mark.parametrize(("step", "inputs"), [(gradient_penalty, 3), (physics_informed, 1)])
def test_a_loss_of_gradients(step: Any, inputs: int) -> None:
    def owners() -> Any:
        model = network(inputs)
        return model, optim.Adam(model.parameters(), lr=0.01)

    check(owning(owners, step), CALLS)


def test_a_checkpoint_with_dropout() -> None:
    drop = nn.Dropout(0.5)

    def step(x: Any, model: Any) -> Any:
        model.zero_grad()
        hidden = checkpoint(lambda t: drop(model[0](t)).tanh(), x.reshape(1, 3))
        return backpropagated(model[2](hidden).sum())

    check(owning(lambda: [network()], step), CALLS)


def test_numbers_of_numpy_are_what_ops_computed_with() -> None:
    check(lambda: (lambda x: (x / np.sqrt(64), x * np.float32(2), x + np.int64(1)), []), CALLS)
