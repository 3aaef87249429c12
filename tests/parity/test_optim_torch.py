"""Optimizers against PyTorch, step for step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import draw, torch

from minigrad import Tensor, optim

STEPS = 50
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9}),
    ("SGD", {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    *(
        (name, {**options, **more})
        for name in ("Adam", "AdamW")
        for options in ({}, {"betas": (0.7, 0.8), "eps": 1e-3}, {"weight_decay": 0.2})
        for more in ({}, {"amsgrad": True})
    ),
]


@pytest.mark.parametrize(("name", "options"), KINDS, ids=lambda value: str(value))
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_fifty_steps(name: str, options: dict[str, Any], dtype: Any, rtol: float) -> None:
    """Two groups; a parameter that has no gradient now and then; a learning rate that changes."""
    arrays = [draw(3, 4).astype(dtype), draw(5).astype(dtype), draw(2, 2).astype(dtype)]
    mine = [Tensor(array, requires_grad=True) for array in arrays]
    other = [torch.tensor(array, requires_grad=True) for array in arrays]

    def groups(params: list[Any]) -> list[dict[str, Any]]:
        return [{"params": params[:2]}, {"params": params[2:], "lr": 0.3}]

    ours = getattr(optim, name)(groups(mine), lr=0.05, **options)
    theirs = getattr(torch.optim, name)(groups(other), lr=0.05, **options)
    for step in range(STEPS):
        for i, (a, b) in enumerate(zip(mine, other, strict=True)):
            gradient = (draw(*a.shape, seed=100 * step + i) + 0.1 * a.data).astype(dtype)
            skipped = i == 1 and step % 3 == 0
            a.grad = None if skipped else Tensor(gradient)
            b.grad = None if skipped else torch.tensor(gradient)
        if step == STEPS // 2:
            ours.param_groups[0]["lr"] = theirs.param_groups[0]["lr"] = 0.01
        ours.step()
        theirs.step()
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(
                a.data, b.detach().numpy(), rtol=rtol, atol=rtol, err_msg=f"step {step}"
            )


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_their_state_continues_here(name: str) -> None:
    """The kept arrays carry the same names, so that a run can move over."""
    options = {"momentum": 0.9} if name == "SGD" else {"amsgrad": True}
    array = draw(3, 4)
    mine, other = Tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)
    ours = getattr(optim, name)([mine], lr=0.1, **options)
    theirs = getattr(torch.optim, name)([other], lr=0.1, **options)
    for step in range(3):
        other.grad = torch.tensor(draw(3, 4, seed=step))
        theirs.step()
    mine.data[...] = other.detach().numpy()
    ours.load_state_dict(theirs.state_dict())
    for step in range(3, 6):
        mine.grad = Tensor(draw(3, 4, seed=step))
        other.grad = torch.tensor(draw(3, 4, seed=step))
        ours.step()
        theirs.step()
        np.testing.assert_allclose(mine.data, other.detach().numpy(), rtol=1e-12)
