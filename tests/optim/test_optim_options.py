"""Every optimizer, schedule and loader: an option without sense is refused where it is given."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, data, optim
from minigrad.optim import lr_scheduler

NAN, INF = float("nan"), float("inf")
WRONG = [NAN, INF, -INF, -1, -0.5, None, "x", 1j, [NAN], (NAN, NAN), True]
NUMERIC = re.compile(r"\b(int|float)\b")


def leaf() -> Tensor:
    return Tensor([[1.0, 2.0]], requires_grad=True)  # a matrix, as Muon takes


KINDS = [getattr(optim, name) for name in optim.__all__ if name != "Optimizer"]
OPTIMIZERS = [kind for kind in KINDS if inspect.isclass(kind)]
SCHEDULES: dict[str, dict[str, Any]] = {
    "CosineAnnealingLR": {"T_max": 4}, "CosineAnnealingWarmRestarts": {"T_0": 4},
    "CyclicLR": {"base_lr": 0.1, "max_lr": 1.0}, "ExponentialLR": {"gamma": 0.5},
    "LambdaLR": {"lr_lambda": lambda step: 1.0}, "MultiplicativeLR": {"lr_lambda": abs},
    "MultiStepLR": {"milestones": [1]}, "NoamScheduler": {"model_size": 4, "warmup_steps": 2},
    "OneCycleLR": {"max_lr": 1.0, "total_steps": 5}, "SequentialLR": {"milestones": []},
    "StepLR": {"step_size": 2}, "WarmupCosineLR": {"warmup_steps": 1, "total_steps": 3},
    "LRScheduler": {}, "LinearLR": {}, "ChainedScheduler": {}, "ConstantLR": {},
    "PolynomialLR": {}, "ReduceLROnPlateau": {},
}  # fmt: skip

MEANT: dict[str, tuple[Any, ...]] = {
    "LRScheduler.last_epoch": (-1,), "CyclicLR.step_size_down": (None,),
    "OneCycleLR.epochs": (*WRONG, 0), "OneCycleLR.steps_per_epoch": (*WRONG, 0),  # not read
    **dict.fromkeys(["ReduceLROnPlateau.patience", "ConstantLR.total_iters",
                     "WarmupCosineLR.warmup_steps", "Muon.ns_steps"], (0,)),
    "DataLoader.generator": (None, True),
}  # fmt: skip
"""Odd values that mean something."""


class Idle(lr_scheduler.LRScheduler):
    def get_lr(self) -> list[float]:
        return self._lrs


def sequential(**given: Any) -> Any:
    optimizer = optim.Adam([leaf()], lr=1.0)
    parts = [lr_scheduler.StepLR(optimizer, 2)]
    return lr_scheduler.SequentialLR(optimizer, **{"schedulers": parts, "milestones": []} | given)


def makers() -> Iterator[tuple[str, Any, Callable[..., Any]]]:
    """Each class with its signature, and a function that makes one with some options."""
    for kind in OPTIMIZERS:
        yield kind.__name__, kind, lambda kind=kind, **given: kind([leaf()], **given)
    for name, needed in SCHEDULES.items():
        schedule = getattr(lr_scheduler, name) if name != "LRScheduler" else Idle
        if name == "SequentialLR":
            yield name, schedule, sequential
            continue
        yield name, schedule, lambda schedule=schedule, needed=needed, **given: schedule(
            optim.Adam([leaf()], lr=1.0), **needed | given)  # fmt: skip
    yield "DataLoader", data.DataLoader, lambda **given: data.DataLoader(range(4), **given)


MAKERS = {name: (kind, make) for name, kind, make in makers()}


def test_every_class_is_walked() -> None:
    assert set(SCHEDULES) == set(lr_scheduler.__all__)
    assert len(OPTIMIZERS) >= 10


@pytest.mark.parametrize("name", MAKERS)
def test_an_option_without_sense_is_refused_where_it_is_given(name: str) -> None:
    kind, make = MAKERS[name]
    accepted = []
    for option in inspect.signature(kind).parameters.values():
        if option.name in ("params", "optimizer", "dataset"):
            continue
        if not NUMERIC.search(str(option.annotation)):
            continue
        owner = "LRScheduler" if option.name == "last_epoch" else name
        meant = MEANT.get(f"{owner}.{option.name}", ())
        for value in WRONG + [0] * ("float" not in str(option.annotation)):
            if any(value is m or value == m for m in meant) or value == option.default:
                continue
            if value is None and "None" in str(option.annotation):
                continue
            try:
                make(**{option.name: value})
            except TypeError:
                pass  # Python says as much
            except ValueError as error:
                words = f"{kind.__name__}: .*{option.name}"
                assert re.match(words, str(error), re.DOTALL), f"{option.name}={value}: {error!r}"
            else:
                accepted.append((option.name, value))
    assert not accepted


@pytest.mark.parametrize(
    "kind", [kind for kind in OPTIMIZERS if kind is not optim.LBFGS], ids=lambda kind: kind.__name__
)
def test_an_option_set_later_is_refused_by_the_next_step(kind: Any) -> None:
    for option, value in (("lr", NAN), ("lr", INF), ("lr", -1.0), ("lr", None), ("lr", "0.1")):
        x, y = leaf(), leaf()
        optimizer = kind([{"params": [x]}, {"params": [y], "lr": 0.5}])
        (x * y).sum().backward()
        optimizer.param_groups[1][option] = value
        with pytest.raises(ValueError, match=f"{kind.__name__}: {option} "):
            optimizer.step()
        np.testing.assert_array_equal(x.numpy(), [[1.0, 2.0]])  # nothing was moved


@pytest.mark.parametrize("wrong", [NAN, INF, -1.0], ids=repr)
def test_a_rate_without_sense_is_not_set(wrong: Any) -> None:
    class Mine(lr_scheduler.LRScheduler):
        def get_lr(self) -> list[float]:
            return [wrong if self.last_epoch else 1.0]

    for make in (Mine, lambda o: lr_scheduler.LambdaLR(o, lambda step: wrong if step else 1.0)):
        optimizer = optim.SGD([leaf()], lr=0.1)
        schedule = make(optimizer)
        before = optimizer.param_groups[0]["lr"]
        with pytest.raises(ValueError, match=r"^(Mine|LambdaLR): a learning rate"):
            schedule.step()
        assert optimizer.param_groups[0]["lr"] == before
