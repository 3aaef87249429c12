"""Frames in drawings, and errors about arguments, for functions of several ops."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad.autograd.mode import state
from minigrad.autograd.node import Node, clock
from minigrad.autograd.scope import FunctionCall
from minigrad.autograd.typing import P, R
from minigrad.ops.argument_errors import REPEATED, Arguments


def framed(function: Callable[P, R], calls_modules: bool = False) -> Callable[P, R]:
    """Let drawings put the ops of each call of a function of several ops into a frame.

    Its errors about arguments are those of `checked`.

    Observers learn the frame of an op from the state of the thread, and so do modules that the
    function calls. To set it costs as much as a small op. Otherwise only the node that the function
    returns is marked: a drawing finds what led to it since the call began.
    """
    name, arguments = function.__name__, Arguments(function)
    first_flag = arguments.first_flag

    @functools.wraps(function)
    def entered(*args: P.args, **kwargs: P.kwargs) -> R:
        outer = state.get()
        arguments.check_flags(args, kwargs)
        try:
            state.set(outer._replace(frame=FunctionCall(name, next(clock), outer.frame)))
            return function(*args, **kwargs)
        except REPEATED as error:
            arguments.explain(args, kwargs, error)
        finally:
            state.set(outer)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if state.get().observers:
            return entered(*args, **kwargs)
        if kwargs or len(args) > first_flag:
            arguments.check_flags(args, kwargs)
        start = next(clock)
        try:
            result: Any = function(*args, **kwargs)
        except REPEATED as error:
            arguments.explain(args, kwargs, error)
        first = result[0] if isinstance(result, tuple) else result  # the others led to it
        node = getattr(first, "_node", None)
        if node.__class__ is Node and node.stamp > start:  # else nothing was recorded
            node.frame = FunctionCall(name, start, node.frame)
        return result

    return entered if calls_modules else call
