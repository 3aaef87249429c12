"""Stochastic gradient descent, and the same with averages, and with orthogonal steps (Muon)."""

import math
from collections.abc import Mapping
from typing import Any, Literal, Never, get_args

import numpy as np

from minigrad.optim.optimizer import Optimizer, Params, State, average, options_of
from minigrad.support.checks import check_choice, check_number, check_size

AdjustLR = Literal["original", "match_rms_adamw"]


class SGD(Optimizer):
    r"""Stochastic gradient descent, optionally with momentum.

    With g the gradient plus weight_decay · θ, the velocity is v ← momentum · v + (1 - dampening) ·
    g (g in the first step). The parameter moves by θ ← θ - lr · v; with `nesterov`, by θ ← θ - lr ·
    (g + momentum · v).

    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning",
    2013; as in PyTorch.

    Args:
        lr: The learning rate.
        momentum: The momentum factor. What follows are keywords only: the next is weight_decay in
            Lucid 2, dampening in PyTorch.
        dampening: The fraction of the gradient that is left out of the velocity.
        weight_decay: The coefficient of the L2 penalty on the parameters.
        nesterov: Use Nesterov momentum; needs momentum and zero dampening.
        maximize: Ascend along the gradient: maximize what was differentiated.
        foreach: Kept in the groups, as are `fused` and `capturable` of all optimizers; what they
            choose in PyTorch is decided by the sizes of the parameters here.
        differentiable: False; a step is not recorded.
        fused: As `foreach`.

    Raises:
        TypeError: A fourth argument has no name.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> optimizer = optim.SGD([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x.item()
        0.5
    """

    _optional = ("momentum_buffer",)
    _elementwise = True
    _at_least_0 = ("lr", "momentum", "weight_decay", "dampening")

    def __init__(
        self, params: Params, lr: float = 1e-3, momentum: float = 0, *unnamed: Never,
        dampening: float = 0, weight_decay: float = 0, nesterov: bool = False,
        maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        if unnamed:
            remedy = "write weight_decay=, next in Lucid 2, or dampening=, next in PyTorch"
            raise TypeError(f"SGD: what follows momentum needs a name, got {unnamed}: {remedy}")
        del unnamed  # it is no option
        super().__init__(params, options_of(locals()))

    def _check_options(self, options: Mapping[str, Any]) -> None:
        super()._check_options(options)
        if options["nesterov"] and (options["momentum"] == 0 or options["dampening"] != 0):
            raise ValueError("SGD: nesterov needs momentum > 0 and dampening=0")

    def _moves_only_rows(self, group: State) -> bool:
        return not group["momentum"] and not group["weight_decay"]

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr, momentum = float(group["lr"]), float(group["momentum"])
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


class ASGD(Optimizer):
    r"""Gradient descent that also keeps a running average of the parameters.

    A step is θ ← (1 - lambd · η) θ - η g, and the average is a ← a + μ (θ - a). In the first step η
    = lr and μ = 1. Later η = lr / (1 + lambd · lr · t)^alpha and μ = 1 / max(1, t - t0), with t the
    number of the previous step. The average of a parameter is ``optimizer.state[parameter]["ax"]``.

    Source: Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992; as
    in PyTorch.

    Args:
        lr: The learning rate.
        lambd: The decay of the parameters in each step, relative to η.
        alpha: The power with which η falls.
        t0: The step at which averaging starts.
        weight_decay: The coefficient of the L2 penalty on the parameters.
        foreach: This, `maximize`, `differentiable` and `capturable` are as in `SGD`.

    Example:
        >>> from minigrad import nn, optim
        >>> optimizer = optim.ASGD(nn.Linear(3, 1).parameters(), lambd=0.0)  # used as Adam
    """

    _required = ("step", "eta", "mu", "ax")
    _numbers: Mapping[str, type] = {"step": int, "eta": float, "mu": float}
    _elementwise = True
    _at_least_0 = ("lr", "lambd", "alpha", "t0", "weight_decay")

    def __init__(
        self, params: Params, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _begin(self, data: np.ndarray, state: State, group: State) -> None:
        super()._begin(data, state, group)
        state.update(eta=float(group["lr"]), mu=1.0)

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        lr, lambd = float(group["lr"]), float(group["lambd"])
        step, eta, mean, work = state["step"], state["eta"], state["ax"], self._buffer(1, data)

        data *= 1.0 - lambd * eta
        data -= np.multiply(grad, eta, out=work)
        if state["mu"] == 1.0:
            np.copyto(mean, data)
        else:
            np.subtract(data, mean, out=work)
            work *= state["mu"]
            mean += work
        state["eta"] = lr / (1.0 + lambd * lr * step) ** float(group["alpha"])
        state["mu"] = 1.0 / max(1.0, step - float(group["t0"]))


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

    _whole_only = _decoupled = True
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
            raise self._wrong(i, param, "is not a matrix: give it to AdamW")

    def _check_options(self, options: Mapping[str, Any]) -> None:
        super()._check_options(options)
        self._check_several("ns_coefficients", options["ns_coefficients"], 3, -math.inf)
        steps = check_size("Muon", "ns_steps", options["ns_steps"], 0)
        check_number("Muon", "ns_steps", steps, below=100)
        check_choice("Muon", "adjust_lr_fn", options["adjust_lr_fn"], (None, *get_args(AdjustLR)))

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
