"""The record of a run: complete, so that all of it can be computed again from what was there."""

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from custom_functions import Cube
from executed_again import Copied, held

import minigrad
from minigrad import Tensor, nn, optim, tensor
from minigrad.autograd import checkpoint, grad
from minigrad.tracing import Step, Trace, Value


def leaf(*values: float) -> Tensor:
    return tensor(np.array(values), requires_grad=True)


def names(trace: Trace, phase: str = "forward") -> list[str]:
    return [step.what for step in trace.steps if step.phase == phase]


def only(trace: Trace, what: str) -> Step:
    (step,) = [step for step in trace.steps if step.what == what]
    return step


def test_ops_sums_and_gradients_are_steps() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    with Copied() as trace:
        y = x * w
        (y * y + x).sum().backward()
    assert names(trace) == ["multiply", "multiply", "add", "sum"]
    backward = "sum add multiply accumulate multiply accumulate"
    assert names(trace, "backward") == backward.split()
    assert [value.tensor for value in trace.outside if value.tensor is not None] == [x, w]
    assert names(trace, "effect") == ["add_to_grad"] * 2
    held(trace)


def test_conversions_are_steps() -> None:
    x, mask = tensor(np.ones(2, np.float32)), np.array([True, False])
    with Copied() as trace:
        y = x * mask
        _ = minigrad.arange(2) / 2
        _ = y * np.float64(2.0)
        _ = minigrad.add(y, [1.0, 2.0])
    assert names(trace) == ["astype", "multiply", "astype", "divide", "multiply", "add"]
    (converted,) = trace.steps[0].outputs
    assert trace.steps[1].arguments == {"a": trace.value(x), "b": converted}
    assert trace.steps[4].arguments["b"] == 2.0
    assert type(trace.steps[4].arguments["b"]) is float
    assert held(trace) > 6


def test_the_callers_array_is_one_value_and_nobody_listens_afterwards() -> None:
    array, x = np.array([1.0, 2.0]), leaf(1.0, 2.0)
    with Trace() as trace:
        _ = x * array + array
    _ = x * 2
    assert len(trace.outside) == 2
    assert names(trace) == ["multiply", "add"]


@pytest.mark.parametrize("recorded", [True, False])
def test_a_write_makes_a_new_value(recorded: bool) -> None:
    """By index, in place and through views, whether anything requires a gradient or not."""
    x = leaf(1.0, 2.0, 3.0) if recorded else Tensor([1.0, 2.0, 3.0])
    with Copied() as trace:
        h = x * 2
        first = trace.value(h)
        h[1:] = x[:2]
        second = trace.value(h)
        h[0].mul_(5.0)
        h += 1
        view = h[1:]
        view *= 2
        total = h.sum()
    assert len({first, second, trace.value(h)}) == 3
    assert names(trace).count("setitem") == 3
    assert trace.value(h).array.tolist() == h.tolist() == [11.0, 4.0, 6.0]
    assert trace.value(total).array == total.item()
    held(trace)


def test_writes_without_recording_to_what_was_there_before() -> None:
    buffer, count = Tensor([1.0, 2.0, 3.0]), Tensor([0.0])
    with Copied() as trace:
        buffer[0] = 5.0
        nn.init.ones(count)
        count.data = np.array([7.0])
        _ = buffer + count
    before = [value for value in trace.outside if value.tensor is buffer]
    assert [value.array.tolist() for value in before] == [[1.0, 2.0, 3.0]]
    assert names(trace, "write") == ["copy"]
    held(trace)


def test_a_detached_tensor_is_a_step() -> None:
    x = leaf(1.0, 2.0)
    with Trace() as trace:
        y = x * 2
        z = y.detach() * y
        y.detach().add_(1.0)
        _ = y + z
    assert names(trace) == ["multiply", "detach", "multiply", "detach", "add", "add"]
    cut, product, last = trace.steps[1], trace.steps[2], trace.steps[-1]
    assert product.reads == [cut.outputs[0], trace.steps[0].outputs[0]]
    assert last.arguments["a"] is trace.steps[4].outputs[0]  # the write reached y


def test_what_is_composed_has_its_parts_inside() -> None:
    x = leaf(1.0, 2.0)
    with Trace() as trace:
        y = Cube.apply(x)
        z = checkpoint(lambda y: y.exp().tanh(), y)
        z.sum().backward()
    for step in trace.steps:
        if step.phase == "forward" and step.what in ("Cube", "checkpoint"):
            assert len([part for part in trace.steps if part.inside is step]) == 2
    (pulled,) = [s for s in trace.steps if s.what == "Cube" and s.phase == "backward"]
    assert [s.what for s in trace.steps if s.inside is pulled] == ["multiply"] * 3
    assert pulled.outputs[0] is trace.steps[trace.steps.index(pulled) - 1].outputs[0]


def test_hooks_are_effects_with_their_ops_inside() -> None:
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: g * 10)
    with Trace() as trace:
        (x * x).sum().backward()
    hook = only(trace, "call_hook")
    (scaled,) = [step for step in trace.steps if step.inside is hook]
    assert scaled.what == "multiply"
    assert scaled.arguments["a"] in hook.reads
    assert scaled.outputs == hook.outputs


def test_a_recorded_pass_is_recorded() -> None:
    x = leaf(1.0, 2.0)
    with Copied() as trace:
        (first,) = grad((x * x * x).sum(), x, create_graph=True)
        grad((first * first).sum(), x)
    assert names(trace).count("multiply") > 5
    held(trace)


@pytest.mark.parametrize(
    ("look", "door"),
    [
        (lambda x: x.item(), ".item()"), (float, ".item()"), (int, ".item()"), (bool, "bool()"),
        (lambda x: x.tolist(), ".tolist()"), (lambda x: x.numpy(), ".numpy()"),
        (np.asarray, "np.asarray()"), (lambda x: np.asarray(x, np.float32), "np.asarray()"),
        (lambda x: f"{x:.2f}", ".item()"), (repr, "repr()"),
        (lambda x: 1.0 in x, "the operator in"), (lambda x: x.__dlpack__(), "another library"),
        (lambda x: x.__getstate__(), "pickle or a copy"),
        (lambda x: range(9)[x.astype(int)], "a tensor as an index"),
    ],
)  # fmt: skip
def test_every_door_is_told(look: Any, door: str) -> None:
    x = tensor(np.array(2.0))
    with Trace() as trace:
        look(x)
    assert [step.what for step in trace.steps if step.phase == "left"] == [door]


def test_effects_and_what_they_write() -> None:
    layer, x = nn.Linear(2, 2), minigrad.ones(1, 2)
    optimizer = optim.SGD(layer.parameters(), lr=0.1)
    with Copied() as trace:
        before = trace.value(layer.weight)
        layer(x).sum().backward()
        optimizer.step()
        after = trace.value(layer.weight)
        out = layer(x)
    assert after is not before
    assert trace.value(out).step.reads[1] is after  # type: ignore[union-attr]
    np.testing.assert_array_equal(after.array, layer.weight.numpy())


def test_random_numbers_are_values() -> None:
    drop = nn.Dropout(0.5)
    with Copied() as trace:
        drop(minigrad.ones(8))
    key = trace.steps[0]
    assert key.phase == "effect"
    assert key.outputs[0] in trace.steps[-1].reads
    held(trace)


def test_lines_and_modules_are_found() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    with Trace(lines=True) as trace:
        grad(model(minigrad.ones(1, 2)).sum() ** 2, model[0].weight, create_graph=True)
    assert all(Path(__file__).name in step.line for step in trace.steps), trace.steps
    linear = [step for step in trace.steps if step.what == "linear"]
    assert {step.scope.path for step in linear if step.scope} == {"0"}


def test_a_trace_need_not_keep_anything_alive() -> None:
    x = leaf(1.0, 2.0)
    gc.disable()
    try:
        with Trace(keep=False) as trace:
            y = (x * 2).exp()
            (y.sum() + (x * x).sum()).backward()
        dead = weakref.ref(y._data)
        del y
        assert dead() is None
        assert all(value.array is None for step in trace.steps for value in step.reads)
        steps = weakref.ref(trace.steps[0])
        del trace
        assert steps() is None
    finally:
        gc.enable()


def test_values_are_shown_by_their_numbers() -> None:
    x = leaf(1.0, 2.0)
    with Trace() as trace:
        x[0] * 2
    assert repr(trace.steps[0]) == "%1 = getitem(x=%0, index=0)"
    assert isinstance(trace.steps[0].outputs[0], Value)


def test_parts_are_written_and_read_by_slices() -> None:
    x = tensor(np.arange(12.0).reshape(3, 4))
    with Copied() as trace:
        y = x * 1
        part, row = y[:, 1:3], y[1]
        part += 1
        row.mul_(2)
        total = y.sum() + part.sum() + row[::2].sum()
    indices = [step.arguments["index"] for step in trace.steps if "index" in step.arguments]
    assert (slice(None), slice(1, 3)) in indices
    assert (1, slice(None)) in indices
    parts = [part for i in indices for part in (i if isinstance(i, tuple) else (i,))]
    assert not any(isinstance(part, (Value, np.ndarray)) for part in parts)
    assert total.item() == y.sum().item() + part.sum().item() + row[::2].sum().item()
    held(trace)
