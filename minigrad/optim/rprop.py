"""Rprop: steps by the sign of the gradient."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.optim.optimizer import Optimizer, Params, State, options_of


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

    _required = _kept = ("step", "prev", "step_size")
    _at_least_0 = ("lr",)
    _elementwise = True

    def __init__(
        self, params: Params, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0), *, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, options_of(locals()))

    def _check_options(self, options: Mapping[str, Any]) -> None:
        super()._check_options(options)
        for name in ("etas", "step_sizes"):
            self._check_pair(name, options[name])
        if not 0 < options["etas"][0] < 1 < options["etas"][1]:
            raise ValueError(
                f"Rprop: etas must be one factor between 0 and 1 and one above 1, "
                f"got {options['etas']}"
            )
        if not options["step_sizes"][0] <= options["step_sizes"][1]:
            raise ValueError(f"Rprop: step_sizes must rise, got {options['step_sizes']}")

    def _update(self, data: np.ndarray, grad: np.ndarray, state: State, group: State) -> None:
        shrink, grow = (float(eta) for eta in group["etas"])
        least, greatest = (float(size) for size in group["step_sizes"])
        if not state:
            first = np.full_like(data, float(group["lr"]))
            state.update(step=0, prev=np.zeros_like(data), step_size=first)
        state["step"] += 1
        before, size, work = state["prev"], state["step_size"], self._buffer(1, data)

        agreement = np.multiply(grad, before, out=work)
        turned = agreement < 0
        size[agreement > 0] *= grow
        size[turned] *= shrink
        np.clip(size, least, greatest, out=size)
        np.copyto(before, grad)
        before[turned] = 0
        data -= np.multiply(np.sign(before, out=work), size, out=work)
