"""What a test must put back, and how to tell that it did not.

`Surroundings.now()` notes what tests share: the engine's state and defaults, the state of NumPy and
of Python, the folder they run in. `leaks` compares that with what is there later; `restore` puts it
back, so that a test that forgets does not fail those after it.
"""

import ctypes
import dataclasses
import gc
import os
import re
import threading
import warnings
from pathlib import Path
from typing import Any, Self

import numpy as np

from minigrad import random
from minigrad.autograd import engine, mode
from minigrad.autograd.dtypes import get_default_dtype, set_default_dtype
from minigrad.ops import _parallel
from minigrad.ops._parallel import get_num_threads, set_num_threads

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 1.0
"""How many seconds a thread that is about to end is given."""
TWISTER = 625 * 4
"""Bytes of the state of NumPy's global generator."""
CACHES = {".pytest_cache", ".hypothesis", ".mypy_cache", ".ruff_cache", "__pycache__"}
SAID = {
    "state": "the engine's state is {now}, it was {before}",
    "dtype": "the default dtype is {now}, it was {before}",
    "repeating": "minigrad.random still repeats earlier numbers",
    "numpy_random": "np.random's global generator was seeded or drawn from",
    "errstate": "np.geterr() is {now}, it was {before}",
    "printing": "np.set_printoptions was called",
    "workers": "kernels share {now} threads, they shared {before}",
    "blas": "BLAS's threads and who holds them are {now}, not {before}",
    "folder": "the current folder is {now}, it was {before}",
}
"""What is said where something else than before is a leak as it is."""


@dataclasses.dataclass(frozen=True)
class Surroundings:
    """What is shared by all tests of a process, at one time.

    Attributes:
        state: Whether ops are recorded, within which module call, and who observes.
        dtype: The default dtype.
        hooked: How many interior nodes have hooks, or retain their gradient.
        repeating: The generator that minigrad is told to repeat, None outside of recomputation.
        drawn: The state of minigrad's generator. A test may draw from it; it is put back.
        numpy_random: The state of NumPy's global generator, from which nothing should draw.
        errstate: What NumPy does about floating point errors.
        printing: How NumPy prints.
        filters: Which warnings are shown.
        threads: The threads that run, but for those that kernels share.
        workers: How many threads kernels share.
        blas: How many threads NumPy's BLAS has, and which threads hold it to one.
        folder: The current folder.
        files: The names at the top of the repository.
    """

    state: mode.State
    dtype: np.dtype[Any]
    hooked: int
    repeating: Any
    drawn: dict[str, Any]
    numpy_random: bytes
    errstate: dict[str, str]
    printing: dict[str, Any]
    filters: list[Any]
    threads: set[threading.Thread]
    workers: int
    blas: tuple[list[int], set[int]]
    folder: str
    files: set[str]

    @classmethod
    def now(cls) -> Self:
        return cls(
            state=mode.state.get(),
            dtype=get_default_dtype(),
            hooked=_hooked(),
            repeating=random.repeating.get(),
            drawn=random.get_state(),
            numpy_random=numpy_random(),
            errstate=np.geterr(),
            printing=np.get_printoptions(),
            filters=list(warnings.filters),
            threads=_threads(),
            workers=get_num_threads(),
            blas=_blas(),
            folder=os.getcwd(),
            files=set(os.listdir(ROOT)) - CACHES,
        )

    def leaks(self) -> list[str]:
        """What has changed since, in words."""
        now, found = Surroundings.now(), []
        changed = {name for name, value in vars(self).items() if getattr(now, name) != value}
        for name, words in SAID.items():
            if name in changed:
                before, after = getattr(self, name), getattr(now, name)
                found.append(words.format(before=before, now=after))
        if now.hooked > self.hooked and (more := _hooked_after_collection() - self.hooked) > 0:
            found.append(f"{more} nodes with hooks or retained gradients are still alive")
        if now.filters != self.filters and (others := _filters_changed(self.filters, now.filters)):
            found.append(f"warnings.filters has changed: {others}")
        if left := [thread.name for thread in now.threads - self.threads if _runs_on(thread)]:
            found.append(f"threads still run: {', '.join(left)}")
        if left := sorted(now.files - self.files):
            found.append(f"files are left in the repository: {', '.join(left)}")
        return found

    def restore(self) -> None:
        """Put back what can be put back; pytest itself does so with the filters of warnings."""
        mode.state.set(self.state)
        set_default_dtype(self.dtype)
        if get_num_threads() != self.workers:
            set_num_threads(self.workers)
        _parallel._holders.clear()
        _parallel._set_blas(self.blas[0])
        random.repeating.set(self.repeating)
        random.set_state(self.drawn)
        set_numpy_random(self.numpy_random)
        np.seterr(**self.errstate)
        np.set_printoptions(**self.printing)
        os.chdir(self.folder)


def numpy_random() -> bytes:
    """The state of NumPy's global generator, a Mersenne twister: 624 words and a position.

    Read from its memory: `np.random.get_state` takes 0.2 ms, and every test asks twice.
    """
    return ctypes.string_at(_address(), TWISTER)


def set_numpy_random(state: bytes) -> None:
    """Put NumPy's global generator into a state that `numpy_random` returned."""
    np.random.seed(0)  # noqa: NPY002 - forgets the second of a pair of normal numbers
    ctypes.memmove(_address(), state, TWISTER)


def _address() -> int:
    address: int = np.random.get_bit_generator().ctypes.state_address
    return address


def _filters_changed(before: list[Any], now: list[Any]) -> list[Any]:
    """The filters that are gone, or new; but those that a library adds for its own, it may."""
    broad = lambda entry: entry[1] is entry[3] is None and entry[2].__module__ == "builtins"
    gone = [entry for entry in before if entry not in now]
    return gone + [entry for entry in now if entry not in before and broad(entry)]


def _threads() -> set[threading.Thread]:
    """The threads that run, but for those that end by themselves or wait for the next test.

    Large kernels share some, and a local server has one for each file that a browser asks for, also
    after a test.
    """
    others = re.compile(r"minigrad_|.*\(process_request_thread\)")
    return {thread for thread in threading.enumerate() if not others.match(thread.name)}


def _blas() -> tuple[list[int], set[int]]:
    numbers = [library.get_num_threads() for library in _parallel._blas()]
    return numbers, set(_parallel._holders)


def _hooked() -> int:
    return len(engine.watched)


def _hooked_after_collection() -> int:
    gc.collect()
    return _hooked()


def _runs_on(thread: threading.Thread) -> bool:
    """Whether a thread is alive, though it was given time to end."""
    thread.join(PATIENCE)
    return thread.is_alive()
