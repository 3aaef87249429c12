"""What a captured step reads of Python: once, except for what moves the version number."""

import copy
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from both_ways import Made, batches, bits, check, owning, updated

import minigrad
from minigrad import nn, optim
from minigrad.compiler import CaptureError
from minigrad.compiler.captured import _Entry

CALLS = batches(9, (2, 3))


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Dropout(0.0), nn.BatchNorm1d(3)])
        self.scale = 1.0
        self.shifts = [0.0]

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x * self.scale + sum(self.shifts)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a number": lambda m: setattr(m, "scale", 3.0),
    "a container": lambda m: setattr(m, "shifts", [1.0, 2.0]),
    "a list and a number": lambda m: (m.shifts.append(1.0), setattr(m, "scale", 2.0)),
    "an idle dropout": lambda m: setattr(m.layers[1], "p", 0.5),
    "a layer of a list": lambda m: m.layers.__setitem__(0, nn.Linear(3, 3)),
    "a layer less": lambda m: m.layers.__delitem__(0),
    "a layer more": lambda m: m.layers.append(nn.Tanh()),
    "eval": lambda m: m.eval(),
    "a part in eval": lambda m: m.layers[2].eval(),
    "a forward hook": lambda m: m.layers[0].register_forward_hook(lambda m, x, y: y * 2),
    "a gradient hook": lambda m: m.layers[0].weight.register_hook(lambda g: g * 2),
    "requires_grad": lambda m: setattr(m.layers[0].weight, "requires_grad", False),
    "data": lambda m: setattr(m.layers[0].weight, "data", np.ones((3, 3), np.float64)),
    "a buffer": lambda m: setattr(m.layers[2], "running_mean", minigrad.ones(3)),
    "momentum": lambda m: setattr(m.layers[2], "momentum", 0.5),
    "the dtype": lambda m: m.to(minigrad.float64),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_recorded_anew(name: str) -> None:
    def step(x: Any, model: Any) -> Any:
        model.zero_grad()
        loss = (model(x) ** 2).sum()
        loss.backward()
        return loss

    def between(i: int, owners: Any) -> None:
        if i == 5:
            CHANGES[name](owners[0])

    check(owning(lambda: [Scaled()], step), CALLS, between)


def test_a_standalone_idle_module() -> None:
    drop = nn.Dropout(0.0)
    step = minigrad.capture(lambda x: drop(x) * 2)
    for _ in range(5):
        step(minigrad.ones(50))
    drop.p = 0.5
    assert (step(minigrad.ones(50)) == 0).any()


def test_eval_and_train_within_a_step() -> None:
    model = lambda: [nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))]
    step = lambda x, model: (model.eval()(x).sum(), model.train()(x).sum())
    check(owning(model, step), CALLS)


def trained(options: Callable[[Any], Any], schedule: bool = False) -> Callable[[], Made]:
    """A step that returns what it does with the options of its optimizer."""

    def owners() -> Any:
        layer = nn.Linear(3, 1)
        optimizer = optim.SGD(layer.parameters(), lr=0.5)
        return layer, optimizer, optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x: Any, layer: Any, optimizer: Any, decay: Any) -> Any:
        found = options(optimizer.param_groups[0])
        loss = updated(optimizer, (layer(x) ** 2).sum())
        if schedule:
            decay.step()
        return found, loss, loss * optimizer.param_groups[0]["lr"]

    return owning(owners, step)


@pytest.mark.parametrize("schedule", [True, False])
def test_options_are_inputs_and_effects(schedule: bool) -> None:
    def between(i: int, owners: Any) -> None:
        if i == 4:
            owners[1].param_groups[0].update(lr=0.125, momentum=0.5)

    step = check(trained(lambda group: group["lr"], schedule), CALLS, between)
    assert step._made == 1
    for use in (
        lambda group: group.get("lr"),
        lambda group: group.__setitem__("lr", 0.25),
        lambda group: group.update(lr=0.25),
    ):
        check(trained(use, schedule), CALLS, between)


def test_options_with_which_python_computes_are_compared() -> None:
    def between(i: int, owners: Any) -> None:
        owners[1].param_groups[0]["lr"] = 0.5 if i < 6 else 0.25

    check(trained(lambda group: group["lr"] * 2), CALLS * 2, between)
    check(trained(lambda group: 1.0 if group["lr"] > 0.3 else 2.0), CALLS * 2, between)


# The key and the results ------------------------------------------------------------------------


def test_the_structure_of_the_arguments_is_part_of_the_key() -> None:
    others = (None, [], (), {}, [None], (None,), [()], 1, 1.0, True, "1", -0.0, 0.0, np.float64(1))

    @minigrad.capture
    def step(x: Any, other: Any) -> Any:
        return x * (1 + next(i for i, each in enumerate(others) if each is other))

    for _ in range(5):
        for i, other in enumerate(others):
            assert step(minigrad.ones(2), other).tolist() == [1 + i, 1 + i]


class Pair(NamedTuple):
    first: Any
    second: float


@dataclass
class Output:
    loss: Any
    others: list[Any]


def test_results_are_structures_as_the_step_returns_them() -> None:
    def step(x: Any) -> Any:
        y = x * 2
        top = minigrad.topk(x.reshape(-1), 2)
        return Output(y, [y, Pair(y + 1, 2.0), None, "done"]), top, {"parts": minigrad.split(x, 2)}

    check(lambda: (step, []), CALLS)
    captured = minigrad.capture(step)
    for _ in range(4):
        output, top, _ = captured(minigrad.ones(2, 3))
        assert output.loss is output.others[0]
        assert type(output.others[1]) is Pair
        assert top.values.tolist() == [1, 1]


def test_no_array_is_returned_twice() -> None:
    step = lambda x: (x * 2, x * 2, minigrad.ones(3), minigrad.zeros(3).reshape(3, 1))
    captured = minigrad.capture(step)
    kept: list[np.ndarray] = []
    for _ in range(6):
        results = captured(minigrad.ones(3))
        assert [each.sum().item() for each in results] == [6, 6, 3, 0]
        for each in results:
            assert not any(np.shares_memory(each.numpy(), other) for other in kept)
            kept.append(each.numpy())
            each.add_(1)


# `verify` ---------------------------------------------------------------------------------------


def changing(verify: bool | int) -> list[float]:
    """A step that uses a number of Python, which changes after the third call."""
    factor = [1.0]
    step = minigrad.capture(lambda x: x * factor[0], verify=verify)
    found = []
    for i in range(8):
        factor[0] = 1.0 if i < 3 else 5.0
        try:
            found.append(step(minigrad.ones(1)).item())
        except CaptureError as error:
            assert "uses a value in multiply that changes" in str(error)
            assert "test_capture_python.py:" in str(error)
            found.append(-error.result.item())
    return found


def test_verify_finds_a_number_that_python_changed() -> None:
    assert changing(True) == changing(1) == [1, 1, 1, -5, 5, 5, 5, 5]
    assert changing(5) == [1, 1, 1, 1, -5, 5, 5, 5]
    assert changing(False) == [1] * 8


def test_when_calls_are_verified() -> None:
    entry = _Entry((), [])
    due = []
    for entry.calls in range(1, 70):
        due += [entry.calls + 2] if entry.is_due(True) else []
    assert due == [4, 8, 16, 32, 64]


def test_a_first_call_that_differs_is_recorded_once_more() -> None:
    cache: list[Any] = []

    def step(x: Any) -> Any:
        if not cache:
            cache.append(minigrad.arange(3).astype("float32"))
        return x * cache[0]

    captured = minigrad.capture(step)
    for i in range(6):
        assert captured(minigrad.full(3, float(i))).tolist() == [0, i, 2 * i]
    assert captured.program is not None


# Methods, copies and threads --------------------------------------------------------------------


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.scale = nn.Linear(3, 3), 2.0
        self.evaluate = minigrad.capture(self.forward)

    def forward(self, x: Any) -> Any:
        return self.layer(x)

    @minigrad.capture
    def step(self, x: Any) -> Any:
        return self.layer(x) * self.scale


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_methods_and_copies_of_a_model_that_holds_its_captures(copied: Any) -> None:
    first, second = Model(), Model()
    x = minigrad.ones(1, 3)
    for model in (first, second) * 5:
        assert bits(model.step(x)) == bits(model.layer(x) * model.scale)
        model.evaluate(x)
    assert first.step.program is not None
    assert first.step is not second.step
    third = copied(first)
    with minigrad.no_grad():
        third.layer.weight.mul_(2)
    third.scale = 3.0
    for model in (first, third) * 5:
        assert bits(model.step(x)) == bits(model.layer(x) * model.scale)
        assert bits(model.evaluate(x)) == bits(model.layer(x))
    assert Model.step.__name__ == "step"


def test_an_object_without_a_dict() -> None:
    class Slots:
        __slots__ = ("scale",)

        @minigrad.capture
        def step(self, x: Any) -> Any:
            return x * self.scale

    one, other = Slots(), Slots()
    one.scale, other.scale = 2.0, 3.0
    for _ in range(4):
        assert one.step(minigrad.ones(1)).item() == 2
        assert other.step(minigrad.ones(1)).item() == 3


def test_threads_that_share_a_first_call() -> None:
    weights = minigrad.randn(3, 3)
    step = minigrad.capture(lambda x: (x @ weights).tanh())
    wrong: list[Any] = []
    start = threading.Barrier(4)

    def work(seed: int) -> None:
        start.wait()
        for (x,) in batches(30, (2, 3), seed=seed):
            if bits(step(x)) != bits((x @ weights).tanh()):
                wrong.append(x)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert not wrong
    assert step.program is not None


def by_number(layers: Any, x: Any) -> Any:
    for i in range(len(layers)):
        x = layers[i](x)
    return x


def by_key(layers: Any, x: Any) -> Any:
    for layer in layers.values():
        x = layer(x)
    return x


def in_order(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = layer(x)
    return x


@pytest.mark.parametrize(
    ("make", "run"),
    [
        (lambda: nn.ModuleList([nn.Linear(2, 2)]), in_order),
        (lambda: nn.ModuleList([nn.Linear(2, 2)]), by_number),
        (lambda: nn.Sequential(nn.Linear(2, 2)), in_order),
        (lambda: nn.ModuleDict({"a": nn.Linear(2, 2)}), by_key),
        (lambda: nn.ParameterList([minigrad.randn(2, 2)]), lambda own, x: sum(x @ w for w in own)),
    ],
    ids=["iterated", "by number", "a chain", "a dict", "parameters"],
)
def test_a_container_whose_entries_are_read_is_reached(make: Any, run: Any) -> None:
    """It was not, unless it was called: an entry more was silently left out until a check."""
    layers, x = make(), minigrad.randn(3, 2)
    step = minigrad.capture(lambda x: run(layers, x).sum(), verify=False)
    plain = isinstance(layers, nn.ParameterList)
    new = lambda: nn.Parameter(minigrad.randn(2, 2)) if plain else nn.Linear(2, 2)
    for _ in range(3):
        step(x)
    if isinstance(layers, nn.ModuleDict):
        layers["b"] = new()
    else:
        layers.append(new())
    assert step(x).item() == pytest.approx(run(layers, x).sum().item())
    layers["a" if isinstance(layers, nn.ModuleDict) else 0] = new()
    for _ in range(3):
        assert step(x).item() == pytest.approx(run(layers, x).sum().item())
