"""Names of `torch.nn` for which minigrad has no use: a program may name them, and some may run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from minigrad.nn import Module

__all__ = ["DataParallel", "_ntuple", "_pair", "_quadruple", "_single", "_triple"]


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
