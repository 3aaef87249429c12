"""Averages of a model's weights over the steps of training.

This file uses `minigrad.nn`. It is in this folder because PyTorch has it here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minigrad._checks import check_probability
from minigrad._creation import on_cpu
from minigrad._grad_mode import no_grad
from minigrad._tensor import Tensor
from minigrad.autograd.mutation import mark_written
from minigrad.nn import BatchNorm1d, BatchNorm2d, Module

__all__ = ["AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "update_bn"]

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
        model: The model, which is copied.
        device: "cpu" or None.
        avg_fn: A function of an averaged parameter, the model's parameter, and the number of calls
            so far, that returns the new average. None for equal weights.
        multi_avg_fn: A function of a list of averaged parameters, a list of the model's, and the
            number of calls, that updates the first list in place.
        use_buffers: Whether to average buffers too. If not, they are copied: call `update_bn` at
            the end if the model has batch norm.

    Attributes:
        module: The averaged model.
        n_averaged: A buffer: the number of calls of `update_parameters`.

    Raises:
        TypeError: `model` is not a module, or `avg_fn` not a function.
        ValueError: Both functions are given, or another device than the CPU.

    Example:
        >>> from minigrad import nn, optim
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
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(model, Module):
            raise TypeError(f"AveragedModel: a module expected, got {type(model).__name__}")
        if avg_fn is not None and multi_avg_fn is not None:
            raise ValueError("AveragedModel: one of avg_fn and multi_avg_fn expected, got both")
        for name, function in (("avg_fn", avg_fn), ("multi_avg_fn", multi_avg_fn)):
            if function is not None and not callable(function):
                raise TypeError(f"AveragedModel: {name} must be a function, got {function!r}")
        on_cpu(device)
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", np.zeros((), np.int64))
        self.avg_fn, self.multi_avg_fn = avg_fn, multi_avg_fn
        self.use_buffers = bool(use_buffers)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Add the current parameters of a model to the average.

        Args:
            model: The copied model, or one with parameters of the same shapes.

        Raises:
            ValueError: Its parameters have other shapes. The average is unchanged.
        """
        pairs = _pairs("parameter", self.module.parameters(), model.parameters())
        buffers = _pairs("buffer", self.module.buffers(), model.buffers())
        if self.use_buffers:
            pairs += buffers
            buffers = []
        count = int(self.n_averaged)
        with no_grad():
            if count == 0:
                buffers = [*pairs, *buffers]
            elif self.multi_avg_fn is not None:
                for kind in {mine.dtype: None for mine, _ in pairs}:
                    alike = [pair for pair in pairs if pair[0].dtype == kind]
                    averaged, current = zip(*alike, strict=True)
                    self.multi_avg_fn(list(averaged), list(current), count)
            else:
                average = _equal_weights if self.avg_fn is None else self.avg_fn
                for mine, theirs in pairs:
                    _overwrite(mine, average(mine, theirs, count))
            for mine, theirs in buffers:
                _overwrite(mine, theirs)
        _overwrite(self.n_averaged, count + 1)


def _pairs(
    what: str, own: Iterable[Tensor], others: Iterable[Tensor]
) -> list[tuple[Tensor, Tensor]]:
    mine, theirs = list(own), list(others)
    shapes = [[tensor.shape for tensor in tensors] for tensors in (mine, theirs)]
    if shapes[0] != shapes[1]:
        raise ValueError(
            f"AveragedModel: {what}s of shapes {shapes[0]} are averaged, the model's have "
            f"{shapes[1]}"
        )
    return list(zip(mine, theirs, strict=True))


def _overwrite(tensor: Tensor, values: Any) -> None:
    tensor.data[...] = values.data if isinstance(values, Tensor) else values
    mark_written(tensor.data)


def _equal_weights(averaged: Tensor, current: Tensor, count: int) -> Tensor:
    return averaged + (current - averaged) / (count + 1)


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """An `avg_fn` for an exponential moving average: decay · average + (1 - decay) · current.

    Args:
        decay: The weight of the old average, from 0 to 1.

    Returns:
        The function.

    Raises:
        ValueError: `decay` is out of range.

    Example:
        >>> from minigrad.optim.swa_utils import get_ema_avg_fn
        >>> get_ema_avg_fn(0.75)(1.0, 5.0, 1)
        2.0
    """
    check_probability("get_ema_avg_fn", "decay", decay)

    def average(averaged: Any, current: Any, count: Any) -> Any:
        return decay * averaged + (1 - decay) * current

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """A `multi_avg_fn` for an exponential moving average: `get_ema_avg_fn` for all parameters.

    Args:
        decay: The weight of the old average, from 0 to 1.

    Returns:
        The function.

    Raises:
        ValueError: `decay` is out of range.

    Example:
        >>> from minigrad import ones, zeros
        >>> from minigrad.optim.swa_utils import get_ema_multi_avg_fn
        >>> averaged = [zeros(2)]
        >>> get_ema_multi_avg_fn(0.75)(averaged, [ones(2)], 1)
        >>> averaged[0].tolist()
        [0.25, 0.25]
    """
    check_probability("get_ema_multi_avg_fn", "decay", decay)

    def average(averaged: list[Tensor], current: list[Tensor], count: Any) -> None:
        with no_grad():
            for mine, theirs in zip(averaged, current, strict=True):
                _overwrite(mine, decay * mine + (1 - decay) * theirs)

    return average


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Recompute the running statistics of batch norm, as the mean over some batches.

    Args:
        loader: Batches; of a tuple or list, the first entry is the input.
        model: The model, often an `AveragedModel`. Its mode is restored.
        device: "cpu" or None.

    Raises:
        ValueError: Another device than the CPU.

    Example:
        >>> from minigrad import nn, tensor
        >>> from minigrad.optim.swa_utils import update_bn
        >>> model = nn.BatchNorm1d(1)
        >>> update_bn([tensor([[1.0], [3.0]]), tensor([[3.0], [5.0]])], model)
        >>> model.running_mean.item()
        3.0
    """
    on_cpu(device)
    norms = [m for m in model.modules() if isinstance(m, (BatchNorm1d, BatchNorm2d))]
    if not norms:
        return
    modes = {module: module.training for module in model.modules()}
    momenta = {norm: norm.momentum for norm in norms}
    try:
        model.train()
        for norm in norms:
            norm.reset_running_stats()
            norm.momentum = None  # the mean of all batches
        with no_grad():
            for batch in loader:
                model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    finally:
        for norm, momentum in momenta.items():
            norm.momentum = momentum
        for module, training in modes.items():
            module.training = training
