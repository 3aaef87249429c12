"""`torch.func`: transforms of functions, which get and give PyTorch's tensors."""

from __future__ import annotations

from typing import Any

from minigrad import func as ours
from minigrad.torch.build import adopting
from minigrad.torch.modules import missing
from minigrad.torch.tensor import adopt

__all__ = [name for name in ours.__all__ if name not in ("hvp", "value_and_grad")]
__getattr__ = missing(__name__)


def seen(function: Any) -> Any:
    """The function, whose arguments are PyTorch's tensors."""
    return lambda *args, **kwargs: function(*adopt(args), **adopt(kwargs))


def _transform(transform: Any) -> Any:
    """A transform that gives a function."""
    return lambda func, *args, **options: adopting(transform(seen(func), *args, **options))


def _at(transform: Any) -> Any:
    """A transform that computes at once, and may give a function too."""

    def call(func: Any, *args: Any, **options: Any) -> Any:
        found = adopt(transform(seen(func), *args, **options))
        return tuple([adopting(part) if callable(part) else part for part in found])

    return call


_TRANSFORMS: tuple[Any, ...] = (
    ours.grad, ours.grad_and_value, ours.hessian, ours.jacfwd, ours.jacrev, ours.vmap,
    ours.functionalize,
)  # fmt: skip
grad, grad_and_value, hessian, jacfwd, jacrev, vmap, functionalize = map(_transform, _TRANSFORMS)
jvp, linearize, vjp = map(_at, (ours.jvp, ours.linearize, ours.vjp))
functional_call, stack_module_state = map(adopting, (ours.functional_call, ours.stack_module_state))
replace_all_batch_norm_modules_ = ours.replace_all_batch_norm_modules_
