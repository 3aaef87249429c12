"""Make an op of a NumPy function of one array or of two, such as `numpy.sin` or `numpy.add`."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.primitives import OpFunction, primitive


def unary(
    function: Any, description: str, example: str, numpy_functions: Sequence[Any] = (),
    float_inputs: bool = True, floats_only: bool = False, float16_in: Any = np.float32,
) -> OpFunction[[]]:  # fmt: skip
    """Make the op of a NumPy function of one array; its derivative is defined apart.

    The docstring of the op is `description`, with an `example` such as
    ``"[0.0, 4.0] -> [0., 2.]"``. The op answers for `numpy_functions` too. With `float_inputs`,
    integers become the default float first, and float16 is computed in `float16_in`; with
    `floats_only`, integers and bools are unchanged.
    """

    def of_floats(x: Any) -> Any:
        return function(x) if x.dtype.kind == "f" else x.copy()

    compute = of_floats if floats_only else function

    def forward(x: Any) -> Any:
        return compute(x)

    _describe(forward, function, description, example)
    op: OpFunction[[]] = primitive(
        numpy=(function, *numpy_functions), float_inputs=float_inputs,
        float16_in=float16_in if float_inputs else None,
    )(forward)  # fmt: skip
    return op


def binary(
    function: Any, description: str, example: str, more: str = "", float_inputs: bool = False,
    compares: bool = False, float16_in: Any = None,
) -> OpFunction[[Any]]:  # fmt: skip
    """The same for a function of two arrays; the example has a tensor and a number.

    The docstring also says that arguments and errors are as for `add`, and `more`.
    """

    def forward(a: Any, b: Any) -> Any:
        return function(a, b)

    details = textwrap.fill(f"Arguments and errors are as for `add`. {more}", 96)
    _describe(forward, function, f"{description}\n\n{details}", example)
    op: OpFunction[[Any]] = primitive(
        numpy=function, float_inputs=float_inputs, compares=compares, float16_in=float16_in
    )(forward)  # fmt: skip
    return op


def _describe(forward: Any, function: Any, description: str, example: str) -> None:
    """Give a forward function its name and docstring."""
    forward.__name__ = forward.__qualname__ = function.__name__
    forward.__module__ = sys._getframe(2).f_globals["__name__"]  # where pickle looks for the op
    name = "eq" if function is np.equal else function.__name__  # `minigrad.equal` gives one bool
    given, _, result = example.partition(" -> ")
    elements, end, other = given.partition("]")
    forward.__doc__ = f"""{description}

Example:
    >>> import minigrad
    >>> minigrad.{name}(minigrad.tensor({elements}{end}){other})
    tensor({result})"""
