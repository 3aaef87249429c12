"""Compare gradients with finite differences, and name the op whose rule is wrong.

An entry that differs may still be right. If a finer step agrees, the function has large curvature.
If the slopes from both sides differ at every step, it has a kink there. If they grow without bound,
it jumps. Of the other entries, the one with the largest error is reported.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable
from minigrad.checking.errors import GradientError, NotDifferentiableError
from minigrad.checking.finite_differences import Line, Probe, moved_tensors
from minigrad.checking.wrong_rule import op_at_fault
from minigrad.transforms.evaluation import pulled

_FINER = (1 / 8, 1 / 64)
_SWITCHES = {
    "check_backward_ad", "check_batched_forward_grad", "check_batched_grad", "check_forward_ad",
    "check_fwd_over_rev", "check_grad_dtypes", "check_rev_over_rev", "check_undefined_grad",
    "gen_non_contig_grad_outputs", "masked", "nondet_tol",
}  # fmt: skip


def gradcheck(
    func: Callable[..., Any], inputs: Any, *, eps: float | None = None, atol: float | None = None,
    rtol: float | None = None, raise_exception: bool = True, fast_mode: bool = False,
    directions: int | None = None, seed: int = 0, **switches: Any,
) -> bool:  # fmt: skip
    """Compare the gradient of a function or a module with central differences.

    Args:
        func: Takes the inputs; returns a tensor, or tuples, lists and dicts of them. For a
            module, the parameters that require grad are checked too. Dropout drops the same
            elements at each call.
        inputs: A tensor, or a sequence of arguments; tensors that require grad are checked. They
            are moved in place, so `func` may also refer to them. float64 can be checked to 5
            digits, float32 to 2.
        eps: The step of the differences, times the size of the moved element if that is above 1.
            By default the step and tolerances suit the least precise dtype.
        atol: The absolute error allowed.
        rtol: The relative error allowed.
        raise_exception: Whether derivatives that differ are an error; else False is returned.
        fast_mode: Check one random direction only, if `directions` is None.
        directions: The number of random directions to check; None checks every element.
        seed: Chooses the directions and the weights of the outputs.
        **switches: PyTorch's `nondet_tol`, `masked` and ``check_...``, which choose among its ways
            to compute a gradient; here there is one.

    Returns:
        True if they agree.

    Raises:
        GradientError: They differ; it says where, both numbers, and the op whose rule is wrong, or
            that reads one triangle of a matrix as a symmetric matrix.
        NotDifferentiableError: The function has a kink or a jump there, or outputs of other shapes
            nearby.
        RuntimeError: Two calls of the function gave different outputs.
        TypeError: The function returned something else than tensors.
        ValueError: Nothing requires grad.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> x = minigrad.randn(2, 3, dtype=minigrad.float64, requires_grad=True)
        >>> minigrad.autograd.gradcheck(minigrad.tanh, x)
        True
        >>> minigrad.autograd.gradcheck(nn.Linear(3, 2).double(), x)
        True
    """
    _refuse_unknown("gradcheck", switches)
    limits = _limits(step=eps, rtol=rtol, atol=atol)
    directions = 1 if fast_mode and directions is None else directions
    return _check(_first_order, raise_exception, func, inputs, limits, directions, seed)


def gradgradcheck(
    func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, *, eps: float | None = None,
    atol: float | None = None, rtol: float | None = None, raise_exception: bool = True,
    fast_mode: bool = False, directions: int | None = None, seed: int = 0, **switches: Any,
) -> bool:  # fmt: skip
    """Compare the second derivatives of a function or a module with differences of its gradient.

    Arguments and errors are as for `gradcheck`. The cotangents of the outputs are random, and are
    checked too; `grad_outputs` is only PyTorch's.

    Example:
        >>> import minigrad
        >>> x = minigrad.randn(2, 3, dtype=minigrad.float64, requires_grad=True)
        >>> minigrad.autograd.gradgradcheck(minigrad.tanh, x)
        True
    """
    _refuse_unknown("gradgradcheck", switches)
    limits = _limits(step=eps, rtol=rtol, atol=atol)
    directions = 1 if fast_mode and directions is None else directions
    return _check(_second_order, raise_exception, func, inputs, limits, directions, seed)


def _limits(**asked: float | None) -> dict[str, float]:
    return {name: value for name, value in asked.items() if value is not None}


def _refuse_unknown(name: str, switches: dict[str, Any]) -> None:
    """Raise a TypeError for a keyword that is not one of PyTorch's."""
    if unknown := sorted(switches.keys() - _SWITCHES):
        raise TypeError(f"{name}: unknown argument {unknown[0]!r}")


def _check(
    order: Callable[..., None], raise_exception: bool, function: Callable[..., Any], inputs: Any,
    *options: Any,
) -> bool:  # fmt: skip
    """Check one order of derivatives; an error names the op whose rule is wrong."""
    given = [inputs] if isinstance(inputs, Variable) else list(inputs)
    try:
        order(function, given, *options)
    except GradientError as error:
        if not raise_exception:
            return False
        if isinstance(error, NotDifferentiableError):
            raise
        fault = op_at_fault(partial(_agrees, order), function, given)
        raise GradientError(f"{error}{fault}") from None
    return True


def _agrees(order: Callable[..., None], function: Callable[..., Any], x: Any) -> bool:
    """Whether a function of one tensor passes a check, or has a kink where it cannot."""
    try:
        order(function, [x], {}, 2, 0)
    except GradientError as error:
        return isinstance(error, NotDifferentiableError)
    return True


def _first_order(
    function: Callable[..., Any], given: Sequence[Any], limits: Mapping[str, float],
    directions: int | None, seed: int,
) -> None:  # fmt: skip
    probe = Probe(function, given, moved_tensors(function, given), seed, limits)
    _compare("gradcheck", probe, directions, seed)


def _second_order(
    function: Callable[..., Any], given: Sequence[Any], limits: Mapping[str, float],
    directions: int | None, seed: int,
) -> None:  # fmt: skip
    inner = Probe(function, given, moved_tensors(function, given), seed, limits)
    gradient, probe = of_the_gradient(inner, seed + 1, limits)
    for where, plain, recorded in zip(inner.names, inner.gradient(), gradient(), strict=True):
        for index in np.ndindex(plain.shape):
            one, other = float(plain[index]), float(recorded._data[index])
            if _excess(one, other, inner) > 1:
                raise GradientError(
                    f"gradgradcheck: {where} of shape {tuple(plain.shape)} at index {index}: the "
                    f"gradient is {one:.10g}, with create_graph=True {other:.10g}"
                )
    _compare("gradgradcheck", probe, directions, seed + 1)


def of_the_gradient(
    inner: Probe, seed: int, limits: Mapping[str, float] = {}
) -> tuple[Callable[..., list[Any]], Probe]:
    """The gradient of a function as a function itself, and a probe of it.

    It also depends on the cotangents of the outputs: they depend on the inputs where ops follow.
    """
    new: Any = Variable.result_class
    cotangents = {
        i: new(weight, requires_grad=True, dtype=output.dtype)
        for i, (weight, output) in enumerate(zip(inner.weights, inner.outputs(), strict=True))
        if history(output) is not None
    }

    def gradient() -> list[Any]:
        with enable_grad():
            outputs = inner.outputs()
            recorded = [outputs[i] for i in cotangents]
            return pulled(recorded, inner.tensors, list(cotangents.values()), create=True)

    moved = dict(zip(inner.names, inner.tensors, strict=True))
    moved.update({f"the cotangent of output {i}": t for i, t in cotangents.items()})
    return gradient, Probe(gradient, (), moved, seed, limits)


@dataclass(frozen=True)
class _Entry:
    """A derivative to compare: a line, and the derivative along it by the gradient."""

    where: str
    line: Line
    step: float
    analytic: float


def _compare(name: str, probe: Probe, directions: int | None, seed: int) -> None:
    """Compare all entries, and raise an error for the one with the largest error."""
    every = list(entries(probe, directions, seed))
    wrong: list[tuple[float, str]] = []
    kinks: list[str] = []
    for entry in every:
        slopes = [probe.along(entry.line, entry.step)]
        numeric = sum(slopes[0]) / 2
        excess = _excess(entry.analytic, numeric, probe)
        if excess <= 1:
            continue
        slopes += [probe.along(entry.line, entry.step * finer) for finer in _FINER]
        if any(_excess(entry.analytic, sum(pair) / 2, probe) <= 1 for pair in slopes):
            continue
        why = _not_differentiable(slopes, probe)
        if why:
            kinks.append(f"{entry.where}: {why} (analytic {entry.analytic:.10g})")
        else:
            numbers = f"analytic {entry.analytic:.10g}, numeric {numeric:.10g}"
            wrong.append((excess, f"{entry.where}: {numbers}"))
    if wrong:
        _, worst = max(wrong, key=lambda found: found[0])
        raise GradientError(f"{name}: {worst} (the worst of {len(wrong)} of {len(every)})")
    if kinks:
        raise NotDifferentiableError(
            f"{name}: the function is not differentiable here, move the input: {kinks[0]} "
            f"({len(kinks)} of {len(every)})"
        )


def entries(probe: Probe, directions: int | None, seed: int) -> Iterator[_Entry]:
    """All elements, or so many random directions."""
    gradient = probe.gradient()
    if directions is not None:
        step = probe.step(probe.norm())
        for i, line in enumerate(probe.random_lines(directions, seed)):
            analytic = sum(float((gradient[k] * d).sum()) for k, d in line.items())
            yield _Entry(f"along random direction {i}", line, step, analytic)
        return
    for k, (name, tensor) in enumerate(zip(probe.names, probe.tensors, strict=True)):
        for index in np.ndindex(tensor.shape):
            direction = np.zeros(tensor.shape)
            direction[index] = 1.0
            where = f"{name} of shape {tuple(tensor.shape)} at index {index}"
            step = probe.step(abs(float(tensor._data[index])))
            yield _Entry(where, {k: direction}, step, float(gradient[k][index]))


def directional_derivatives(
    function: Callable[..., Any], inputs: Any, *, directions: int = 1, finer: float = 1.0,
    seed: int = 0,
) -> list[tuple[float, float]]:  # fmt: skip
    """The derivatives of a function along random directions: the gradient's, and by differences.

    The inputs, and the parameters of a module, are moved in place meanwhile. `finer` is a factor on
    the usual step: 1/8 for a function of large curvature. `seed` chooses the directions, each of
    length 1 over all tensors together, and the weights of the outputs.
    """
    arguments = [inputs] if isinstance(inputs, Variable) else list(inputs)
    probe = Probe(function, arguments, moved_tensors(function, arguments), seed)
    return [
        (entry.analytic, probe.central(entry.line, entry.step * finer))
        for entry in entries(probe, directions, seed)
    ]


def _excess(analytic: float, numeric: float, probe: Probe) -> float:
    """The error divided by the allowed error: above 1 is wrong."""
    limits = probe.precision
    allowed = limits.atol + limits.rtol * max(abs(analytic), abs(numeric))
    excess = abs(analytic - numeric) / allowed
    return excess if np.isfinite(excess) else np.inf


def _not_differentiable(slopes: Sequence[tuple[float, float]], probe: Probe) -> str:
    """Why there is no derivative, from the slopes of both sides; empty if they converge."""
    (right, left), (finest_right, finest_left) = slopes[0], slopes[-1]
    gap, finest = abs(right - left), abs(finest_right - finest_left)
    limits = probe.precision
    if not finest > limits.atol + limits.rtol * max(abs(finest_right), abs(finest_left)):
        return ""
    if finest > 8 * gap:
        return f"it jumps: its slopes grow from {right:.4g} to {finest_right:.4g} at a finer step"
    if finest > gap / 2:
        return f"its slope is {left:.6g} from the left and {right:.6g} from the right"
    return ""
