"""Schedules: saving and going on, order of arguments, and what they refuse."""

import json
import warnings
from typing import Any

import numpy as np
import pytest
from optimizer_kinds import leaf
from schedules import SCHEDULERS

from minigrad import Tensor, optim
from minigrad.optim import lr_scheduler
from minigrad.optim.lr_scheduler import ReduceLROnPlateau, SequentialLR, StepLR

schedulers = pytest.mark.parametrize("make", SCHEDULERS.values(), ids=SCHEDULERS)


def optimizer(**options: Any) -> optim.Optimizer:
    return optim.SGD([leaf([1.0])], lr=0.2, momentum=0.9, **options)


class Wrapper:
    """An optimizer as libraries wrap it: with the options of the other."""

    def __init__(self, inner: optim.Optimizer) -> None:
        self.param_groups, self.defaults = inner.param_groups, inner.defaults


def go(scheduler: Any, steps: range) -> list[Any]:
    """Take steps; return the options of the group after each."""
    seen = []
    for step in steps:
        needs = isinstance(scheduler, ReduceLROnPlateau)
        scheduler.step(*[1.0 + step % 3] if needs else [])
        group = scheduler.optimizer.param_groups[0]
        seen.append((group["lr"], group["momentum"], scheduler.get_last_lr()))
    return seen


def test_every_schedule_is_here() -> None:
    assert {*lr_scheduler.__all__} == {*SCHEDULERS, "LRScheduler"}


@schedulers
@pytest.mark.parametrize("scheduler_first", [True, False])
def test_going_on_from_a_saved_state(make: Any, scheduler_first: bool) -> None:
    first = make(optimizer())
    go(first, range(7))
    state = json.loads(json.dumps(first.state_dict()))  # plain values
    kept = first.optimizer.state_dict()
    expected = go(first, range(7, 15))

    second = make(optimizer())
    go(second, range(2))
    pairs = [(second, state), (second.optimizer, kept)]
    for owner, saved in pairs if scheduler_first else pairs[::-1]:
        owner.load_state_dict(saved)
    assert go(second, range(7, 15)) == expected


@schedulers
def test_a_state_is_a_copy(make: Any) -> None:
    scheduler = make(optimizer())
    state = scheduler.state_dict()
    before = json.dumps(state)
    go(scheduler, range(5))
    assert json.dumps(state) == before
    scheduler.load_state_dict(state)
    go(scheduler, range(5))
    assert json.dumps(state) == before
    state["_last_lr"][0] = 7.0
    assert scheduler.get_last_lr() != [7.0] != scheduler.state_dict()["_last_lr"]
    scheduler.state_dict()["_last_lr"][0] = 7.0
    assert scheduler.get_last_lr() != [7.0]


@schedulers
def test_another_schedule_s_state_is_refused(make: Any) -> None:
    scheduler = make(optimizer())
    go(scheduler, range(3))
    before = scheduler.state_dict()
    for bad in ({}, [], {**before, "more": 1}, {**before, "_last_lr": [0.1, 0.2]}):
        with pytest.raises(ValueError, match=f"{type(scheduler).__name__}: "):
            scheduler.load_state_dict(bad)
        assert scheduler.state_dict() == before


@schedulers
def test_only_for_optimizers(make: Any) -> None:
    with pytest.raises(TypeError, match="optimizer.*list"):
        make([leaf([1.0])])


@pytest.mark.parametrize("call", [
    lambda: lr_scheduler.MultiStepLR(optimizer(), 3),
    lambda: SequentialLR(optimizer(), [StepLR(optimizer(), 1)], 3),
    lambda: SequentialLR(optimizer(), 3, [1]), lambda: lr_scheduler.ChainedScheduler(3),
])  # fmt: skip
def test_a_list_is_expected(call: Any) -> None:
    with pytest.raises(TypeError, match=r"^\w+: (milestones|schedulers) must be a list, got 3"):
        call()


@schedulers
def test_groups_that_come_later(make: Any) -> None:
    """One with the rates of the first has them in each step; options of each have none for it."""
    scheduler = make(optimizer())
    first = scheduler.optimizer.param_groups[0]
    rates = {name: first[name] for name in ("lr", "initial_lr") if name in first}
    scheduler.optimizer.add_param_group({"params": leaf([1.0]), **rates})
    for _ in range(12):
        go(scheduler, range(1))
        assert len({*scheduler.get_last_lr()}) == 1


def test_a_later_group_has_no_option_of_its_own() -> None:
    two = optim.SGD([{"params": leaf([1.0])}, {"params": leaf([1.0])}], lr=1.0)
    scheduler = lr_scheduler.LambdaLR(two, [abs, float])
    two.add_param_group({"params": leaf([1.0])})
    with pytest.raises(ValueError, match="LambdaLR: created for 2 groups with lr_lambdas"):
        scheduler.step()


def test_plateau_takes_tensors_and_needs_one() -> None:
    scheduler = ReduceLROnPlateau(optimizer(), patience=0, factor=0.5)
    scheduler.step(Tensor(1.0))
    scheduler.step(np.float32(2.0))
    assert scheduler.get_last_lr() == [0.1]
    with pytest.raises(TypeError, match=r"scheduler\.step\(loss\)"):
        scheduler.step()


def test_one_cycle_ends() -> None:
    scheduler = lr_scheduler.OneCycleLR(optimizer(), 0.5, total_steps=5)
    for _ in range(5):
        scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.5 / 25 / 1e4])
    with pytest.raises(ValueError, match="5 steps"):
        scheduler.step()


FIRST_RATES = [
    (lambda o: lr_scheduler.WarmupCosineLR(o, 0, 2), [0.2, 0.1, 0.0]),
    (lambda o: lr_scheduler.NoamScheduler(o, 16, 1), [0.25, 0.25 * 0.5**0.5]),
    (lambda o: lr_scheduler.NoamScheduler(o, 16, 4), [0.25 / 8, 0.25 / 4]),
]


@pytest.mark.parametrize(("make", "rates"), FIRST_RATES)
def test_the_first_steps(make: Any, rates: list[float]) -> None:
    """Of schedules that hardly have any: what the optimizer begins with, and what comes then."""
    scheduler = make(optimizer())
    seen = [scheduler.get_last_lr()[0], *(lr for lr, _, _ in go(scheduler, range(len(rates) - 1)))]
    assert seen == pytest.approx(rates)


def one_by_one(optimizer: Any, milestones: list[int]) -> Any:
    parts = [StepLR(optimizer, 2), lr_scheduler.ExponentialLR(optimizer, 0.5)]
    return SequentialLR(optimizer, parts, milestones)


def test_schedules_in_a_row_may_be_in_a_row() -> None:
    """The second is itself two; each begins with the initial rate."""
    sgd = optimizer()
    inner = one_by_one(sgd, [3])
    scheduler = SequentialLR(sgd, [lr_scheduler.LinearLR(sgd, 0.5), inner], [2.0])
    rates = [scheduler.get_last_lr()[0], *(lr for lr, _, _ in go(scheduler, range(7)))]
    expected = [0.1, 0.12, 0.2, 0.2, 0.02, 0.2, 0.1, 0.05]
    np.testing.assert_allclose(rates, expected, rtol=1e-12)


def test_what_a_part_refuses_leaves_the_row_as_it_was() -> None:
    scheduler = one_by_one(optimizer(), [3])
    go(scheduler, range(4))
    before = scheduler.state_dict()
    good, bad = before["_schedulers"]
    for parts in ([good, {}], [{}, bad], [good], [good, bad, bad], None):
        with pytest.raises(ValueError, match=r"(ExponentialLR|StepLR|SequentialLR): "):
            scheduler.load_state_dict({**before, "last_epoch": 1, "_schedulers": parts})
        assert scheduler.state_dict() == before


def test_epochs_of_warm_restarts_that_are_refused() -> None:
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 2, 3)
    for wrong in (-1, float("nan"), "x"):
        with pytest.raises(ValueError, match="Restarts: epoch must be"):
            scheduler.step(wrong)


@schedulers
def test_a_wrapper_does_not_say_whether_it_waits(make: Any) -> None:
    scheduler, own = make(optimizer()), make(optimizer())
    scheduler.optimizer = Wrapper(scheduler.optimizer)
    assert go(scheduler, range(3)) == go(own, range(3))


def test_who_warns_of_a_step_that_comes_too_soon() -> None:
    for name, make in SCHEDULERS.items():
        scheduler = make(optimizer())
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            go(scheduler, range(1))
        quiet = {"CosineAnnealingWarmRestarts", "ReduceLROnPlateau"}
        assert len(found) == (name not in quiet), name
        assert all(warning.filename == __file__ for warning in found), name


@pytest.mark.parametrize("last_epoch", range(0, 250, 7))
def test_warm_restarts_go_on_where_they_were(last_epoch: int) -> None:
    """PyTorch takes the wrong run then, if there was more than one restart."""
    stepped = lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 3, 3)
    go(stepped, range(last_epoch + 1))
    sgd = optimizer()
    sgd.param_groups[0]["initial_lr"] = 0.2
    made = lr_scheduler.CosineAnnealingWarmRestarts(sgd, 3, 3, last_epoch=last_epoch)
    assert made.get_last_lr() == stepped.get_last_lr()
    assert (made.T_cur, made.T_i) == (stepped.T_cur, stepped.T_i)


def test_a_cycle_without_momentum() -> None:
    plain = optim.Adagrad([leaf([1.0])])
    assert lr_scheduler.CyclicLR(plain, 0.1, 0.5, cycle_momentum=False).get_last_lr() == [0.1]


def test_a_schedule_that_does_not_say_how() -> None:
    nothing = type("Nothing", (lr_scheduler.LRScheduler,), {})
    with pytest.raises(NotImplementedError, match=r"Nothing .*get_lr"):
        nothing(optimizer())
