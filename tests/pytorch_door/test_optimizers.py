"""Optimizers and schedules through the door beside PyTorch's, and optimizers of one's own."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402

CALLS = """
SGD(p, 0.1, 0.9, 0.2, 0.01)
SGD(p, 0.1, 0.9, 0, 0.01, True)
SGD(p, lr=0.1, maximize=True, foreach=True)
Adam(p, 0.01, amsgrad=True, maximize=True, capturable=False, fused=None)
Adam(p, 0.01, weight_decay=0.1, decoupled_weight_decay=True)
AdamW(p, 0.01)
Adamax(p)
NAdam(p)
RAdam(p)
RMSprop(p, 0.01, centered=True, momentum=0.5)
Adagrad(p)
Adadelta(p)
Rprop(p)
ASGD(p)
"""


def trained(world: Any, line: str, steps: int = 4) -> tuple[Any, Any, list[float]]:
    numbers = np.random.default_rng(0)
    w = world.nn.Parameter(world.tensor(numbers.standard_normal((4, 3)).astype(np.float32)))
    x = world.tensor(numbers.standard_normal((8, 4)).astype(np.float32))
    p = [{"params": [w], "tag": "all"}]
    optimizer = eval(line, {**vars(world.optim), "p": p})
    schedule = world.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    for _ in range(steps):
        optimizer.zero_grad()
        (x @ w).pow(2).mean().backward()
        optimizer.step()
        schedule.step()
    return w, optimizer, schedule.get_last_lr()


@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_an_optimizer_steps_as_pytorchs(line: str) -> None:
    (ours, optimizer, rates), (theirs, other, wanted) = trained(door, line), trained(torch, line)
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), 1e-5, 1e-6)
    assert rates == pytest.approx(wanted)
    assert optimizer.param_groups[0]["tag"] == "all"
    optimizer.load_state_dict(other.state_dict())
    file = io.BytesIO()
    door.save(optimizer.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))


def own(world: Any) -> Any:
    class Momentum(world.optim.Optimizer):  # type: ignore[misc]
        def __init__(self, params: Any, lr: float = 0.1, beta: float = 0.9) -> None:
            super().__init__(params, {"lr": lr, "beta": beta})

        @world.no_grad()  # type: ignore[untyped-decorator]
        def step(self, closure: Any = None) -> Any:
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if len(state) == 0:
                        state["mean"] = world.zeros_like(p.data)
                    state["mean"].mul_(group["beta"]).add_(p.grad.data, alpha=1 - group["beta"])
                    p.data.add_(state["mean"], alpha=-group["lr"])

    return Momentum


def test_an_optimizer_of_ones_own_runs() -> None:
    results = []
    for world in (door, torch):
        w = world.nn.Parameter(world.ones(3))
        optimizer = own(world)([w], lr=0.3)
        for _ in range(3):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()
        twin = own(world)([w])
        twin.load_state_dict(optimizer.state_dict())
        assert twin.param_groups[0]["lr"] == 0.3
        assert len(twin.state[w]) == 1
        results.append(w.detach().numpy())
    np.testing.assert_allclose(*results, 1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_schedule_goes_to_an_epoch() -> None:
    names = {"StepLR": (3, 0.5), "ExponentialLR": (0.9,), "CosineAnnealingLR": (10,)}
    for name, given in names.items():
        rates = []
        for world in (door, torch):
            optimizer = world.optim.SGD([world.ones(1, requires_grad=True)], lr=1.0)
            schedule = getattr(world.optim.lr_scheduler, name)(optimizer, *given)
            schedule.step(7)
            schedule.step(4)
            rates.append(schedule.get_last_lr())
        assert rates[0] == pytest.approx(rates[1]), name


def test_differentiable_steps_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="differentiable=True"):
        door.optim.Adam([door.ones(1, requires_grad=True)], differentiable=True)
