"""`torch.jit`: functions and modules stay as they are; nothing is compiled."""

from typing import Any, Final

from minigrad.torch.jit import annotations as annotations

__all__ = [
    "Final", "export", "ignore", "is_scripting", "is_tracing", "script", "script_if_tracing",
    "trace", "unused",
]  # fmt: skip


def _unchanged(function: Any = None, *args: Any, **options: Any) -> Any:
    """The function itself; called without one, a decorator that leaves it as it is."""
    return _unchanged if function is None else function


script = export = ignore = unused = script_if_tracing = _overload_method = trace = _unchanged


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False
