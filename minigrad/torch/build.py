"""Makes functions with PyTorch's signatures, of a line of text or of one of ours."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from minigrad.torch.tensor import adopt

__all__ = ["adopting", "made"]


def made(line: str, names: Mapping[str, Any], module: str) -> Callable[..., Any]:
    """The function that a line stands for, such as ``mm(input, mat2) => matmul(input, mat2)``.

    Args:
        line: The call with PyTorch's names, and the value.
        names: What the value is computed with.
        module: The name of the module that the function is of.
    """
    call, _, value = line.partition(" => ")
    name = call.partition("(")[0]
    own: dict[str, Any] = {}
    exec(f"def {call}:\n    return adopt({value})", {**names, "adopt": adopt}, own)
    function: Callable[..., Any] = own[name]
    function.__module__ = module
    function.__doc__ = f"As PyTorch's: ``{value}`` in minigrad's names."
    return _numpy_names(function)


def adopting(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose results are PyTorch's tensors whatever it is given."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return adopt(function(*args, **kwargs))

    return _numpy_names(call)


def _numpy_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which takes NumPy's `axis` and `keepdims` for `dim` and `keepdim`."""
    if "dim" not in inspect.signature(function).parameters:
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {_NUMPYS.get(name, name): value for name, value in kwargs.items()}
        return function(*args, **kwargs)

    return call


_NUMPYS = {"axis": "dim", "keepdims": "keepdim"}
