"""Convolution and pooling as ONNX operators."""

import math
from typing import Any

import numpy as np

from minigrad.onnx.graph import Graph
from minigrad.onnx.operators import exports
from minigrad.onnx.program import Value
from minigrad.ops._windows import Window
from minigrad.ops.pooling import parts


def _fixed(name: str, numbers: Any) -> list[int]:
    """Numbers, or pairs of them, as a flat list: attributes of an operator are constants."""
    listed = [n for part in numbers for n in (part if isinstance(part, tuple) else (part,))]
    if not all(isinstance(n, int) for n in listed):
        raise NotImplementedError(
            f"its {name} depends on the inputs' sizes; fix those axes with dynamic_axes"
        )
    return listed


def _floats_only(out: Value) -> None:
    if out.dtype.kind != "f":
        raise NotImplementedError(f"only floats are exported, not {out.dtype}")


def _pads(window: Window) -> list[int]:
    """The padding in ONNX's order: all before, then all after."""
    flat = _fixed("padding", window.padding)
    return flat[::2] + flat[1::2]


def _steps(window: Window) -> dict[str, list[int]]:
    return {
        "strides": _fixed("stride", window.stride),
        "dilations": _fixed("dilation", window.dilation),
    }


@exports("convolution")
def _convolution(
    g: Graph, out: Value, x: Any, weight: Any, bias: Any, window: Window, groups: int
) -> str:
    operands = [part for part in (x, weight, bias) if part is not None]
    return g.Conv(*operands, pads=_pads(window), group=groups, **_steps(window))


@exports("convolution_transpose")
def _convolution_transpose(
    g: Graph, out: Value, y: Any, weight: Any, size: Any, window: Window, groups: int
) -> str:
    steps, pads = _steps(window), _pads(window)
    strides, gaps, kernel = steps["strides"], steps["dilations"], weight.arrays[0].shape[2:]
    more = set()  # the output padding of each run
    for made, read in zip(out.arrays, y.arrays, strict=True):
        counts, sizes = read.shape[2:], made.shape[2:]
        more.add(
            tuple(
                sizes[i] + pads[i] + pads[i + len(kernel)]
                - ((counts[i] - 1) * strides[i] + gaps[i] * (kernel[i] - 1) + 1)
                for i in range(len(kernel))
            )
        )  # fmt: skip
    if len(more) > 1:
        raise NotImplementedError(
            "its output_padding depends on the inputs' sizes; fix those axes with dynamic_axes"
        )
    return g.ConvTranspose(
        y, weight, pads=pads, group=groups, output_padding=[*more.pop()], **steps
    )


@exports("max_pool")
def _max_pool(g: Graph, out: Value, x: Any, window: Window) -> str:
    _floats_only(out)
    kernel = _fixed("kernel", window.kernel)
    return g.MaxPool(x, kernel_shape=kernel, pads=_pads(window), **_steps(window))


@exports("sum_pool")
def _sum_pool(g: Graph, out: Value, x: Any, window: Window) -> str:
    """The average of each window, times its number of elements."""
    _floats_only(out)
    sizes, pads = _fixed("kernel", window.kernel), _pads(window)
    if any(pads):  # AveragePool has other rules for padding: pad first
        rank = len(sizes)
        x = g.Pad(x, [0, 0, *pads[:rank], 0, 0, *pads[rank:]], 0)
    means = g.AveragePool(x, kernel_shape=sizes, **_steps(window))
    return g.Mul(means, math.prod(sizes))


@exports("sum_parts")
def _sum_parts(g: Graph, out: Value, x: Any, axis: int, count: int) -> str:
    """The sums of parts of an axis, which may overlap: a product with a matrix of 0 and 1."""
    _floats_only(out)
    (size,) = _fixed("number of elements", [x.shape[axis]])
    within = np.zeros((size, count))
    for i, (start, end) in enumerate(zip(*parts(size, count), strict=True)):
        within[start:end, i] = 1
    order = [*range(x.ndim)]
    order[axis], order[-1] = order[-1], order[axis]
    return g.Transpose(g.MatMul(g.Transpose(x, perm=order), within), perm=order)
