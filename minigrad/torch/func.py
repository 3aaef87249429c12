"""`torch.func`: transforms of functions, which get and give PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad import ops
from minigrad.autograd import functional as ours
from minigrad.nn.layers.normalization import BatchNorm1d, BatchNorm2d
from minigrad.nn.utils import functional_call as _functional_call
from minigrad.torch.modules import missing
from minigrad.torch.tensor import adopt
from minigrad.transforms.structure import flatten, rebuilt, spread

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
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
    """The function that computes the Jacobian by rows, up to 256 at a time."""
    return _adopting(ours.jacrev(seen(func), argnums, has_aux=has_aux))


def jacfwd(func: Any, argnums: Any = 0, has_aux: bool = False, *, randomness: Any = "error") -> Any:
    """The function that computes the Jacobian by columns; the function runs once."""
    return _adopting(ours.jacfwd(seen(func), argnums, has_aux=has_aux))


def hessian(func: Any, argnums: Any = 0) -> Any:
    """The function that computes the second derivatives of a function."""
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


def linearize(func: Any, *primals: Any) -> Any:
    """The value, and the derivative along a direction as a function of it.

    Example:
        >>> from minigrad import torch
        >>> value, push = torch.func.linearize(torch.square, torch.tensor([1.0, 2.0]))
        >>> push(torch.tensor([1.0, 1.0]))
        Tensor([2., 4.], dtype=float32)
    """
    value, push = adopt(ours.linearize(seen(func), *primals))
    return value, _adopting(push)


def vmap(
    func: Any, in_dims: Any = 0, out_dims: Any = 0, randomness: Any = "error", *,
    chunk_size: int | None = None,
) -> Any:  # fmt: skip
    """The function for many samples at once, of a function of one sample.

    With `chunk_size`, at most so many at once, one part of the samples after the other.

    Example:
        >>> from minigrad import torch
        >>> torch.func.vmap(torch.dot, in_dims=(0, None))(torch.ones(2, 3), torch.ones(3))
        Tensor([3., 3.], dtype=float32)
    """
    together = _adopting(ours.vmap(seen(func), in_dims, out_dims, randomness))
    if chunk_size is None:
        return together
    if chunk_size < 1:
        raise ValueError(f"vmap: chunk_size must be at least 1, got {chunk_size}")

    def call(*args: Any, **kwargs: Any) -> Any:
        dims = list(in_dims) if isinstance(in_dims, (tuple, list)) else [in_dims] * len(args)
        given, axes = (list(args), kwargs), (dims, dict.fromkeys(kwargs, 0))
        lengths = [leaf.shape[axis] for _, leaf, axis in spread(given, axes, "args")
                   if axis is not None]  # fmt: skip
        if len(dims) != len(args) or len(set(lengths)) != 1:
            return together(*args, **kwargs)  # which says what is wrong
        parts = []
        for start in range(0, max(lengths[0], 1), chunk_size):
            window = slice(start, start + chunk_size)
            leaves = [_part(leaf, axis, window) for _, leaf, axis in spread(given, axes, "args")]
            some, named = rebuilt(given, iter(leaves))
            parts.append(together(*some, **named))
        places = [axis for _, _, axis in spread(parts[0], out_dims, "the result")]
        columns = zip(*([leaf for _, leaf in flatten(part, "")] for part in parts), strict=True)
        joined = [column[0] if axis is None else ops.concatenate(list(column), axis)
                  for column, axis in zip(columns, places, strict=True)]  # fmt: skip
        return adopt(rebuilt(parts[0], iter(joined)))

    return call


def _part(leaf: Any, axis: int | None, window: slice) -> Any:
    return leaf if axis is None else leaf[(slice(None),) * (axis % len(leaf.shape)) + (window,)]


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of models of one class, stacked by name, and their buffers: an ensemble.

    Raises:
        RuntimeError: There is no model, or they differ in class or in mode.

    Example:
        >>> from minigrad import torch
        >>> models = [torch.nn.Linear(3, 1) for _ in range(5)]
        >>> parameters, buffers = torch.func.stack_module_state(models)
        >>> parameters["weight"].shape
        torch.Size([5, 1, 3])
        >>> call = lambda parameters, x: torch.func.functional_call(models[0], parameters, (x,))
        >>> torch.func.vmap(call, (0, None))(parameters, torch.ones(2, 3)).shape
        torch.Size([5, 2, 1])
    """
    if len({(type(model), model.training) for model in models}) != 1:
        raise RuntimeError(
            "stack_module_state: at least one model expected, all of one class and all in one mode"
        )
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]

    def stacked(name: str) -> Any:
        several = adopt(ops.stack([each[name] for each in parameters]).detach())
        several.requires_grad = parameters[0][name].requires_grad
        return several

    return (
        {name: stacked(name) for name in parameters[0]},
        {name: adopt(ops.stack([each[name] for each in buffers])) for name in buffers[0]},
    )


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let batch normalization keep no running statistics, in place; returns the module."""
    for module in root.modules():
        if isinstance(module, (BatchNorm1d, BatchNorm2d)):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functionalize(func: Any, *, remove: str = "mutations") -> Any:
    """The function itself: a mapped or differentiated one may write to what it has made."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f'functionalize: remove="mutations" or "mutations_and_views", got {remove!r}'
        )
    return seen(func)


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
