"""Averages of a model's weights over the steps of training.

This file uses `minigrad.nn`. It is in this folder because PyTorch has it here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.events import effect
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn import Module
from minigrad.support.checks import check_probability, on_cpu
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = ["AveragedModel", "get_ema_avg_fn"]

Average = Callable[[Any, Any, Any], Any]


class AveragedModel(Module):
    r"""A copy of a model whose parameters are an average of the model's parameters over time.

    Call `update_parameters` after steps of the optimizer. The first call copies the parameters. By
    default, every call has the same weight (stochastic weight averaging):
    :math:`m \leftarrow m + (w - m) / (n + 1)`. With ``get_ema_avg_fn(decay)`` it is an exponential
    moving average (EMA).

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization",
    2018; Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992; as in
    PyTorch.

    Args:
        avg_fn: A function of an averaged parameter, the model's parameter, and the number of calls
            so far, that returns the new average. None for equal weights.
        use_buffers: Whether to average buffers too. If not, they are copied.

    Attributes:
        module: The averaged model.
        n_averaged: A buffer: the number of calls of `update_parameters`.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.optim.swa_utils import AveragedModel, get_ema_avg_fn
        >>> model = nn.Linear(1, 1, bias=False)
        >>> average = AveragedModel(model, avg_fn=get_ema_avg_fn(0.75))
        >>> for value in (1.0, 5.0, 5.0):
        ...     _ = nn.init.constant(model.weight, value)  # in place of a step
        ...     average.update_parameters(model)
        >>> average.module.weight.item()  # 1, then 0.75 · 1 + 0.25 · 5, then once more
        2.75
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(model, Module):
            raise TypeError(f"AveragedModel: a module expected, got {type(model).__name__}")
        if avg_fn is not None and not callable(avg_fn):
            raise TypeError(f"AveragedModel: avg_fn must be a function, got {avg_fn!r}")
        on_cpu(device)
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", np.zeros((), np.int64))
        self.avg_fn, self.use_buffers = avg_fn, bool(use_buffers)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    @effect
    def update_parameters(self, model: Module) -> None:
        """Add the current parameters of a model, of the same shapes, to the average."""
        pairs = self._pairs("parameter", model)
        buffers = self._pairs("buffer", model)
        if self.use_buffers:
            pairs, buffers = pairs + buffers, []
        count = int(self.n_averaged)
        average = _equal_weights if self.avg_fn is None else self.avg_fn
        with no_grad():
            for mine, theirs in pairs:
                assign(mine, _fitted(mine, average(mine, theirs, count) if count else theirs))
        for mine, theirs in buffers:
            assign(mine, theirs)
        assign(self.n_averaged, count + 1)

    def _pairs(self, what: str, model: Module) -> list[tuple[Tensor, Tensor]]:
        own, others = (
            list(m.parameters() if what == "parameter" else m.buffers())
            for m in (self.module, model)
        )
        shapes = [[tensor.shape for tensor in tensors] for tensors in (own, others)]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"AveragedModel: {what}s of shapes {shapes[0]} are averaged, the model's have "
                f"{shapes[1]}"
            )
        return list(zip(own, others, strict=True))


def _fitted(tensor: Tensor, values: Tensor) -> Tensor:
    """Values in the dtype of a tensor: the average of whole numbers loses its fraction."""
    return values.astype(tensor.dtype)


def _equal_weights(averaged: Tensor, current: Tensor, count: int) -> Tensor:
    return averaged + (current - averaged) / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """An `avg_fn` for an exponential moving average: decay · average + (1 - decay) · current.

    Example:
        >>> from minigrad.optim.swa_utils import get_ema_avg_fn
        >>> get_ema_avg_fn(0.75)(1.0, 5.0, 1)
        2.0
    """
    check_probability("get_ema_avg_fn", "decay", decay)

    def average(averaged: Any, current: Any, count: Any) -> Any:
        return decay * averaged + (1 - decay) * current

    return average
