"""Prefetching: a thread prepares the next items while the current one is processed.

The thread ends when there are no more items, when producing one fails, when the consumer is gone,
and when Python exits. Its errors are raised in the consumer. The two threads share queues written
in C: an interrupt inside a semaphore written in Python could leave it locked forever. Where no
thread can be started, the consumer makes each item when it asks for it.
"""

import atexit
import contextvars
import threading
import weakref
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any, NamedTuple

_PATIENCE = 5.0
"""The seconds that Python waits at exit for an item in progress."""


class _Item(NamedTuple):
    value: Any


class _Failure(NamedTuple):
    error: BaseException


class _End:
    pass


class Prefetched(Iterator[Any]):
    """The items of an iterator, produced by a separate thread, `ahead` of them in advance.

    The iterator runs with the caller's context: grad mode and other per-thread state.
    """

    def __init__(self, items: Iterator[Any], ahead: int) -> None:
        self._worker: _Worker | None = _Worker(items, ahead)
        self._items: Iterator[Any] = iter(())  # what is made without a thread
        try:
            self._worker.start()
        except RuntimeError:  # no thread can be started
            self._worker, self._items = None, items
        else:
            weakref.finalize(self, self._worker.stop).atexit = False

    def __next__(self) -> Any:
        if self._worker is None:
            return next(self._items)
        answer = self._worker.ready.get()
        if isinstance(answer, _Item):
            self._worker.room.put(None)
            return answer.value
        self._worker = None
        if isinstance(answer, _Failure):
            try:
                raise answer.error
            finally:
                del answer  # break the cycle between the error and its traceback
        raise StopIteration


class _Worker(threading.Thread):
    """The thread. It has no reference to its `Prefetched`, which so can be freed."""

    def __init__(self, items: Iterator[Any], ahead: int) -> None:
        super().__init__(name="minigrad.data prefetch", daemon=True)
        self.ready: SimpleQueue[_Item | _Failure | _End] = SimpleQueue()
        self.room: SimpleQueue[None] = SimpleQueue()  # one entry for each item that may be produced
        for _ in range(ahead):
            self.room.put(None)
        self._items = items
        self._stopped = False
        self._context = contextvars.copy_context()

    def start(self) -> None:
        super().start()
        _workers.add(self)

    def run(self) -> None:
        self._context.run(self._make)

    def _make(self) -> None:
        try:
            while True:
                self.room.get()
                if self._stopped:
                    return
                self.ready.put(_Item(next(self._items)))
        except StopIteration:
            self.ready.put(_End())
        except BaseException as error:
            self.ready.put(_Failure(error))
        finally:
            del self._items

    def stop(self) -> None:
        self._stopped = True
        self.room.put(None)


_workers: weakref.WeakSet[_Worker] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    """Stop every thread between two items, before Python shuts down."""
    workers = list(_workers)
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(_PATIENCE)
