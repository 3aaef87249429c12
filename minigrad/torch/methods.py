"""Makes the functions of the table, and gives `Tensor` its methods."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import linalg
from minigrad.support.checks import on_cpu
from minigrad.tensors import functions
from minigrad.tensors.creation import Device
from minigrad.tensors.inplace import overwritten
from minigrad.torch import helpers
from minigrad.torch.build import adopting, made
from minigrad.torch.table import BINARY, DTYPES, ELEMENTWISE, IN_PLACE, LINES, RESHAPING
from minigrad.torch.tensor import Size, Tensor

__all__ = ["FUNCTIONS"]

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""All functions of the module, by name."""

_METHODS_ONLY = {"expand", "expand_as", "repeat", "reshape_as", "sum_to_size", "unfold", "view_as"}
"""Functions of minigrad that are only methods in PyTorch."""

_NAMES: dict[str, Any] = {
    **{name: getattr(minigrad, name) for name in minigrad.__all__},
    **{name: getattr(helpers, name) for name in helpers.__all__},
    "Device": Device,
    "Shape": Size,
    "Tensor": Tensor,
    "np": np,
    "getitem": minigrad.ops.getitem,
    "linalg": linalg,
    "on_cpu": on_cpu,
}


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that writes what a function returns over its first argument."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        def values(tensor: Any, *args: Any) -> Any:
            return function(tensor, *args, **kwargs)

        values.__name__ = f"{function.__name__}_"
        return overwritten(self, values, *args)

    write.__name__ = write.__qualname__ = f"{function.__name__}_"
    write.__doc__ = f"`{function.__name__}`, written over the tensor."
    return write


def _reshaping(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that gives a tensor itself the shape of what a function returns."""

    def change(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.requires_grad and self.is_leaf and minigrad.is_grad_enabled():
            raise RuntimeError(f"{change.__name__}: a leaf that requires grad cannot be changed")
        result = function(self, *args, **kwargs)
        self._data, self._node = result._data, result._node
        return self

    change.__name__ = change.__qualname__ = f"{function.__name__}_"
    change.__doc__ = f"`{function.__name__}`, of the tensor itself."
    return change


def _fill() -> None:
    pairs = [word.partition("=") for word in ELEMENTWISE.split()]
    lines = [f"{name}(input) => {ours or name}(input)" for name, _, ours in pairs]
    two = [word.partition("=") for word in BINARY.split()]
    lines += [f"{name}(input, other) => {ours or name}(input, other)" for name, _, ours in two]
    lines += LINES.strip().splitlines()
    for line in lines:
        function = made(line, _NAMES, "minigrad.torch")
        FUNCTIONS[function.__name__] = function
        if re.match(r"\w+\((input|self)\b", line):
            setattr(Tensor, function.__name__, function)
        if re.match(r"\w+\(self\b", line):
            del FUNCTIONS[function.__name__]
    for name in functions.__all__:
        function = adopting(getattr(functions, name))
        first = next(iter(inspect.signature(function).parameters))
        if first in ("input", "L", "B") and name not in vars(Tensor):
            setattr(Tensor, name, function)
        if name not in _METHODS_ONLY:
            FUNCTIONS[name] = function
    for name in [*(name for name, _, _ in (*pairs, *two)), *IN_PLACE.split()]:
        FUNCTIONS[f"{name}_"] = _in_place(FUNCTIONS[name])
        setattr(Tensor, f"{name}_", FUNCTIONS[f"{name}_"])
    for name in RESHAPING.split():
        setattr(Tensor, f"{name}_", _reshaping(FUNCTIONS[name]))
    for name in ("detach", "detach_", "zero_"):
        FUNCTIONS[name] = getattr(Tensor, name)
    setattr(Tensor, "polygamma", lambda self, n: FUNCTIONS["polygamma"](n, self))  # noqa: B010
    for name, dtype in DTYPES.items():
        setattr(Tensor, name, functools.partialmethod(Tensor.to, np.dtype(dtype)))


_fill()
