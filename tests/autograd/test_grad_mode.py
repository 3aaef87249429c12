"""no_grad, enable_grad, set_grad_enabled: nested, as decorators, per thread, after exceptions."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, enable_grad, is_grad_enabled, no_grad, set_grad_enabled


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


MANAGERS: list[tuple[Callable[[], Any], bool]] = [
    (no_grad, False),
    (enable_grad, True),
    (lambda: set_grad_enabled(False), False),
    (lambda: set_grad_enabled(True), True),
]


@pytest.mark.parametrize(("manager", "inside"), MANAGERS)
def test_a_manager_nested_and_used_twice(manager: Callable[[], Any], inside: bool) -> None:
    for outer in (no_grad, enable_grad):
        with outer():
            before, block = recorded(), manager()
            for _ in range(2):
                with block:
                    assert recorded() == inside
                    with block, no_grad():
                        assert not recorded()
                    assert recorded() == inside
                assert recorded() == before
    assert recorded()


def test_set_grad_enabled_as_a_statement() -> None:
    set_grad_enabled(False)
    assert not recorded()
    set_grad_enabled(True)
    assert recorded()
    with no_grad():
        set_grad_enabled(True)
        assert recorded()
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
    again = set_grad_enabled(False)
    decorated = [again(recorded), again(recorded)]
    assert recorded()  # decorating changes nothing
    for switched in decorated * 2:
        assert not switched()
    assert recorded()


# Decorators hold while the body of a function runs, whatever kind of function it is.
MODES: list[tuple[Any, bool]] = [
    (no_grad, False),
    (enable_grad, True),
    (no_grad(), False),
    (enable_grad(), True),
    (lambda function: set_grad_enabled(True)(function), True),
    (lambda function: set_grad_enabled(False)(function), False),
]


@pytest.mark.parametrize(("decorate", "inside"), MODES)
@pytest.mark.parametrize("outside", [True, False])
def test_the_mode_of_a_decorated_body_is_its_own(
    decorate: Any, inside: bool, outside: bool
) -> None:
    """Functions and generators; between steps the mode is the caller's."""

    @decorate
    def function() -> bool:
        """Keep me."""
        return recorded()

    @decorate
    def generator() -> Iterator[bool]:
        try:
            yield recorded()
            yield recorded()
        finally:
            seen.append(recorded())

    seen: list[bool] = []
    outer: list[bool] = []
    assert function.__doc__ == "Keep me."
    with enable_grad() if outside else no_grad():
        assert function() == inside
        found = []
        for value in generator():
            found.append(value)
            outer.append(recorded())
        half = generator()
        found.append(next(half))
        half.close()  # what it still does in `finally` is its own too
        outer.append(recorded())
    assert set(found) == {inside}
    assert seen == [inside] * 2
    assert set(outer) == {outside}


def test_a_decorated_generator_is_a_generator() -> None:
    """It takes what is sent and thrown, and returns what its body returns."""

    @no_grad()
    def body() -> Any:
        sent = yield 1
        try:
            yield sent
        except LookupError:
            assert not recorded()
            yield "caught"
        return "end"

    def delegating() -> Any:
        results.append((yield from body()))

    results: list[Any] = []
    steps = delegating()
    assert [next(steps), steps.send(5), steps.throw(LookupError)] == [1, 5, "caught"]
    assert list(steps) == []
    assert results == ["end"]
    failing = body()
    next(failing), next(failing)
    with pytest.raises(KeyboardInterrupt):
        failing.throw(KeyboardInterrupt)
    assert recorded()


def test_a_decorator_says_what_it_needs() -> None:
    async def waits() -> None: ...

    with pytest.raises(TypeError, match="waits: an asynchronous function"):
        no_grad(waits)
    with pytest.raises(TypeError, match="no_grad: a function"):
        no_grad(3)
    with pytest.raises(TypeError, match="set_grad_enabled: True or False"):
        set_grad_enabled(lambda: None)


def test_detect_anomaly_holds_in_each_step_of_a_generator() -> None:
    @minigrad.detect_anomaly()
    def body() -> Iterator[Tensor]:
        yield Tensor([0.0])
        yield Tensor([0.0]).log()

    steps = body()
    next(steps)
    with np.errstate(all="ignore"):
        Tensor([0.0]).log()  # not in the generator
    with pytest.raises(FloatingPointError, match="log"):
        next(steps)


def test_each_thread_has_its_own_mode() -> None:
    seen: dict[str, bool] = {}
    inside, checked = threading.Event(), threading.Event()

    def holds() -> None:
        with no_grad():
            inside.set()
            assert checked.wait(10)
            seen["holder"] = recorded()

    with no_grad():
        thread = threading.Thread(target=lambda: seen.update(fresh=recorded()))
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


def test_what_is_made_under_no_grad_is_a_constant_or_a_parameter() -> None:
    with no_grad():
        x = Tensor([1.0, 2.0], requires_grad=True)
        frozen = x * 3
    (frozen * x).sum().backward()
    assert x.grad.tolist() == [3.0, 6.0]
    assert frozen.is_leaf
