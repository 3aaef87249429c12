"""Prefetching: a thread prepares the next items while the current one is processed.

The thread ends when there are no more items, when producing one fails, when the consumer is gone,
and when Python exits. Its errors are raised in the consumer. The two threads share queues written
in C: an interrupt inside a semaphore written in Python could leave it locked forever. Where no
thread can be started, the consumer makes each item when it asks for it, and a warning says so.
"""

import atexit
import contextvars
import os
import threading
import warnings
import weakref
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from minigrad.support.threads import start_thread

_NAME = "minigrad.data prefetch"
_PATIENCE = 5.0
"""The seconds that Python waits at exit for an item in progress."""


_warned = _exiting = False


class Prefetched(Iterator[Any]):
    """The items of an iterator, produced by a separate thread, `ahead` of them in advance.

    The iterator runs with the caller's context: grad mode and other per-thread state.
    """

    def __init__(self, items: Iterator[Any], ahead: int) -> None:
        self._items: Iterator[Any] = iter(())  # the batches that are made without a thread
        self._process = os.getpid()
        self._worker: _Worker | None = _Worker(items, ahead, self)
        try:
            start_thread(_NAME, self._worker.run)
        except RuntimeError:  # no thread can be started
            self._worker, self._items = None, items
            global _warned
            if not _warned:
                _warned = True
                warnings.warn(
                    "DataLoader: no thread can be started here, so batches are not prepared in "
                    "advance; prefetch=0, or num_workers=0, asks for none",
                    RuntimeWarning, stacklevel=3,
                )  # fmt: skip

    def __next__(self) -> Any:
        if self._worker is None:
            return next(self._items)
        if os.getpid() != self._process:
            raise RuntimeError(
                "DataLoader: this iterator prefetches in a thread of the process that made it, "
                "which a forked process does not have; make a new iterator here"
            )
        item, error = self._worker.ready.get()
        if error is None:
            self._worker.room.put(None)
            return item
        self._worker = None
        try:
            raise error
        finally:
            del error  # break the cycle between the error and its traceback


class _Worker:
    """The work of the thread. It refers to its `Prefetched` weakly, and ends when that is gone."""

    def __init__(self, items: Iterator[Any], ahead: int, consumer: Prefetched) -> None:
        self.ready: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self.room: SimpleQueue[Any] = SimpleQueue()  # one entry for each item that may be produced
        for _ in range(ahead):
            self.room.put(None)
        self._items = items
        self._context = contextvars.copy_context()
        # Wakes the thread. No part of it is in Python, where an interrupt could come between.
        self._consumer = weakref.ref(consumer, self.room.put)

    def run(self) -> None:
        """The loop of the thread."""
        _running.add(self)
        try:
            self._context.run(self._make)
        finally:
            _running.discard(self)

    def _make(self) -> None:
        try:
            while True:
                self.room.get()
                if _exiting or self._consumer() is None:
                    return
                self.ready.put((next(self._items), None))
        except BaseException as error:  # noqa: BLE001  # the consumer raises it, also the end
            self.ready.put((None, error))
        finally:
            del self._items


_running: set[_Worker] = set()


@atexit.register
def _stop_all() -> None:
    """Stop every thread between two items, before Python shuts down."""
    global _exiting
    _exiting = True
    for worker in list(_running):
        worker.room.put(None)
    for thread in threading.enumerate():
        if thread.name == _NAME and thread.is_alive():
            thread.join(_PATIENCE)
