"""`torch.autograd.functional`: derivatives of functions at a tensor or a tuple of tensors."""

from __future__ import annotations

from typing import Any

from minigrad.autograd import functional as ours
from minigrad.torch.func import seen
from minigrad.torch.modules import missing
from minigrad.torch.tensor import adopt

__getattr__ = missing(__name__)


def _seen(derivative: Any) -> Any:
    return lambda func, *args, **options: adopt(derivative(seen(func), *args, **options))


jacobian, hessian, vjp, jvp, hvp, vhp = map(
    _seen, (ours.jacobian, ours.hessian, ours.vjp, ours.jvp, ours.hvp, ours.vhp)
)
