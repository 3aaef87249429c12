"""Names of `torch.nn` for which minigrad has no use: a program may name them, and some may run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from minigrad.nn import Module
from minigrad.nn import NLLLoss as NLLLoss2d

__all__ = [
    "DataParallel", "NLLLoss2d", "_ntuple", "_pair", "_quadruple", "_single", "_triple",
    "consume_prefix_in_state_dict_if_present",
]  # fmt: skip


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


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix, such as DataParallel's "module.", off the keys that have it, in place."""
    for name in [name for name in state_dict if name.startswith(prefix)]:
        state_dict[name.removeprefix(prefix)] = state_dict.pop(name)


def _ntuple(count: int) -> Callable[[Any], tuple[Any, ...]]:
    """A function that repeats a value so many times, and makes a sequence a tuple."""

    def repeated(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * count

    return repeated


_single, _pair, _triple, _quadruple = map(_ntuple, (1, 2, 3, 4))
