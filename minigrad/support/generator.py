"""Generator: a stream of random numbers of its own.

It is loaded on first use, as NumPy's random numbers are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

__all__ = ["Generator"]


class Generator(np.random.Generator):
    """A stream of random numbers of its own, for `generator=`; one of NumPy's, with a seed.

    Args:
        device: "cpu".

    Source: PyTorch 2.13, "torch.Generator".

    Example:
        >>> import minigrad
        >>> one, other = (minigrad.Generator().manual_seed(0) for _ in range(2))
        >>> minigrad.equal(minigrad.rand(3, generator=one), minigrad.rand(3, generator=other))
        True
    """

    def __init__(self, device: Any = "cpu") -> None:
        super().__init__(np.random.PCG64(0))
        self.device, self._first = device, 0

    def manual_seed(self, seed: int) -> Self:
        """Seed it, and return it."""
        self._first = int(seed) % 2**64
        self.bit_generator.state = np.random.PCG64(self._first).state
        return self

    def seed(self) -> int:
        """Seed it with a number that is not known before, and return that."""
        return self.manual_seed(unknown()).initial_seed()

    def initial_seed(self) -> int:
        """Return the seed."""
        return self._first

    def get_state(self) -> dict[str, Any]:
        """Return the state: a dictionary of strings and integers."""
        state: dict[str, Any] = dict(self.bit_generator.state)
        return state

    def set_state(self, new_state: Mapping[str, Any]) -> Self:
        """Go on from a state that `get_state` returned."""
        self.bit_generator.state = new_state
        return self

    def clone_state(self) -> Generator:
        """Return another generator that draws the same numbers from here on."""
        return _restored(self.device, self._first, self.get_state())

    def __reduce__(self) -> Any:
        return _restored, (self.device, self._first, self.get_state())


def _restored(device: Any, first: int, state: Mapping[str, Any]) -> Generator:
    made = Generator(device).set_state(state)
    made._first = first
    return made


def unknown() -> int:
    """A seed from the numbers of the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
