"""Several models of one class as one: their tensors stacked, for `minigrad.func.vmap`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from minigrad import ops
from minigrad.nn.layers.normalization import BatchNorm1d, BatchNorm2d
from minigrad.nn.module.base import Module
from minigrad.tensors.tensor import Tensor

__all__ = ["replace_all_batch_norm_modules_", "stack_module_state"]


def stack_module_state(
    models: Sequence[Module] | Iterable[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters of models of one class by name, and their buffers: an ensemble.

    Args:
        models: The models; they differ in the values of their tensors only.

    Returns:
        The parameters, new leaves with one more axis in front, and the buffers.

    Raises:
        RuntimeError: There is no model, or they differ in class or in mode.

    Example:
        >>> from minigrad import func, nn, ones
        >>> models = [nn.Linear(3, 1) for _ in range(5)]
        >>> parameters, buffers = func.stack_module_state(models)
        >>> tuple(parameters["weight"].shape)
        (5, 1, 3)
        >>> call = lambda parameters, x: func.functional_call(models[0], parameters, x)
        >>> tuple(func.vmap(call, (0, None))(parameters, ones(2, 3)).shape)
        (5, 2, 1)
    """
    several = list(models)
    if len({(type(model), model.training) for model in several}) != 1:
        raise RuntimeError(
            "stack_module_state: at least one model expected, all of one class and all in one mode"
        )
    return (
        _stacked([dict(model.named_parameters()) for model in several]),
        _stacked([dict(model.named_buffers()) for model in several]),
    )


def _stacked(of_each: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The tensors of several models, as leaves that require a gradient where those do."""
    stacked = {}
    for name, first in of_each[0].items():
        stacked[name] = ops.stack([tensors[name] for tensors in of_each]).detach()
        stacked[name].requires_grad = first.requires_grad
    return stacked


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let batch normalizations keep no running statistics, in place, and return the module.

    Within `minigrad.func.vmap` a module may not write to its buffers.

    Args:
        root: The module; its parts are changed too.

    Example:
        >>> from minigrad import func, nn
        >>> model = func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(3)))
        >>> [name for name, _ in model.named_buffers()]
        []
    """
    for module in root.modules():
        if isinstance(module, (BatchNorm1d, BatchNorm2d)):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
