"""Functions of numbers under SciPy's names, as in `torch.special`; most have a plain name too."""

from __future__ import annotations

import math
from typing import Any

from minigrad import ops
from minigrad.autograd.typing import Tensor
from minigrad.ops import entr, xlog1py
from minigrad.ops.argument_errors import checked
from minigrad.tensors.functions import *

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfinv", "exp2", "expit", "expm1", "gammaln", "log1p",
    "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi",
    "round", "sinc", "softmax", "xlog1py", "xlogy",
]  # fmt: skip

expit, gammaln, psi = sigmoid, lgamma, digamma
multigammaln, polygamma = checked(mvlgamma), checked(polygamma)


@checked
def ndtr(input: Any) -> Tensor:
    """Compute the probability that a standard normal number is at most `input`.

    Source: PyTorch 2.13, "torch.special.ndtr".

    Example:
        >>> import minigrad
        >>> minigrad.special.ndtr(minigrad.tensor([0.0])).tolist()
        [0.5]
    """
    return 0.5 * ops.erfc(ops.multiply(input, -math.sqrt(0.5)))


@checked
def ndtri(input: Any) -> Tensor:
    """Compute the number below which a standard normal one is with probability `input`.

    Source: PyTorch 2.13, "torch.special.ndtri".

    Example:
        >>> import minigrad
        >>> minigrad.special.ndtri(minigrad.tensor([0.5])).tolist()
        [0.0]
    """
    return math.sqrt(2) * ops.erfinv(ops.multiply(input, 2.0) - 1)
