"""no_grad, enable_grad, set_grad_enabled: nested, as decorators, per thread, after exceptions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minigrad.autograd import primitive


@pytest.fixture(autouse=True)
def the_mode_is_put_back() -> Any:
    assert is_grad_enabled()
    yield
    left_on = is_grad_enabled()
    set_grad_enabled(True)  # one failure is enough
    assert left_on


def recorded() -> bool:
    """Whether ops record, as ops themselves see it."""
    x = Tensor([1.0], requires_grad=True)
    results = {(x * x).requires_grad, x.exp().requires_grad, x.sum(axis=0).requires_grad,
               minigrad.stack([x, x]).requires_grad, x[0].requires_grad}  # fmt: skip
    assert len(results) == 1
    assert results == {is_grad_enabled()}
    return results.pop()


def test_nested() -> None:
    assert recorded()
    with no_grad():
        assert not recorded()
        with enable_grad():
            assert recorded()
            with no_grad(), no_grad():
                assert not recorded()
            assert recorded()
        assert not recorded()
    assert recorded()


@pytest.mark.parametrize("mode", [True, False])
def test_set_grad_enabled_as_a_block(mode: bool) -> None:
    for outer in (no_grad, enable_grad):
        with outer():
            before = recorded()
            with set_grad_enabled(mode):
                assert recorded() == mode
            assert recorded() == before


def test_set_grad_enabled_as_a_statement() -> None:
    set_grad_enabled(False)
    assert not recorded()
    set_grad_enabled(True)
    assert recorded()
    with no_grad():
        set_grad_enabled(True)
        assert recorded()
    assert recorded()


@pytest.mark.parametrize(
    ("manager", "inside"),
    [(no_grad, False), (enable_grad, True), (lambda: set_grad_enabled(False), False)],
)
def test_a_manager_used_twice(manager: Callable[[], Any], inside: bool) -> None:
    block = manager()
    with block:
        assert recorded() == inside
    assert recorded()
    with block:
        assert recorded() == inside
        with block:
            assert recorded() == inside
        assert recorded() == inside
    assert recorded()


def test_decorators() -> None:
    @no_grad()
    def without(depth: int) -> list[bool]:
        """Keep me."""
        return [recorded(), *(within(depth - 1) if depth else [])]

    @enable_grad()
    def within(depth: int) -> list[bool]:
        return [recorded(), *(without(depth - 1) if depth else [])]

    assert without(3) == [False, True, False, True]
    assert recorded()
    assert (without.__name__, without.__doc__) == ("without", "Keep me.")

    @set_grad_enabled(False)
    def switched() -> bool:
        return recorded()

    assert recorded()  # decorating changes nothing
    assert [switched(), switched()] == [False, False]
    assert recorded()


def test_exceptions_put_the_mode_back() -> None:
    for manager in (no_grad, enable_grad, lambda: set_grad_enabled(True)):
        with pytest.raises(LookupError), no_grad():
            try:
                with manager():
                    raise LookupError
            finally:
                assert not is_grad_enabled()
        assert is_grad_enabled()

    @no_grad()
    def fails() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        fails()
    assert recorded()


def test_a_forward_that_fails_leaves_nothing_behind() -> None:
    @primitive
    def fails_forwards(x: Any) -> Any:
        raise LookupError("in the forward")

    fails_forwards.defvjp(x=lambda g: g)
    x = Tensor([1.0, 2.0], requires_grad=True)
    with no_grad(), pytest.raises(Exception, match="in the forward"):
        fails_forwards(x)
    with pytest.raises(ValueError, match="add"):
        x + np.ones(3)
    assert recorded()
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_each_thread_has_its_own_mode() -> None:
    seen: dict[str, bool] = {}
    inside, checked = threading.Event(), threading.Event()

    def holds() -> None:
        with no_grad():
            inside.set()
            assert checked.wait(10)
            seen["holder"] = recorded()

    def fresh() -> None:
        seen["fresh"] = recorded()

    with no_grad():
        thread = threading.Thread(target=fresh)
        thread.start()
        thread.join()
    holder = threading.Thread(target=holds)
    holder.start()
    assert inside.wait(10)
    seen["main"] = recorded()
    checked.set()
    holder.join()
    assert seen == {"fresh": True, "main": True, "holder": False}


def test_backward_runs_in_its_own_mode_and_gives_the_caller_s_back() -> None:
    modes: list[bool] = []
    x = Tensor(2.0, requires_grad=True)
    x.register_hook(lambda g: modes.append(is_grad_enabled()))
    (x * x).backward()
    with no_grad():
        y = x.exp()
        assert not y.requires_grad
    with enable_grad():
        (x * x).backward(create_graph=True)
    assert modes == [False, True]


def test_results_of_no_grad_are_constants() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with no_grad():
        frozen = x * 3
    (frozen * x).sum().backward()
    assert x.grad.tolist() == [3.0, 6.0]
    assert frozen.is_leaf


def test_a_parameter_made_under_no_grad_still_learns() -> None:
    with no_grad():
        x = Tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
