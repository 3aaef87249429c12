"""Finite differences: the independent witness for every gradient.

A function is followed along a line through its inputs and compared with what the engine says about
that line: along each coordinate (`gradcheck`), or along random directions, which costs two calls
however many elements there are. Outputs are made one number by fixed random weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.gradients import grad
from minigrad.autograd.mode import enable_grad
from minigrad.autograd.mutation import wrote
from minigrad.autograd.node import Variable

__all__ = ["GradientError", "directional_derivatives", "gradcheck", "gradgradcheck"]

Function = Callable[..., Any]


class GradientError(AssertionError):
    """A gradient and its finite difference do not agree.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import gradcheck, primitive
        >>> @primitive
        ... def twice(x):
        ...     return x + x
        >>> twice.defvjp(x=lambda g: g)  # it should be 2 * g
        >>> x = minigrad.tensor(1.0, dtype=minigrad.float64, requires_grad=True)
        >>> gradcheck(twice, x)  # doctest: +IGNORE_EXCEPTION_DETAIL
        Traceback (most recent call last):
        GradientError: gradcheck: input 0 of shape () at index ()
    """


def gradcheck(
    function: Function,
    inputs: Any,
    *,
    directions: int | None = None,
    step: float = 6e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    seed: int = 0,
) -> bool:
    """Compare the gradient of a function with central differences.

    Args:
        function: Takes the inputs, returns a tensor or several.
        inputs: A float64 tensor or a sequence of them; those that require grad are checked. They
            are moved in place while the check runs, so `function` may also just refer to them.
        directions: Check along so many random directions; None for every element by itself.
        step: The distance of the differences, times the size of what is moved if that is above 1.
        rtol: The relative error allowed.
        atol: The absolute error allowed.
        seed: Chooses the directions and the weights of the outputs.

    Returns:
        True.

    Raises:
        GradientError: They differ; it says at which input and index, and both numbers.
        TypeError: An input that requires grad is not float64.
        ValueError: No input requires grad.

    Example:
        >>> import minigrad
        >>> x = minigrad.randn(2, 3, dtype=minigrad.float64, requires_grad=True)
        >>> minigrad.autograd.gradcheck(minigrad.tanh, x)
        True
    """
    tensors = _as_list(inputs)
    if directions is not None:
        pairs = directional_derivatives(
            function, tensors, directions=directions, step=step, seed=seed
        )
        for i, (analytic, numeric) in enumerate(pairs):
            if not _close(analytic, numeric, rtol, atol):
                raise GradientError(
                    f"gradcheck: along random direction {i}: analytic {analytic:.10g}, "
                    f"numeric {numeric:.10g}"
                )
        return True

    checked = _checked_inputs(tensors)
    weights = _output_weights(function, tensors, seed)
    gradients = _gradients(function, tensors, checked, weights)
    for k, gradient in zip(checked, gradients, strict=True):
        data = tensors[k]._data
        for index in np.ndindex(data.shape):
            direction = np.zeros(data.shape)
            direction[index] = 1.0
            size = step * max(1.0, abs(float(data[index])))
            numeric = _difference(function, tensors, {k: direction}, weights, size)
            analytic = float(gradient[index])
            if not _close(analytic, numeric, rtol, atol):
                raise GradientError(
                    f"gradcheck: input {k} of shape {data.shape} at index {index}: "
                    f"analytic {analytic:.10g}, numeric {numeric:.10g}"
                )
    return True


def gradgradcheck(
    function: Function,
    inputs: Any,
    *,
    directions: int | None = None,
    step: float = 6e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
    seed: int = 0,
) -> bool:
    """Compare the second derivatives of a function with differences of its gradient.

    Args:
        function: Takes the inputs, returns a tensor or several.
        inputs: As for `gradcheck`.
        directions: Check along so many random directions; None for every element by itself.
        step: The distance of the differences.
        rtol: The relative error allowed.
        atol: The absolute error allowed.
        seed: Chooses the directions, the cotangents, and the weights of the gradients.

    Returns:
        True.

    Raises:
        GradientError: They differ; it says at which input and index, and both numbers.
        TypeError: An input that requires grad is not float64.
        ValueError: No input requires grad.

    Example:
        >>> import minigrad
        >>> x = minigrad.randn(2, 3, dtype=minigrad.float64, requires_grad=True)
        >>> minigrad.autograd.gradgradcheck(minigrad.tanh, x)
        True
    """
    tensors = _as_list(inputs)
    checked = _checked_inputs(tensors)
    weights = _output_weights(function, tensors, seed)

    # The gradient is a function of the cotangents too: where ops follow, they depend on the inputs.
    new: Any = Variable.result_class
    cotangents = [new(weight, requires_grad=True) for weight in weights]

    def gradients(*values: Any) -> Any:
        with enable_grad():
            outputs = _outputs(function, values[: len(tensors)])
            recorded = [i for i, output in enumerate(outputs) if output.requires_grad]
            return grad(
                [outputs[i] for i in recorded],
                [values[k] for k in checked],
                [values[len(tensors) + i] for i in recorded],
                create_graph=True,
                allow_unused=True,
            )

    plain = _gradients(function, tensors, checked, weights)
    for k, one, found in zip(checked, plain, gradients(*tensors, *cotangents), strict=True):
        other = np.zeros(one.shape) if found is None else found._data
        for index in np.ndindex(one.shape):
            if not _close(float(one[index]), float(other[index]), rtol, atol):
                raise GradientError(
                    f"gradgradcheck: input {k} of shape {one.shape} at index {index}: the "
                    f"gradient is {one[index]:.10g}, with create_graph=True {other[index]:.10g}"
                )
    return gradcheck(
        lambda *values: [g for g in gradients(*values) if g is not None],
        [*tensors, *cotangents],
        directions=directions,
        step=step,
        rtol=rtol,
        atol=atol,
        seed=seed + 1,
    )


def directional_derivatives(
    function: Function,
    inputs: Any,
    *,
    directions: int = 1,
    step: float = 6e-6,
    seed: int = 0,
) -> list[tuple[float, float]]:
    """The derivatives of a function along random directions, by the engine and by differences.

    Args:
        function: Takes the inputs, returns a tensor or several.
        inputs: Float64 tensors; moved in place while the differences are taken.
        directions: How many directions, each of length 1 over all inputs together.
        step: The distance of the differences, times the norm of the inputs if that is above 1.
        seed: Chooses the directions and the weights of the outputs.

    Returns:
        For each direction the analytic and the numeric derivative.

    Raises:
        TypeError: An input that requires grad is not float64.
        ValueError: No input requires grad.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.finite_differences import directional_derivatives
        >>> x = minigrad.ones(3, dtype=minigrad.float64, requires_grad=True)
        >>> [(analytic, numeric)] = directional_derivatives(lambda x: (x**3).sum(), x)
        >>> abs(analytic - numeric) < 1e-8
        True
    """
    tensors = _as_list(inputs)
    checked = _checked_inputs(tensors)
    weights = _output_weights(function, tensors, seed)
    gradients = _gradients(function, tensors, checked, weights)
    rng = np.random.default_rng([seed, 1])
    size = step * max(
        1.0, float(np.sqrt(sum(float((tensors[k]._data ** 2).sum()) for k in checked)))
    )
    pairs = []
    for _ in range(directions):
        drawn = [rng.standard_normal(tensors[k]._data.shape) for k in checked]
        length = np.sqrt(sum(float((d * d).sum()) for d in drawn))
        line = {k: d / length for k, d in zip(checked, drawn, strict=True)}
        analytic = sum(float((g * line[k]).sum()) for k, g in zip(checked, gradients, strict=True))
        pairs.append((analytic, _difference(function, tensors, line, weights, size)))
    return pairs


def _as_list(inputs: Any) -> list[Any]:
    return [inputs] if isinstance(inputs, Variable) else list(inputs)


def _checked_inputs(tensors: Sequence[Any]) -> list[int]:
    """Which inputs are checked: those that require grad, if finite differences can be exact."""
    checked = [k for k, t in enumerate(tensors) if isinstance(t, Variable) and t._node is not None]
    if not checked:
        raise ValueError("gradcheck: no input requires grad")
    for k in checked:
        if tensors[k]._data.dtype != np.float64:
            raise TypeError(
                f"gradcheck: input {k} is {tensors[k]._data.dtype}; differences need float64, "
                f"pass {k}.astype('float64')"
            )
    return checked


def _outputs(function: Function, tensors: Sequence[Any]) -> list[Any]:
    result = function(*tensors)
    return [result] if isinstance(result, Variable) else list(result)


def _output_weights(function: Function, tensors: Sequence[Any], seed: int) -> list[np.ndarray]:
    """A fixed random cotangent for each output."""
    rng = np.random.default_rng([seed, 0])
    return [rng.standard_normal(output._data.shape) for output in _outputs(function, tensors)]


def _gradients(
    function: Function, tensors: Sequence[Any], checked: list[int], weights: list[np.ndarray]
) -> list[np.ndarray]:
    """What the engine says: the gradient of the weighted sum of the outputs."""
    outputs = _outputs(function, tensors)
    recorded = [i for i, output in enumerate(outputs) if output._node is not None]
    if not recorded:
        return [np.zeros(tensors[k]._data.shape) for k in checked]
    found = grad(
        [outputs[i] for i in recorded],
        [tensors[k] for k in checked],
        [weights[i] for i in recorded],
        allow_unused=True,
    )
    return [
        np.zeros(tensors[k]._data.shape) if g is None else g._data
        for k, g in zip(checked, found, strict=True)
    ]


def _difference(
    function: Function,
    tensors: Sequence[Any],
    line: dict[int, np.ndarray],
    weights: list[np.ndarray],
    size: float,
) -> float:
    """The central difference of the weighted sum of the outputs along a line."""
    kept = {k: tensors[k]._data.copy() for k in line}
    values = []
    try:
        for sign in (1.0, -1.0):
            for k, direction in line.items():
                tensors[k]._data[...] = kept[k] + sign * size * direction
                wrote(tensors[k]._data)
            outputs = _outputs(function, tensors)
            values.append([(w * o._data).sum() for w, o in zip(weights, outputs, strict=True)])
    finally:
        for k in line:
            tensors[k]._data[...] = kept[k]
            wrote(tensors[k]._data)
    return float(sum(up - down for up, down in zip(*values, strict=True)) / (2 * size))


def _close(analytic: float, numeric: float, rtol: float, atol: float) -> bool:
    return abs(analytic - numeric) <= atol + rtol * max(abs(analytic), abs(numeric))
