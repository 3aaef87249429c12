"""Names of a module that are imported when they are first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    module: str, modules: Collection[str] = (), places: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module; Python's traceback names what is nearly a wrong name.

    Args:
        module: Its name.
        modules: The modules in it that are imported late.
        places: For another name the module of minigrad that has it.
    """
    found = places or {}

    def __getattr__(name: str) -> Any:
        if name in modules:
            return import_module(f"{module}.{name}")
        if name in found:
            return getattr(import_module(f"minigrad.{found[name]}"), name)
        message = f"module {module!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[module])

    return __getattr__
