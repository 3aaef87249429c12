"""Makes functions with PyTorch's signatures, of a line of text or of one of ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from minigrad.tensors.functions.arguments import of_numbers, spelled

__all__ = ["adopting", "made"]


def made(line: str, names: Mapping[str, Any], module: str) -> Callable[..., Any]:
    """The function that a line defines, such as ``mm(input, mat2) => matmul(input, mat2)``.

    Args:
        line: The call with PyTorch's names, and the value.
        names: What the value is computed with.
        module: The name of the module that the function is of.
    """
    call, _, value = line.partition(" => ")
    name = call.partition("(")[0]
    own: dict[str, Any] = {}
    exec(f"def {call}:\n    return {value}", {**names}, own)
    function: Callable[..., Any] = own[name]
    function.__module__ = module
    function.__doc__ = f"As PyTorch's: ``{value}`` in minigrad's names."
    return _of_dim(function)


def adopting(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _of_dim(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; if it has a `dim`, it is spelled in NumPy's words too, and takes numbers."""
    parameters = [*inspect.signature(function).parameters]
    if not any(name.startswith("dim") for name in parameters):
        return function
    if parameters[0] == "input" and function.__name__ not in ("gather", "softmax"):
        function = of_numbers(function)
    return spelled(function)
