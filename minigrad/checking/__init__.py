"""Checking gradients against finite differences.

- `finite_differences`: the derivative of a function along a line, from differences.
- `gradient_checks`: `gradcheck` and `gradgradcheck` compare it with the gradient.
- `comparison`: what is right, what is wrong, and what a difference cannot tell.
- `op_checks`: the rule of one op for one argument, at the values of a call.
- `wrong_rule`: finds the op whose rule is wrong, when they differ.
- `errors`: what they raise then.
"""

from minigrad.checking.errors import GradientError, NotDifferentiableError, NotMeasurableError
from minigrad.checking.gradient_checks import directional_derivatives, gradcheck, gradgradcheck

__all__ = [
    "GradientError", "NotDifferentiableError", "NotMeasurableError", "directional_derivatives",
    "gradcheck", "gradgradcheck",
]  # fmt: skip
