"""Random programs that write to memory which several tensors see.

A program makes views of views of one buffer, writes to any of them, and reads any of them, in any
order. Its value is NumPy's on the same views, and its gradient that of differences. No write is
refused: no rule saves what is written.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arranging_moves import into
from programs import weights

import minigrad
from minigrad import Tensor, no_grad, tensor
from minigrad.autograd import grad

Step = Callable[[list[Any], Any], None]


def drawn(number: int) -> tuple[bool, list[Step]]:
    """Whether the buffer is a constant at first, and the steps on the list of its views."""
    rng = np.random.default_rng(number)
    constant = bool(rng.random() < 0.4)
    views: list[Any] = [np.zeros((4, 3))]
    steps: list[Step] = []
    for _ in range(rng.integers(4, 14)):
        step = move(rng, views)
        steps.append(step)
        step(views, np.zeros((4, 3)))
    return constant, steps


def move(rng: np.random.Generator, views: list[Any]) -> Step:
    """A step that fits what is there: a new view, a write, or an op in place."""
    i, kind, factor = int(rng.integers(len(views))), rng.random(), float(rng.uniform(0.5, 1.5))
    view = views[i]
    if kind < 0.3:
        index = tuple(
            int(rng.integers(n)) if n and rng.random() < 0.3 else
            slice(*rng.choice([None, 0, 1, n - 1], 2), rng.choice([None, 1, 2, -1]))
            for n in view.shape
        )  # fmt: skip
        return lambda views, x: views.append(part_of(views[i], index))
    if kind < 0.4:
        return lambda views, x: views.append(views[i].T)
    if kind < 0.45:
        return lambda views, x: views.append(views[i].reshape(-1))
    other = int(rng.integers(len(views)))
    if kind < 0.6 and into(view.shape)(views[other]):
        return lambda views, x: write(views[i], ..., factor * views[other])
    if kind < 0.75:
        part = tuple(int(n) for n in rng.integers(0, [4, 3]))
        return lambda views, x: write(views[i], ..., factor * x[part])
    if kind < 0.85 and view.ndim == 2 and view.shape[0]:
        row = int(rng.integers(view.shape[0]))
        return lambda views, x: write(views[i], row, factor)
    if kind < 0.95:
        part = tuple(int(n) for n in rng.integers(0, [4, 3]))
        return lambda views, x: times(views[i], factor + x[part])
    return lambda views, x: views.append(views[i] + 0.0)


def part_of(view: Any, index: Any) -> Any:
    """A part of a view; NumPy makes one of an index that leaves no axis only with an ellipsis."""
    return view[index] if isinstance(view, Tensor) else view[(*index, ...)]


def write(target: Any, index: Any, value: Any) -> None:
    target[index] = value


def times(target: Any, value: Any) -> None:
    target *= value


def run(constant: bool, steps: list[Step], x: Any) -> Any:
    """The weighted sum of everything that can be read in the end, and along the way."""
    total, views = executed(constant, steps, x)
    for view in views:
        total = total + (view * weights(view.shape)).sum()
    return total


def executed(constant: bool, steps: list[Step], x: Any) -> tuple[Any, list[Any]]:
    """The weighted sum of what is read along the way, and all views in the end."""
    ones = np.ones((4, 3))
    buffer = x * 2.0 if not constant else tensor(ones) if isinstance(x, Tensor) else ones
    views, total = [buffer], x[0, 0] * 0.0
    for k, step in enumerate(steps):
        step(views, x)
        if k % 3 == 0:
            total = total + (views[-1] * weights(views[-1].shape)).sum()
    return total, views


@pytest.mark.parametrize("numbers", [range(100), range(100, 200)], ids=str)
def test_values_are_numpys_and_gradients_are_differences(numbers: range) -> None:
    rng = np.random.default_rng(0)
    for number in numbers:
        program = drawn(number)
        array, direction = rng.standard_normal((2, 4, 3))
        x = tensor(array, requires_grad=True)
        total = run(*program, x)
        np.testing.assert_allclose(total.item(), run(*program, array), rtol=1e-12)
        (slope,) = grad(total, [x])
        step = 1e-5 * direction
        difference = (run(*program, array + step) - run(*program, array - step)) / 2e-5
        along = float((slope.numpy() * direction).sum())
        np.testing.assert_allclose(along, difference, rtol=1e-6, atol=1e-6, err_msg=str(number))


@pytest.mark.parametrize("create_graph", [False, True])
def test_views_as_outputs_give_the_gradient_of_their_sum(create_graph: bool) -> None:
    """No op reads a view before the pass begins: the pass itself brings its history up to date."""
    for number in range(60):
        constant, steps = drawn(number)
        x = tensor(np.random.default_rng(number).standard_normal((4, 3)), requires_grad=True)
        (wanted,) = grad(run(constant, steps, x), x)
        recorded = [view.requires_grad for view in executed(constant, steps, x)[1]]
        for backward in (False, True):
            total, views = executed(constant, steps, x)
            outputs = [total, *itertools.compress(views, recorded)]
            seeds = [tensor(weights(output.shape)) for output in outputs[1:]]
            if not backward:
                (found,) = grad(outputs, x, [None, *seeds], create_graph=create_graph)
            else:
                minigrad.autograd.backward(outputs, [None, *seeds], create_graph=create_graph)
                found, x.grad = x.grad, None
            assert found is not None
            np.testing.assert_allclose(
                found.detach().numpy(), wanted.numpy(), rtol=1e-9, atol=1e-9, err_msg=str(number)
            )


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda y, v: v.sin_(),
        lambda y, v: y.sin_(),
        lambda y, v: y.mul_(y.detach() + 1),
        lambda y, v: y[:1].mul_(3.0),
    ],
    ids=["itself", "its base", "by values", "another view"],
)
def test_a_written_view_is_an_output(change: Any, create_graph: bool) -> None:
    x = tensor([0.5, 1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[0]
    change(y, v)
    (found,) = grad(v, x, retain_graph=True, create_graph=create_graph)
    (wanted,) = grad(v * 1.0, x)
    assert found.tolist() == wanted.tolist()
    assert found[0] != 1.0


def test_a_constant_view_that_was_written_is_an_output() -> None:
    x = tensor([0.5, 1.0, 2.0], requires_grad=True)
    y = minigrad.zeros(3)
    v, w = y[0], y[1]
    y[:] = x * x
    assert [g.tolist() for g in grad([w, v], [x])] == [[1.0, 2.0, 0.0]]


def test_the_programs_are_what_they_claim_to_be() -> None:
    """Most write to memory that several views see, and depend on their input by a write."""
    x = np.random.default_rng(0).standard_normal((4, 3))
    lengths = [len(drawn(number)[1]) for number in range(100)]
    assert min(lengths) < 6
    assert max(lengths) > 11
    changed = 0
    for number in range(100):
        constant, steps = drawn(number)
        changed += constant and run(constant, steps, x) != run(constant, steps, 2 * x)
    assert changed > 15


def test_a_stale_history_would_be_found() -> None:
    """Without taking its history from the base again, a view gives a wrong gradient."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tensor, "_read_again", lambda self: None)
        with pytest.raises(AssertionError):
            test_values_are_numpys_and_gradients_are_differences(range(100))


def test_views_made_without_recording_stay_constant() -> None:
    x = tensor(np.arange(1.0, 5.0), requires_grad=True)
    h = x * 2.0
    h[0] = x[1]
    with no_grad():
        before = h[1:]
        of_the_view = before[:2]
    h[1] = 2.0 * x[3]
    assert before.tolist() == [8.0, 6.0, 8.0]
    assert not before.requires_grad
    assert not (of_the_view * 2.0).requires_grad
    (h * before.sum()).sum().backward()
    assert x.grad.tolist() == [0.0, 22.0, 44.0, 88.0]
