"""`torch.random`: the one generator, and generators of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from minigrad import random as ours

_seed = 0


class Generator(np.random.Generator):
    """A stream of random numbers of its own, for `generator=`.

    Example:
        >>> from minigrad import torch
        >>> one, other = (torch.Generator().manual_seed(0) for _ in range(2))
        >>> torch.equal(torch.rand(3, generator=one), torch.rand(3, generator=other))
        True
    """

    def __init__(self, device: Any = "cpu") -> None:
        super().__init__(np.random.PCG64(0))
        self.device, self._first = device, 0

    def manual_seed(self, seed: int) -> Generator:
        """Seed it."""
        self._first = int(seed)
        self.bit_generator.state = np.random.PCG64(self._first % 2**64).state
        return self

    def seed(self) -> int:
        """Seed it with a number that is not known before."""
        return self.manual_seed(int(np.random.SeedSequence().generate_state(1)[0])).initial_seed()

    def initial_seed(self) -> int:
        """The seed."""
        return self._first

    def get_state(self) -> Any:
        """The state."""
        return self.bit_generator.state

    def set_state(self, state: Any) -> Any:
        """Go on from a state."""
        self.bit_generator.state = state
        return self


def drawing(generator: Any) -> AbstractContextManager[None]:
    """Within the block, draw from a generator, if one is given."""
    return nullcontext() if generator is None else ours.drawing_from(generator)


def manual_seed(seed: int) -> Any:
    """Seed the generator."""
    global _seed
    _seed = int(seed)
    ours.seed(_seed % 2**64)
    return default_generator


def seed() -> int:
    """Seed the generator with a number that is not known before."""
    manual_seed(int(np.random.SeedSequence().generate_state(1)[0]))
    return _seed


def initial_seed() -> int:
    """The seed of the generator."""
    return _seed


def get_rng_state() -> Any:
    """The state of the generator."""
    return ours.get_state()


def set_rng_state(new_state: Any) -> None:
    """Put the generator into a state."""
    ours.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = (), enabled: bool = True, **options: Any) -> Iterator[None]:
    """Put the generator back at the end of the block."""
    state = get_rng_state()
    yield
    if enabled:
        set_rng_state(state)


class _Default:
    """The generator of the process, as an object."""

    manual_seed = staticmethod(manual_seed)
    initial_seed = staticmethod(initial_seed)
    seed = staticmethod(seed)
    get_state = staticmethod(get_rng_state)
    set_state = staticmethod(set_rng_state)


default_generator = _Default()
