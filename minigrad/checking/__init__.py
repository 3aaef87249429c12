"""Checking gradients against finite differences.

- `finite_differences`: the derivative of a function along a line, from differences.
- `gradient_checks`: `gradcheck` and `gradgradcheck` compare it with the gradient.
- `wrong_rule`: finds the op whose rule is wrong, when they differ.
- `self_check`: ``python -m minigrad check`` does this for every op of minigrad.
- `samples`: the table of sample calls of all ops, for `self_check` and the tests.
"""

from minigrad.checking.finite_differences import directional_derivatives
from minigrad.checking.gradient_checks import (
    GradientError,
    NotDifferentiableError,
    gradcheck,
    gradgradcheck,
)

__all__ = [
    "GradientError", "NotDifferentiableError", "directional_derivatives", "gradcheck",
    "gradgradcheck",
]  # fmt: skip
