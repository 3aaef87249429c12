"""RAdam: Adam with a rectified step in the first iterations."""

from __future__ import annotations

import math

import numpy as np

from minigrad.optim.averages import average, average_square
from minigrad.optim.optimizer import Optimizer, Params, State


class RAdam(Optimizer):
    r"""Rectified Adam: ignores the mean square until its variance is small enough.

    With the corrected means m and v of Adam, ρ = 2 / (1 - β₂) - 1 and
    ρₜ = ρ - 2 t β₂ᵗ / (1 - β₂ᵗ), the parameter moves by θ ← θ - lr · m while ρₜ ≤ 5, and then by
    θ ← θ - lr · r · m / (√v + eps), with r² = (ρₜ - 4)(ρₜ - 2) ρ / ((ρ - 4)(ρ - 2) ρₜ). (As in
    PyTorch, eps is added before v is corrected.) The other arguments are those of `Adam`.

    Args:
        decoupled_weight_decay: Decay the parameters directly instead, as AdamW does.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> optimizer = optim.RAdam([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x.item()
        0.5
    """

    _required = _kept = ("step", "exp_avg", "exp_avg_sq")
    _at_least_0 = ("lr", "eps", "weight_decay")
    _elementwise = True

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr = float(group["lr"])
        beta1, beta2 = (float(beta) for beta in group["betas"])
        if not state:
            state.update(step=0, exp_avg=np.zeros_like(data), exp_avg_sq=np.zeros_like(data))
        state["step"] += 1
        step, mean, square = state["step"], state["exp_avg"], state["exp_avg_sq"]
        work = self._buffer(1, data)

        grad = self._with_decay(data, grad, group, group["decoupled_weight_decay"])
        average(mean, grad, beta1, work)
        average_square(square, grad, beta2, work)

        rate = lr / (1.0 - beta1**step)
        rest = 1.0 - beta2**step
        most = 2.0 / (1.0 - beta2) - 1.0
        seen = most - 2.0 * step * (1.0 - rest) / rest
        if seen > 5.0:
            np.sqrt(square, out=work)
            work += float(group["eps"])
            np.divide(mean, work, out=work)
            worth = (seen - 4.0) * (seen - 2.0) * most / ((most - 4.0) * (most - 2.0) * seen)
            work *= rate * math.sqrt(rest * worth)
        else:
            np.multiply(mean, rate, out=work)
        data -= work
