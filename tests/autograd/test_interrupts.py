"""Ctrl-C anywhere leaves the thread in the state that it was in."""

from __future__ import annotations

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


def no_grad() -> Any:
    with minigrad.no_grad():
        return MODEL(minigrad.ones(3))


@minigrad.no_grad()
def decorated() -> Any:
    return MODEL(minigrad.ones(3))


def set_grad_enabled() -> Any:
    with minigrad.set_grad_enabled(False):
        return MODEL(minigrad.ones(3))


def watched() -> Any:
    with Observer():
        return MODEL(minigrad.ones(3))


def searched() -> Any:
    with minigrad.detect_anomaly():
        return MODEL(minigrad.ones(3))


def backward() -> Any:
    MODEL(minigrad.ones(3)).backward(create_graph=True)


def checkpointed() -> Any:
    checkpoint(MODEL, minigrad.ones(3, requires_grad=True)).backward()


def functional() -> Any:
    given = {name: minigrad.zeros(p.shape) for name, p in MODEL.named_parameters()}
    return nn.utils.functional_call(MODEL, given, minigrad.ones(3))


def evaluated() -> Any:
    with evaluating(MODEL):
        return MODEL(minigrad.ones(3))


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
    [no_grad, decorated, set_grad_enabled, watched, searched, backward, functional, evaluated,
     pytest.param(checkpointed, marks=pytest.mark.slow)],
)  # fmt: skip
def test_an_interrupt_changes_no_state(call: Callable[[], Any]) -> None:
    def now() -> tuple[Any, ...]:
        return (
            mode.state.get(), minigrad.random._repeating.get(), np.geterr(),
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
