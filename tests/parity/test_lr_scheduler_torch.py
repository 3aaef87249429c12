"""Schedules against PyTorch: the same learning rates and momenta in every step."""

import re
import warnings
from typing import Any

import numpy as np
import pytest
from side_by_side import torch

import minigrad
from minigrad import Tensor, optim
from minigrad.optim import lr_scheduler, swa_utils

THEIRS = torch.optim.lr_scheduler
Case = tuple[str, dict[str, Any]]
"""A schedule's name and its options."""


def of(name: str, **options: Any) -> Case:
    return name, options


def cyclic(**options: Any) -> Case:
    return "CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, **options}


def one_cycle(**options: Any) -> Case:
    return "OneCycleLR", {"max_lr": 0.5, "total_steps": 60, **options}


CASES = [
    of("LambdaLR", lr_lambda=lambda step: 1 / (1 + step)),
    of("LambdaLR", lr_lambda=[lambda step: 0.9**step, lambda step: 2.0 - 0.01 * step]),
    of("StepLR", step_size=7),
    of("StepLR", step_size=1, gamma=0.9),
    of("StepLR", step_size=3.0),
    of("MultiStepLR", milestones=[60 * 0.25, 20], gamma=0.5),
    of("MultiStepLR", milestones=[20, 3, 20, 11], gamma=0.5),
    of("ExponentialLR", gamma=0.9),
    of("ConstantLR"),
    of("ConstantLR", factor=0.1, total_iters=12),
    of("PolynomialLR"),
    of("PolynomialLR", total_iters=30, power=2.0),
    of("MultiplicativeLR", lr_lambda=lambda step: 0.99 - 0.001 * step),
    of("CosineAnnealingLR", T_max=40),
    of("CosineAnnealingLR", T_max=15 / 2),
    of("CosineAnnealingLR", T_max=7, eta_min=0.01),
    of("CosineAnnealingLR", T_max=1, eta_min=0.01),
    of("LinearLR"),
    of("LinearLR", total_iters=8.0),
    of("LinearLR", start_factor=0.01, end_factor=0.5, total_iters=20),
    of("LinearLR", start_factor=1.0, end_factor=0.0, total_iters=30),
    of("CosineAnnealingWarmRestarts", T_0=6),
    of("CosineAnnealingWarmRestarts", T_0=1, eta_min=0.01),
    of("CosineAnnealingWarmRestarts", T_0=5, T_mult=2, eta_min=0.01),
    cyclic(step_size_up=5),
    cyclic(step_size_up=7 / 2),
    cyclic(base_lr=[0.1, 0.2], step_size_up=3, step_size_down=8),
    cyclic(mode="triangular2"),
    cyclic(mode="exp_range", gamma=0.9),
    cyclic(scale_fn=lambda x: 1 / x**2, base_momentum=0.3, max_momentum=[0.6, 0.7]),
    cyclic(scale_fn=lambda x: 0.9**x, scale_mode="iterations", cycle_momentum=False),
    one_cycle(total_steps=50),
    of("OneCycleLR", max_lr=[0.5, 0.7], epochs=6, steps_per_epoch=9, pct_start=0.17),
    one_cycle(three_phase=True, pct_start=0.4),
    one_cycle(anneal_strategy="linear"),
    one_cycle(pct_start=0.0, cycle_momentum=False),
    one_cycle(div_factor=3.0, final_div_factor=7.0, base_momentum=0.1, max_momentum=[0.2, 0.3]),
]
PLATEAUS: list[dict[str, Any]] = [
    {},
    {"patience": 2, "factor": 0.5},
    {"patience": 0, "factor": 0.5, "cooldown": 3, "min_lr": [0.01, 0.001]},
    {"patience": 1, "mode": "max", "threshold": 0.1},
    {"patience": 1, "mode": "max", "threshold": 0.1, "threshold_mode": "abs"},
    {"patience": 1, "threshold": 0.1, "threshold_mode": "abs", "eps": 0.01},
]
ANNEALED: list[dict[str, Any]] = [
    {"swa_lr": 0.05},
    {"swa_lr": [0.05, 0.5], "anneal_strategy": "linear"},
    {"swa_lr": 0.05, "anneal_epochs": 0},
    {"swa_lr": 0.3, "anneal_epochs": 40},
]


def optimizers(name: str = "SGD") -> tuple[Any, Any]:
    """Two groups of one parameter each, ours and PyTorch's."""
    options = {"momentum": 0.9} if name == "SGD" else {}
    ours = [Tensor([1.0], requires_grad=True) for _ in range(2)]
    theirs = [torch.ones(1, requires_grad=True) for _ in range(2)]

    def groups(params: list[Any]) -> list[dict[str, Any]]:
        return [{"params": params[:1]}, {"params": params[1:], "lr": 0.3}]

    return (
        getattr(optim, name)(groups(ours), lr=0.05, **options),
        getattr(torch.optim, name)(groups(theirs), lr=0.05, **options),
    )


def numbers(optimizer: Any) -> list[float]:
    """What a schedule sets: learning rates, and momenta or first betas."""
    found = []
    for group in optimizer.param_groups:
        found += [group["lr"], *group.get("betas", [group.get("momentum")])]
    return found


def both(pair: tuple[Any, Any], name: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """The schedule of each library, of its optimizer."""
    modules = (swa_utils, torch.optim.swa_utils) if name == "SWALR" else (lr_scheduler, THEIRS)
    ours, theirs = (getattr(m, name)(o, **options) for m, o in zip(modules, pair, strict=True))
    return ours, theirs


def all_of(pair: tuple[Any, Any], cases: list[Case]) -> tuple[list[Any], list[Any]]:
    """Several schedules of ours, and PyTorch's."""
    ours, theirs = zip(*(both(pair, *case) for case in cases), strict=True)
    return [*ours], [*theirs]


def compare(pair: tuple[Any, Any], *schedulers: tuple[Any, Any], steps: int = 50) -> None:
    for step in range(steps):
        np.testing.assert_allclose(*map(numbers, pair), rtol=1e-10, err_msg=f"step {step}")
        for optimizer in pair:
            optimizer.step()
        for ours, theirs in schedulers:
            ours.step()
            theirs.step()
            np.testing.assert_allclose(ours.get_last_lr(), theirs.get_last_lr(), rtol=1e-10)


def shown(value: Any) -> str:
    """A case as the id of its test: the same in every process, so without addresses."""
    return re.sub(" at 0x[0-9a-f]+", "", str(value))[:60]


@pytest.mark.parametrize(("name", "options"), CASES, ids=shown)
def test_fifty_steps(name: str, options: dict[str, Any]) -> None:
    """Those that set momenta, on betas too."""
    for optimizer in ("SGD", "AdamW") if name in ("CyclicLR", "OneCycleLR") else ("SGD",):
        pair = optimizers(optimizer)
        compare(pair, both(pair, name, options), steps=49)


ROWS: list[tuple[list[int], list[Case]]] = [
    ([], [of("StepLR", step_size=3)]),
    ([20], [of("LinearLR", start_factor=0.1, total_iters=20), of("ExponentialLR", gamma=0.9)]),
    ([8, 20, 31], [
        of("LinearLR", total_iters=8), of("CosineAnnealingLR", T_max=12, eta_min=0.001),
        of("MultiStepLR", milestones=[4, 9]), of("LambdaLR", lr_lambda=lambda step: 0.9**step),
    ]),
    ([0, 11], [of("StepLR", step_size=3), of("LinearLR"), of("StepLR", step_size=4)]),
    ([9], [of("LinearLR"), of("CosineAnnealingWarmRestarts", T_0=7, T_mult=2)]),
    ([20], [cyclic(), one_cycle(total_steps=40)]),
]  # fmt: skip


@pytest.mark.parametrize(("milestones", "parts"), ROWS, ids=shown)
@pytest.mark.filterwarnings("ignore")  # theirs warns of its own calls
def test_one_after_another(parts: list[Case], milestones: list[int]) -> None:
    pair = optimizers()
    ours, theirs = all_of(pair, parts)
    compare(
        pair,
        (
            lr_scheduler.SequentialLR(pair[0], ours, milestones),
            THEIRS.SequentialLR(pair[1], theirs, milestones),
        ),
    )


def test_several_at_once() -> None:
    pair = optimizers()
    parts = [of("ConstantLR", total_iters=4), of("ExponentialLR", gamma=0.9)]
    parts += [of("StepLR", step_size=7)]
    mine, others = all_of(pair, parts)
    compare(pair, (lr_scheduler.ChainedScheduler(mine), THEIRS.ChainedScheduler(others)))


@pytest.mark.parametrize("options", ANNEALED, ids=shown)
def test_annealing_for_averages(options: dict[str, Any]) -> None:
    pair = optimizers()
    compare(pair, both(pair, "SWALR", options))


@pytest.mark.parametrize("options", [{"T_0": 4}, {"T_0": 2, "T_mult": 2}], ids=shown)
def test_warm_restarts_by_fractions_of_epochs(options: dict[str, Any]) -> None:
    pair = optimizers()
    ours, theirs = both(pair, "CosineAnnealingWarmRestarts", options)
    for step in [*np.arange(0, 12, 0.3), None, None, 26, None, 3.5, None, 0]:
        ours.step(step)
        theirs.step(step)
        np.testing.assert_allclose(*map(numbers, pair), rtol=1e-10, err_msg=f"step {step}")
        assert ours.last_epoch == theirs.last_epoch


@pytest.mark.parametrize("options", PLATEAUS, ids=str)
def test_plateau(options: dict[str, Any]) -> None:
    pair = optimizers()
    ours, theirs = both(pair, "ReduceLROnPlateau", options)
    rng = np.random.default_rng(0)
    measures = [5.0, 4.0, 4.1, np.nan, 3.9, -1.0, -1.05, *rng.standard_normal(60)]
    for step, measure in enumerate(measures):
        ours.step(measure)
        theirs.step(measure)
        np.testing.assert_allclose(*map(numbers, pair), rtol=1e-12, err_msg=f"step {step}")
        assert ours.best == theirs.best
        assert ours.num_bad_epochs == theirs.num_bad_epochs


def test_schedules_combine() -> None:
    """Those that go by factors, on one optimizer, in turn."""
    pair = optimizers()
    chosen = [of("CosineAnnealingLR", T_max=9, eta_min=0.01), of("StepLR", step_size=6, gamma=0.7)]
    chosen += [of("MultiStepLR", milestones=[4, 30]), of("ExponentialLR", gamma=0.97)]
    schedulers = [both(pair, *case) for case in chosen]
    # Then the cosine, which goes on from the rate that the others left, comes below 0 in PyTorch.
    with pytest.raises(ValueError, match="CosineAnnealingLR: .*-0.00495"):
        compare(pair, *schedulers)
    assert pair[0].param_groups[0]["lr"] > 0
    assert schedulers[0][0].last_epoch > 9


@pytest.mark.filterwarnings("ignore")  # theirs warns of its own call of step(epoch)
def test_warm_up_and_cosine() -> None:
    pair = optimizers("AdamW")
    warm_up, total = 8, 40
    ours = lr_scheduler.WarmupCosineLR(pair[0], warm_up, total, eta_min=0.001)
    rise = THEIRS.LinearLR(pair[1], 1 / (warm_up + 1), 1.0, warm_up)
    fall = THEIRS.CosineAnnealingLR(pair[1], total - warm_up, eta_min=0.001)
    theirs = THEIRS.SequentialLR(pair[1], [rise, fall], [warm_up])
    compare(pair, (ours, theirs), steps=total)


def test_noam() -> None:
    pair = optimizers("AdamW")
    for group in pair[1].param_groups:
        group["lr"] = 1.0
    ours = lr_scheduler.NoamScheduler(pair[0], model_size=512, warmup_steps=10, factor=2.0)
    factor = lambda t: 2 * 512**-0.5 * min((t + 1) ** -0.5, (t + 1) * 10**-1.5)
    compare(pair, (ours, THEIRS.LambdaLR(pair[1], factor)))


LATER = [
    (name, options)
    for name, options in CASES
    if name not in ("CyclicLR", "OneCycleLR") and "T_mult" not in options
]


@pytest.mark.parametrize(("name", "options"), LATER, ids=shown)
def test_with_a_last_epoch(name: str, options: dict[str, Any]) -> None:
    pair = optimizers()
    for optimizer in pair:
        for group in optimizer.param_groups:
            group["initial_lr"] = 2 * group["lr"]
    compare(pair, both(pair, name, {**options, "last_epoch": 7}))


@pytest.mark.parametrize("order", ["mos", "ms", "mss", "mso", "oms", "mosms", "moms"])
def test_a_step_before_that_of_the_optimizer_is_told(order: str) -> None:
    """m makes a scheduler, o is a step of the optimizer, s one of the scheduler made last."""

    def told(t: Any) -> int:
        optimizer = t.optim.SGD([t.ones(1, requires_grad=True)], lr=0.1)
        scheduler: Any = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for do in order:
                if do == "m":
                    scheduler = t.optim.lr_scheduler.StepLR(optimizer, 1)
                else:
                    (optimizer if do == "o" else scheduler).step()
        return sum("optimizer.step()" in str(one.message) for one in caught)

    assert told(minigrad) == told(torch)
