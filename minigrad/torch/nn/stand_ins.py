"""Names of `torch.nn` for which minigrad has no use: a program may name them, and some may run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from minigrad.nn import Module

__all__ = [
    "AdaptiveAvgPool3d", "AdaptiveMaxPool3d", "AvgPool3d", "BatchNorm3d", "CTCLoss", "Conv3d",
    "ConvTranspose3d", "DataParallel", "DistributedDataParallel", "Dropout3d", "InstanceNorm3d",
    "MaxPool3d", "MaxUnpool3d", "SyncBatchNorm",
]  # fmt: skip


class _Absent(Module):
    """A layer that can be named, as in ``isinstance(layer, nn.Conv3d)``, and not made."""

    why = "no layer has three spatial axes"

    def __init__(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError(f"torch.nn.{type(self).__name__}: {self.why}")


class Conv3d(_Absent):
    """An error."""


class ConvTranspose3d(_Absent):
    """An error."""


class MaxPool3d(_Absent):
    """An error."""


class AvgPool3d(_Absent):
    """An error."""


class AdaptiveAvgPool3d(_Absent):
    """An error."""


class AdaptiveMaxPool3d(_Absent):
    """An error."""


class MaxUnpool3d(_Absent):
    """An error."""


class BatchNorm3d(_Absent):
    """An error."""


class InstanceNorm3d(_Absent):
    """An error."""


class Dropout3d(_Absent):
    """An error."""


class CTCLoss(_Absent):
    """An error."""

    why = "there is no CTC"


class SyncBatchNorm(_Absent):
    """An error."""

    why = "a model runs in one process: BatchNorm2d"


class DistributedDataParallel(_Absent):
    """An error."""

    why = "a model runs in one process"


class DataParallel(Module):
    """A module that calls another one: there is one device."""

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The result of the module."""
        return self.module(*inputs, **kwargs)


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """A function that repeats a value so many times, and makes a sequence a tuple."""

    def repeated(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * count

    return repeated


_single, _pair, _triple, _quadruple = map(_ntuple, (1, 2, 3, 4))
_size_1_t = _size_2_t = Any
