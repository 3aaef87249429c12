"""`torch.fx`: its marks for functions, which change nothing here."""

from typing import Any


def wrap(function: Any) -> Any:
    """The function, or its name."""
    return function
