"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.optim.optimizer import Optimizer, Params, State


class SGD(Optimizer):
    r"""Stochastic gradient descent, optionally with momentum.

    With g the gradient plus weight_decay · θ, the velocity is v ← momentum · v + (1 - dampening) ·
    g (g in the first step). The parameter moves by θ ← θ - lr · v; with `nesterov`, by θ ← θ - lr ·
    (g + momentum · v).

    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
    2013; as in PyTorch.

    Args:
        lr: The learning rate.
        momentum: The momentum factor.
        weight_decay: The coefficient of the L2 penalty on the parameters.
        dampening: The fraction of the gradient that is left out of the velocity.
        nesterov: Use Nesterov momentum; needs momentum and zero dampening.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> optimizer = optim.SGD([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x.item()
        0.5
    """

    _kept = ("momentum_buffer",)
    _elementwise = True

    def __init__(
        self, params: Params, lr: float = 1e-3, momentum: float = 0.0, weight_decay: float = 0.0, *,
        dampening: float = 0.0, nesterov: bool = False,
    ) -> None:  # fmt: skip
        defaults = {
            "lr": lr, "momentum": momentum, "weight_decay": weight_decay, "dampening": dampening,
            "nesterov": nesterov,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _check_options(self, options: Mapping[str, Any]) -> None:
        for name in ("lr", "momentum", "weight_decay", "dampening"):
            self._check(name, options[name], 0.0)
        if options["nesterov"] and (options["momentum"] == 0 or options["dampening"] != 0):
            raise ValueError("SGD: nesterov needs momentum > 0 and dampening=0")

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr, momentum = float(group["lr"]), float(group["momentum"])
        grad = self._with_penalty(data, grad, group)
        step = self._buffer(1, data)
        if momentum:
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = state["momentum_buffer"] = grad.copy()
            else:
                velocity *= momentum
                velocity += np.multiply(grad, 1.0 - float(group["dampening"]), out=step)
            if group["nesterov"]:
                grad = np.add(grad, np.multiply(velocity, momentum, out=step), out=step)
            else:
                grad = velocity
        data -= np.multiply(grad, lr, out=step)
