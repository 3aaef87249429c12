"""`lucid.optim`: PyTorch's optimizers and schedules, some of them with Lucid 3's constructors.

Source: the signatures and docstrings of Lucid 3.8.

Example:
    >>> from minigrad.lucid import nn, optim
    >>> optim.SGD(nn.Linear(2, 2).parameters(), 0.1, 0.9, 0.5).param_groups[0]["dampening"]
    0.5
"""
# mypy: disable-error-code="assignment,no-redef"

from __future__ import annotations

from minigrad.lucid.optim import lr_scheduler as lr_scheduler
from minigrad.optim import *

# What Lucid has of its own takes the place of PyTorch's.
# isort: split
from typing import Any

from minigrad import optim
from minigrad.lucid.optim.lr_scheduler import *


class SGD(optim.SGD):
    """Gradient descent; `lr` must be given, and `dampening` comes before `weight_decay`."""

    def __init__(
        self, params: Any, lr: float, momentum: float = 0.0, dampening: float = 0.0,
        weight_decay: float = 0.0, nesterov: bool = False,
    ) -> None:  # fmt: skip
        options: Any = {"weight_decay": weight_decay, "nesterov": nesterov}
        super().__init__(params, lr, momentum, dampening=dampening, **options)


class Adagrad(optim.Adagrad):
    """Adagrad; the fifth argument is `eps`."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0,
        eps: float = 1e-10,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, lr_decay, weight_decay, eps=eps)


class LBFGS(optim.LBFGS):
    """LBFGS, with a strong Wolfe line search."""

    def __init__(
        self, params: Any, lr: float = 1.0, max_iter: int = 20, max_eval: int = 25,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = "strong_wolfe",
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size,
            line_search_fn,
        )  # fmt: skip
