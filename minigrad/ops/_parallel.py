"""Worker threads, among which the rows of large arrays are divided.

NumPy releases the interpreter lock while it computes, so threads that each work on some rows run
in parallel. BLAS has its own threads, for matrix products only. They busy-wait after each product
and would compete with ours. So BLAS is limited to one thread while our kernels run, and then gets
its number of threads back. This needs the package threadpoolctl; without it we use one thread, and
BLAS is not limited.

Threads that find no free core are worse than none: those that busy-wait take the processor from
those that compute. So the default is no more than the cores that the process may use.

Waking a thread takes up to 0.1 ms, so the caller does small work itself. It does all of it where
no thread can be started, as in a browser or at the limit of a container.

Ctrl-C raises KeyboardInterrupt in the main thread between any two bytecodes, also inside
``__enter__`` and `finally`. So the main thread takes no lock in Python code, which could stay
locked. What it holds when it fails is released by a worker thread, which receives no signals.
Asking a worker for that is a single call into C.
"""

from __future__ import annotations

import math
import os
from _thread import get_ident, start_new_thread
from collections import deque
from collections.abc import Callable, Iterable, Iterator
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
    "PRODUCTS_PER_NS", "available_cores", "block_of", "for_rows", "get_num_threads", "in_blocks",
    "in_passes", "passes", "set_num_threads", "shared", "unbuffered", "worthwhile",
]  # fmt: skip

WORTHWHILE = 300_000
"""The minimum effort, in nanoseconds, that is divided among threads. Smaller work stays on one
thread: waking workers costs about 0.1 ms, and BLAS's threads would compete.
"""

PRODUCTS_PER_NS = 60
"""The approximate number of float32 multiply-adds of a thread in a nanosecond."""

ELEMENTS = 1 << 18
"""The number of elements in a block for each of several threads, in kernels that pass over their
data several times. With smaller blocks, they would wait for the interpreter lock too often: every
call of NumPy releases and takes it.
"""
ALONE = 1 << 16
"""The same for one thread: what it computes of a block stays in its cache."""

LONG = 500
"""The length of an innermost loop for which NumPy's buffers cost more than they save."""

_threads: int | None = None  # None until first used
_tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()  # tasks for the worker threads
_workers: list[int] = []  # the worker threads
_libraries: list[_Library] | None = None
_lock = RLock()  # guards the next two, and BLAS's number of threads
_holders: set[int] = set()  # the threads that limit BLAS to one thread
_before: list[int] = []  # BLAS's number of threads before the first of them


def get_num_threads() -> int:
    """Return the number of threads for large kernels.

    Returns:
        The number from `set_num_threads`. By default the number of threads of NumPy's BLAS, which
        depends on the cores and OPENBLAS_NUM_THREADS, but no more than the cores that this process
        may use: its affinity, and the quota of its container. 1 without the package threadpoolctl.

    Example:
        >>> import minigrad
        >>> minigrad.get_num_threads() >= 1
        True
    """
    global _threads
    if _threads is None:
        numbers = [library.get_num_threads() for library in _blas()]
        _threads = min(max(numbers, default=1), available_cores())
    return _threads


def set_num_threads(number: int) -> None:
    """Set the number of threads of large kernels and of NumPy's BLAS, for the whole process.

    With 1, nothing waits for a core on a machine that does other work too. The number changes how
    sums are divided, and so their rounding: results are reproducible for a fixed number.

    Args:
        number: 1 or more.

    Raises:
        ValueError: It is not a positive integer.
        ModuleNotFoundError: It is above 1, and the package threadpoolctl is missing.

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
    with _lock:
        _threads = number
        _before[:] = repeat(number, len(_blas()))
        if not _holders:
            _set_blas(_before)


def available_cores() -> int:
    """The number of cores that this process may use: its affinity, and its container's quota.

    Source: sched(7); "Control Group v2" and "CFS Bandwidth Control" in the documentation of Linux.
    """
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return max(min([cores, *map(math.ceil, _quotas())]), 1)


def _quotas(folder: str = "/sys/fs/cgroup") -> Iterator[float]:
    """The limits of the control groups that this process sees, in cores."""

    def read(name: str) -> str:
        with open(f"{folder}/{name}") as file:
            return file.read()

    for files in (["cpu.max"], ["cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"]):
        try:
            quota, period = map(float, " ".join(map(read, files)).replace("max", "-1").split())
        except (OSError, ValueError):
            continue
        if quota > 0 and period > 0:
            yield quota / period


def worthwhile(effort: float) -> bool:
    """Whether work that takes `effort` nanoseconds in one thread should be divided."""
    return effort >= WORTHWHILE and get_num_threads() > 1


def passes(size: int, elements: int | None = None) -> float:
    """The effort of a kernel that passes over `size` elements several times, for `for_rows`.

    It is worthwhile to divide it if there are two blocks of `elements`, by default `ELEMENTS`.
    """
    return math.inf if size >= 2 * (elements or ELEMENTS) else 0


def block_of(rows: int, width: int, elements: int | None = None) -> int:
    """The number of rows of some width in a block, for a kernel whose effort is `passes`."""
    divided = worthwhile(passes(rows * width, elements))
    return max((elements or ELEMENTS if divided else ALONE) // max(width, 1), 1)


def in_passes(
    rows: int, width: int, work: Callable[[int, int], None], *, elements: int | None = None,
    inner: int = 0,
) -> None:  # fmt: skip
    """Call ``work(start, stop)`` as `for_rows` does, for a kernel whose effort is `passes`."""
    block, effort = block_of(rows, width, elements), passes(rows * width, elements)
    for_rows(rows, block, effort, work, inner=inner)


def shared(rows: int, most: int, effort: float) -> int:
    """The number of rows in a block, at most `most`, with which no thread of `for_rows` is idle."""
    threads = get_num_threads() if effort >= WORTHWHILE else 1
    return max(min(most, -(-rows // threads)), 1)


def for_rows(
    rows: int, block: int, effort: float, work: Callable[[int, int], None], *, inner: int = 0
) -> None:
    """Call ``work(start, stop)`` for blocks of rows, in several threads if that is worthwhile.

    Args:
        rows: The number of rows.
        block: The maximum number of rows in a block.
        effort: Estimated time for all rows in one thread, in nanoseconds.
        work: Processes the rows from `start` to before `stop`. It is called in any thread, in the
            caller's context, in any order; two calls must not write to the same memory.
        inner: The length of the innermost loops, if all of them are as long; see `unbuffered`.
    """
    if inner >= LONG:
        work = partial(unbuffered, inner, work)
    if rows <= block:
        if rows:
            work(0, rows)
        return
    blocks = deque(range(0, rows, block))

    def run() -> None:
        while blocks:
            try:
                start = blocks.popleft()
            except IndexError:  # no block is left
                return
            work(start, min(start + block, rows))

    threads = get_num_threads() if effort >= WORTHWHILE else 1
    if threads == 1:
        run()
    else:
        _divide(run, blocks, min(threads, len(blocks)) - 1)


def unbuffered(inner: int, work: Callable[..., Any], *args: Any) -> Any:
    """Call a function; if its innermost loops are long, NumPy's buffers are minimal meanwhile.

    Since 2.3, NumPy copies a broadcast operand whose innermost axis is shorter than the buffer.
    That makes one loop of many short ones. Where they are `LONG`, ``x - mean`` takes twice as long.
    """
    if inner < LONG:
        return work(*args)
    before = np.setbufsize(16)
    try:
        return work(*args)
    finally:
        np.setbufsize(before)


def _divide(run: Callable[[], None], blocks: deque[int], helpers: int) -> None:
    """Run a function in this thread and in workers, while BLAS is limited to one thread."""
    helpers = _hire(helpers)
    if not helpers:
        return run()
    context = copy_context()
    asked: list[None] = []  # one entry for each task
    ended: list[BaseException | None] = []  # the outcome of each finished task
    news: SimpleQueue[None] = SimpleQueue()

    def do(part: Callable[[], None]) -> None:
        try:
            part()
        except BaseException as error:  # noqa: BLE001  # the caller raises it
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
        asked.extend(map(_tasks.put, repeat(help_, helpers)))  # a single call into C
        run()
        wait()
        _let_go(get_ident())
    except BaseException:
        try:
            _lock.release()
        except RuntimeError:  # expected: BLAS is no longer limited by this call
            pass
        finally:
            asked.append(_tasks.put(let_go))  # type: ignore[func-returns-value]
        blocks.clear()
        wait()
        ended.clear()  # break the cycle between a thread's error and its traceback
        raise
    error = next(filter(None, ended), None)
    ended.clear()
    if error is not None:
        try:
            raise error
        finally:
            del error


def _hire(wanted: int) -> int:
    """Start the workers that are missing; returns how many there are of those that are wanted."""
    try:
        while len(_workers) < wanted:
            _workers.append(start_new_thread(_start, (f"minigrad_{len(_workers)}",)))
    except RuntimeError:  # no thread can be started
        pass
    return min(wanted, len(_workers))


def _start(name: str) -> None:
    """Start a worker, as a daemon.

    `Thread` takes locks written in Python, inside of which an interrupt could stop. So it is made
    in a thread that is started by a single call into C, and to which no signal comes.
    """
    try:
        Thread(target=_serve, args=(_tasks,), name=name, daemon=True).start()
    except RuntimeError:  # this was the last thread that could be started
        _serve(_tasks)


def _serve(tasks: SimpleQueue[Callable[[], None]]) -> None:
    """The loop of a worker thread."""
    while True:
        tasks.get()()


def _hold(thread: int) -> None:
    """Limit BLAS to one thread, until all threads that asked for it let go."""
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
    """Set the number of threads of each library."""
    for library, number in zip(_blas(), numbers):  # noqa: B905
        library.set_num_threads(number)


@formula("function(x, *others)")
def in_blocks(function: Callable[..., Any], x: Any, *others: Any) -> Any:
    """Call an elementwise function block by block, so that its data stay in the cache.

    The function takes parts of `x`, an array or tensor, and of those of `others` that have its
    shape; it returns as many elements of the dtype of `x`. Small arrays and tensors are passed
    whole.
    """
    if isinstance(x, Variable) or x.size <= (ELEMENTS if get_num_threads() > 1 else ALONE):
        return function(x, *others)
    if any(isinstance(other, Variable) for other in others):
        return function(x, *others)
    flat = [array.reshape(-1) if isinstance(array, np.ndarray) else array for array in (x, *others)]
    out = np.empty(x.size, x.dtype)

    def work(start: int, stop: int) -> None:
        parts = [part[start:stop] if isinstance(part, np.ndarray) else part for part in flat]
        out[start:stop] = function(*parts)

    in_passes(x.size, 1, work)
    return out.reshape(x.shape)


class _Library(NamedTuple):
    """A library that may be NumPy's BLAS."""

    get_num_threads: Callable[[], int]
    set_num_threads: Callable[[int], Any]


def _blas() -> list[_Library]:
    """NumPy's BLAS; empty if it cannot be controlled.

    NumPy's wheels bring their own, beside which SciPy loads another. Elsewhere they share one.
    """
    global _libraries
    if _libraries is None:
        try:
            from threadpoolctl import ThreadpoolController
        except ModuleNotFoundError:
            return []
        controllers = ThreadpoolController().select(user_api="blas").lib_controllers
        own = [each for each in controllers if _of_numpy(each.filepath)]
        _libraries = [_library(controller) for controller in own or controllers]
    return _libraries


def _of_numpy(path: str) -> bool:
    """Whether a library lies in a wheel of NumPy: in numpy.libs, or in numpy/.dylibs."""
    return not {"numpy", "numpy.libs"}.isdisjoint(path.replace("\\", "/").split("/"))


def _library(controller: Any) -> _Library:
    """The functions that control a library.

    The setter of threadpoolctl 3.8 has no effect on OpenBLAS except in the thread that used it
    first. Where all threads share one number, we call OpenBLAS directly.
    """
    functions = [controller.get_num_threads, controller.set_num_threads]
    if getattr(controller, "threading_layer", None) == "pthreads":
        for affixes in product(("", "scipy_"), ("", "64_", "_64")):
            names = [f"openblas_{verb}_num_threads".join(affixes) for verb in ("get", "set")]
            if all(hasattr(controller.dynlib, name) for name in names):
                functions = [getattr(controller.dynlib, name) for name in names]
    return _Library(*functions)


def _start_afresh() -> None:
    """After a fork: the child process has no worker threads, and BLAS is not limited."""
    global _tasks, _workers, _lock
    _tasks, _workers, _lock = SimpleQueue(), [], RLock()
    if _holders:
        _set_blas(_before)
        _holders.clear()


def _follow_quota() -> None:
    """Limit BLAS, which counts the cores but does not know of a container's quota."""
    quotas = list(_quotas())
    if quotas and min(quotas) < (os.cpu_count() or 1) and _blas():
        set_num_threads(get_num_threads())


_follow_quota()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_afresh)
