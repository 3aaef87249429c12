"""Adagrad, RMSprop, Adadelta and Rprop: steps that depend on the past gradients of an element."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.optim.optimizer import Optimizer, Params, State, average, average_square, options_of


class Adagrad(Optimizer):
    r"""Adaptive gradient: the step of an element shrinks with the sum of its squared gradients.

    With the sum s ← s + g², the parameter moves by θ ← θ - lrₜ · g / (√s + eps), where
    lrₜ = lr / (1 + (t - 1) lr_decay). The other arguments are those of `Adam`.

    Source: Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and
    stochastic optimization", 2011; as in PyTorch.

    Args:
        lr_decay: The decay of the learning rate.
        initial_accumulator_value: The initial value of the sum.

    Example:
        >>> from minigrad import nn, optim
        >>> optimizer = optim.Adagrad(nn.Linear(3, 1).parameters())  # used as Adam
    """

    _required = ("step", "sum")
    _elementwise = True
    _at_least_0 = ("lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps")

    def __init__(
        self, params: Params, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _moves_only_rows(self, group: State) -> bool:
        return not group["weight_decay"]

    def _begin(self, data: np.ndarray, state: State, group: State) -> None:
        super()._begin(data, state, group)
        state["sum"] += float(group["initial_accumulator_value"])

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        work = self._buffer(1, data)

        state["sum"] += np.multiply(grad, grad, out=work)
        np.sqrt(state["sum"], out=work)
        work += float(group["eps"])
        np.divide(grad, work, out=work)
        work *= float(group["lr"]) / (1.0 + (state["step"] - 1) * float(group["lr_decay"]))
        data -= work


class RMSprop(Optimizer):
    r"""Root mean square propagation: divides by the root of a running mean of g².

    With v ← α v + (1 - α) g², the parameter moves by θ ← θ - lr · g / (√v + eps). If `centered`,
    the squared running mean of g is subtracted from v, which makes it a variance. With `momentum`,
    a velocity b ← momentum · b + g / (√v + eps) moves the parameter: θ ← θ - lr · b. The other
    arguments are those of `Adam`.

    Source: Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012; centred: Graves, "Generating
    sequences with recurrent neural networks", 2013; as in PyTorch.

    Args:
        alpha: The decay rate of the running means.
        momentum: The momentum factor.
        centered: Divide by the standard deviation instead of the root mean square.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0], requires_grad=True)
        >>> optimizer = optim.RMSprop([x], lr=0.25, alpha=0.75)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> round(x.item(), 4)
        0.5
    """

    _required = ("step", "square_avg")
    _optional = ("momentum_buffer", "grad_avg")
    _elementwise = True
    _at_least_0 = ("lr", "eps", "weight_decay", "momentum")
    _below_1 = ("alpha",)

    def __init__(
        self, params: Params, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        alpha, momentum = float(group["alpha"]), float(group["momentum"])
        if momentum and "momentum_buffer" not in state:
            state["momentum_buffer"] = np.zeros_like(data)
        if group["centered"] and "grad_avg" not in state:
            state["grad_avg"] = np.zeros_like(data)
        square, work = state["square_avg"], self._buffer(1, data)

        average_square(square, grad, alpha, work)
        if group["centered"]:
            mean = state["grad_avg"]
            average(mean, grad, alpha, work)
            square = np.subtract(square, np.multiply(mean, mean, out=work), out=work)
            np.maximum(square, 0.0, out=square)  # rounding can make a variance negative
        np.sqrt(square, out=work)
        work += float(group["eps"])
        move = np.divide(grad, work, out=work)
        if momentum:
            state["momentum_buffer"] *= momentum
            state["momentum_buffer"] += move
            move = state["momentum_buffer"]
        data -= np.multiply(move, float(group["lr"]), out=work)


class Adadelta(Optimizer):
    r"""Adaptive steps without a global learning rate, scaled by past updates.

    With running means v of g² and u of Δ², where Δ = g · √(u + eps) / √(v + eps), the parameter
    moves by θ ← θ - lr · Δ.

    Source: Zeiler, "Adadelta: an adaptive learning rate method", 2012; as in PyTorch.

    Args:
        lr: The factor of each update.
        rho: The decay rate of the running means.
        eps: Makes the first updates nonzero, and avoids division by zero.
        weight_decay: The coefficient of the L2 penalty on the parameters.
        foreach: This, `maximize`, `differentiable` and `capturable` are as in `SGD`.

    Example:
        >>> from minigrad import nn, optim
        >>> optimizer = optim.Adadelta(nn.Linear(3, 1).parameters(), rho=0.75)  # used as Adam
    """

    _required = ("step", "square_avg", "acc_delta")
    _elementwise = True
    _at_least_0 = ("lr", "eps", "weight_decay")
    _below_1 = ("rho",)

    def __init__(
        self, params: Params, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        rho, eps = float(group["rho"]), float(group["eps"])
        square, moved = state["square_avg"], state["acc_delta"]
        work, move = self._buffer(1, data), self._buffer(2, data)

        average_square(square, grad, rho, work)
        np.add(square, eps, out=work)
        np.divide(np.add(moved, eps, out=move), work, out=move)
        np.sqrt(move, out=move)
        move *= grad
        average_square(moved, move, rho, work)
        data -= np.multiply(move, float(group["lr"]), out=work)


class Rprop(Optimizer):
    r"""Resilient backpropagation: an element's step grows while its gradient keeps its sign.

    Where the gradient kept its sign, the step is multiplied by the second of `etas`. Where the sign
    changed, it is multiplied by the first, and the element is not moved in this step. Then θ ← θ -
    step · sign(g). The method is for gradients of the whole data, not of batches.

    Source: Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the
    RPROP algorithm", 1993; as in PyTorch.

    Args:
        lr: The first step.
        etas: The factors by which a step shrinks (below 1) and grows (above 1).
        step_sizes: The smallest and the largest step.
        capturable: This, `foreach`, `maximize` and `differentiable` are as in `SGD`.

    Example:
        >>> from minigrad import optim, tensor
        >>> x = tensor([1.0, -4.0], requires_grad=True)
        >>> optimizer = optim.Rprop([x], lr=0.25)
        >>> (x * x).sum().backward()
        >>> optimizer.step()
        >>> x.tolist()
        [0.75, -3.75]
    """

    _required = ("step", "prev", "step_size")
    _elementwise = True
    _at_least_0 = ("lr",)

    def __init__(
        self, params: Params, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _check_options(self, options: Mapping[str, Any]) -> None:
        super()._check_options(options)
        for name in ("etas", "step_sizes"):
            self._check_several(name, options[name], 2, 0.0)
        if not 0 < options["etas"][0] < 1 < options["etas"][1]:
            wanted = "one factor between 0 and 1 and one above 1"
            raise ValueError(f"Rprop: etas must be {wanted}, got {options['etas']}")
        if not options["step_sizes"][0] <= options["step_sizes"][1]:
            raise ValueError(f"Rprop: step_sizes must rise, got {options['step_sizes']}")

    def _begin(self, data: np.ndarray, state: State, group: State) -> None:
        super()._begin(data, state, group)
        state["step_size"] += float(group["lr"])

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        shrink, grow = (float(eta) for eta in group["etas"])
        least, greatest = (float(size) for size in group["step_sizes"])
        before, size, work = state["prev"], state["step_size"], self._buffer(1, data)

        agreement = np.multiply(grad, before, out=work)
        turned = agreement < 0
        size[agreement > 0] *= grow
        size[turned] *= shrink
        np.clip(size, least, greatest, out=size)
        np.copyto(before, grad)
        before[turned] = 0
        data -= np.multiply(np.sign(before, out=work), size, out=work)
