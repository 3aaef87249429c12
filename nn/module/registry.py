"""The tree of modules: what a module owns, and how it is found.

What a module owns is what its attributes hold: a `Parameter` is a parameter, a module is a child.
There is no second register to keep in step; only buffers, which are ordinary tensors, are noted by
name. Lists and dicts of modules say in `named_children` what their children are.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from minigrad._tensor import Tensor
from minigrad.autograd.node import Leaf
from minigrad.nn.module.module_paths import join, walk
from minigrad.nn.module.parameter import Parameter

if TYPE_CHECKING:  # every tree is a Module
    from minigrad.nn.module.base import Module


class Registry:
    """The base of `Module`: parameters, buffers and children, by name."""

    _buffers: dict[str, bool]
    """The names of the buffers, and whether each is saved."""
    _name: str = ""
    """The path under which it was last registered or called: a hint for finding it again."""

    def __init__(self) -> None:
        self._buffers = {}

    # What belongs to the module

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if isinstance(value, (Parameter, Registry)):
            self._check_name(name, value)
            if isinstance(value, Registry):
                self._check_child(name, value)
                value._name = name
            elif isinstance(value._node, Leaf):
                value._node.name = name
            self._buffers.pop(name, None)
        elif value is not None and isinstance(attributes.get(name), Parameter):
            raise TypeError(
                f"{type(self).__name__}.{name} is a Parameter and cannot become a "
                f"{type(value).__name__}: assign a Parameter or None, or delete it first"
            )
        elif name in attributes.get("_buffers", ()) and not isinstance(value, Tensor | None):
            raise TypeError(
                f"{type(self).__name__}.{name} is a buffer: a Tensor or None expected, "
                f"got {type(value).__name__}"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._buffers.pop(name, None)

    def _check_name(self, name: str, value: Any) -> None:
        """Refuse what could not be found again by this name."""
        owner = type(self).__name__
        if "_buffers" not in self.__dict__:
            raise AttributeError(
                f"{owner}: call super().__init__() before assigning a {type(value).__name__} "
                f"to self.{name}"
            )
        if not name or "." in name:
            raise ValueError(f"{owner}: {name!r} is empty or has a dot, no name for a part of it")
        if inspect.isroutine(getattr(type(self), name, None)):
            raise ValueError(f"{owner}: {name!r} is one of its methods; choose another name")

    def _check_child(self, name: str, child: Any) -> None:
        """Refuse as a child what is no module, or contains this one."""
        if not isinstance(child, Registry):
            raise TypeError(
                f"{type(self).__name__}: {name!r} must be a Module, got {type(child).__name__}"
            )
        if any(module is self for module in child.modules()):
            raise ValueError(f"{type(self).__name__}: {name!r} would make it a part of itself")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make `param` a parameter called `name`: the same as assigning it to an attribute.

        Args:
            name: The attribute's name.
            param: The parameter, or None for one that this module could have and has not.
        """
        if not isinstance(param, Parameter | None):
            raise TypeError(
                f"{type(self).__name__}: {name!r} must be a Parameter or None, "
                f"got {type(param).__name__}"
            )
        setattr(self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make `module` a child called `name`: the same as assigning it to an attribute.

        Args:
            name: The attribute's name.
            module: The child, or None for one that this module could have and has not.
        """
        if module is not None:
            self._check_child(name, module)
        setattr(self, name, module)

    def register_buffer(
        self, name: str, buffer: Any, dtype: Any = None, *, persistent: bool = True
    ) -> None:
        """Keep a tensor that is not trained, but moves with `to` and is saved.

        Args:
            name: The attribute's name.
            buffer: A Tensor, or what a Tensor can be made of; None to reserve the name.
            dtype: The dtype to store; by default that of `buffer`.
            persistent: Whether it is part of the state dict.

        Example:
            >>> import numpy as np
            >>> from minigrad import nn
            >>> module = nn.Module()
            >>> module.register_buffer("table", np.arange(3.0))
            >>> module.table.shape, list(module.state_dict())
            ((3,), ['table'])
        """
        self._check_name(name, buffer)
        if name in self.__dict__ and name not in self._buffers:
            raise ValueError(f"{type(self).__name__}: it has an attribute {name!r} already")
        if buffer is not None and (dtype is not None or not isinstance(buffer, Tensor)):
            buffer = Tensor(buffer, dtype=dtype)
        self._buffers[name] = persistent
        super().__setattr__(name, buffer)

    # Finding it

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly inside this one with their names, in the order of assignment."""
        found = [entry for entry in self.__dict__.items() if isinstance(entry[1], Registry)]
        return iter(cast("list[tuple[str, Module]]", found))

    def _child(self, name: str) -> Module | None:
        """The child of that name, if there is one."""
        child = self.__dict__.get(name)
        return cast("Module", child) if isinstance(child, Registry) else None

    def children(self) -> Iterator[Module]:
        """The modules directly inside this one."""
        return (child for _, child in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, with the first path that leads to it.

        Args:
            prefix: The path of this module itself.

        Returns:
            Pairs of dotted path and module, parents first.
        """
        return _once(walk(cast("Module", self), prefix))

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        found: dict[int, Module] = {}
        waiting = [cast("Module", self)]
        while waiting:
            module = waiting.pop()
            if id(module) not in found:
                found[id(module)] = module
                waiting += reversed([child for _, child in module.named_children()])
        return iter(found.values())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters, each once, with the first path that leads to it.

        Args:
            prefix: The path of this module itself.
            recurse: Whether those of the modules below count too.

        Returns:
            Pairs of dotted path and parameter.
        """
        return _once(
            (join(path, name), parameter)
            for path, module in self._reach(prefix, recurse)
            for name, parameter in module._own_parameters()
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once; those of the modules below too, if `recurse`."""
        found: dict[int, Parameter] = {}
        for module in self.modules() if recurse else [self]:
            for value in module.__dict__.values():
                if isinstance(value, Parameter):
                    found.setdefault(id(value), value)
        return iter(found.values())

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The buffers, each once, with the first path that leads to it.

        Args:
            prefix: The path of this module itself.
            recurse: Whether those of the modules below count too.

        Returns:
            Pairs of dotted path and tensor.
        """
        return _once(
            (join(path, name), buffer)
            for path, module in self._reach(prefix, recurse)
            for name, buffer in module._own_buffers()
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once; those of the modules below too, if `recurse`."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def count_parameters(self, recurse: bool = True) -> int:
        """How many numbers the parameters hold, shared ones counted once.

        Args:
            recurse: Whether those of the modules below count too.
        """
        return sum(parameter.size for parameter in self.parameters(recurse))

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path such as ``"encoder.layers.0"``; itself for ``""``.

        Args:
            target: The path.

        Raises:
            AttributeError: There is none; the message says where the path ends.
        """
        module = cast("Module", self)
        passed = ""
        for name in target.split(".") if target else ():
            below = module._child(name)
            if below is None:
                raise AttributeError(
                    f"{_place(module, passed)} has no child {name!r}; "
                    f"it has {[name for name, _ in module.named_children()]}"
                )
            module, passed = below, join(passed, name)
        return module

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path such as ``"encoder.layers.0.linear1.weight"``.

        Args:
            target: The path.

        Raises:
            AttributeError: There is none; the message says where the path ends.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        own = dict(module._own_parameters())
        if name not in own:
            raise AttributeError(
                f"{_place(module, path)} has no parameter {name!r}; it has {list(own)}"
            )
        return own[name]

    def _own_parameters(self) -> Iterator[tuple[str, Parameter]]:
        for name, value in list(self.__dict__.items()):
            if isinstance(value, Parameter):
                yield name, value

    def _own_buffers(self) -> Iterator[tuple[str, Tensor]]:
        for name in self._buffers:
            if self.__dict__[name] is not None:
                yield name, self.__dict__[name]

    def _reach(self, prefix: str, recurse: bool) -> Iterator[tuple[str, Module]]:
        return self.named_modules(prefix) if recurse else iter([(prefix, cast("Module", self))])

    # Printing it

    def extra_repr(self) -> str:
        """What the constructor was given, as it stands in the parentheses of the repr."""
        return ""

    def __repr__(self) -> str:
        head, inside = type(self).__name__, self.extra_repr()
        children = [(name, repr(child)) for name, child in self.named_children()]
        if not children:
            return f"{head}({inside})"
        lines = [inside] if inside else []
        lines += [f"({label}): {text}" for label, text in _fold(children)]
        return f"{head}(\n" + textwrap.indent("\n".join(lines), "  ") + "\n)"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from minigrad.viz.drawing.notebook import mimebundle

        return mimebundle(self)


def _once(named: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Each object once, under the first of its names."""
    seen: set[int] = set()
    for name, value in named:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _place(module: Module, path: str) -> str:
    """A module in words: its class, and where it is."""
    return f"{type(module).__name__} at {path!r}" if path else type(module).__name__


def _fold(children: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Write a run of numbered children that read the same once: ("0-5", "6 x Layer(...)")."""
    for (text, numbered), run in groupby(children, key=lambda c: (c[1], c[0].isdigit())):
        names = [name for name, _ in run]
        if numbered and len(names) > 1:
            yield f"{names[0]}-{names[-1]}", f"{len(names)} x {text}"
        else:
            yield from ((name, text) for name in names)
