"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from minigrad.optim.averages import average, average_square
from minigrad.optim.optimizer import Optimizer, Params, State


class NAdam(Optimizer):
    r"""Adam with Nesterov momentum.

    With the means m and v of Adam, the factors μₜ = β₁ (1 - 0.96^(t · momentum_decay) / 2) and
    their product M = μ₁ ⋯ μₜ, the parameter moves by
    θ ← θ - lr · (μₜ₊₁ m / (1 - M μₜ₊₁) + (1 - μₜ) g / (1 - M)) / (√(v / (1 - β₂ᵗ)) + eps).
    The other arguments are those of `Adam`.

    Args:
        momentum_decay: How fast the momentum warms up.
        decoupled_weight_decay: Decay the parameters directly instead, as AdamW does.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> optimizer = optim.NAdam([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x.item() < 1.0
        True
    """

    _required = _kept = ("step", "mu_product", "exp_avg", "exp_avg_sq")
    _numbers: Mapping[str, type] = {"step": int, "mu_product": float}
    _at_least_0 = ("lr", "eps", "weight_decay", "momentum_decay")
    _elementwise = True

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr, warming = float(group["lr"]), float(group["momentum_decay"])
        beta1, beta2 = (float(beta) for beta in group["betas"])
        if not state:
            state.update(step=0, mu_product=1.0)
            state.update(exp_avg=np.zeros_like(data), exp_avg_sq=np.zeros_like(data))
        state["step"] += 1
        now, ahead = (
            beta1 * (1.0 - 0.5 * 0.96 ** (t * warming)) for t in (state["step"], state["step"] + 1)
        )
        state["mu_product"] *= now
        product = state["mu_product"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        work, move = self._buffer(1, data), self._buffer(2, data)

        grad = self._with_decay(data, grad, group, group["decoupled_weight_decay"])
        average(mean, grad, beta1, work)
        average_square(square, grad, beta2, work)

        np.multiply(mean, lr * ahead / (1.0 - product * ahead), out=move)
        move += np.multiply(grad, lr * (1.0 - now) / (1.0 - product), out=work)
        np.divide(square, 1.0 - beta2 ** state["step"], out=work)
        np.sqrt(work, out=work)
        work += float(group["eps"])
        move /= work
        data -= move
