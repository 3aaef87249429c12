"""`torch.cuda`: there is no GPU."""

from __future__ import annotations

from typing import Any

from minigrad.torch.cuda import amp as amp


def is_available() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there is no generator on a GPU."""


def manual_seed_all(seed: int) -> None:
    """Nothing: there is no generator on a GPU."""


def empty_cache() -> None:
    """Nothing."""


def synchronize(device: Any = None) -> None:
    """Nothing: every result is there when a call returns."""
