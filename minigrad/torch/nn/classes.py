"""PyTorch's modules: minigrad's classes, each with a subclass that makes PyTorch's tensors.

A module of minigrad's that is assigned to one of PyTorch's, with all in it, becomes PyTorch's: its
class is replaced by the subclass, and so is that of its parameters and buffers. It stays the same
object, with the same parameters.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import minigrad
from minigrad import nn as ours
from minigrad.autograd.dtype_class import bfloat16
from minigrad.torch.helpers import refused
from minigrad.torch.nn import multihead, transformers
from minigrad.torch.nn.constructors import methods
from minigrad.torch.tensor import Tensor

__all__ = ["CLASSES", "Buffer", "Module", "Parameter", "adopt_module"]


class Parameter(ours.Parameter, Tensor):
    """A trainable tensor of a module; unlike minigrad's, it shares the memory of `data`.

    Args:
        data: A tensor; empty if it is left out.
        requires_grad: Whether it is trained.

    Source: PyTorch 2.13, "torch.nn.parameter.Parameter".

    Example:
        >>> from minigrad import torch
        >>> torch.nn.Parameter(torch.zeros(2)).requires_grad
        True
    """

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        given = minigrad.empty(0) if data is None else data
        array = given._data if isinstance(given, minigrad.Tensor) else minigrad.tensor(given)._data
        self._data = array if array.flags.writeable else array.copy()
        self.requires_grad = requires_grad


class Buffer(ours.Buffer, Tensor):
    """A tensor of a module that is not trained, but saved.

    Args:
        data: A tensor.
        persistent: Whether it is saved.
    """

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        super().__init__(minigrad.empty(0) if data is None else data, persistent=persistent)


class Module(ours.Module):
    """The base class of modules, as PyTorch's.

    Source: PyTorch 2.13, "torch.nn.Module".

    Example:
        >>> from minigrad import torch
        >>> class Twice(torch.nn.Module):
        ...     def forward(self, x):
        ...         return 2 * x
        >>> Twice()(torch.ones(2))
        Tensor([2., 2.], dtype=float32)
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, _adopted(value))

    def _check_child(self, name: str, child: Any) -> None:
        super()._check_child(name, child)
        _adopted(child)

    def to(self, *target: Any, **options: Any) -> Any:
        """Convert parameters and floating-point buffers to a dtype; the device "cpu" is accepted.

        Args:
            *target: A dtype, a device, or a tensor whose dtype is meant.
            **options: `dtype`, `device`; `non_blocking` and `memory_format` change nothing.
        """
        for what in (*target, options.get("dtype"), options.get("device")):
            if what is not None and not isinstance(what, bool):
                super().to(what.dtype if isinstance(what, minigrad.Tensor) else what)
        return self

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _modules(self) -> Any:
        return _Table(self, dict(self.named_children()))

    @property
    def _parameters(self) -> Any:
        return self._table("parameter")

    @property
    def _buffers(self) -> Any:
        return self._table("buffer", "non-persistent buffer")

    def _table(self, *kinds: str) -> Any:
        own = {n: getattr(self, n, None) for n, kind in self._registered.items() if kind in kinds}
        return _Table(self, own)

    def _get_name(self) -> str:
        return type(self).__name__

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path such as ``"norm.running_mean"``."""
        path, _, name = target.rpartition(".")
        found = dict(self.get_submodule(path).named_buffers(recurse=False))
        if name not in found:
            raise AttributeError(f"get_buffer: there is no buffer {target!r}")
        return found[name]

    def register_module(self, name: str, module: Any) -> None:
        """Register a child."""
        self.add_module(name, module)

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put another module in the place of the one at a path."""
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def type(self, dst_type: Any) -> Any:
        """Convert to a dtype: see `to`."""
        return self.to(dst_type)

    def bfloat16(self) -> Any:
        """A TypeError: NumPy has no such dtype."""
        return self.to(bfloat16)

    def share_memory(self) -> Any:
        """An error: processes do not share tensors."""
        refused("nn.Module.share_memory", "a model runs in one process")

    def compile(self, *args: Any, **options: Any) -> None:
        """Nothing: nothing is compiled."""

    def register_forward_pre_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> Any:
        """Register a hook that runs before each `forward`, perhaps before all others."""
        made = super().register_forward_pre_hook(hook, with_kwargs=with_kwargs)
        return _first(self._pre_hooks, made, prepend)

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Any:  # fmt: skip
        """Register a hook that runs after each `forward`, perhaps after one that failed too."""
        made = super().register_forward_hook(hook, with_kwargs=with_kwargs)
        if always_call:
            self.__dict__.setdefault("_always", set()).add(made._key)
        return _first(self._hooks, made, prepend)

    def _forward_with_hooks(self, args: Any, kwargs: Any) -> Any:
        try:
            return super()._forward_with_hooks(args, kwargs)
        except Exception:
            for key in self.__dict__.get("_always", ()):
                if key in self._hooks:
                    hook, named = self._hooks[key]
                    hook(self, *((args, kwargs) if named else (args,)), None)
            raise

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Register a hook on the gradients of the inputs."""
        made = super().register_full_backward_hook(hook)
        return _first(self._backward_hooks, made, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Register a hook on the gradients of the outputs."""
        made = super().register_full_backward_pre_hook(hook)
        return _first(self._backward_hooks, made, prepend)

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Parameters and persistent buffers by path; they share memory with the module."""
        given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
        destination, prefix = given.get("destination", destination), given.get("prefix", prefix)
        found = super().state_dict(prefix=prefix, keep_vars=True)
        live = bool(given.get("keep_vars", keep_vars))
        own = OrderedDict((k, v if live else v.detach()) for k, v in found.items())
        if destination is None:
            return own
        destination.update(own)
        return destination

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Copy values into parameters and persistent buffers: all of them, or none."""
        try:
            return super().load_state_dict(state_dict, strict)
        except ValueError as error:
            raise RuntimeError(f"Error(s) in loading state_dict: {error}") from None

    def register_buffer(  # type: ignore[override]
        self, name: str, tensor: Any, persistent: Any = True, *, dtype: Any = None
    ) -> None:
        """Add a tensor that is not trained, but saved unless it is not persistent."""
        super().register_buffer(name, tensor, dtype, persistent=persistent)
        _adopted(self.__dict__.get(name))


class _Table(dict[str, Any]):
    """The parameters, buffers or children of a module by name; a new value is registered."""

    def __init__(self, module: Any, own: dict[str, Any]) -> None:
        super().__init__(own)
        self.module = module

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if name.isidentifier():
            setattr(self.module, name, value)
        else:
            self.module[int(name)] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        delattr(self.module, name)


def _first(hooks: dict[int, Any], made: Any, prepend: bool) -> Any:
    """The handle of a hook, which was moved before the others if that is wanted."""
    if prepend:
        others = {key: hooks.pop(key) for key in list(hooks) if key != made._key}
        hooks.update(others)
    return made


def _adopted(value: Any) -> Any:
    if isinstance(value, ours.Module):
        return adopt_module(value)
    if value.__class__ in _TENSORS:
        value.__class__ = _TENSORS[value.__class__]
    return value


_TENSORS: dict[type, type] = {
    ours.Parameter: Parameter, ours.Buffer: Buffer, minigrad.Tensor: Tensor,
}  # fmt: skip
_MODULES: dict[type, type] = {ours.Module: Module}


def _class_of(kind: type) -> type:
    """The subclass for a class of minigrad's modules; made once, and with those of its bases."""
    if kind not in _MODULES:
        bases = [_class_of(base) for base in kind.__bases__ if issubclass(base, ours.Module)]
        made = type(kind.__name__, (kind, *bases), {"__doc__": kind.__doc__, **methods(kind)})
        made.__module__ = "minigrad.torch.nn"
        _MODULES[kind] = made
    return _MODULES[kind]


def adopt_module(module: Any) -> Any:
    """Make a module of minigrad's, and all in it, PyTorch's."""
    for each in ours.Module.modules(module):
        kind = type(each)
        if not isinstance(each, Module):
            each.__class__ = _class_of(kind)
            for name in each._registered:
                _adopted(each.__dict__.get(name))
    return module


_REPLACED: dict[str, Any] = {
    "MultiheadAttention": multihead.MultiheadAttention,
    **{name: getattr(transformers, name) for name in transformers.__all__},
}
CLASSES: dict[str, type] = {"Module": Module, "Parameter": Parameter, "Buffer": Buffer}
"""The classes of `torch.nn` by name."""

_OTHER_NAMES = {"Hardswish": "HardSwish", "Hardsigmoid": "HardSigmoid"}
for _name in {**dict.fromkeys(dir(ours)), **_REPLACED}:
    _kind = _REPLACED.get(_name) or getattr(ours, _name)
    if (
        _name not in CLASSES
        and not _name.startswith("_")
        and isinstance(_kind, type)
        and issubclass(_kind, ours.Module)
    ):
        CLASSES[_name] = _class_of(_kind)
CLASSES.update({theirs: CLASSES[name] for theirs, name in _OTHER_NAMES.items()})


def _absent(name: str, why: str) -> type:
    """A layer that can be named, as in ``isinstance(layer, nn.Conv3d)``, and not made."""

    def refuse(self: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"torch.nn.{name}: {why}")

    return type(name, (Module,), {"__init__": refuse, "__module__": "minigrad.torch.nn"})


_ABSENT = {
    **dict.fromkeys(
        ("Conv3d", "ConvTranspose3d", "MaxPool3d", "AvgPool3d", "AdaptiveAvgPool3d",
         "AdaptiveMaxPool3d", "BatchNorm3d", "InstanceNorm3d", "Dropout3d", "MaxUnpool3d"),
        "no layer has three spatial axes",
    ),
    "SyncBatchNorm": "a model runs in one process: BatchNorm2d",
    "CTCLoss": "there is no CTC",
}  # fmt: skip
CLASSES.update({_name: _absent(_name, _why) for _name, _why in _ABSENT.items()})
