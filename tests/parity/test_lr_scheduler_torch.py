"""Schedules against PyTorch: the same learning rates and momenta in every step."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest
from side_by_side import torch

from minigrad import Tensor, optim
from minigrad.optim import lr_scheduler, swa_utils

THEIRS = torch.optim.lr_scheduler
CASES: list[tuple[str, dict[str, Any]]] = [
    ("LambdaLR", {"lr_lambda": lambda step: 1 / (1 + step)}),
    ("LambdaLR", {"lr_lambda": [lambda step: 0.9**step, lambda step: 2.0 - 0.01 * step]}),
    ("StepLR", {"step_size": 7}),
    ("StepLR", {"step_size": 1, "gamma": 0.9}),
    ("MultiStepLR", {"milestones": [20, 3, 20, 11], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.1, "total_iters": 12}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 30, "power": 2.0}),
    ("MultiplicativeLR", {"lr_lambda": lambda step: 0.99 - 0.001 * step}),
    ("CosineAnnealingLR", {"T_max": 40}),
    ("CosineAnnealingLR", {"T_max": 7, "eta_min": 0.01}),
    ("CosineAnnealingLR", {"T_max": 1, "eta_min": 0.01}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.01, "end_factor": 0.5, "total_iters": 20}),
    ("LinearLR", {"start_factor": 1.0, "end_factor": 0.0, "total_iters": 30}),
    ("CosineAnnealingWarmRestarts", {"T_0": 6}),
    ("CosineAnnealingWarmRestarts", {"T_0": 1, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 5, "T_mult": 2, "eta_min": 0.01}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 5}),
    ("CyclicLR", {"base_lr": [0.1, 0.2], "max_lr": 0.5, "step_size_up": 3, "step_size_down": 8}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, "mode": "triangular2"}),
    (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9},
    ),
    (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, "scale_fn": lambda x: 1 / x**2}
        | {"base_momentum": 0.3, "max_momentum": [0.6, 0.7]},
    ),
    (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, "scale_fn": lambda x: 0.9**x}
        | {"scale_mode": "iterations", "cycle_momentum": False},
    ),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 50}),
    ("OneCycleLR", {"max_lr": [0.5, 0.7], "epochs": 6, "steps_per_epoch": 9, "pct_start": 0.17}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "three_phase": True, "pct_start": 0.4}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 60, "pct_start": 0.0, "cycle_momentum": False}),
    (
        "OneCycleLR",
        {"max_lr": 0.5, "total_steps": 60, "div_factor": 3.0, "final_div_factor": 7.0}
        | {"base_momentum": 0.1, "max_momentum": [0.2, 0.3]},
    ),
]
PLATEAUS: list[dict[str, Any]] = [
    {},
    {"patience": 2, "factor": 0.5},
    {"patience": 0, "factor": 0.5, "cooldown": 3, "min_lr": [0.01, 0.001]},
    {"patience": 1, "mode": "max", "threshold": 0.1},
    {"patience": 1, "mode": "max", "threshold": 0.1, "threshold_mode": "abs"},
    {"patience": 1, "threshold": 0.1, "threshold_mode": "abs", "eps": 0.01},
]


def optimizers(name: str) -> tuple[Any, Any]:
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


def compare(pair: tuple[Any, Any], schedulers: list[tuple[Any, Any]], steps: int = 50) -> None:
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
@pytest.mark.parametrize("optimizer", ["SGD", "AdamW"])
def test_fifty_steps(name: str, options: dict[str, Any], optimizer: str) -> None:
    pair = optimizers(optimizer)
    compare(
        pair,
        [
            (
                getattr(lr_scheduler, name)(pair[0], **options),
                getattr(THEIRS, name)(pair[1], **options),
            )
        ],
        49,
    )


ROWS: list[tuple[list[tuple[str, dict[str, Any]]], list[int]]] = [
    ([("StepLR", {"step_size": 3})], []),
    (
        [("LinearLR", {"start_factor": 0.1, "total_iters": 20}), ("ExponentialLR", {"gamma": 0.9})],
        [20],
    ),
    (
        [
            ("LinearLR", {"total_iters": 8}),
            ("CosineAnnealingLR", {"T_max": 12, "eta_min": 0.001}),
            ("MultiStepLR", {"milestones": [4, 9]}),
            ("LambdaLR", {"lr_lambda": lambda step: 0.9**step}),
        ],
        [8, 20, 31],
    ),
    ([("StepLR", {"step_size": 3}), ("LinearLR", {}), ("StepLR", {"step_size": 4})], [0, 11]),
    ([("LinearLR", {}), ("CosineAnnealingWarmRestarts", {"T_0": 7, "T_mult": 2})], [9]),
    (
        [
            ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4}),
            ("OneCycleLR", {"max_lr": 0.5, "total_steps": 40}),
        ],
        [20],
    ),
]


@pytest.mark.parametrize(("parts", "milestones"), ROWS, ids=shown)
@pytest.mark.filterwarnings("ignore")  # theirs warns of its own calls
def test_one_after_another(parts: Any, milestones: list[int]) -> None:
    pair = optimizers("SGD")
    made = [
        [getattr(module, name)(optimizer, **options) for name, options in parts]
        for module, optimizer in zip((lr_scheduler, THEIRS), pair, strict=True)
    ]
    ours = lr_scheduler.SequentialLR(pair[0], made[0], milestones)
    compare(pair, [(ours, THEIRS.SequentialLR(pair[1], made[1], milestones))])


def test_several_at_once() -> None:
    pair = optimizers("SGD")
    parts: list[tuple[str, dict[str, Any]]] = [
        ("ConstantLR", {"total_iters": 4}), ("ExponentialLR", {"gamma": 0.9}),
        ("StepLR", {"step_size": 7}),
    ]  # fmt: skip
    made = [
        [getattr(module, name)(optimizer, **options) for name, options in parts]
        for module, optimizer in zip((lr_scheduler, THEIRS), pair, strict=True)
    ]
    ours = lr_scheduler.ChainedScheduler(made[0])
    compare(pair, [(ours, THEIRS.ChainedScheduler(made[1]))])
    state = ours.state_dict()
    again = [getattr(lr_scheduler, name)(pair[0], **options) for name, options in parts]
    loaded = lr_scheduler.ChainedScheduler(again)
    loaded.load_state_dict(state)
    assert loaded.state_dict() == state


@pytest.mark.parametrize(
    "options",
    [{"swa_lr": 0.05}, {"swa_lr": [0.05, 0.5], "anneal_strategy": "linear"},
     {"swa_lr": 0.05, "anneal_epochs": 0}, {"swa_lr": 0.3, "anneal_epochs": 40}],
    ids=shown,
)  # fmt: skip
def test_annealing_for_averages(options: dict[str, Any]) -> None:
    pair = optimizers("SGD")
    ours = swa_utils.SWALR(pair[0], **options)
    compare(pair, [(ours, torch.optim.swa_utils.SWALR(pair[1], **options))])


@pytest.mark.parametrize("options", [{"T_0": 4}, {"T_0": 2, "T_mult": 2}], ids=shown)
def test_warm_restarts_by_fractions_of_epochs(options: dict[str, Any]) -> None:
    pair = optimizers("SGD")
    ours = lr_scheduler.CosineAnnealingWarmRestarts(pair[0], **options)
    theirs = THEIRS.CosineAnnealingWarmRestarts(pair[1], **options)
    for step in [*np.arange(0, 12, 0.3), None, None, 26, None, 3.5, None, 0]:
        ours.step(step)
        theirs.step(step)
        np.testing.assert_allclose(*map(numbers, pair), rtol=1e-10, err_msg=f"step {step}")
        assert ours.last_epoch == theirs.last_epoch


@pytest.mark.parametrize("options", PLATEAUS, ids=str)
def test_plateau(options: dict[str, Any]) -> None:
    pair = optimizers("SGD")
    ours = lr_scheduler.ReduceLROnPlateau(pair[0], **options)
    theirs = THEIRS.ReduceLROnPlateau(pair[1], **options)
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
    pair = optimizers("SGD")
    chosen: list[tuple[str, dict[str, Any]]] = [
        ("CosineAnnealingLR", {"T_max": 9, "eta_min": 0.01}),
        ("StepLR", {"step_size": 6, "gamma": 0.7}),
        ("MultiStepLR", {"milestones": [4, 30]}),
        ("ExponentialLR", {"gamma": 0.97}),
    ]
    schedulers = [
        (getattr(lr_scheduler, n)(pair[0], **o), getattr(THEIRS, n)(pair[1], **o))
        for n, o in chosen
    ]
    # Then the cosine, which goes on from the rate that the others left, comes below 0 in PyTorch.
    with pytest.raises(ValueError, match="CosineAnnealingLR: .*-0.00495"):
        compare(pair, schedulers)
    assert pair[0].param_groups[0]["lr"] > 0
    assert schedulers[0][0].last_epoch > 9


def test_warm_up_and_cosine() -> None:
    pair = optimizers("AdamW")
    warm_up, total = 8, 40
    ours = lr_scheduler.WarmupCosineLR(pair[0], warm_up, total, eta_min=0.001)
    rise = THEIRS.LinearLR(pair[1], 1 / (warm_up + 1), 1.0, warm_up)
    fall = THEIRS.CosineAnnealingLR(pair[1], total - warm_up, eta_min=0.001)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs warns of its own call of step(epoch)
        compare(pair, [(ours, THEIRS.SequentialLR(pair[1], [rise, fall], [warm_up]))], total)


def test_noam() -> None:
    pair = optimizers("AdamW")
    for group in pair[1].param_groups:
        group["lr"] = 1.0
    ours = lr_scheduler.NoamScheduler(pair[0], model_size=512, warmup_steps=10, factor=2.0)
    theirs = THEIRS.LambdaLR(
        pair[1], lambda t: 2 * 512**-0.5 * min((t + 1) ** -0.5, (t + 1) * 10**-1.5)
    )
    compare(pair, [(ours, theirs)])


LATER = ("CyclicLR", "OneCycleLR")


@pytest.mark.parametrize("last_epoch", [6, 7])
@pytest.mark.parametrize(
    ("name", "options"),
    [case for case in CASES if case[0] not in LATER and "T_mult" not in case[1]],
    ids=shown,
)
def test_with_a_last_epoch(name: str, options: dict[str, Any], last_epoch: int) -> None:
    pair = optimizers("SGD")
    for optimizer in pair:
        for group in optimizer.param_groups:
            group["initial_lr"] = 2 * group["lr"]
    ours = getattr(lr_scheduler, name)(pair[0], **options, last_epoch=last_epoch)
    theirs = getattr(THEIRS, name)(pair[1], **options, last_epoch=last_epoch)
    compare(pair, [(ours, theirs)])
