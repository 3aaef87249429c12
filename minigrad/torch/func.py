"""`torch.func`: transforms of functions, which get and give PyTorch's tensors."""

from __future__ import annotations

from typing import Any

from minigrad.autograd import functional as ours
from minigrad.nn.utils import functional_call as _functional_call
from minigrad.torch.modules import missing
from minigrad.torch.tensor import adopt

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp",
    "vmap",
]  # fmt: skip
__getattr__ = missing(__name__)


def seen(function: Any) -> Any:
    """The function, whose arguments are PyTorch's tensors."""
    return lambda *args, **kwargs: function(*adopt(args), **adopt(kwargs))


def grad(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """The function that computes the gradient of a function of one number.

    Example:
        >>> from minigrad import torch
        >>> torch.func.grad(lambda x: (x * x).sum())(torch.tensor([1.0, 2.0]))
        Tensor([2., 4.], dtype=float32)
    """
    return _adopting(ours.grad(seen(func), argnums, has_aux=has_aux))


def grad_and_value(func: Any, argnums: Any = 0, has_aux: bool = False) -> Any:
    """The function that computes the gradient, and the value."""
    both = ours.value_and_grad(seen(func), argnums, has_aux=has_aux)

    def call(*args: Any, **kwargs: Any) -> Any:
        value, gradient, *auxiliary = adopt(both(*args, **kwargs))
        return gradient, ((value, *auxiliary) if has_aux else value)

    return call


def jacrev(
    func: Any, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None, **_: Any
) -> Any:
    """The function that computes the Jacobian."""
    return _adopting(ours.jacobian(seen(func), argnums, has_aux=has_aux))


def jacfwd(func: Any, argnums: Any = 0, has_aux: bool = False, **_: Any) -> Any:
    """The function that computes the Jacobian, here by backward passes too."""
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func: Any, argnums: Any = 0) -> Any:
    """The function that computes the second derivatives of a function of one number."""
    return jacrev(jacrev(func, argnums), argnums)


def vjp(func: Any, *primals: Any, has_aux: bool = False) -> Any:
    """The value, and the vector-Jacobian product as a function."""
    value, pull, *auxiliary = adopt(ours.vjp(seen(func), *primals, has_aux=has_aux))

    def product(*cotangents: Any, **_: Any) -> Any:
        return adopt(pull(cotangents[0] if len(cotangents) == 1 else cotangents))

    return (value, product, *auxiliary)


def jvp(
    func: Any, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """The value, and the derivative along a direction."""
    return adopt(ours.jvp(seen(func), tuple(primals), tuple(tangents), has_aux=has_aux))


def vmap(
    func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: Any = "error", *,
    chunk_size: int | None = None,
) -> Any:  # fmt: skip
    """The function for many samples at once, of a function of one sample.

    Example:
        >>> from minigrad import torch
        >>> torch.func.vmap(torch.dot, in_dims=(0, None))(torch.ones(2, 3), torch.ones(3))
        Tensor([3., 3.], dtype=float32)
    """
    if chunk_size is not None:
        raise NotImplementedError(
            "torch.vmap: chunk_size= is not here: map over parts of the batch"
        )
    return _adopting(ours.vmap(seen(func), in_dims, out_dims, randomness))


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, **_: Any
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers."""
    given = parameter_and_buffer_dicts
    if isinstance(given, (tuple, list)):
        given = {name: value for each in given for name, value in each.items()}
    return adopt(_functional_call(module, given, () if args is None else args, kwargs))


def _adopting(function: Any) -> Any:
    return lambda *args, **kwargs: adopt(function(*args, **kwargs))
