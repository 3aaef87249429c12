"""Layers in the notation of the package einops: Rearrange, Reduce and EinMix.

A pattern names the axes of the input and of the output: ``"n c h w -> n (h w) c"`` merges two axes
and moves another to the end. ``...`` means any number of axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minigrad.autograd.mode import located
from minigrad.nn import init
from minigrad.nn.module.base import Module
from minigrad.nn.module.parameter import Parameter
from minigrad.support.checks import check_size, optional_package
from minigrad.tensors.creation import empty
from minigrad.tensors.tensor import Tensor

__all__ = ["EinMix", "Rearrange", "Reduce"]


def _sides(owner: str, pattern: str) -> tuple[str, str]:
    """Split a pattern at the arrow."""
    if not isinstance(pattern, str) or pattern.count("->") != 1:
        raise ValueError(f'{owner}: a pattern such as "n c -> c n" expected, got {pattern!r}')
    left, _, right = pattern.partition("->")
    return left, right


def _checked(owner: str, pattern: str, lengths: dict[str, int], *reduction: Any) -> dict[str, int]:
    """Check a pattern before any input is known; return the lengths as ints."""
    layers, einops = optional_package(owner, "einops.layers"), optional_package(owner, "einops")
    _sides(owner, pattern)
    lengths = {axis: check_size(owner, axis, length) for axis, length in lengths.items()}
    check = layers.ReduceMixin if reduction else layers.RearrangeMixin
    try:
        check(pattern, *reduction, **lengths)
    except einops.EinopsError as error:
        raise einops.EinopsError(f"{owner}:{error}") from None
    return lengths


def _call(owner: str, function: str, *args: Any, **shapes: int) -> Any:
    """Call a function of einops; its errors get the path of the module."""
    einops = optional_package(owner, "einops")
    try:
        return getattr(einops, function)(*args, **shapes)
    except einops.EinopsError as error:
        raise einops.EinopsError(located(f"{owner}:{error}")) from None


class Rearrange(Module):
    """The layer of ``einops.rearrange``, which reorders, splits and merges axes.

    It needs the package einops.

    Args:
        pattern: The axes of the input, an arrow, the axes of the output.
        **shapes: The lengths of axes that cannot be inferred from the input.

    Raises:
        EinopsError: The pattern is invalid, or (when called) does not fit the input.
        ImportError: einops is not installed.

    Example:
        >>> from minigrad import nn, ones
        >>> patches = nn.Rearrange("n (h p) (w q) -> n (h w) (p q)", p=2, q=2)
        >>> patches(ones((3, 8, 8))).shape
        minigrad.Size([3, 16, 4])
    """

    def __init__(self, pattern: str, **shapes: int) -> None:
        super().__init__()
        self.pattern = pattern
        self.shapes = _checked("Rearrange", pattern, shapes)

    def forward(self, input: Tensor) -> Tensor:
        """Rearrange the axes; a view where the memory allows it."""
        rearranged: Tensor = _call("Rearrange", "rearrange", input, self.pattern, **self.shapes)
        return rearranged

    def extra_repr(self) -> str:
        return _shown(self.pattern, **self.shapes)


class Reduce(Module):
    """The layer of ``einops.reduce``, which reduces the axes that the output lacks.

    It needs the package einops.

    Args:
        pattern: The axes of the input, an arrow, the axes of the output.
        reduction: "sum", "mean", "max", "min", "prod", "any" or "all"; or a function of a tensor
            and a tuple of axes.
        **shapes: The lengths of axes that cannot be inferred from the input.

    Example:
        >>> from minigrad import nn, ones
        >>> pool = nn.Reduce("n c (h p) (w q) -> n c h w", "max", p=2, q=2)
        >>> pool(ones((3, 5, 8, 8))).shape
        minigrad.Size([3, 5, 4, 4])
    """

    def __init__(
        self, pattern: str, reduction: str | Callable[[Any, Any], Any], **shapes: int
    ) -> None:
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.shapes = _checked("Reduce", pattern, shapes, reduction)

    def forward(self, input: Tensor) -> Tensor:
        """Reduce and rearrange the axes."""
        reduced: Tensor = _call(
            "Reduce", "reduce", input, self.pattern, self.reduction, **self.shapes
        )
        return reduced

    def extra_repr(self) -> str:
        return _shown(self.pattern, self.reduction, **self.shapes)


class EinMix(Module):
    r"""A linear map along named axes, which may be merged with others: einops' `EinMix`.

    The output is the einsum of input and weight over the axes that the output lacks, plus the bias.
    `Linear` is ``EinMix("... i -> ... o", weight_shape="i o", bias_shape="o", i=8, o=16)`` with the
    weight transposed. As in einops, weights are initialized uniformly from
    :math:`\pm\sqrt{3/n}`, biases from :math:`\pm\sqrt{1/n}`, with n input elements per output
    element.

    It needs the package einops.

    Args:
        pattern: The axes of the input, an arrow, the axes of the output.
        weight_shape: The axes of the weight, each one on the left, the right or both sides.
        bias_shape: The axes of the bias, each one on the right side, after ``...``; no bias if
            None.
        **axes_lengths: The lengths of all axes of weight and bias, and of others that cannot be
            inferred from the input.

    Attributes:
        weight: A parameter with the axes of `weight_shape`.
        bias: A parameter that broadcasts to the output before axes are merged, or None.

    Example:
        >>> from minigrad import nn, ones
        >>> heads = nn.EinMix("n l (h i) -> n l (h o)", "h i o", "h o", h=4, i=8, o=2)
        >>> heads(ones((3, 5, 32))).shape
        minigrad.Size([3, 5, 8])
    """

    bias: Parameter | None

    def __init__(
        self, pattern: str, weight_shape: str, bias_shape: str | None = None, **axes_lengths: int
    ) -> None:
        super().__init__()
        self.pattern = pattern
        self.weight_shape = weight_shape
        self.bias_shape = bias_shape
        left, right = _sides("EinMix", pattern)
        inputs, outputs, weights = _axes(left), _axes(right), weight_shape.split()
        biases = [] if bias_shape is None else bias_shape.split()
        _check_axes(inputs, outputs, weights, biases, axes_lengths)
        # Merged axes are split for the product, and merged again after it.
        given = {axis: n for axis, n in axes_lengths.items() if axis in inputs}
        self._before = f"{left} -> {' '.join(inputs)}"
        self._given = _checked("EinMix", self._before, given)
        self._product = f"{' '.join(inputs)}, {weight_shape} -> {' '.join(outputs)}"
        self._after = f"{' '.join(outputs)} -> {right}"
        _checked("EinMix", self._after, {})
        self.axes_lengths = {
            axis: check_size("EinMix", axis, length) for axis, length in axes_lengths.items()
        }

        self.weight = Parameter(empty(tuple(axes_lengths[axis] for axis in weights)))
        self.bias = None
        if bias_shape is not None:
            start = outputs.index("...") + 1 if "..." in outputs else 0
            shape = (axes_lengths[axis] if axis in biases else 1 for axis in outputs[start:])
            self.bias = Parameter(empty(tuple(shape)))
        self._mixed = math.prod(axes_lengths[axis] for axis in weights if axis not in outputs)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize weight and bias again."""
        bound = math.sqrt(3 / self._mixed)
        init.uniform(self.weight, -bound, bound)
        if self.bias is not None:
            bound = math.sqrt(1 / self._mixed)
            init.uniform(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Map the named axes."""
        apart = _call("EinMix", "rearrange", input, self._before, **self._given)
        mixed = _call("EinMix", "einsum", apart, self.weight, self._product)
        if self.bias is not None:
            mixed = mixed + self.bias
        output: Tensor = _call("EinMix", "rearrange", mixed, self._after)
        return output

    def extra_repr(self) -> str:
        shapes = [self.weight_shape] + [self.bias_shape] * (self.bias_shape is not None)
        return _shown(self.pattern, *shapes, **self.axes_lengths)


def _axes(side: str) -> list[str]:
    """The names on one side of a pattern, without parentheses and axes of length 1."""
    return [axis for axis in side.replace("(", " ").replace(")", " ").split() if axis != "1"]


def _check_axes(
    inputs: list[str], outputs: list[str], weights: list[str], biases: list[str],
    lengths: dict[str, int],
) -> None:  # fmt: skip
    """Raise for axes of an EinMix that are undefined, unused, or without a length."""
    known = {*inputs, *weights}
    behind = outputs[outputs.index("...") + 1 :] if "..." in outputs else outputs
    for complaint, axes in (
        ("the lengths of {} must be given", {*weights, *biases} - {*lengths}),
        ("{} of the output are neither in the input nor in the weight", {*outputs} - known),
        (
            "{} of the weight are neither in the input nor in the output",
            {*weights} - {*inputs, *outputs},
        ),
        ("{} of the bias are not in the output, behind its ellipsis", {*biases} - {*behind}),
        ("lengths are given of {}, which no shape has", {*lengths} - known),
    ):
        if axes:
            raise ValueError(f"EinMix: {complaint.format(', '.join(sorted(axes)))}")


def _shown(*texts: Any, **shapes: int) -> str:
    """Format the arguments of a constructor."""
    return ", ".join([*map(repr, texts), *(f"{axis}={n}" for axis, n in shapes.items())])
