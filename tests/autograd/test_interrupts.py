"""Ctrl-C anywhere leaves the thread in the state that it was in."""

import inspect
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest
from interrupts import at_each_look

import minigrad
from minigrad import nn
from minigrad.autograd import Observer, checkpoint, mode
from minigrad.nn.utils import evaluating

MODEL = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5), nn.Linear(2, 1))


def within(manager: Callable[[], Any]) -> Callable[[], Any]:
    def call() -> Any:
        with manager():
            return MODEL(minigrad.ones(3))

    return call


def backward() -> Any:
    MODEL(minigrad.ones(3)).backward(create_graph=True)


def checkpointed() -> Any:
    checkpoint(MODEL, minigrad.ones(3, requires_grad=True)).backward()


def functional() -> Any:
    given = {name: minigrad.zeros(p.shape) for name, p in MODEL.named_parameters()}
    return nn.utils.functional_call(MODEL, given, minigrad.ones(3))


CALLS: dict[str, Callable[[], Any]] = {
    "no_grad": within(minigrad.no_grad),
    "decorated": minigrad.no_grad()(lambda: MODEL(minigrad.ones(3))),
    "set_grad_enabled": within(lambda: minigrad.set_grad_enabled(False)),
    "watched": within(Observer),
    "searched": within(minigrad.detect_anomaly),
    "evaluated": within(lambda: evaluating(MODEL)),
    "backward": backward,
    "functional": functional,
}


def beyond_our_reach(frame: FrameType, event: str) -> bool:
    """Python leaves a `with` without `__exit__` if interrupted before the first line of that.

    As little can be done behind a call of `set_grad_enabled`, which has its effect at once. Errors
    where a generator is thrown away are only printed.
    """
    code = frame.f_code
    entering = code is minigrad.set_grad_enabled.__enter__.__code__
    generator = bool(code.co_flags & inspect.CO_GENERATOR)
    return event == "call" and (code.co_name == "__exit__" or entering or generator)


@pytest.mark.parametrize(
    "call",
    [*CALLS.values(), pytest.param(checkpointed, marks=pytest.mark.slow)],
    ids=[*CALLS, "checkpointed"],
)
def test_an_interrupt_changes_no_state(call: Callable[[], Any]) -> None:
    def now() -> tuple[Any, ...]:
        return (
            mode.state.get(), minigrad.random.repeating.get(), np.geterr(),
            [module.training for module in MODEL.modules()],
            [(name, id(p)) for name, p in MODEL.named_parameters()],
        )  # fmt: skip

    before = now()
    interrupts = 0
    for _ in at_each_look(call, but=beyond_our_reach):
        assert now() == before
        interrupts += 1
    assert interrupts > 5
    MODEL.zero_grad()
