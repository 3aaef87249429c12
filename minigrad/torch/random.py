"""`torch.random`: the one generator."""

from __future__ import annotations

from typing import Any

from minigrad import random as ours


def manual_seed(seed: int) -> None:
    """Seed the generator."""
    ours.seed(seed)


def get_rng_state() -> Any:
    """The state of the generator."""
    return ours.get_state()


def set_rng_state(new_state: Any) -> None:
    """Put the generator into a state."""
    ours.set_state(new_state)
