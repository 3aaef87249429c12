"""Muon: momentum whose matrices are made nearly orthogonal."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from minigrad.optim.optimizer import Optimizer, Params, State, average, options_of

AdjustLR = Literal["original", "match_rms_adamw"]
_ADJUSTMENTS = (None, "original", "match_rms_adamw")


class Muon(Optimizer):
    r"""Momentum, orthogonalized by the Newton-Schulz iteration, for matrices.

    With g the gradient, the momentum is m ← momentum · m + (1 - momentum) · g. What moves the
    parameter is m, or with `nesterov` (1 - momentum) · g + momentum · m, with all singular values
    brought near 1: X ← a X + (b X Xᵀ + c (X Xᵀ)²) X, a few times, from X = m / ‖m‖. The parameter
    becomes (1 - lr · weight_decay) · θ - lr' · X, where lr' is the adjusted learning rate.

    Other parameters, embeddings and the last layer are for AdamW. PyTorch computes the iteration
    in bfloat16, this class in the dtype of the parameter, at least float32.

    Source: Jordan, "Muon: an optimizer for hidden layers in neural networks", 2024; Liu et al.,
    "Muon is scalable for LLM training", 2025; as in PyTorch.

    Args:
        params: Parameters with two axes.
        lr: The learning rate.
        weight_decay: The decay of the parameters in each step, relative to the learning rate.
        momentum: The momentum factor.
        nesterov: Whether to use Nesterov momentum.
        ns_coefficients: The a, b and c of the iteration.
        eps: The least norm to divide by.
        ns_steps: The number of iterations, below 100.
        adjust_lr_fn: For a matrix of shape (A, B): "original" is lr' = lr · √max(1, A / B), which
            None means too; "match_rms_adamw" is lr' = 0.2 lr · √max(A, B).

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([[1.0, 0.0], [0.0, 2.0]], requires_grad=True)
        >>> optimizer = optim.Muon([x], lr=0.5, weight_decay=0.0)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> bool(0.3 < x[0, 0] < 0.7 and 1.3 < x[1, 1] < 1.7)  # both moved by about lr
        True
    """

    _whole_only = True
    _required = ("momentum_buffer",)
    _at_least_0 = ("lr", "weight_decay", "momentum", "eps")

    def __init__(
        self, params: Params, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7,
        ns_steps: int = 5, adjust_lr_fn: AdjustLR | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _check_param(self, i: int, param: Any) -> None:
        super()._check_param(i, param)
        if param.ndim != 2:
            raise ValueError(
                f"Muon: parameter {i} has shape {param._data.shape}; it is for matrices: give "
                f"others to AdamW"
            )

    def _check_options(self, options: Mapping[str, Any]) -> None:
        super()._check_options(options)
        coefficients, steps = options["ns_coefficients"], options["ns_steps"]
        if not isinstance(coefficients, (tuple, list)) or len(coefficients) != 3:
            raise ValueError(f"Muon: ns_coefficients must be three numbers, got {coefficients!r}")
        for number in coefficients:
            self._check("each of ns_coefficients", number, -math.inf)
        if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps < 100:
            raise ValueError(f"Muon: ns_steps must be a whole number from 0 to 99, got {steps!r}")
        if options["adjust_lr_fn"] not in _ADJUSTMENTS:
            raise ValueError(
                f"Muon: adjust_lr_fn must be one of {_ADJUSTMENTS}, got {options['adjust_lr_fn']!r}"
            )

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr, kept = float(group["lr"]), float(group["momentum"])
        mean, work = state["momentum_buffer"], self._buffer(1, data)
        average(mean, grad, kept, work)
        update = mean
        if group["nesterov"]:
            update = grad + np.multiply(mean - grad, kept, out=work)
        update = orthogonalized(
            update, group["ns_coefficients"], group["ns_steps"], float(group["eps"])
        )
        rows, columns = data.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            adjusted = 0.2 * lr * math.sqrt(max(rows, columns))
        else:
            adjusted = lr * math.sqrt(max(1.0, rows / max(columns, 1)))
        data *= 1.0 - lr * float(group["weight_decay"])
        data -= np.multiply(update, adjusted, out=work, casting="same_kind")


def orthogonalized(
    matrix: np.ndarray, coefficients: tuple[float, float, float], steps: int, eps: float
) -> np.ndarray:
    """A matrix with the same singular vectors, and singular values near 1."""
    a, b, c = map(float, coefficients)
    wide = matrix.astype(np.result_type(matrix.dtype, np.float32))
    x = wide.T if matrix.shape[0] > matrix.shape[1] else wide
    x = x / max(float(np.linalg.norm(x)), eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x
