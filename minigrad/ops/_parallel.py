"""Worker threads: the rows of large arrays are divided among them.

NumPy releases the interpreter lock while it computes, so threads that each work on some rows run
in parallel. Its BLAS has threads too, for products only; they wait actively after each product and
would compete with ours. So BLAS is limited to one thread while kernels use it here, and then gets
its own number back. This needs the package threadpoolctl; without it there is one
thread here, and BLAS does as it likes.

Waking a thread takes up to a tenth of a millisecond: small work is done at once, by the caller.

Ctrl-C raises KeyboardInterrupt in the main thread between any two of its bytecodes, inside of
``__enter__`` and `finally` too. So the main thread takes up no lock of Python code here, which
could stay locked, and what it holds when it fails is given back by one of the other threads, which
no signal reaches. To ask one for that is a single call into C.
"""

from __future__ import annotations

import os
from _thread import get_ident, start_new_thread
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import copy_context
from functools import partial
from itertools import product, repeat
from queue import SimpleQueue
from threading import RLock, Thread
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.node import Variable
from minigrad.ops._numerics import formula

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

_threads: int | None = None  # None until it is asked for
_tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()  # what the other threads are to do
_workers: list[int] = []  # which those are
_libraries: list[_Library] | None = None
_lock = RLock()  # of the next two, and of how many threads BLAS has
_holders: set[int] = set()  # the threads that hold BLAS to one thread
_before: list[int] = []  # how many threads BLAS had when the first of them came


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
        _threads = max([library.get_num_threads() for library in _blas()], default=1)
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
    global _threads
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"set_num_threads: a positive integer expected, got {number!r}")
    if number > 1 and not _blas():
        raise ModuleNotFoundError(
            "set_num_threads: more than one thread needs the package threadpoolctl, which holds "
            "NumPy's BLAS to one thread meanwhile: pip install threadpoolctl"
        )
    _threads = number


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
    blocks = deque(range(0, rows, block))

    def run() -> None:
        while blocks:
            try:
                start = blocks.popleft()
            except IndexError:  # another thread took the last
                return
            work(start, min(start + block, rows))

    threads = get_num_threads() if effort >= WORTHWHILE else 1
    if threads == 1:
        run()
    else:
        _divide(run, blocks, min(threads, len(blocks)) - 1)


def _divide(run: Callable[[], None], blocks: deque[int], helpers: int) -> None:
    """Have other threads run what this one runs too, while BLAS is held to one thread."""
    while len(_workers) < helpers:
        _workers.append(start_new_thread(_start_worker, (len(_workers), _tasks)))
    context = copy_context()
    asked: list[None] = []  # an entry for each task
    ended: list[BaseException | None] = []  # and how each that is done did
    news: SimpleQueue[None] = SimpleQueue()

    def do(part: Callable[[], None]) -> None:
        try:
            part()
        except BaseException as error:
            ended.append(error)
        else:
            ended.append(None)
        news.put(None)

    def wait() -> None:
        while len(ended) < len(asked):
            news.get()

    help_ = partial(do, lambda: context.copy().run(run))
    let_go = partial(do, partial(_let_go, get_ident()))
    try:
        _hold(get_ident())
        asked.extend(map(_tasks.put, repeat(help_, helpers)))  # all in one call into C
        run()
        wait()
        _let_go(get_ident())
    except BaseException:
        try:
            _lock.release()
        except RuntimeError:  # as it should be: it is not held here any more
            pass
        finally:
            asked.append(_tasks.put(let_go))  # type: ignore[func-returns-value]
        blocks.clear()
        wait()
        ended.clear()  # or the error of a thread would hold, by its traceback, itself
        raise
    error = next(filter(None, ended), None)
    ended.clear()
    if error is not None:
        try:
            raise error
        finally:
            del error


def _start_worker(number: int, tasks: SimpleQueue[Callable[[], None]]) -> None:
    """Start a thread from one that no signal reaches: `Thread` takes up locks for it."""
    Thread(target=_serve, args=(tasks,), name=f"minigrad_{number}", daemon=True).start()


def _serve(tasks: SimpleQueue[Callable[[], None]]) -> None:
    """The loop of a worker thread."""
    while True:
        tasks.get()()


def _hold(thread: int) -> None:
    """Hold BLAS to one thread, until all threads that asked for it have let go."""
    with _lock:
        if not _holders:
            _before[:] = [library.get_num_threads() for library in _blas()]
        _holders.add(thread)
        _set_blas(repeat(1))


def _let_go(thread: int) -> None:
    """Undo `_hold`. An interrupt may stop it anywhere; it can be called again."""
    with _lock:
        if _holders == {thread}:
            _set_blas(_before)
        _holders.discard(thread)


def _set_blas(numbers: Iterable[int]) -> None:
    """Set how many threads each library has."""
    for library, number in zip(_blas(), numbers):  # noqa: B905
        library.set_num_threads(number)


@formula("function(x, *others)")
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


class _Library(NamedTuple):
    """A library that may be BLAS for NumPy."""

    get_num_threads: Callable[[], int]
    set_num_threads: Callable[[int], Any]


def _blas() -> list[_Library]:
    """NumPy's BLAS, or nothing if it cannot be controlled."""
    global _libraries
    if _libraries is None:
        try:
            from threadpoolctl import ThreadpoolController
        except ModuleNotFoundError:
            return []
        controllers = ThreadpoolController().select(user_api="blas").lib_controllers
        _libraries = [_library(controller) for controller in controllers]
    return _libraries


def _library(controller: Any) -> _Library:
    """How to control a library.

    The setter of threadpoolctl 3.8 has no effect on OpenBLAS in any thread but the first that used
    it. Where all threads share one number, we call OpenBLAS itself.
    """
    functions = [controller.get_num_threads, controller.set_num_threads]
    if getattr(controller, "threading_layer", None) == "pthreads":
        for affixes in product(("", "scipy_"), ("", "64_", "_64")):
            names = [f"openblas_{verb}_num_threads".join(affixes) for verb in ("get", "set")]
            if all(hasattr(controller.dynlib, name) for name in names):
                functions = [getattr(controller.dynlib, name) for name in names]
    return _Library(*functions)


def _start_afresh() -> None:
    """A forked process has none of the threads, so nobody holds anything."""
    global _tasks, _workers, _lock
    _tasks, _workers, _lock = SimpleQueue(), [], RLock()
    if _holders:
        _set_blas(_before)
        _holders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
