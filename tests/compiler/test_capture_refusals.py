"""What a replay could not repeat is refused, with the line of the user's program and a remedy."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_ways import bits

import minigrad
from minigrad import nn, optim
from minigrad.compiler import CaptureError
from minigrad.nn import functional as F
from minigrad.transforms.checkpointing import checkpoint


def weight() -> Any:
    return minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)


def refused(step: Callable[..., Any], what: str, calls: int = 3) -> None:
    """A step of a tensor is refused within `calls` calls, and the message names this file."""
    captured = minigrad.capture(step)
    with pytest.raises(CaptureError, match=what) as caught:
        for i in range(calls):
            captured(minigrad.full(3, 1.0 + i))
    assert "test_capture_refusals.py:" in str(caught.value)
    assert str(caught.value).startswith("capture: ")


w = weight()
LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x.sum().item(),
    "item with a history": lambda x: (x * w).sum().item(),
    "bool": lambda x: x if x.sum() > 0 else -x,
    "float": lambda x: float((x * w).sum()),
    "int": lambda x: x * int(x[0]),
    "numpy": lambda x: x.numpy(),
    "asarray": lambda x: np.asarray(x),
    "tolist": lambda x: x.tolist(),
    "data": lambda x: x.data.sum(),
    "allclose": lambda x: minigrad.allclose(x, x * 2),
    "repr": lambda x: repr(x * 2),
    "format": lambda x: f"{x.sum():.2f}",
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_values_that_python_looks_at(look: Callable[[Any], Any]) -> None:
    refused(look, r"looks at the values of a tensor.*return the tensor")


def test_updates_by_hand() -> None:
    def through_data(x: Any) -> None:
        (x * w).sum().backward()
        w.data -= 0.1

    def through_grad(x: Any) -> Any:
        (x * w).sum().backward()
        return w.grad

    def replaced(x: Any) -> None:
        w.data = np.ones(3, "f4")

    refused(through_data, "looks at the values")
    refused(through_grad, r"reads \.grad")
    refused(replaced, "a write in place")


def test_hooks_and_retained_gradients() -> None:
    v = weight()

    def on_a_result(x: Any) -> None:
        y = x * v
        y.register_hook(lambda g: g * 2)
        y.sum().backward()

    def retained(x: Any) -> None:
        y = x * v
        y.retain_grad()
        y.sum().backward()

    def plain(x: Any) -> Any:
        y = (x * v).sum()
        y.backward()
        return y

    refused(on_a_result, "hook")
    refused(retained, r"retain_grad\(\)")
    for register in (v.register_hook, v.register_post_accumulate_grad_hook):
        handle = register(lambda g: None)
        refused(plain, "a hook")
        handle.remove()
    step = minigrad.capture(plain)
    for _ in range(3):
        step(minigrad.ones(3))
    v.register_hook(lambda g: None)
    with pytest.raises(CaptureError, match="a hook on a leaf"):
        step(minigrad.ones(3))


def test_other_ways_to_differentiate() -> None:
    def recorded(x: Any) -> None:
        (x * w * w).sum().backward(create_graph=True)

    def asked(x: Any) -> Any:
        return minigrad.autograd.grad((x * w).sum(), w)

    def some(x: Any) -> None:
        (x * w).sum().backward(inputs=[w])

    def checkpointed(x: Any) -> None:
        checkpoint(lambda t: (t * w).sum(), x).backward()

    refused(recorded, "create_graph")
    refused(asked, r"autograd\.grad")
    refused(some, r"autograd\.grad")
    refused(checkpointed, "get_state returns dict")


def test_results_of_earlier_graphs() -> None:
    early = (w * 2).exp()
    refused(lambda x: (x * early).sum().backward(retain_graph=True), "ran before the step")
    with pytest.raises(CaptureError, match="pass it detached"):
        minigrad.capture(lambda x: x * 2)(w * 2)


def test_tensors_made_of_what_changes() -> None:
    draw = np.random.default_rng(0)
    count, clock = iter(range(100)), time.perf_counter
    with pytest.raises(CaptureError, match="the step changes draw"):
        step = minigrad.capture(lambda x: x + minigrad.tensor(draw.random(3)))
        for _ in range(2):
            step(minigrad.ones(3))
    refused(lambda x: x * clock(), "changes from call to call")
    with pytest.raises(CaptureError, match="uses an iterator, count of <lambda>"):
        minigrad.capture(lambda x: x * next(count))(minigrad.ones(3))


def test_numbers_that_the_step_changes() -> None:
    n = 0

    def counting(x: Any) -> Any:
        nonlocal n
        n += 1
        return x * 2

    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0
            self.last: Any = None

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x * 2

    class Remembering(Counted):
        def forward(self, x: Any) -> Any:
            self.last = x * 2
            return self.last + 1

    losses: list[Any] = []

    def appending(x: Any) -> Any:
        losses.append(x * 2)
        return losses[-1]

    for step, what in (
        (counting, "n of counting"), (Counted(), "calls of Counted"),
        (Remembering(), "last of Remembering"), (appending, "losses of appending"),
    ):  # fmt: skip
        captured = minigrad.capture(step)
        captured(minigrad.ones(3))
        with pytest.raises(CaptureError, match=f"the step changes {what}"):
            captured(minigrad.ones(3))


def test_what_changes_between_calls_is_written_down_anew() -> None:
    factor = 1.0
    mask = np.ones(3, "f4")
    options = {"shift": 0.0}

    def helper(x: Any) -> Any:
        return x * factor + options["shift"]

    def step(x: Any) -> Any:
        return helper(x) * minigrad.tensor(mask)

    captured = minigrad.capture(step)
    for i in range(12):
        factor = float(i // 4)
        mask[0] = i // 3
        options["shift"] = float(i // 6)
        x = minigrad.full(3, float(i))
        assert bits(captured(x)) == bits(step(x)), i


def test_too_many_changes_are_an_error() -> None:
    step = minigrad.capture(lambda x, n: x * n)
    with pytest.raises(CaptureError, match="pass numbers that change as tensors"):
        for i in range(100):
            step(minigrad.ones(2), i)
    assert step(minigrad.ones(2), 0).tolist() == [0, 0]


def test_writes_in_place() -> None:
    buffer = minigrad.zeros(3)

    def a_weight(x: Any) -> None:
        with minigrad.no_grad():
            w.add_(x)

    def a_buffer(x: Any) -> None:
        buffer.add_(x)

    def an_argument(x: Any) -> None:
        x.mul_(2)

    def a_view(x: Any) -> Any:
        y = x * 2
        y.reshape(3, 1).mul_(2)
        return y

    def viewed(x: Any) -> Any:
        y = x * 2
        z = y.reshape(3, 1)
        y.mul_(2)
        return z

    for step in (a_weight, a_buffer, an_argument, a_view, viewed):
        refused(step, "in place to a tensor that the step did not make, or to a view")


def test_closures() -> None:
    optimizer = optim.SGD([w], lr=0.1)

    def step(x: Any) -> None:
        def closure() -> Any:
            optimizer.zero_grad()
            loss = (x * w).sum()
            loss.backward()
            return loss

        optimizer.step(closure)

    refused(step, "closure")


def test_shapes_that_depend_on_values() -> None:
    for step in (
        lambda x: x[x > 2], lambda x: minigrad.nonzero(x), lambda x: minigrad.unique(x),
        lambda x: minigrad.bincount(x.astype("int64")),
        lambda x: minigrad.ops.repeat(x, x.astype("int64")),
    ):  # fmt: skip
        refused(step, "depends on the values")
    refused(lambda x: minigrad.masked_select(x, x > 2), "looks at the values")


def test_draws_that_go_around_the_random_functions() -> None:
    schedule = optim.lr_scheduler.StepLR(optim.SGD([w], lr=0.1), 2)
    refused(lambda x: x * minigrad.random.generator().random(), "generator")
    refused(lambda x: x * schedule.get_last_lr()[0], "get_last_lr")


def test_arguments() -> None:
    with pytest.raises(CaptureError, match="an argument is an array"):
        minigrad.capture(lambda x: x)(np.ones(3))
    with pytest.raises(CaptureError, match="also a variable"):
        v = weight()
        minigrad.capture(lambda x: x * v)(v)
    step = minigrad.capture(lambda a, b: a - 2 * b)
    x, y = minigrad.ones(3), minigrad.zeros(3)
    for pair in [(x, x)] * 3 + [(x, y), (y, x)] * 3:
        assert bits(step(*pair)) == bits(pair[0] - 2 * pair[1])
    named = minigrad.capture(lambda **p: p["a"] - 2 * p["b"])
    for _ in range(4):
        assert named(a=x, b=y).tolist() == [1, 1, 1]
        assert named(b=x, a=y).tolist() == [-2, -2, -2]
    signed = minigrad.capture(lambda x, zero: x * zero)
    for zero in (0.0, -0.0) * 4:
        assert bits(signed(x, zero)) == bits(x * zero)


def test_layouts_are_told_apart() -> None:
    step = minigrad.capture(lambda x: x.reshape(-1) + 1)
    for i in range(8):
        x = minigrad.tensor(np.arange(6.0).reshape(2, 3))
        x = x if i % 2 else x.T.detach()
        before = bits(x)
        assert bits(step(x)) == bits(x.reshape(-1) + 1)
        assert bits(x) == before


def test_errors_are_those_of_the_plain_step() -> None:
    def make() -> tuple[Any, Any]:
        embed = nn.Embedding(4, 2)
        optimizer = optim.SGD(embed.parameters(), lr=0.1)

        def step(i: Any) -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(embed(i), i % 2)
            loss.backward()
            optimizer.step()
            return loss

        return embed, step

    results = []
    for captured in (False, True):
        minigrad.random.seed(0)
        embed, step = make()
        step = minigrad.capture(step) if captured else step
        for _ in range(3):
            step(minigrad.tensor([0, 3]))
        with pytest.raises(IndexError) as caught:
            step(minigrad.tensor([0, 7]))
        step(minigrad.tensor([1, 2]))
        results.append((type(caught.value), str(caught.value), bits(embed.state_dict())))
    assert results[0] == results[1]


def test_errors_of_results_that_nothing_uses() -> None:
    embed = nn.Embedding(4, 2)

    @minigrad.capture
    def step(i: Any, x: Any) -> Any:
        embed(i)
        minigrad.linalg.inv(x)
        return x * 2

    good = minigrad.tensor([0, 3]), minigrad.eye(2)
    for _ in range(3):
        step(*good)
    with pytest.raises(IndexError, match="index 7 is outside of a table"):
        step(minigrad.tensor([0, 7]), good[1])
    with pytest.raises(np.linalg.LinAlgError, match="inv: Singular"):
        step(good[0], minigrad.zeros(2, 2))


def test_an_interrupt_while_a_step_is_written_down() -> None:
    stop = [True]

    def step(x: Any) -> Any:
        y = x * 2
        if stop[0]:
            raise KeyboardInterrupt
        return y

    captured = minigrad.capture(step)
    with pytest.raises(KeyboardInterrupt):
        captured(minigrad.ones(2))
    stop[0] = False
    for _ in range(4):
        assert captured(minigrad.ones(2)).tolist() == [2, 2]
    assert captured.program is not None


def test_the_line_is_that_of_the_program() -> None:
    with pytest.raises(CaptureError) as caught:
        minigrad.capture(lambda x: x.item())(minigrad.ones(1))  # here
    assert re.search(r"test_capture_refusals\.py:\d+: .*# here", str(caught.value))


@pytest.mark.parametrize("draw", [random.random, np.random.rand])
def test_random_numbers_of_others_that_decide(draw: Callable[[], float]) -> None:
    captured = minigrad.capture(lambda x: x * 2 if draw() < 2 else x * 3)  # always the same branch
    states = random.getstate(), np.random.get_state()  # noqa: NPY002
    captured(minigrad.ones(2))
    with pytest.raises(CaptureError, match=r"use minigrad\.random"):
        captured(minigrad.ones(2))
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
