"""The thread that makes batches ahead: it ends whenever nobody waits for it."""

import gc
import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from children import python
from interrupts import before_each_bytecode

import minigrad
from minigrad import data
from minigrad.autograd import is_grad_enabled
from minigrad.data import DataLoader, prefetch
from minigrad.data import loader as loader_module
from minigrad.data.prefetch import Prefetched
from minigrad.support import threads


def workers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "prefetch" in thread.name]


def wait_until(condition: Any, patience: float = 5.0) -> None:
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.001)


class Slow(data.Dataset):
    """Tells which samples were asked for, and by which thread."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.threads: set[str] = set()

    def __len__(self) -> int:
        return 100

    def __getitem__(self, index: int) -> int:
        self.asked.append(index)
        self.threads.add(threading.current_thread().name)
        return index


def test_so_many_ahead_and_no_more() -> None:
    dataset = Slow()
    batches = iter(DataLoader(dataset, prefetch=3))
    wait_until(lambda: len(dataset.asked) == 3)
    next(batches)
    wait_until(lambda: len(dataset.asked) == 4)
    time.sleep(0.02)
    assert dataset.asked == [0, 1, 2, 3]
    assert dataset.threads == {"minigrad.data prefetch"}


def test_none_without_prefetch() -> None:
    dataset = Slow()
    next(iter(DataLoader(dataset)))
    assert dataset.threads == {threading.current_thread().name}
    assert workers() == []


@pytest.mark.parametrize("how", ["dropped", "break", "raise", "at its end", "fails"])
def test_the_thread_ends(how: str) -> None:
    batches = iter(DataLoader([1, None] if how == "fails" else Slow(), 1, prefetch=2))
    if how == "dropped":
        next(batches)
        assert len(workers()) == 1
    elif how == "break":
        for _ in batches:
            break
    elif how == "raise":
        with pytest.raises(KeyError):  # noqa: PT012  # a loop is left
            for _ in batches:
                raise KeyError
    elif how == "at its end":
        assert len([*batches]) == 100
    else:
        next(batches)
        with pytest.raises(TypeError, match="not NoneType"):
            next(batches)
    del batches
    gc.collect()
    wait_until(lambda: workers() == [])


def test_what_it_was_given_is_freed() -> None:
    dataset = Slow()
    alive = weakref.ref(dataset)
    batches = iter(DataLoader(dataset, prefetch=2))
    next(batches)
    del dataset, batches
    wait_until(lambda: workers() == [])
    gc.collect()
    assert alive() is None


def test_dropped_while_a_batch_is_made() -> None:
    """Nobody waits for that batch; the thread ends when it is done."""
    started, go_on = threading.Event(), threading.Event()

    def items() -> Iterator[int]:
        started.set()
        go_on.wait()
        yield 1

    prefetched = Prefetched(items(), 1)
    started.wait()
    del prefetched  # one that waited for the batch would wait for ever here
    assert len(workers()) == 1
    go_on.set()
    wait_until(lambda: workers() == [])


def test_no_lock_can_stay_closed_after_an_interrupt() -> None:
    """Who asks for an item runs no code of `threading`, whose locks Ctrl-C could leave closed."""
    prefetched = Prefetched(iter(range(5)), 2)
    assert [*before_each_bytecode(threading, threading.Event)]  # such code would be seen
    assert [*before_each_bytecode(threading, lambda: next(prefetched))] == []
    assert [*prefetched] == [1, 2, 3, 4]


def test_an_interrupt_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C before each step of making an iterator: none of them leaves its thread."""
    interrupted = 0
    loader = DataLoader(range(10), prefetch=2)
    for module in (prefetch, threads, loader_module):
        for _ in before_each_bytecode(module, lambda: iter(loader)):
            interrupted += 1
    assert interrupted > 100
    assert [*before_each_bytecode(threading, lambda: iter(loader))] == []
    gc.collect()
    wait_until(lambda: workers() == [])
    monkeypatch.setattr(prefetch, "_exiting", False)
    prefetch._stop_all()  # as at exit, whatever state the interrupts left


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_process_cannot_go_on_with_an_iterator() -> None:
    program = """
import os, sys
from minigrad.data import DataLoader
batches = iter(DataLoader(range(9), prefetch=2))
next(batches)
if os.fork() == 0:
    try:
        next(batches)
    except RuntimeError as error:
        print(error, flush=True)
    print([batch.item() for batch in DataLoader(range(2), prefetch=2)], flush=True)
    sys.exit()
os.wait()
print(next(batches).item())
"""
    done = python("-c", program, timeout=60)
    assert "make a new iterator here" in done.stdout
    assert done.stdout.endswith("[0, 1]\n1\n")


def test_an_error_is_raised_where_its_batch_was_asked_for() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise LookupError("deep down")

    prefetched = Prefetched(items(), 5)
    assert next(prefetched) == 1
    with pytest.raises(LookupError, match="deep down") as caught:
        next(prefetched)
    assert caught.traceback[-1].name == "items"
    with pytest.raises(StopIteration):
        next(prefetched)


def test_grad_mode_comes_along() -> None:
    def items() -> Iterator[bool]:
        while True:
            yield is_grad_enabled()

    with minigrad.no_grad():
        without = Prefetched(items(), 1)
    assert next(without) is False
    assert next(Prefetched(items(), 1)) is True


ENDINGS = {
    "in the middle": "next(batches)",
    "while it waits for room": "time.sleep(0.1)",
    "while it works": "started.wait()",
    "by an error": "next(batches); raise SystemExit(0)",
}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_python_can_exit(ending: str) -> None:
    program = f"""
import threading, time
from minigrad.data import DataLoader

started = threading.Event()

class Work:
    def __len__(self):
        return 10**6
    def __getitem__(self, i):
        started.set()
        print("begun", flush=True)
        time.sleep(0.01)
        print("done", flush=True)
        return 1

batches = iter(DataLoader(Work(), 2, prefetch=2))
{ending}
"""
    done = python("-c", program, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("done") == done.stdout.count("begun") > 0, "what it began, it ended"


def test_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise LookupError

    dataset = Slow()
    before = threading.stack_size(1 << 46)  # there is no memory for such a stack
    monkeypatch.setattr(prefetch, "_warned", False)
    try:
        with pytest.warns(RuntimeWarning, match="no thread can be started here"):
            batches = iter(DataLoader(dataset, 10, num_workers=1))
        assert next(batches).tolist() == list(range(10))
        items = Prefetched(failing(), 2)
    finally:
        threading.stack_size(before)
    assert len(dataset.asked) == 10
    assert dataset.threads == {threading.current_thread().name}
    assert [batch.tolist()[0] for batch in batches] == list(range(10, 100, 10))
    assert not list(batches)
    assert not workers()
    assert next(items) == 1
    with pytest.raises(LookupError):
        next(items)
    assert not list(items)
