"""What a replay could not repeat is refused, with the line of the user's program and a remedy.

The step is refused before it has changed anything. If it has, it runs plainly from then on, and a
warning says why.
"""

import random
import re
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_ways import bits, updated

import minigrad
from minigrad import distributed, nn, optim
from minigrad.compiler import CaptureError
from minigrad.nn import functional as F


def weight() -> Any:
    return minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)


def plain_and_captured(step: Callable[..., Any], *calls: tuple[Any, ...]) -> None:
    """A captured step returns in each call what it returns plainly, bit for bit."""
    captured = minigrad.capture(step)
    for call in calls:
        assert bits(captured(*call)) == bits(step(*call))


def refused(step: Callable[..., Any], what: str, calls: int = 3) -> None:
    """A step of a tensor is refused within `calls` calls, and the message names this file."""
    captured = minigrad.capture(step)
    with pytest.raises(CaptureError, match=what) as caught:  # noqa: PT012  # any of the calls
        for i in range(calls):
            captured(minigrad.full(3, 1.0 + i))
    assert "test_capture_refusals.py:" in str(caught.value)
    assert str(caught.value).startswith("capture: ")


w = weight()
# Every way out of a tensor is told by one event: tests/tracing/test_record.py.
LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x.sum().item(),
    "item with a history": lambda x: (x * w).sum().item(),
    "bool": lambda x: x if x.sum() > 0 else -x,
    "numpy": lambda x: x.numpy(),
    "allclose": lambda x: minigrad.allclose(x, x * 2),
    "repr": lambda x: repr(x * 2),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_values_that_python_looks_at(look: Callable[[Any], Any]) -> None:
    refused(look, r"looks at the values of a tensor.*return the tensor")


def runs_plainly(step: Callable[..., Any], what: str, calls: int = 4) -> list[Any]:
    """A step of a tensor runs plainly with one warning; what it returned."""
    captured = minigrad.capture(step)
    with pytest.warns(RuntimeWarning, match=what) as caught:
        results = [captured(minigrad.full(3, 1.0 + i)) for i in range(calls)]
    assert len(caught) == 1
    assert "test_capture_refusals.py:" in str(caught[0].message)
    assert captured.program is None
    return results


def test_what_has_changed_something_runs_to_its_end() -> None:
    def trained(captured: bool) -> list[Any]:
        v = weight()
        optimizer = optim.SGD([v], lr=0.1)

        step = lambda x: updated(optimizer, (x * v).sum()).item()

        if captured:
            return [*runs_plainly(step, r"looks at the values.*\.item\(\)"), bits(v)]
        return [*(step(minigrad.full(3, 1.0 + i)) for i in range(4)), bits(v)]

    assert trained(True) == trained(False)


def test_writes_of_what_no_op_computed() -> None:
    v = weight()
    refused(lambda x: setattr(w, "data", np.ones(3, "f4")), "no op of the step computed")
    runs_plainly(lambda x: setattr(v, "data", minigrad.ones(3)), "no op of the step read")


def test_data_is_written_in_each_call() -> None:
    def trained(captured: bool) -> list[Any]:
        v = weight()

        def step(x: Any) -> Any:
            loss = (x * v).sum()
            loss.backward()
            v.data -= 0.1 * v.grad
            v.grad = None
            return loss

        called = minigrad.capture(step) if captured else step
        return [*(bits(called(minigrad.full((3,), 1.0 + i))) for i in range(4)), bits(v)]

    assert trained(True) == trained(False)


def test_results_of_earlier_graphs() -> None:
    early = (w * 2).exp()
    refused(lambda x: (x * early).sum().backward(retain_graph=True), "ran before the step")
    with pytest.raises(CaptureError, match="pass it detached"):
        minigrad.capture(lambda x: x * 2)(w * 2)


def test_tensors_made_of_what_changes() -> None:
    draw = np.random.default_rng(0)
    count, clock = iter(range(100)), time.perf_counter
    refused(lambda x: x + minigrad.tensor(draw.random(3)), "changes from call to call")
    refused(lambda x: x * clock(), "changes from call to call")
    refused(lambda x: x * next(count), "changes from call to call")
    refused(lambda x: x if next(count) % 2 else x * 2, "ran|runs|returns")


def test_attributes_that_the_step_changes() -> None:
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

    for model, what in ((Counted(), "calls of Counted"), (Remembering(), "last of Remembering")):
        captured = minigrad.capture(lambda x, model=model: model(x))
        captured(minigrad.ones(3))
        with pytest.raises(CaptureError, match=f"the step changes {what}") as caught:
            captured(minigrad.ones(3))
        assert (caught.value.result > 1).all()


def test_many_programs() -> None:
    """32 are kept; a step that always meets other constants runs plainly."""
    captured = minigrad.capture(lambda x, n: x * n)
    x = minigrad.ones(2)
    with pytest.warns(RuntimeWarning, match="more than 64 different shapes, constants") as caught:
        for i in range(100):
            assert captured(x, i).tolist() == [i, i]
    assert len(caught) == 1
    lengths = minigrad.capture(lambda x: x * 2)
    for n in [*range(1, 51), *[50] * 4]:
        assert lengths(minigrad.ones(n)).tolist() == [2] * n
    assert lengths.program is not None


def test_writes_to_what_is_seen_outside() -> None:
    buffer = minigrad.zeros(3)
    part = buffer[1:]

    def an_older_view(x: Any) -> None:
        view = buffer.detach()[1:].detach()
        buffer.add_(x)
        view.mul_(2)

    runs_plainly(an_older_view, "an older view")
    captured = minigrad.capture(lambda x: part.add_(x[1:]))
    for _ in range(5):
        captured(minigrad.full(3, 1.0))
        before = buffer.tolist()
        assert before[1] == part.tolist()[0]
        assert before[2] == before[1]
    with pytest.raises(CaptureError, match="share their memory"):
        minigrad.capture(lambda a, b: a + b)(buffer, buffer.detach())


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
    refused(lambda x: F.one_hot(x.astype("int64")), "looks at the values")


def test_draws_that_go_around_the_random_functions() -> None:
    schedule = optim.lr_scheduler.StepLR(optim.SGD([w], lr=0.1), 2)
    refused(lambda x: x * minigrad.random.generator().random(), "takes the generator itself")
    refused(lambda x: x * schedule.get_last_lr()[0], "get_last_lr")


def test_arguments() -> None:
    with pytest.raises(CaptureError, match="an argument is an array"):
        minigrad.capture(lambda x: x)(np.ones(3))
    v, x, y = weight(), minigrad.ones(3), minigrad.zeros(3)
    plain_and_captured(lambda x: x * v, *((each,) for each in (v, v, v, x, v, x, x, v)))
    plain_and_captured(lambda a, b: a - 2 * b, *[(x, x)] * 3, *[(x, y), (y, x)] * 3)
    plain_and_captured(lambda x, zero: x * zero, *[(x, 0.0), (x, -0.0)] * 4)
    given = minigrad.capture(lambda batch: batch.update(out=batch["x"] * 2))
    with pytest.raises(CaptureError, match="changes its arguments"):
        given({"x": minigrad.ones(2)})
    with pytest.raises(CaptureError, match="returns a object"):
        minigrad.capture(lambda x: object())(x)
    named = minigrad.capture(lambda **p: p["a"] - 2 * p["b"])
    for _ in range(4):
        assert named(a=x, b=y).tolist() == [1, 1, 1]
        assert named(b=x, a=y).tolist() == [-2, -2, -2]


def test_layouts_are_told_apart() -> None:
    x = minigrad.tensor(np.arange(6.0).reshape(2, 3))
    before = bits(x)
    plain_and_captured(lambda x: x.reshape(-1) + 1, *[(x.T.detach(),), (x,)] * 4)
    assert bits(x) == before


def test_errors_are_those_of_the_plain_step() -> None:
    results = []
    for captured in (False, True):
        minigrad.random.seed(0)
        embed = nn.Embedding(4, 2)
        optimizer = optim.SGD(embed.parameters(), lr=0.1)
        plain = lambda i: updated(optimizer, F.cross_entropy(embed(i), i % 2))  # noqa: B023
        step = minigrad.capture(plain) if captured else plain
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
    for _ in range(4):
        step(*good)
    with pytest.raises(IndexError, match="index 7 is outside of a table"):
        step(minigrad.tensor([0, 7]), good[1])
    with pytest.raises(np.linalg.LinAlgError, match="inv: the matrix is singular"):
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
    with pytest.raises(CaptureError, match=r"use minigrad\.random"):
        captured(minigrad.ones(2))
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002


@pytest.mark.parametrize("collective", ["all_reduce", "all_gather", "broadcast", "ppermute"])
def test_collectives(collective: str) -> None:
    call = getattr(distributed, collective)
    refused(lambda x: call(x) * 2, "calls a collective, in which all ranks take part")
