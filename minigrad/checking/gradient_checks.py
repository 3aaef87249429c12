"""Compare gradients with finite differences, and name the op whose rule is wrong.

Of the entries that are wrong, the one with the largest error is reported; `comparison` says which
are. Where none is, but a difference tells nothing of one, the error says why.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable
from minigrad.checking.comparison import along_random_lines, by_size, every_entry, judged
from minigrad.checking.errors import GradientError, NotDifferentiableError, NotMeasurableError
from minigrad.checking.finite_differences import Probe, moved_tensors
from minigrad.checking.wrong_rule import op_at_fault
from minigrad.ops.argument_errors import checked
from minigrad.support.checks import check_function
from minigrad.transforms.evaluation import pulled

_SWITCHES = {
    "check_backward_ad", "check_batched_forward_grad", "check_batched_grad", "check_forward_ad",
    "check_fwd_over_rev", "check_grad_dtypes", "check_rev_over_rev", "check_undefined_grad",
    "gen_non_contig_grad_outputs", "masked", "nondet_tol",
}  # fmt: skip


@checked
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
        directions: The number of random directions to check, besides one for the entries of each
            size of the gradient; None checks every element.
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
        NotMeasurableError: A finite difference tells nothing there: a step away the function is not
            finite or raises an error, or the differences do not settle.
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
    limits = {"step": eps, "rtol": rtol, "atol": atol}
    directions = 1 if fast_mode and directions is None else directions
    return _check(_first_order, func, inputs, raise_exception, switches, limits, directions, seed)


@checked
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
    limits = {"step": eps, "rtol": rtol, "atol": atol}
    directions = 1 if fast_mode and directions is None else directions
    return _check(_second_order, func, inputs, raise_exception, switches, limits, directions, seed)


def _check(
    order: Callable[..., None], function: Callable[..., Any], inputs: Any, raise_exception: bool,
    switches: dict[str, Any], limits: dict[str, float | None], directions: int | None, seed: int,
) -> bool:  # fmt: skip
    """Check one order of derivatives; an error names the op whose rule is wrong."""
    name = "gradcheck" if order is _first_order else "gradgradcheck"
    check_function(name, function)
    if unknown := sorted(switches.keys() - _SWITCHES):
        raise TypeError(f"{name}: unknown argument {unknown[0]!r}")
    asked = {limit: value for limit, value in limits.items() if value is not None}
    given = [inputs] if isinstance(inputs, Variable) else list(inputs)
    try:
        order(function, given, asked, directions, seed)
    except GradientError as error:
        if not raise_exception:
            return False
        if isinstance(error, NotMeasurableError):
            raise
        fault = op_at_fault(partial(_agrees, order), function, given)
        raise GradientError(f"{error}{fault}") from None
    return True


def _agrees(order: Callable[..., None], function: Callable[..., Any], x: Any) -> bool:
    """Whether a function of one tensor passes a check, or cannot be checked there."""
    try:
        order(function, [x], {}, 2, 0)
    except GradientError as error:
        return isinstance(error, NotMeasurableError)
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
            if not abs(one - other) <= inner.allowed(one, other, 0, 1):
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


def _compare(name: str, probe: Probe, directions: int | None, seed: int) -> None:
    """Compare all entries, and raise an error for the one with the largest error."""
    gradient = probe.gradient()
    if directions is None:
        entries = [*every_entry(probe, gradient)]
    else:
        entries = [*along_random_lines(probe, gradient, directions, seed)]
        entries += by_size(probe, gradient, seed)
    found = [judged(probe, gradient, entry) for entry in entries]
    if wrong := [one for one in found if one.wrong]:
        worst = max(wrong, key=lambda one: one.excess)
        numbers = f"analytic {worst.entry.analytic:.10g}, numeric {worst.numeric:.10g}"
        raise GradientError(
            f"{name}: {worst.entry.where}: {numbers} (the worst of {len(wrong)} of {len(found)})"
        )
    if unmeasured := [one for one in found if one.unmeasured]:
        first = unmeasured[0]
        kind, told = NotMeasurableError, "not measurable here"
        if first.kink:
            kind, told = NotDifferentiableError, "the function is not differentiable here"
        raise kind(
            f"{name}: {told}, move the input: "
            f"{first.entry.where}: {first.unmeasured} (analytic {first.entry.analytic:.10g}) "
            f"({len(unmeasured)} of {len(found)})"
        )


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
        for entry in along_random_lines(probe, probe.gradient(), directions, seed)
    ]
