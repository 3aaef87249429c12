"""Threads of our own: the rows of large arrays are divided among them.

NumPy lets go of the interpreter lock while it computes, so threads that each work on some rows run
side by side. Its BLAS has threads too, but for products only, and they spin for a while after each
product, in the way of everybody else. So while kernels use BLAS here, it is held to one thread,
and then given back what it had. This needs the package threadpoolctl; without it there is one
thread here, and BLAS does as it likes.

Waking a thread takes up to a tenth of a millisecond: small work is done at once, by the caller.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import numpy as np

from minigrad.autograd.node import Variable

__all__ = [
    "PRODUCTS_PER_NS", "for_rows", "get_num_threads", "in_blocks", "set_num_threads",
    "worthwhile",
]  # fmt: skip

WORTHWHILE = 100_000
"""The least effort, in nanoseconds, that is divided among threads. Of much less, waking them costs
more than they bring; what is below is left to BLAS, whose own threads then are in the way of ours.
"""

PRODUCTS_PER_NS = 60
"""How many multiplications and additions of float32 a thread does in a nanosecond, about."""

ELEMENTS = 1 << 18
"""How many elements make a block of an element-wise function. Of smaller ones there would be so
many that threads wait for the interpreter lock between them."""

_lock = threading.Lock()
_threads: int | None = None  # None until it is asked for
_pool: ThreadPoolExecutor | None = None
_libraries: list[Any] | None = None  # BLAS, as threadpoolctl controls it
_holders = 0
_before: list[int] = []  # how many threads BLAS had when it was last held


def get_num_threads() -> int:
    """How many threads share the work of large kernels.

    Returns:
        What `set_num_threads` said; before that as many as NumPy's BLAS uses, which follows the
        number of cores and OPENBLAS_NUM_THREADS; 1 without the package threadpoolctl.

    Example:
        >>> import minigrad
        >>> minigrad.get_num_threads() >= 1
        True
    """
    global _threads
    if _threads is None:
        _threads = max([library.num_threads for library in _blas()], default=1)
    return _threads


def set_num_threads(number: int) -> None:
    """Choose how many threads share the work of large kernels, in the whole process.

    The number changes how work is divided, and with it the rounding of sums: results are
    repeatable for one number. BLAS is held to one thread while such a kernel runs, and has its own
    number otherwise: NumPy code outside of minigrad is as fast as before.

    Args:
        number: 1 or more.

    Raises:
        ValueError: It is no positive integer.
        ModuleNotFoundError: More than one is wanted, and the package threadpoolctl is missing.

    Example:
        >>> import minigrad
        >>> before = minigrad.get_num_threads()
        >>> minigrad.set_num_threads(1)
        >>> minigrad.get_num_threads()
        1
        >>> minigrad.set_num_threads(before)
    """
    global _threads, _pool
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"set_num_threads: a positive integer expected, got {number!r}")
    if number > 1 and not _blas():
        raise ModuleNotFoundError(
            "set_num_threads: more than one thread needs the package threadpoolctl, which holds "
            "NumPy's BLAS to one thread meanwhile: pip install threadpoolctl"
        )
    with _lock:
        _threads, _pool = number, None  # its threads end when nobody has work for them any more


def worthwhile(effort: float) -> bool:
    """Whether work should be divided.

    Args:
        effort: About how long it takes one thread, in nanoseconds.
    """
    return effort >= WORTHWHILE and get_num_threads() > 1


def for_rows(rows: int, block: int, effort: float, work: Callable[[int, int], None]) -> None:
    """Call ``work(start, stop)`` for blocks of rows, by several threads if that is worthwhile.

    Args:
        rows: How many rows there are.
        block: How many of them make a block, at most.
        effort: About how long all of it takes one thread, in nanoseconds.
        work: Does the rows from `start` to before `stop`. It may be called from any thread, in the
            caller's context, in any order; two calls must not write to the same place.
    """
    if rows <= block:
        if rows:
            work(0, rows)
        return
    starts = iter(range(0, rows, block))

    def run() -> None:
        for start in starts:  # shared: a thread that is done takes the next
            work(start, min(start + block, rows))

    threads = get_num_threads() if effort >= WORTHWHILE else 1
    if threads == 1:
        run()
        return
    helpers = min(threads, -(-rows // block)) - 1
    with _held_blas():
        others = [_workers().submit(copy_context().run, run) for _ in range(helpers)]
        try:
            run()
        finally:
            for other in others:
                other.result()


@contextmanager
def _held_blas() -> Iterator[None]:
    """Hold BLAS to one thread, until the last that asked for it is done."""
    global _holders
    libraries = _blas()
    with _lock:
        _holders += 1
        if _holders == 1:
            _before[:] = [library.num_threads for library in libraries]
            for library in libraries:
                library.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            if not _holders:
                for library, number in zip(libraries, _before, strict=True):
                    library.set_num_threads(number)


def in_blocks(function: Callable[..., Any], cost: float, x: Any, *others: Any) -> Any:
    """Call an element-wise function block by block, so that what it needs stays in the cache.

    Args:
        function: Gets parts of the arrays, and returns as many elements, of the dtype of `x`. Small
            arrays, and tensors, it gets whole.
        cost: About how many nanoseconds it takes for an element.
        x: An array or tensor.
        others: More of its shape; then, anything else, which is handed on.

    Returns:
        The whole, of the shape of `x`.
    """
    if isinstance(x, Variable) or x.size <= ELEMENTS:
        return function(x, *others)
    if any(isinstance(other, Variable) for other in others):
        return function(x, *others)
    flat = [array.reshape(-1) if isinstance(array, np.ndarray) else array for array in (x, *others)]
    out = np.empty(x.size, x.dtype)

    def work(start: int, stop: int) -> None:
        parts = [part[start:stop] if isinstance(part, np.ndarray) else part for part in flat]
        out[start:stop] = function(*parts)

    for_rows(x.size, ELEMENTS, cost * x.size, work)
    return out.reshape(x.shape)


def _blas() -> list[Any]:
    """NumPy's BLAS, or nothing if it cannot be controlled."""
    global _libraries
    if _libraries is None:
        try:
            from threadpoolctl import ThreadpoolController
        except ModuleNotFoundError:
            return []
        _libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return _libraries


def _workers() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(get_num_threads() - 1, 1), "minigrad")
        return _pool


def _forget_threads() -> None:
    """A forked process has none of the threads, and its lock may be held by one of them."""
    global _pool, _lock, _holders
    _pool, _lock, _holders = None, threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
