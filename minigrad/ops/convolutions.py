"""Convolutions, along any number of axes.

A convolution is linear in its input and in its weight. So there are three ops; the derivatives of
each are the other two:

    y = convolution(x, w)               the forward pass
    x = convolution_transpose(y, w)     the gradient of the input
    w = convolution_weight(x, y)        the gradient of the weight

Each is one matrix product for a block of images, chosen so that the matrix of their windows
(_windows.py) fits into the cache. The blocks are divided among threads. Shapes: x (N, C, *S),
w (O, C/groups, *K), y (N, O, *P).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.autograd.errors import ArgumentError
from minigrad.autograd.primitives import primitive
from minigrad.ops._numerics import channel_sums, within_rule
from minigrad.ops._parallel import PRODUCTS_PER_NS, for_rows
from minigrad.ops._windows import Sizes, Window, WindowMatrix

__all__ = ["convolution", "convolution_transpose"]

COPIES_PER_NS = 3
"""The approximate number of elements of windows that a thread copies in a nanosecond."""


def _other_axes(x: Any, weight: Any, window: Window) -> str | None:
    """Why an input, a weight and a window are not of as many axes, or None."""
    if weight.shape[2:] != window.kernel:
        return f"the window has a kernel of {window.kernel}"
    if not window.kernel or x.ndim != weight.ndim:
        return "shapes (N, C, ...) and (O, C/groups, ...) expected, with as many axes"
    return None


def _cannot_convolve(x: Any, weight: Any, bias: Any, window: Window, groups: int) -> str | None:
    shown = f"input {x.shape}, weight {weight.shape}"
    if reason := _other_axes(x, weight, window):
        return f"{shown}: {reason}"
    (channels, outputs), inner = (x.shape[1], weight.shape[0]), weight.shape[1]
    if groups < 1 or outputs % groups:
        return f"{shown}: {outputs} channels cannot be made by {groups} groups"
    if channels != inner * groups:
        return (
            f"{shown}: the input has {channels} channels (its axis 1), and this weight takes "
            f"{inner} for each of {groups} group{'s' * (groups > 1)}{_turned(x, inner * groups)}"
        )
    if bias is not None and bias.shape != (outputs,):
        return f"{shown}: the bias must have shape ({outputs},), got {bias.shape}"
    sizes = window.padded(x.shape[2:])
    if min(window.counts(x.shape[2:])) < 1:
        return (
            f"{shown}: a kernel that reaches over {window.spans} does not fit into an input of "
            f"{sizes} (padding counted); pad more, or take a smaller kernel"
        )
    return None


@primitive(arrays=3, promote=("x", "weight", "bias"))
def convolution(x: Any, weight: Any, bias: Any, window: Window, groups: int) -> Any:
    r"""The convolution of `nn.functional.conv2d`, along any number of axes.

    .. math:: y_{nop} = b_o + \sum_{c, k} w_{ock}\, x_{nc,\,ps + kd}

    From (N, C, *S), with a weight (O, C/groups, *K), to (N, O, *P). The window has the kernel *K,
    the stride s, the dilation d and the padding.
    """
    if reason := _cannot_convolve(x, weight, bias, window, groups):
        raise ArgumentError(reason)
    windows = WindowMatrix(window, x.shape[2:], weight.shape, groups)
    matrix = _by_group(weight, groups)  # (G, O/G, C/G·K)
    out = np.empty((len(x), len(weight), *windows.counts), x.dtype)

    def convolve(start: int, stop: int) -> None:
        columns = windows.columns(x[start:stop])  # (G, C/G·K, B·P)
        out[start:stop] = windows.images(matrix @ columns, stop - start)

    effort = _effort(out, weight, groups)
    for_rows(len(x), windows.block(x, x.shape[1], effort), effort, convolve)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * len(windows.counts))
    return out


def _turned(x: Any, channels: int) -> str:
    """The remedy for an input with the channels last."""
    last = x.shape[-1] == channels
    return f"; channels come first, x.movedim(-1, {1 - x.ndim})" if last else ""


def _cannot_transpose(y: Any, weight: Any, window: Window, groups: int) -> str | None:
    shown = f"input {y.shape}, weight {weight.shape}"
    if reason := _other_axes(y, weight, window):
        return f"{shown}: {reason}"
    if y.shape[1] != weight.shape[0]:
        return (
            f"{shown}: the input has {y.shape[1]} channels (its axis 1), and this weight takes "
            f"{weight.shape[0]}{_turned(y, weight.shape[0])}"
        )
    if groups < 1 or weight.shape[0] % groups:
        return f"{shown}: {weight.shape[0]} channels cannot be split into {groups} groups"
    return None


@primitive(arrays=2, promote=("y", "weight"))
def convolution_transpose(y: Any, weight: Any, size: Sizes, window: Window, groups: int) -> Any:
    r"""The transpose of `convolution`: adds the kernel, times a number, at every window.

    .. math:: x_{nc,\,ps + kd} = \sum_{o} w_{ock}\, y_{nop}, \text{ summed where windows overlap}

    From (N, O, *P) to (N, C, *S), where S is `size`. The padding is cut off at the edges.
    """
    if reason := _cannot_transpose(y, weight, window, groups):
        raise ArgumentError(reason)
    windows = WindowMatrix(window, size, weight.shape, groups)
    matrix = _by_group(weight, groups).swapaxes(-1, -2)  # (G, C/G·K, O/G)
    channels = weight.shape[1] * groups
    out = np.empty((len(y), channels, *size), y.dtype)

    def transpose(start: int, stop: int) -> None:
        rows = windows.rows(y[start:stop])  # (G, O/G, B·P)
        # A sum over one element needs no matrix product, which would be slow.
        columns = matrix * rows if rows.shape[1] == 1 else matrix @ rows  # (G, C/G·K, B·P)
        out[start:stop] = windows.added_up(columns, stop - start)

    effort = _effort(y, weight, groups)
    for_rows(len(y), windows.block(y, channels, effort), effort, transpose)
    return out


@primitive(float_inputs=True, arrays=2)
def convolution_weight(x: Any, y: Any, window: Window, groups: int) -> Any:
    r"""The gradient of a convolution's weight: sums of windows of the input, times `y`.

    .. math:: w_{ock} = \sum_{n, p} x_{nc,\,ps + kd}\, y_{nop}

    From (N, C, *S) and (N, O, *P) to (O, C/groups, *K), where *K is the kernel of the window.
    """
    shape = (y.shape[1], x.shape[1] // groups, *window.kernel)
    windows = WindowMatrix(window, x.shape[2:], shape, groups)
    out = np.zeros(shape, x.dtype)
    effort = _effort(y, out, groups)
    size = windows.block(x, x.shape[1], effort)
    parts: list[Any] = [None] * -(-len(x) // size)

    def correlate(start: int, stop: int) -> None:
        columns = windows.columns(x[start:stop])  # (G, C/G·K, B·P)
        parts[start // size] = windows.rows(y[start:stop]) @ columns.swapaxes(-1, -2)

    for_rows(len(x), size, effort, correlate)
    for part in parts:  # in order: the sum must not depend on the threads
        out += part.reshape(out.shape)
    return out


def _effort(y: np.ndarray, weight: np.ndarray, groups: int) -> float:
    """Estimated time in one thread, in nanoseconds: of the products, and of copying the windows."""
    products = y.size * math.prod(weight.shape[1:])
    copies = products * groups / max(1, len(weight))
    return products / PRODUCTS_PER_NS + copies / COPIES_PER_NS


def _by_group(weight: np.ndarray, groups: int) -> np.ndarray:
    """(O, C/G, *K) -> (G, O/G, C/G·K)."""
    outputs, *inner = weight.shape
    return weight.reshape(groups, outputs // groups, math.prod(inner))


# The table.
convolution.defvjp(
    x=lambda g, x_shape, weight, window, groups: within_rule(
        convolution_transpose, g, weight, x_shape[2:], window, groups
    ),
    weight=lambda g, x, window, groups: within_rule(convolution_weight, x, g, window, groups),
    bias=channel_sums,
)
convolution.defformula(
    "bias = 0 if bias is None else bias.reshape(-1, *(1,) * (x.ndim - 2))  # 0 where there is none",
    out="convolution(x, weight, None, window, groups) + bias",
)
convolution_transpose.defvjp(
    y=lambda g, weight, window, groups: within_rule(convolution, g, weight, None, window, groups),
    weight=lambda g, y, window, groups: within_rule(convolution_weight, g, y, window, groups),
)
convolution_weight.defvjp(
    x=lambda g, x_shape, y, window, groups: within_rule(
        convolution_transpose, y, g, x_shape[2:], window, groups
    ),
    y=lambda g, x, window, groups: within_rule(convolution, x, g, None, window, groups),
)
