"""State both ways: PyTorch loads what is saved here, and what PyTorch saves is loaded here."""

import copy
import importlib
import io
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import minigrad  # noqa: E402
import minigrad.torch as door  # noqa: E402

SCHEDULES: dict[str, Callable[[Any, Any], Any]] = {
    "LambdaLR": lambda s, o: s.LambdaLR(o, [lambda step: 0.9**step, lambda step: 1 / (1 + step)]),
    "LambdaLR of an object": lambda s, o: s.LambdaLR(o, [Falling(), Falling()]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda step: 1 - 0.01 * step),
    "StepLR": lambda s, o: s.StepLR(o, 3),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 7, 7]),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.5, 7),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.2, 0.7, 9),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 12, 2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 8),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, [0.5, 0.6], 4, 3),
    "CyclicLR exp_range": lambda s, o: s.CyclicLR(
        o, 0.1, 0.5, 4, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "CyclicLR of an object": lambda s, o: s.CyclicLR(o, 0.1, 0.5, 4, scale_fn=Falling()),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, [0.5, 0.6], total_steps=20, final_div_factor=9.0),
    "OneCycleLR three_phase": lambda s, o: s.OneCycleLR(
        o, 0.5, total_steps=20, three_phase=True, anneal_strategy="linear"
    ),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, "max", patience=1, min_lr=[0, 0.01]),
    "SWALR": lambda s, o: s.SWALR(o, 0.05, 9),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o), s.CyclicLR(o, 0.1, 0.5, 4)], [7]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.5, 4), s.MultiStepLR(o, [3, 8])]
    ),
}
"""Each of PyTorch's schedules, of the schedules of a world and an optimizer."""

OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adamax": {}, "NAdam": {},
    "RAdam": {}, "RMSprop": {"momentum": 0.5, "centered": True}, "Adagrad": {}, "Adadelta": {},
    "Rprop": {}, "ASGD": {}, "LBFGS": {},
}  # fmt: skip
NOT_SAVED = {"anneal_func", "_is_initial", "_get_lr_called_within_step"}
"""A function, and marks of a step that is under way."""
RATES = itertools.count(1)


class Falling:
    """A factor with a rate of its own, which is in the state."""

    def __init__(self) -> None:
        self.rate = next(RATES)

    def __call__(self, step: int) -> float:
        return 1 / (1 + step * self.rate)


class World:
    """An optimizer of two groups with a schedule, in one of the worlds."""

    def __init__(self, world: Any, name: str, options: Any, make: Any) -> None:
        self.parameters = [
            world.tensor([1.0, -0.5], requires_grad=True),
            world.tensor([[2.0]], requires_grad=True),
        ]
        kind = getattr(world.optim, name)
        groups: Any = self.parameters
        if name != "LBFGS":
            groups = [{"params": groups[:1]}, {"params": groups[1:], "lr": 0.03}]
        self.optimizer = kind(groups, lr=0.05, **options)
        module = world.optim.lr_scheduler
        module.SWALR = world.optim.swa_utils.SWALR
        self.schedule = make(module, self.optimizer)

    def run(self, steps: range) -> list[Any]:
        """What the parameters, and the options of the groups, are after each step."""
        seen = []
        for step in steps:

            def closure() -> Any:
                self.optimizer.zero_grad()
                loss = sum((p * p).sum() for p in self.parameters)
                loss.backward()
                return loss

            self.optimizer.step(closure)
            needs = type(self.schedule).__name__ == "ReduceLROnPlateau"
            self.schedule.step(*[1.0 + step % 4] if needs else [])
            groups = self.optimizer.param_groups
            options = [(g["lr"], g.get("momentum"), g.get("betas")) for g in groups]
            numbers = [p.detach().numpy().copy() for p in self.parameters]
            seen.append((numbers, options, self.schedule.get_last_lr()))
        return seen

    def state(self) -> list[Any]:
        numbers = [p.detach().clone() for p in self.parameters]
        return [numbers, self.optimizer.state_dict(), self.schedule.state_dict()]

    def load(self, state: list[Any]) -> None:
        for own, saved in zip(self.parameters, state[0], strict=True):
            own.data[...] = saved
        self.optimizer.load_state_dict(state[1])
        self.schedule.load_state_dict(state[2])


def filed(value: Any, save: Any, load: Any, **options: Any) -> Any:
    """A value after it was in a file."""
    file = io.BytesIO()
    save(value, file)
    file.seek(0)
    return load(file, **options)


def go_on(first: Any, second: Any, state: Any) -> None:
    """One world takes five steps; the other goes on as it does."""
    second.run(range(2))
    second.load(state)
    wanted, found = first.run(range(5, 15)), second.run(range(5, 15))
    for one, other in zip(found, wanted, strict=True):
        for mine, theirs in zip(one[0], other[0], strict=True):
            np.testing.assert_allclose(mine, theirs, 1e-5, 1e-6)
        for mine, theirs in zip(one[1] + [one[2]], other[1] + [other[2]], strict=True):
            assert [x for x in mine if x is not None] == [
                pytest.approx(x, rel=1e-6) for x in theirs if x is not None
            ]


CASES = [
    *((name, "SGD", OPTIMIZERS["SGD"], make) for name, make in SCHEDULES.items()),
    ("of betas", "AdamW", {}, SCHEDULES["CyclicLR"]),
    ("one cycle of betas", "AdamW", {}, SCHEDULES["OneCycleLR"]),
    *((name, name, options, lambda s, o: s.StepLR(o, 3)) for name, options in OPTIMIZERS.items()),
]


@pytest.mark.parametrize(
    ("name", "options", "make"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
@pytest.mark.filterwarnings("ignore")  # theirs warns of its own calls
def test_an_optimizer_and_its_schedule_go_on_in_the_other_world(
    name: str, options: Any, make: Any
) -> None:
    ours, theirs = (World(world, name, options, make) for world in (door, torch))
    ours.run(range(5))
    theirs.run(range(5))
    mine, other = ours.state(), theirs.state()
    assert mine[2].keys() == other[2].keys() - NOT_SAVED
    for one, two in zip(mine[1]["param_groups"], other[1]["param_groups"], strict=True):
        assert two.keys() - {"foreach", "fused", "capturable", "differentiable"} <= one.keys()
    other[2].pop("anneal_func", None)  # a function, which no file of values has
    as_ours = filed(copy.deepcopy(other), torch.save, minigrad.load)
    as_theirs = filed(mine, minigrad.save, torch.load, weights_only=True)
    go_on(theirs, World(door, name, options, make), as_ours)
    go_on(ours, World(torch, name, options, make), as_theirs)


def a_scaler(world: Any) -> Any:
    return world.amp.GradScaler("cpu", growth_interval=7)


def an_average(world: Any) -> Any:
    model = world.nn.Sequential(world.nn.Linear(2, 2), world.nn.BatchNorm1d(2))
    average = world.optim.swa_utils.AveragedModel(model)
    average.update_parameters(model)
    return average


def pruned(world: Any) -> Any:
    return world.nn.utils.prune.l1_unstructured(world.nn.Linear(4, 3), "weight", 5)


def normed(world: Any) -> Any:
    return world.nn.utils.parametrizations.weight_norm(world.nn.Linear(4, 3))


def recurrent(world: Any) -> Any:
    return world.nn.LSTM(3, 4, num_layers=2, bidirectional=True)


@pytest.mark.parametrize("make", [a_scaler, an_average, pruned, normed, recurrent])
def test_other_states_go_both_ways(make: Any) -> None:
    importlib.import_module("torch.nn.utils.prune")
    for one, other, save, load in (
        (door, torch, minigrad.save, partial(torch.load, weights_only=True)),
        (torch, door, torch.save, minigrad.load),
    ):
        first, second = make(one), make(other)
        state = first.state_dict()
        second.load_state_dict(filed(state, save, load))
        found = second.state_dict()
        assert list(found) == list(state)
        for name, value in state.items():
            if name != "scale":  # there is nothing to scale here
                np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(value))
        if hasattr(state, "_metadata"):
            versions = [{k: dict(v) for k, v in s._metadata.items()} for s in (state, found)]
            assert versions[0] == versions[1]
