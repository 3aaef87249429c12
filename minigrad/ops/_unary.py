"""Make an op of a NumPy function of one array, such as `numpy.sin`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.primitive import OpFunction, primitive


def unary(
    function: Any,
    description: str,
    example: Sequence[float] = (0.0, 1.0),
    numpy_functions: Sequence[Any] = (),
    float_inputs: bool = True,
) -> OpFunction[[]]:
    """Make the op of a NumPy function of one array; its derivative is defined apart.

    The docstring of the op is `description`, with an example of the elements `example`. The op
    answers for `numpy_functions` too. With `float_inputs`, integers become the default float first.
    """

    def forward(x: Any) -> Any:
        return function(x)

    name = forward.__name__ = forward.__qualname__ = function.__name__
    forward.__module__ = sys._getframe(1).f_globals["__name__"]  # where pickle looks for the op
    result = np.array2string(function(np.array(example, np.float32)), separator=", ")
    forward.__doc__ = f"{description}\n\n" + "\n".join(
        [
            "Example:",
            "    >>> import minigrad",
            f"    >>> minigrad.{name}(minigrad.tensor({[*example]}))",
            f"    Tensor({result}, dtype=float32)",
        ]
    )
    op: OpFunction[[]] = primitive(function, *numpy_functions, float_inputs=float_inputs)(forward)
    return op
