"""Parametrizations: a parameter that is a function of others, whatever layer it belongs to.

The layer becomes an instance of a subclass of its class, in which the parameter is a property.
"""

from __future__ import annotations

from typing import Any, TypeVar, cast

from minigrad.autograd.errors import refuse_shapes
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleDict, ModuleList
from minigrad.nn.module.parameter import Parameter
from minigrad.tensors.tensor import Tensor

__all__ = [
    "ParametrizationList", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip

M = TypeVar("M", bound=Module)


class ParametrizationList(ModuleList):
    """The parametrizations of one parameter, applied one after the other to the originals.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import parametrize
        >>> layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
        >>> layer.parametrizations.weight.original.shape
        minigrad.Size([2, 2])
    """

    def forward(self) -> Tensor:
        """Compute the parameter."""
        first, *others = self
        value: Tensor = first(*(original for _, original in self._own_parameters()))
        for parametrization in others:
            value = parametrization(value)
        return value

    @no_grad()
    def right_inverse(self, value: Any) -> None:
        """Set the originals to those that give a value: `module.weight = value` does it.

        Raises:
            AttributeError: A parametrization has no `right_inverse`.
            TypeError: The value is no tensor.
            ValueError: What it gives does not have the shapes of the originals.
        """
        if not isinstance(value, Tensor):
            raise TypeError(f"parametrize: a value is a tensor, got {type(value).__name__}")
        for parametrization in reversed([*self]):
            value = parametrization.right_inverse(value)
        parts = value if isinstance(value, tuple) else (value,)
        pairs = [*zip(self._own_parameters(), parts, strict=True)]
        for (name, original), part in pairs:
            wrong = part.shape != original.shape
            refuse_shapes(wrong, "parametrize", f"a value for {name} of its shape", part, original)
        for (_, original), part in pairs:
            original.copy_(part)


def register_parametrization(
    module: M, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> M:
    """Replace a parameter by a function of it, which is computed whenever it is read.

    Training and saving use ``parametrizations.<name>.original`` instead of the parameter. It is the
    parameter itself, so an optimizer that has it goes on. Its value stays, or, if the
    parametrization has a method `right_inverse`, becomes what that makes of it. Where this is a
    tuple, there are new parameters ``original0``, ``original1`` and so on.

    Args:
        module: The module that has the parameter.
        tensor_name: The name of the parameter; a parametrized one gets a further function.
        parametrization: Maps a tensor to one of the same shape.
        unsafe: Whether the shape may be another one.

    Raises:
        AttributeError: There is no such parameter.
        ValueError: Its shape would change.

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
    if not isinstance(parametrization, Module):
        came = type(parametrization).__name__
        raise TypeError(f"register_parametrization: a Module expected, got {came}")
    parametrization.train(module.training)
    parametrized = is_parametrized(module, tensor_name)
    inverse = None if parametrized else getattr(parametrization, "right_inverse", None)
    value = getattr(module, tensor_name) if parametrized else module.get_parameter(tensor_name)
    with no_grad():
        found = value if inverse is None else inverse(value)
        originals = {"original": found}
        if isinstance(found, tuple):
            originals = {f"original{i}": part for i, part in enumerate(found)}
        made = parametrization(*originals.values())
    wanted = f"{tensor_name!r} and what {type(parametrization).__name__} makes of it in one shape"
    wrong = made.shape != value.shape and not unsafe
    refuse_shapes(wrong, "register_parametrization", wanted, value, made)
    if parametrized:
        _lists(module)[tensor_name].append(parametrization)
        return module
    functions = ParametrizationList([parametrization])
    delattr(module, tensor_name)
    for name, original in originals.items():
        new = Parameter(original, requires_grad=value.requires_grad)
        setattr(functions, name, new if isinstance(found, tuple) else _holding(original, value))
    if "parametrizations" not in dict(module.named_children()):
        module.add_module("parametrizations", ModuleDict())
    _lists(module)[tensor_name] = functions
    _set_properties(module, {**_computed_names(module), tensor_name: None})
    return module


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a parameter, or any parameter of the module itself, is parametrized.

    Example:
        >>> from minigrad import nn
        >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 3))
        False
    """
    names = [name for name, norm in _computed_names(module).items() if norm is None]
    return bool(names) if tensor_name is None else tensor_name in names


def remove_parametrizations(module: M, tensor_name: str, leave_parametrized: bool = True) -> M:
    """Make a parametrized parameter a plain one again.

    Args:
        module: The module.
        tensor_name: The name of the parameter.
        leave_parametrized: Whether it keeps its present value; otherwise it has the original's.

    Raises:
        AttributeError: No parameter is parametrized.
        KeyError: This one is not.

    Example:
        >>> from minigrad import nn
        >>> from minigrad.nn.utils import parametrize
        >>> layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", nn.Tanh())
        >>> layer = parametrize.remove_parametrizations(layer, "weight")
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'weight']
    """
    original = next(iter(_lists(module)[tensor_name].parameters()))
    return _made_plain(module, tensor_name, original, leave_parametrized)


def use_older_names(module: M, tensor_name: str) -> M:
    """Make the tensors of a parametrization entries of the module: `weight_g`, `weight_v`."""
    functions = _lists(module)[tensor_name]
    norm = functions[0]
    tensors = {**dict(functions.named_parameters()), **dict(functions.named_buffers())}
    _forget(module, tensor_name)
    for part, path in norm.older_names.items():
        name, tensor = f"{tensor_name}_{part}", tensors[path]
        if isinstance(tensor, Parameter):
            module.register_parameter(name, tensor)
        else:
            module.register_buffer(name, tensor)
            delattr(norm, path.removeprefix("0."))
    _set_properties(module, {**_computed_names(module), tensor_name: norm})
    return module


def remove_older_names(owner: str, module: M, tensor_name: str) -> M:
    """Undo `use_older_names` and the parametrization."""
    norm = _computed_names(module).get(tensor_name)
    if norm is None:
        raise ValueError(f"{owner}: {tensor_name!r} of {type(module).__name__} is not normalized")
    names = [f"{tensor_name}_{part}" for part in norm.older_names]
    _made_plain(module, tensor_name, getattr(module, names[0]), leave_parametrized=True)
    for name in names:
        delattr(module, name)
    return module


def _made_plain(module: M, tensor_name: str, original: Tensor, leave_parametrized: bool) -> M:
    """Make a computed parameter a plain one, of its present value or that of the original."""
    with no_grad():
        value = getattr(module, tensor_name) if leave_parametrized else original
    _forget(module, tensor_name)
    setattr(module, tensor_name, _holding(value, original))
    return module


def _holding(value: Tensor, parameter: Tensor) -> Parameter:
    """The parameter itself, which optimizers know, with a value; another one of another shape."""
    if not isinstance(parameter, Parameter) or value.shape != parameter.shape:
        return Parameter(value, requires_grad=parameter.requires_grad)
    if value is not parameter:
        parameter.data = value
    return parameter


def _lists(module: Module) -> Any:
    return module.get_submodule("parametrizations")


def _computed_names(module: Module) -> dict[str, Any]:
    """The computed parameters: None, or the normalization whose tensors the module has itself."""
    return cast("dict[str, Any]", getattr(type(module), "_parametrized", {}))


def _forget(module: Module, tensor_name: str) -> None:
    """Let a parameter be computed no longer."""
    names = dict(_computed_names(module))
    if names.pop(tensor_name) is None:
        del _lists(module)[tensor_name]
        if not len(_lists(module)):
            del module.parametrizations  # type: ignore[attr-defined]
    _set_properties(module, names)


def _computed(name: str, norm: Any) -> property:
    def compute(module: Module) -> Tensor:
        if norm is None:
            return cast("Tensor", _lists(module)[name]())
        norm.training = module.training
        tensors = (getattr(module, f"{name}_{part}") for part in norm.older_names)
        # No call of its own: it is no child of the module.
        return cast("Tensor", norm.forward(*tensors))

    def assign(module: Module, value: Any) -> None:
        module._registered.pop(name, None)  # a Parameter gives its value alone
        _lists(module)[name].right_inverse(value)

    return property(compute, assign if norm is None else None)


def _set_properties(module: Module, names: dict[str, Any]) -> None:
    """Let a module compute these parameters, and no others, whenever they are read."""
    plain = next(kind for kind in type(module).__mro__ if "_parametrized" not in vars(kind))
    copied = {name: getattr(plain, name) for name in ("__doc__", "__module__", "__qualname__")}
    own = {name: _computed(name, norm) for name, norm in names.items()}
    ways = {"__reduce__": _reduced, "adapt_state_dict": _adapt_state_dict}
    body = {**copied, **own, **ways, "_parametrized": names}
    kind = f"Parametrized{plain.__name__}" if None in names.values() else plain.__name__
    module.__class__ = type(kind, (plain,), body) if names else plain


def _adapt_state_dict(module: Module, state: dict[str, Any]) -> dict[str, Any]:
    """The state with the names that a parametrization had in older files."""
    for name in (name for name, norm in _computed_names(module).items() if norm is None):
        for old, new in getattr(_lists(module)[name][0], "older_names", {}).items():
            if (key := f"{name}_{old}") in state:
                state[f"parametrizations.{name}.{new}"] = state.pop(key)
    plain = cast("type[Module]", type(module).__base__)
    return plain.adapt_state_dict(module, state)


def _reduced(module: Module) -> tuple[Any, ...]:
    return _made, (type(module).__base__, _computed_names(module)), module.__dict__


def _made(plain: type[M], names: dict[str, Any]) -> M:
    """An instance without state, which `copy` and `pickle` fill."""
    module = object.__new__(plain)
    _set_properties(module, names)
    return module
