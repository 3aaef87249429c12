"""Makes functions with PyTorch's signatures, of a line of text or of one of ours."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from minigrad import ops
from minigrad.autograd.node import Variable
from minigrad.torch.tensor import adopt

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

    # Functions of PyTorch's take NumPy's names as they are.
    return (
        call if function.__module__.startswith("minigrad.tensors.functions") else _numpy_names(call)
    )


def _numpy_names(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which takes NumPy's `axis` and `keepdims` for `dim` and `keepdim`.

    A tensor without axes counts as one with an axis of length 1.
    """
    parameters = [*inspect.signature(function).parameters]
    if not any(name.startswith("dim") for name in parameters):
        return function
    numbers = parameters[0] == "input" and function.__name__ not in _OF_AXES

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {_NUMPYS.get(name, name): value for name, value in kwargs.items()}
        if numbers and args and isinstance(args[0], Variable) and not args[0]._data.ndim:
            return _of_number(function, args, kwargs)
        return function(*args, **kwargs)

    return call


_NUMPYS = {"axis": "dim", "keepdims": "keepdim"}
_OF_AXES = (
    "chunk", "diff", "flatten", "narrow", "select", "softmax", "split", "split_with_sizes",
    "tensor_split", "unbind", "unflatten", "unsqueeze", "unique", "unique_consecutive", "permute",
)  # fmt: skip
"""Functions of `dim` for which a tensor without axes is not one with an axis."""


def _of_number(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    def row(x: Any) -> Any:
        return ops.reshape(x, (1,)) if isinstance(x, Variable) and not x._data.ndim else x

    def number(x: Any) -> Any:
        if isinstance(x, tuple):
            parts = [number(part) for part in x]
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        one = isinstance(x, Variable) and x._data.size == 1
        return adopt(ops.reshape(x, ())) if one else x

    found = function(*map(row, args), **{name: row(value) for name, value in kwargs.items()})
    last: Any = [x for x in args if isinstance(x, Variable)][-1]
    gathered = function.__name__ in ("gather", "take_along_dim") and last.ndim
    return found if gathered else number(found)
