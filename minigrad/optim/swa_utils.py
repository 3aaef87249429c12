"""Averages of a model's weights over the steps of training, and what they need.

This file uses `minigrad.nn`. It is in this folder because PyTorch has it here.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from minigrad.autograd.events import effect
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn import Module
from minigrad.nn.layers.normalization import _BatchNorm
from minigrad.optim.lr_scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer
from minigrad.support.checks import check_probability, check_size, on_cpu
from minigrad.tensors.inplace import assign
from minigrad.tensors.tensor import Tensor

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip

Average = Callable[[Any, Any, Any], Any]
"""The new average, of the present one, a new value, and the number of values so far."""
AverageAll = Callable[[Any, Any, Any], None]
"""Writes the new averages of several values into the present ones."""


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
        model: The model.
        device: "cpu".
        avg_fn: A function of an averaged parameter, the model's parameter, and the number of calls
            so far, that returns the new average. None for equal weights.
        multi_avg_fn: Instead of `avg_fn`, a function of the lists of the averaged parameters and of
            the model's, and the number of calls so far, that writes the averages into the first.
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
        multi_avg_fn: AverageAll | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(model, Module):
            raise TypeError(f"AveragedModel: a module expected, got {type(model).__name__}")
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel: avg_fn or multi_avg_fn expected, got both")
        on_cpu(device)
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", np.zeros((), np.int64))
        self.avg_fn, self.multi_avg_fn = avg_fn, multi_avg_fn
        self.use_buffers = bool(use_buffers)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    @effect
    def update_parameters(self, model: Module) -> None:
        """Add the current parameters of a model, of the same shapes, to the average."""
        pairs = _pairs("parameter", self.module.parameters(), model.parameters())
        buffers = _pairs("buffer", self.module.buffers(), model.buffers())
        if self.use_buffers:
            pairs, buffers = pairs + buffers, []
        count = int(self.n_averaged)
        update = self.multi_avg_fn or _all(self.avg_fn or get_swa_avg_fn())
        with no_grad():
            if count == 0:
                buffers = pairs + buffers
            elif pairs:
                update([mine for mine, _ in pairs], [theirs for _, theirs in pairs], count)
            for mine, theirs in buffers:
                assign(mine, theirs.astype(mine.dtype))
        assign(self.n_averaged, count + 1)


def _pairs(
    what: str, averaged: Iterable[Tensor], current: Iterable[Tensor]
) -> list[tuple[Tensor, Tensor]]:
    own, others = list(averaged), list(current)
    shapes = [[tensor._data.shape for tensor in tensors] for tensors in (own, others)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"AveragedModel: {what}s of shapes {shapes[0]} expected, got {shapes[1]}")
    return list(zip(own, others, strict=True))


def _all(average: Average) -> AverageAll:
    """The function that writes the new averages of several tensors into the present ones."""

    def update(averaged: list[Tensor], current: list[Tensor], count: Any) -> None:
        for mine, theirs in zip(averaged, current, strict=True):
            # The average of whole numbers loses its fraction.
            assign(mine, average(mine, theirs, count).astype(mine.dtype))

    return update


def get_swa_avg_fn() -> Average:
    """Return an `avg_fn` for equal weights: average + (new - average) / (count + 1).

    Example:
        >>> from minigrad.optim.swa_utils import get_swa_avg_fn
        >>> get_swa_avg_fn()(1.0, 5.0, 1)
        3.0
    """

    def average(averaged: Any, current: Any, count: Any) -> Any:
        return averaged + (current - averaged) / (count + 1)

    return average


def get_swa_multi_avg_fn() -> AverageAll:
    """Return a `multi_avg_fn` for equal weights.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.optim.swa_utils import AveragedModel, get_swa_multi_avg_fn
        >>> average = AveragedModel(nn.Linear(1, 1), multi_avg_fn=get_swa_multi_avg_fn())
    """
    return _all(get_swa_avg_fn())


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """Return an `avg_fn` for an exponential moving average: decay · average + (1 - decay) · new.

    Example:
        >>> from minigrad.optim.swa_utils import get_ema_avg_fn
        >>> get_ema_avg_fn(0.75)(1.0, 5.0, 1)
        2.0
    """
    check_probability("get_ema_avg_fn", "decay", decay)

    def average(averaged: Any, current: Any, _count: Any) -> Any:
        return decay * averaged + (1 - decay) * current

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> AverageAll:
    """Return a `multi_avg_fn` for an exponential moving average.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
        >>> average = AveragedModel(nn.Linear(1, 1), multi_avg_fn=get_ema_multi_avg_fn(0.75))
    """
    return _all(get_ema_avg_fn(decay))


class SWALR(LRScheduler):
    """A learning rate that anneals to the constant one with which weights are averaged.

    Source: Izmailov et al., "Averaging weights leads to wider optima and better generalization",
    2018; as in PyTorch.

    Args:
        swa_lr: The last learning rate, one for all groups or one for each.
        anneal_epochs: The number of steps of the annealing.
        anneal_strategy: "cos" or "linear".

    Example:
        >>> from minigrad import ones, optim
        >>> from minigrad.optim.swa_utils import SWALR
        >>> optimizer = optim.SGD([ones(1, requires_grad=True)], lr=1.0)
        >>> scheduler = SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
        >>> for _ in range(3):
        ...     optimizer.step()
        ...     scheduler.step()
        >>> scheduler.get_last_lr()
        [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: float | Sequence[float], anneal_epochs: int = 10,
        anneal_strategy: Literal["cos", "linear"] = "cos", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._take(optimizer)
        rates = self._per_group("swa_lr", swa_lr)
        self.anneal_epochs = check_size(self._name, "anneal_epochs", anneal_epochs, 0)
        self._anneal_strategy = self._one_of("anneal_strategy", anneal_strategy, "cos", "linear")
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """The share of the last learning rate in that of a step."""
        t = min(max(step / max(1, self.anneal_epochs), 0.0), 1.0)
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, last = group["lr"], group["swa_lr"]
            first = last if before == 1 else (lr - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of all batch normalization again, for averaged weights.

    The model sees all batches once, in training mode; the statistics are the means over them. The
    modes of its modules stay what they were.

    Args:
        loader: Batches: the input, or a list or tuple of which it is the first.
        model: The model.
        device: "cpu".

    Example:
        >>> from minigrad import nn, tensor
        >>> from minigrad.optim.swa_utils import update_bn
        >>> model = nn.BatchNorm1d(1)
        >>> update_bn([tensor([[1.0], [3.0]]), tensor([[4.0], [4.0]])], model)
        >>> model.running_mean.item()
        3.0
    """
    on_cpu(device)
    layers = [m for m in model.modules() if isinstance(m, _BatchNorm) and m.track_running_stats]
    if not layers:
        return
    modes = [(module, module.training) for module in model.modules()]
    momenta = [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a mean with equal weights
    model.train()
    try:
        with no_grad():
            for batch in loader:
                model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    finally:
        for module, mode in modes:
            module.training = mode
        for layer, momentum in zip(layers, momenta, strict=True):
            layer.momentum = momentum
