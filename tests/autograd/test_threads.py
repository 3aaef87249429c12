"""Several threads differentiate at once: own graphs, one parameter, nested gradients."""

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from minigrad import tensor
from minigrad.autograd import grad

THREADS = 8


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Have the interpreter change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any]) -> list[Any]:
    barrier = threading.Barrier(THREADS)

    def run(i: int) -> Any:
        barrier.wait(10)
        return work(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


@pytest.mark.slow
def test_eight_threads_with_graphs_of_their_own() -> None:
    def work(i: int) -> list[float]:
        found = []
        for step in range(30):
            x = tensor(np.full(3, i + step / 100), requires_grad=True)
            h = x
            for _ in range(10):
                h = h + 0.1 * h.tanh()
                h = h[[0, 1, 2]] * 1.0
            (first,) = grad((h * h).sum(), x, create_graph=True)
            found.append(grad(first.sum(), x)[0].sum().item())
        return found

    wanted = [work(i) for i in range(THREADS)]
    assert together(work) == wanted


def test_eight_threads_add_to_one_gradient() -> None:
    shared = tensor(np.arange(4.0), requires_grad=True)

    def work(i: int) -> None:
        for _ in range(25):
            (shared * (i + 1)).sum().backward()

    together(work)
    assert shared.grad.tolist() == [25.0 * sum(range(1, THREADS + 1))] * 4


def test_eight_threads_walk_one_retained_graph() -> None:
    x = tensor(np.arange(1.0, 4.0), requires_grad=True)
    y = (x.exp() * x.tanh() + x[1:].sum()).sum()
    wanted = grad(y, x, retain_graph=True)[0].tolist()
    results = together(lambda i: [grad(y, x, retain_graph=True)[0].tolist() for _ in range(30)])
    assert all(found == wanted for row in results for found in row)


def test_hooks_in_threads_see_their_own_pass() -> None:
    def work(i: int) -> list[float]:
        seen: list[float] = []
        for step in range(30):
            x = tensor(float(i), requires_grad=True)
            y = x * 1.0
            y.register_hook(lambda g: seen.append(g.item()))
            y.retain_grad()
            (y * (i + step)).backward()
            assert y.grad.item() == i + step
        return seen

    for i, seen in enumerate(together(work)):
        assert seen == [float(i + step) for step in range(30)]
