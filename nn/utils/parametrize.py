"""Parametrizations: a parameter that is a function of another one, whatever layer it belongs to."""

from __future__ import annotations

from typing import TypeVar

from minigrad.autograd.grad_mode import no_grad
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleDict, ModuleList
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.utils.computed import computed, set_computed
from minigrad.tensors.tensor import Tensor

__all__ = [
    "ParametrizationList", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip

M = TypeVar("M", bound=Module)


class ParametrizationList(ModuleList):
    """The parametrizations of one parameter, applied one after the other to the `original`.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import parametrize
        >>> layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
        >>> layer.parametrizations.weight.original.shape
        minigrad.Size([2, 2])
    """

    original: Parameter

    def forward(self) -> Tensor:
        """Compute the parameter."""
        value: Tensor = self.original
        for parametrization in self:
            value = parametrization(value)
        return value


class _Parametrized:
    """Compute a parameter of a module from its original."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, module: Module) -> Tensor:
        value: Tensor = getattr(module, "parametrizations")[self.name]()  # noqa: B009
        return value


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Replace a parameter by a function of it, which is computed whenever it is read.

    Training and saving use ``parametrizations.<name>.original`` instead of the parameter. It
    begins as the value of the parameter, or, if the parametrization has a method `right_inverse`,
    as what that makes of it.

    Args:
        module: The module that has the parameter.
        tensor_name: The name of the parameter; a parametrized one gets a further function.
        parametrization: Maps a tensor to one of the same shape.
        unsafe: Whether the shape may be another one.

    Raises:
        ValueError: There is no such parameter, or its shape would change.

    Example:
        >>> from minigrad import nn, ones
        >>> from minigrad.nn.utils import parametrize
        >>> class Symmetric(nn.Module):
        ...     def forward(self, x):
        ...         return (x + x.T) / 2
        >>> layer = parametrize.register_parametrization(nn.Linear(3, 3), "weight", Symmetric())
        >>> bool((layer.weight == layer.weight.T).all())
        True
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'parametrizations.weight.original']
    """
    owner = type(module).__name__
    parametrized = is_parametrized(module, tensor_name)
    own = dict(module._own_parameters())
    if tensor_name not in own and not parametrized:
        raise ValueError(
            f"register_parametrization: {owner} has no parameter {tensor_name!r} of its own; it "
            f"has {list(own)}"
        )
    inverse = getattr(parametrization, "right_inverse", None)
    if parametrized and inverse is not None:
        raise ValueError(
            f"register_parametrization: {tensor_name!r} of {owner} is parametrized already, and "
            f"{type(parametrization).__name__} has a right_inverse: register it first"
        )
    value = getattr(module, tensor_name)
    with no_grad():
        original = value if inverse is None else inverse(value)
        shape = parametrization(original).shape
    if shape != value.shape and not unsafe:
        raise ValueError(
            f"register_parametrization: {type(parametrization).__name__} makes shape {shape} of "
            f"{tensor_name!r} of shape {tuple(value.shape)}; the same shape expected"
        )
    if parametrized:
        _list_of(module, tensor_name).append(parametrization)
        return module
    functions = ParametrizationList([parametrization])
    functions.original = Parameter(original, requires_grad=value.requires_grad)
    delattr(module, tensor_name)
    if "parametrizations" not in dict(module.named_children()):
        module.add_module("parametrizations", ModuleDict())
    _parametrizations(module)[tensor_name] = functions
    set_computed(module, {**computed(module), tensor_name: _Parametrized(tensor_name)})
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a parameter, or any parameter of the module itself, is parametrized.

    Example:
        >>> from minigrad import nn
        >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 3))
        False
    """
    names = [name for name, f in computed(module).items() if isinstance(f, _Parametrized)]
    return bool(names) if tensor_name is None else tensor_name in names


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make a parametrized parameter a plain one again.

    Args:
        module: The module.
        tensor_name: The name of the parameter.
        leave_parametrized: Whether it keeps its present value; otherwise it becomes the original.

    Raises:
        ValueError: It is not parametrized.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import parametrize
        >>> layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
        >>> layer = parametrize.remove_parametrizations(layer, "weight")
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            f"remove_parametrizations: {tensor_name!r} of {type(module).__name__} is not "
            f"parametrized"
        )
    functions, original = _parametrizations(module), _list_of(module, tensor_name).original
    with no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else original
    del functions[tensor_name]
    rest = {name: f for name, f in computed(module).items() if name != tensor_name}
    set_computed(module, rest)
    if not len(functions):
        del module.parametrizations  # type: ignore[attr-defined]
    setattr(module, tensor_name, Parameter(value, requires_grad=original.requires_grad))
    return module


def _parametrizations(module: Module) -> ModuleDict:
    found: ModuleDict = module.get_submodule("parametrizations")  # type: ignore[assignment]
    return found


def _list_of(module: Module, tensor_name: str) -> ParametrizationList:
    found: ParametrizationList = _parametrizations(module)[tensor_name]  # type: ignore[assignment]
    return found
