"""Adam and its variants: AdamW, Adamax, NAdam and RAdam."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.optim.blocks import Part
from minigrad.optim.optimizer import Optimizer, Params, State, average, average_square, options_of
from minigrad.tensors.tensor import Tensor


class _Moments(Optimizer):
    """What Adam and its variants share: running means of the gradient and of its square."""

    _required: tuple[str, ...] = ("step", "exp_avg", "exp_avg_sq")
    _elementwise = True
    _at_least_0: tuple[str, ...] = ("lr", "eps", "weight_decay")

    def _moments(
        self, grad: np.ndarray, state: State, beta1: float, beta2: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The new means, and a scratch array."""
        mean, square, work = state["exp_avg"], state["exp_avg_sq"], self._buffer(1, grad)
        average(mean, grad, beta1, work)
        average_square(square, grad, beta2, work)
        return mean, square, work

    def _move(
        self, data: np.ndarray, mean: np.ndarray, square: np.ndarray, rate: float, eps: float,
        work: np.ndarray,
    ) -> None:  # fmt: skip
        """Update a parameter in place: θ ← θ - rate · m / (√v + eps)."""
        np.sqrt(square, out=work)
        work += eps
        np.divide(mean, work, out=work)
        work *= rate
        data -= work


class Adam(_Moments):
    r"""Adaptive moment estimation: each element has its own step size.

    With the bias-corrected running means m of the gradient and v of its square, the parameter moves
    by θ ← θ - lr · m / (√v + eps). With `amsgrad`, v is the largest mean so far.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2014; AMSGrad: Reddi, Kale
    and Kumar, "On the convergence of Adam and beyond", 2018; as in PyTorch.

    Args:
        lr: The learning rate.
        betas: The decay rates of the running means of the gradient and of its square.
        eps: Added to the denominator, against division by zero.
        weight_decay: The coefficient of the L2 penalty on the parameters.
        amsgrad: Divide by the largest mean square so far.
        foreach: This, `maximize`, `capturable`, `differentiable` and `fused` are as in `SGD`.
        decoupled_weight_decay: Decay the parameters directly instead, as AdamW does.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> optimizer = optim.Adam([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> round(x.item(), 4)
        0.75
    """

    _optional = ("max_exp_avg_sq",)

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, amsgrad: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        beta1, beta2 = map(float, group["betas"])
        mean, square, work = self._moments(grad, state, beta1, beta2)
        if group["amsgrad"]:
            if "max_exp_avg_sq" not in state:
                state["max_exp_avg_sq"] = np.zeros_like(data)
            square = np.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
        # Bias correction: m / (1 - β₁ᵗ) and √(v / (1 - β₂ᵗ)), since both means start at zero.
        scale = math.sqrt(1.0 - beta2 ** state["step"])
        rate = float(group["lr"]) * scale / (1.0 - beta1 ** state["step"])
        self._move(data, mean, square, rate, float(group["eps"]) * scale, work)


class AdamW(Adam):
    """Adam with decoupled weight decay: θ ← (1 - lr · weight_decay) θ before each step.

    The arguments are those of `Adam`, whose `decoupled_weight_decay` is always True here.

    Source: Loshchilov and Hutter, "Decoupled weight decay regularization", 2017; as in PyTorch.

    Example:
        >>> from minigrad import nn, ones, optim
        >>> model = nn.Linear(3, 1)
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> model(ones((4, 3))).sum().backward()
        >>> optimizer.step()
        >>> optimizer.zero_grad()
    """

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0.01, amsgrad: bool = False, *,
        maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, **options_of(locals()), decoupled_weight_decay=True)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().load_state_dict(state_dict)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # also if it was saved by Adam


class SparseAdam(_Moments):
    """Adam for sparse gradients: the rows that a gradient does not have keep their means.

    With ``sparse=True``, `nn.Embedding` has such gradients. The means m and v of the other rows do
    not decay, and these rows do not move. For the rows of the gradient a step is that of `Adam`,
    but eps is added before v is corrected. The arguments are those of `Adam`.

    Source: as in PyTorch.

    Example:
        >>> from minigrad import nn, optim
        >>> words = nn.Embedding(50_000, 64, sparse=True)
        >>> optimizer = optim.SparseAdam(words.parameters(), lr=0.01)
        >>> words([[7, 3, 7]]).sum().backward()
        >>> optimizer.step()
    """

    _at_least_0 = ("lr", "eps")

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _moves_only_rows(self, group: State) -> bool:  # noqa: ARG002
        return True

    def _part(self, param: Tensor) -> Part:
        raise ValueError(
            f"SparseAdam: the gradient of a parameter of shape {param._data.shape} is dense; use "
            f"Adam, or have its layer make rows: nn.Embedding(..., sparse=True). While a step is "
            f"captured or traced, and where a hook reads it, every gradient is dense"
        )

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        beta1, beta2 = map(float, group["betas"])
        mean, square, work = self._moments(grad, state, beta1, beta2)
        scale = math.sqrt(1.0 - beta2 ** state["step"])
        rate = float(group["lr"]) * scale / (1.0 - beta1 ** state["step"])
        self._move(data, mean, square, rate, float(group["eps"]), work)


class Adamax(Optimizer):
    r"""Adam with the infinity norm: divides by the largest recent gradient.

    With the bias-corrected running mean m of the gradient and u ← max(β₂ u, abs(g) + eps), the
    parameter moves by θ ← θ - lr · m / u. The arguments are those of `Adam`.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2014, section 7.1; as in
    PyTorch.

    Example:
        >>> from minigrad import nn, optim
        >>> optimizer = optim.Adamax(nn.Linear(3, 1).parameters())  # used as Adam
    """

    _required = ("step", "exp_avg", "exp_inf")
    _elementwise = True
    _at_least_0 = ("lr", "eps", "weight_decay")

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        beta1, beta2 = (float(beta) for beta in group["betas"])
        mean, largest, work = state["exp_avg"], state["exp_inf"], self._buffer(1, data)

        average(mean, grad, beta1, work)
        largest *= beta2
        np.abs(grad, out=work)
        work += float(group["eps"])
        np.maximum(largest, work, out=largest)
        np.divide(mean, largest, out=work)
        work *= float(group["lr"]) / (1.0 - beta1 ** state["step"])
        data -= work


class NAdam(_Moments):
    r"""Adam with Nesterov momentum.

    With the means m and v of Adam, the factors μₜ = β₁ (1 - 0.96^(t · momentum_decay) / 2) and
    their product M = μ₁ ⋯ μₜ, the parameter moves by
    θ ← θ - lr · (μₜ₊₁ m / (1 - M μₜ₊₁) + (1 - μₜ) g / (1 - M)) / (√(v / (1 - β₂ᵗ)) + eps).
    The other arguments are those of `Adam`.

    Source: Dozat, "Incorporating Nesterov momentum into Adam", 2016; as in PyTorch.

    Args:
        momentum_decay: How fast the momentum warms up.
        decoupled_weight_decay: Decay the parameters directly instead, as AdamW does.

    Example:
        >>> from minigrad import nn, optim
        >>> optimizer = optim.NAdam(nn.Linear(3, 1).parameters())  # used as Adam
    """

    _required = ("step", "mu_product", "exp_avg", "exp_avg_sq")
    _numbers: Mapping[str, type] = {"step": int, "mu_product": float}
    _at_least_0 = ("lr", "eps", "weight_decay", "momentum_decay")

    def __init__(
        self, params: Params, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _begin(self, data: np.ndarray, state: State, group: State) -> None:
        super()._begin(data, state, group)
        state["mu_product"] = 1.0

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr, warming = float(group["lr"]), float(group["momentum_decay"])
        beta1, beta2 = (float(beta) for beta in group["betas"])
        now, ahead = (
            beta1 * (1.0 - 0.5 * 0.96 ** (t * warming)) for t in (state["step"], state["step"] + 1)
        )
        state["mu_product"] *= now
        product, move = state["mu_product"], self._buffer(2, data)

        mean, square, work = self._moments(grad, state, beta1, beta2)
        np.multiply(mean, lr * ahead / (1.0 - product * ahead), out=move)
        move += np.multiply(grad, lr * (1.0 - now) / (1.0 - product), out=work)
        np.divide(square, 1.0 - beta2 ** state["step"], out=work)
        np.sqrt(work, out=work)
        work += float(group["eps"])
        move /= work
        data -= move


class RAdam(_Moments):
    r"""Rectified Adam: ignores the mean square until its variance is small enough.

    With the corrected means m and v of Adam, ρ = 2 / (1 - β₂) - 1 and
    ρₜ = ρ - 2 t β₂ᵗ / (1 - β₂ᵗ), the parameter moves by θ ← θ - lr · m while ρₜ ≤ 5, and then by
    θ ← θ - lr · r · m / (√v + eps), with r² = (ρₜ - 4)(ρₜ - 2) ρ / ((ρ - 4)(ρ - 2) ρₜ). (As in
    PyTorch, eps is added before v is corrected.) The other arguments are those of `Adam`.

    Source: Liu et al., "On the variance of the adaptive learning rate and beyond", 2019; as in
    PyTorch.

    Args:
        decoupled_weight_decay: Decay the parameters directly instead, as AdamW does.

    Example:
        >>> from minigrad import nn, optim
        >>> optimizer = optim.RAdam(nn.Linear(3, 1).parameters())  # used as Adam
    """

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        beta1, beta2 = (float(beta) for beta in group["betas"])
        mean, square, work = self._moments(grad, state, beta1, beta2)

        step = state["step"]
        rate = float(group["lr"]) / (1.0 - beta1**step)
        rest = 1.0 - beta2**step
        most = 2.0 / (1.0 - beta2) - 1.0
        seen = most - 2.0 * step * (1.0 - rest) / rest
        if seen > 5.0:
            worth = (seen - 4.0) * (seen - 2.0) * most / ((most - 4.0) * (most - 2.0) * seen)
            rate *= math.sqrt(rest * worth)
            self._move(data, mean, square, rate, float(group["eps"]), work)
        else:
            data -= np.multiply(mean, rate, out=work)
