"""Ctrl-C at every place: KeyboardInterrupt, raised in the middle of a call.

Python itself looks for signals where a function begins, behind each call into C and at the end of
each turn of a loop. `at_each_look` raises there; `before_each_bytecode` is stricter than Python.
"""

import itertools
import sys
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any


def opcode_trace(hook: Callable[[], Any], of: Callable[[FrameType], bool]) -> Any:
    """A function for `sys.settrace`: it calls `hook` before each bytecode of some frames.

    Args:
        hook: What is called.
        of: Which frames are traced.
    """

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not of(frame):
            return None
        frame.f_trace = trace  # without it, Python 3.13 traces no opcode of a function's first call
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        if event == "opcode":
            hook()
        return trace

    sys._getframe().f_trace_opcodes = True  # Python 3.12 asks in settrace whether any frame has it
    return trace


def before_each_bytecode(module: ModuleType, call: Callable[[], Any]) -> Iterator[int]:
    """Interrupt a call before the first, the second, ... bytecode of a module, until it ends.

    Args:
        module: Its own code is interrupted, not what it calls elsewhere.
        call: What is called, once more for each bytecode.

    Yields:
        How many bytecodes had been run, after each interrupt.
    """
    for number in itertools.count():
        left = number

        def interrupt() -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt

        trace = opcode_trace(interrupt, lambda frame: frame.f_code.co_filename == module.__file__)
        if not _interrupted(call, sys.settrace, sys.gettrace(), trace):
            return
        yield number


def at_each_look(call: Callable[[], Any], but: Callable[[FrameType, str], bool]) -> Iterator[int]:
    """Interrupt a call where functions of minigrad begin and behind their calls into C.

    Args:
        call: What is called, once more for each place.
        but: Which places are left out, by the frame and the event.

    Yields:
        How many places had been passed, after each interrupt.
    """
    for number in itertools.count():
        left = number

        def profile(frame: FrameType, event: str, _: Any) -> None:
            nonlocal left
            ours = frame.f_globals.get("__name__", "").startswith("minigrad")
            if event not in ("call", "c_return") or not ours or but(frame, event):
                return
            left -= 1
            if left < 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

        if not _interrupted(call, sys.setprofile, sys.getprofile(), profile):
            return
        yield number


def _interrupted(call: Callable[[], Any], begin: Any, before: Any, hook: Any) -> bool:
    """Whether KeyboardInterrupt comes out of a call; any other error is the test's failure."""
    begin(hook)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        begin(before)
    return False
