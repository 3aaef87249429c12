"""One record of a run: what ran, what it computed with, what it wrote, and what left it.

Read `steps` (the data), `identity` (which value a tensor holds), `record` (the trace) and `lines`
(the lines of the user's program).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.tracing.record import Trace as Trace
    from minigrad.tracing.steps import Step as Step
    from minigrad.tracing.steps import Value as Value

__all__ = ["Step", "Trace", "Value"]

_MODULES = {"Step": "steps", "Trace": "record", "Value": "steps"}
"""Where each is: they are imported on first use, since most programs use none."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'minigrad.tracing' has no attribute {name!r}")
    return getattr(importlib.import_module(f"minigrad.tracing.{_MODULES[name]}"), name)
