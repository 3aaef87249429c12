"""The registry of a module: its parameters, buffers and children by name, and its repr.

Each of them is an ordinary attribute, which Python reads at its usual speed. It is a part of the
module because `Module.__setattr__` registers its name. A value that is set in another way, by
``object.__setattr__(self, "teacher", module)`` or in ``self.__dict__``, is not: it is neither
trained nor saved.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast, get_args

import numpy as np

from minigrad.autograd.mode import version
from minigrad.autograd.node import Leaf
from minigrad.nn.module.parameter import Buffer, Parameter
from minigrad.support.checks import check_flag
from minigrad.tensors.creation import tensor as as_tensor
from minigrad.tensors.tensor import Tensor

if TYPE_CHECKING:  # every Registry is a Module
    from minigrad.nn.module.base import Module


Kind = Literal["parameter", "module", "buffer", "non-persistent buffer"]
"""The kind of a registered name. A buffer that is not persistent is not in the state dict."""
KINDS = {*get_args(Kind)}
BUFFERS: tuple[Kind, Kind] = ("buffer", "non-persistent buffer")
HOOKS = (
    "_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
    "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip
"""PyTorch's names of the tables of hooks; each is a dict."""
registered: dict[int, tuple[str, Callable[..., Any]]] = {}
"""Hooks on the registration of parts of all modules, each with the kind of a part."""
TABLES = ("_registered", *HOOKS)
"""The attributes that say what belongs to one module alone: a copy has its own."""


class Registry:
    """Base class of `Module`: parameters, buffers and children by name."""

    _registered: dict[str, Kind] = cast("dict[str, Kind]", MappingProxyType({}))
    """The names of parameters, children and buffers, in the order of their first assignment. A name
    stays while its value is None."""
    repr_fields: ClassVar[tuple[str, ...]] = ()
    repr_sizes: ClassVar[tuple[str, ...]] = ()
    """The attributes that the repr shows, with their names and before that without them."""
    _name: str = ""
    """The path under which it was last registered or called: a hint for `path_to`."""

    def __init__(self) -> None:
        self._registered = {}

    # Registering

    def __setattr__(self, name: str, value: Any) -> None:
        new: Kind | None = None
        if isinstance(value, (Parameter, Registry)):
            new = "parameter" if isinstance(value, Parameter) else "module"
            value = self._after_hooks(name, value, new) if registered else value
        if self.__dict__.get(name, self) is not value:
            version.move()
        kind = self._registered.get(name)
        if kind is not None and value is not None:
            self._check_value(name, kind, value)
        if new is not None:
            self._check_name(name, assigned=True)
            if isinstance(value, Registry):
                self._check_child(name, value)
                if self.__dict__.get(value._name) is not value:  # the first of several names stays
                    value._name = name
            elif isinstance(value._node, Leaf):
                value._node.name = name
            if kind != new:
                self._registered.pop(name, None)
                self._registered[name] = new
        elif isinstance(value, Buffer):
            if kind not in BUFFERS and name in self.__dict__:
                delattr(self, name)
            self.register_buffer(name, value, persistent=value.persistent)
            return
        elif kind == "module" and value is not None:
            del self._registered[name]
        super().__setattr__(name, value)

    def _after_hooks(self, name: str, value: Any, kind: str) -> Any:
        """What is registered for a value: a hook may return another one."""
        for of, hook in list(registered.values()):
            replaced = hook(self, name, value) if of == kind else None
            value = value if replaced is None else replaced
        return value

    def _check_value(self, name: str, kind: Kind, value: Any) -> None:
        """Raise if a registered name cannot have this value."""
        owner, given = type(self).__name__, type(value).__name__
        if kind == "parameter" and not isinstance(value, Parameter):
            remedy = "assign a Parameter or None, or delete it first"
            raise TypeError(f"{owner}.{name} is a Parameter and cannot become a {given}: {remedy}")
        if kind in BUFFERS and not isinstance(value, (Tensor, Registry)):
            raise TypeError(f"{owner}.{name} is a buffer: a Tensor or None expected, got {given}")

    def __delattr__(self, name: str) -> None:
        version.move()
        super().__delattr__(name)
        self._registered.pop(name, None)

    def __copy__(self) -> Self:
        """A module with the same parameters, buffers and children, as `copy.copy` makes it."""
        made = object.__new__(type(self))
        own = {name: self.__dict__[name].copy() for name in TABLES if name in self.__dict__}
        made.__dict__.update(self.__dict__ | own)
        return made

    def _check_name(self, name: str, *, assigned: bool = False) -> None:
        """Raise if `name` cannot be that of a parameter, buffer or child; a property may assign."""
        owner = type(self).__name__
        if "_registered" not in self.__dict__:
            raise AttributeError(f"{owner}: call super().__init__() before assigning self.{name}")
        if not isinstance(name, str) or not name or "." in name:
            raise ValueError(f"{owner}: {name!r} cannot be a name: it is empty or has a dot")
        own = getattr(type(self), name, None)
        if isinstance(own, property) and not (assigned and own.fset):
            raise ValueError(f"{owner}: {name!r} is computed from other attributes, by a property")
        if inspect.isroutine(own):
            raise ValueError(f"{owner}: {name!r} is one of its methods; choose another name")

    def _check_free(self, name: str, *kinds: Kind) -> None:
        """Raise if it cannot be a name, or an attribute of another kind has it."""
        self._check_name(name)
        if name in self.__dict__ and self._registered.get(name) not in kinds:
            raise ValueError(f"{type(self).__name__}: it has an attribute {name!r} already")

    def _check_child(self, name: str, child: Any) -> None:
        """Raise if `child` is not a module, or contains this one."""
        if not isinstance(child, Registry):
            what, remedy = f"got {type(child).__name__}", ""
            if isinstance(child, type):
                what, remedy = f"got the class {child.__name__}", f"; write {child.__name__}()"
            elif isinstance(child, (list, tuple)):
                remedy = "; pass its modules one by one, as *layers"
            elif callable(child):
                remedy = "; a function becomes a layer in the forward of a module of your own"
            raise TypeError(f"{type(self).__name__}: {name!r} must be a Module, {what}{remedy}")
        if any(module is self for module in child.modules()):
            raise ValueError(f"{type(self).__name__}: {name!r} would make it a part of itself")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter, or None, like assigning it to an attribute."""
        if not isinstance(param, Parameter | None):
            owner, came = type(self).__name__, type(param).__name__
            raise TypeError(f"{owner}: {name!r} must be a Parameter or None, got {came}")
        self._check_free(name, "parameter")
        setattr(self, name, param)
        self._registered[name] = "parameter"

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a child, or None, like assigning it to an attribute."""
        if module is not None:
            self._check_child(name, module)
        self._check_free(name, "module")
        setattr(self, name, module)
        self._registered[name] = "module"

    register_module = add_module

    def register_buffer(
        self, name: str, tensor: Any, persistent: bool = True, *, dtype: Any = None
    ) -> None:
        """Register a buffer: a tensor that is not trained, but converted by `to` and saved.

        Args:
            name: The name of the attribute.
            tensor: A tensor or array, or None to reserve the name.
            persistent: Whether it is part of the state dict.
            dtype: The dtype to store; by default that of the tensor.

        Example:
            >>> import numpy as np
            >>> from minigrad import nn
            >>> module = nn.Module()
            >>> module.register_buffer("table", np.arange(3.0))
            >>> module.table.shape, list(module.state_dict())
            (minigrad.Size([3]), ['table'])
        """
        check_flag("register_buffer", "persistent", persistent)
        self._check_free(name, *BUFFERS)
        if tensor is not None and (dtype is not None or not isinstance(tensor, Tensor)):
            if not isinstance(tensor, (Tensor, np.ndarray, np.generic, list, tuple, float, int)):
                what = f"{name} must be a tensor, an array or None"
                raise TypeError(f"register_buffer: {what}, got {tensor!r}")
            tensor = as_tensor(tensor, dtype=dtype)
        tensor = self._after_hooks(name, tensor, "buffer")
        version.move()
        self._registered[name] = "buffer" if persistent else "non-persistent buffer"
        super().__setattr__(name, tensor)

    # Looking up

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterate over (name, child), in the order of assignment; each with its first name."""
        return _once(iter(self._children()))

    def _children(self) -> list[tuple[str, Module]]:
        """Every name of a child, and the child."""
        return self._own(Registry, "module")

    def _child(self, name: str) -> Module | None:
        """The child of that name, or None."""
        child = self.__dict__.get(name) if self._registered.get(name) == "module" else None
        return cast("Module", child) if isinstance(child, Registry) else None

    def children(self) -> Iterator[Module]:
        """Iterate over the children, each once."""
        return (child for _, child in self.named_children())

    def named_modules(
        self, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterate over this module and all below it, each once, with its first path.

        `prefix` is the path of this module itself. Without `remove_duplicate`, all paths of those
        shared come.
        """
        return walk(cast("Module", self), prefix, set() if remove_duplicate else None)

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and all below it, each once."""
        return iter([module for _, module in self.named_modules()])  # all: they may be changed

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterate over the parameters, each once, with its first path; `recurse`: also those below.

        The other arguments are those of `named_modules`.
        """
        return self._tensors(prefix, recurse, remove_duplicate, "parameter")

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterate over the parameters, each once; with `recurse` also of the modules below."""
        found: dict[int, Parameter] = {}
        for module in self.modules() if recurse else [self]:
            for _, value in module._own_parameters():
                found.setdefault(id(value), value)
        return iter(found.values())

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over the buffers, each once, with its first path.

        The arguments are those of `named_parameters`.
        """
        return self._tensors(prefix, recurse, remove_duplicate, *BUFFERS)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, each once; with `recurse` also of the modules below."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def count_parameters(self, recurse: bool = True) -> int:
        """Count the elements of all parameters, shared ones once; `recurse`: also those below."""
        return sum(parameter._data.size for parameter in self.parameters(recurse))

    def get_submodule(self, target: str) -> Module:
        """Return the module at a path such as ``"encoder.layers.0"``; itself for ``""``."""
        module, path = cast("Module", self), ""
        for name in target.split(".") if target else ():
            below = module._child(name)
            if below is None:
                raise _missing(module, path, "child", name, dict(module._children()))
            module, path = below, join(path, name)
        return module

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter at a path such as ``"encoder.layers.0.linear1.weight"``."""
        return cast("Parameter", self._tensor_at(target, "parameter"))

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a path such as ``"norm.running_mean"``."""
        return cast("Tensor", self._tensor_at(target, *BUFFERS))

    def _tensor_at(self, target: str, *kinds: Kind) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        own = dict(module._own(Tensor, *kinds))
        if name not in own:
            raise _missing(module, path, kinds[0], name, own)
        return own[name]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module in the place of the one at a path; `strict`: there has to be one."""
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict:
            self.get_submodule(target)
        parent.add_module(name, module)

    _parameters = property(lambda self: _Table(self, "parameter"))
    _buffers = property(lambda self: _Table(self, *BUFFERS))
    _modules = property(lambda self: _Table(self, "module"))

    def _own_parameters(self) -> list[tuple[str, Parameter]]:
        return self._own(Tensor, "parameter")

    def _own_buffers(self, *kinds: Kind) -> list[tuple[str, Tensor]]:
        return self._own(Tensor, *(kinds or BUFFERS))

    def _own(self, of: type, *kinds: Kind) -> list[tuple[str, Any]]:
        """The names of these kinds and their values, without those that are None."""
        own = self.__dict__
        return [
            (name, own[name])
            for name, kind in list(self._registered.items())
            if kind in kinds and isinstance(own.get(name), of)
        ]

    def _tensors(self, prefix: str, recurse: bool, once: bool, *kinds: Kind) -> Iterator[Any]:
        """The (path, tensor) of these kinds, of this module and those below."""
        alone = [(prefix, cast("Module", self))]
        found = (
            (join(path, name), tensor)
            for path, module in (self.named_modules(prefix, once) if recurse else alone)
            for name, tensor in module._own(Tensor, *kinds)
        )
        return _once(found) if once else found

    # Printing

    def extra_repr(self) -> str:
        """Return the text inside the parentheses of the repr: `repr_sizes` and `repr_fields`.

        A bias is shown as whether there is one.
        """
        shown = {name: getattr(self, name) for name in self.repr_fields}
        if "bias" in shown:
            shown["bias"] = shown["bias"] is not None
        sizes = [str(getattr(self, name)) for name in self.repr_sizes]
        return ", ".join([*sizes, *(f"{name}={value!r}" for name, value in shown.items())])

    def _get_name(self) -> str:
        """The name of the class, which the repr begins with."""
        return type(self).__name__

    def _shown_children(self) -> Iterator[tuple[str, str]]:
        """The names of the children and their reprs, None too."""
        return ((name, repr(child)) for name, child in self._modules.items())

    def __repr__(self) -> str:
        lines = [self.extra_repr()] if self.extra_repr() else []
        children = [f"({name}): {text}" for name, text in self._shown_children()]
        if children or "\n" in "".join(lines):
            inside = textwrap.indent("\n".join([*lines, *children]), "  ")
            return f"{self._get_name()}(\n{inside}\n)"
        return f"{self._get_name()}({''.join(lines)})"


def _once(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Keep the first of several names of one object."""
    seen: set[int] = set()
    for name, value in named:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _missing(module: Module, path: str, kind: str, name: str, own: dict[str, Any]) -> Exception:
    """The error about a name that a module, which is at the path, does not have."""
    place = f"{type(module).__name__} at {path!r}" if path else type(module).__name__
    return AttributeError(f"{place} has no {kind} {name!r}; it has {list(own)}")


class _Table(dict[str, Any]):
    """Parameters, buffers or children of a module by name; what is put into it is registered.

    Those that are None are in it too. What has no name, as in ``self._modules[block] = block``, is
    called by its number.
    """

    def __init__(self, module: Registry, *kinds: str) -> None:
        own = module.__dict__
        super().__init__((n, own.get(n)) for n, k in module._registered.items() if k in kinds)
        self.module = module

    update, pop, clear = MutableMapping.update, MutableMapping.pop, MutableMapping.clear
    setdefault, __copy__ = MutableMapping.setdefault, dict.copy

    def __setitem__(self, name: str, value: Any) -> None:
        name = name if isinstance(name, str) else str(len(self))
        super().__setitem__(name, value)
        setattr(self.module, name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        delattr(self.module, name)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last one."""
        name, value = super().popitem()
        delattr(self.module, name)
        return name, value


def join(prefix: str, name: str) -> str:
    """`prefix.name`, or the one of the two that is not empty."""
    return f"{prefix}.{name}" if prefix and name else prefix or name


def walk(
    module: Module, prefix: str = "", seen: set[int] | None = None
) -> Iterator[tuple[str, Module]]:
    """Iterate over (path, module), parents first; a shared module once for each path.

    With `seen`, the ids of those that came already, each module comes once.
    """
    if seen is not None:
        if id(module) in seen:
            return
        seen.add(id(module))
    yield prefix, module
    for name, child in module._children():
        yield from walk(child, join(prefix, name), seen)


def replaced(model: Module, parts: Mapping[int, Module]) -> Module:
    """Put parts in the place of the modules with their ids, also of the model itself."""
    for parent in list(model.modules()):
        for name, child in parent._children():
            if id(child) in parts:
                setattr(parent, name, parts[id(child)])
    return parts.get(id(model), model)


def path_to(caller: Module, module: Module) -> str:
    """The path from `caller` to a module that it calls, such as "linear1" or "layers.0".

    Each module stores its last path as a hint. The hint is checked, because a shared module has
    several paths, and positions in a list can change.
    """
    hint: str = module._name
    if caller.__dict__.get(hint) is module:  # the usual case
        return hint
    holder: Module | None = caller
    for name in hint.split("."):
        holder = None if holder is None else holder._child(name)
    if holder is module:
        return hint
    return _search(caller, module) or type(module).__name__


def _search(caller: Module, module: Module) -> str | None:
    """The shortest path from one module down to another (breadth first), or None."""
    level = [("", caller)]
    while level:
        level = [
            (join(path, name), child)
            for path, holder in level
            for name, child in holder._children()
        ]
        for path, child in reversed(level):  # the first of several paths is stored last
            child._name = path
        if any(child is module for _, child in level):
            return module._name
    return None
