"""Module, the base class of layers and models: calling, hooks, modes, dtype and state.

Its base, `registry.Registry`, holds parameters, buffers and children by name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from inspect import CO_VARKEYWORDS
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np

from minigrad import ops
from minigrad.autograd.dtypes import checked
from minigrad.autograd.errors import type_error
from minigrad.autograd.events import effect, tell
from minigrad.autograd.mode import State, state
from minigrad.autograd.node import Leaf
from minigrad.autograd.scope import Scope, module_call
from minigrad.autograd.typing import P
from minigrad.nn.module import state_dict as states
from minigrad.nn.module.hooks import Hooked, of_all
from minigrad.nn.module.registry import path_to
from minigrad.ops._numerics import values_of
from minigrad.support.checks import check_flag, module_of, on_cpu
from minigrad.support.signatures import call_error
from minigrad.tensors.kinds import dtype_of_kind
from minigrad.tensors.tensor import dtype_asked

__all__ = ["Module"]

R = TypeVar("R", covariant=True)


_NOT_TENSORS = (str, int, float, list, dict, type(None))


class _Runs(Protocol[P, R]):
    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R: ...


class _Getattr:
    """``self.__getattr__("layer1")``: the attribute, or the error that there is none.

    It is a base of the classes that call it only: where there is a `__getattr__`, Python reads
    every attribute four times slower.
    """

    def __getattr__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


class Module(Hooked):
    """The base class of all layers and models: subclass it and define `forward`.

    A `Parameter` or module that is assigned to an attribute is registered under that name. One that
    is set by ``object.__setattr__(self, "teacher", module)`` is not: it is neither trained nor
    saved.

    Attributes:
        training: True in training mode, False in evaluation mode: see `train` and `eval`.

    Example:
        >>> from minigrad import nn, ones
        >>> class Residual(nn.Module):
        ...     def __init__(self, width):
        ...         super().__init__()
        ...         self.linear = nn.Linear(width, width)
        ...     def forward(self, x):
        ...         return x + self.linear(x)
        >>> model = Residual(3)
        >>> model(ones((2, 3))).shape
        minigrad.Size([2, 3])
        >>> [name for name, _ in model.named_parameters()]
        ['linear.weight', 'linear.bias']
    """

    training: bool
    _version = 1
    """The version of the entries of the state dict, in its metadata; PyTorch's."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        codes = [code for f in vars(cls).values() if (code := getattr(f, "__code__", None))]
        if not issubclass(cls, _Getattr) and any("__getattr__" in c.co_names for c in codes):
            cls.__bases__ = (*cls.__bases__, _Getattr)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if kwargs:
            code = getattr(cls.__init__, "__code__", Module.__new__.__code__)
            wrong = dict.fromkeys([name for name in kwargs if name not in code.co_varnames])
            if wrong and not code.co_flags & CO_VARKEYWORDS:
                raise call_error(cls.__name__, cls.__init__, (None,) * code.co_argcount, wrong)
        make: Any = super().__new__  # of a class beside this one, which may take arguments
        return cast("Self", make(cls) if make is object.__new__ else make(cls, *args, **kwargs))

    def __init__(self) -> None:
        super().__init__()
        self.training = True

    # The call

    def __call__(self: _Runs[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the hooks and `forward`; ops recorded inside know this module and its path."""
        module: Any = self  # typed as `_Runs`, for the types of `forward`
        outer = state.get()
        around = outer.frame
        parent = module_call(around)
        caller = None if parent is None else parent.module
        name = "" if caller is None else path_to(caller, module)
        token = None
        try:
            scope = Scope(module, name, parent, around)
            own = State(outer.recording, scope, outer.observers, None, outer.within, outer.sampled)
            token = state.set(own)
            if outer.observers:
                tell("entered", module)
            if (
                module._forward_pre_hooks or module._forward_hooks or of_all
                or module._backward_hooks or module._backward_pre_hooks
            ):  # fmt: skip
                return module._forward_with_hooks(args, kwargs)
            return module.forward(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            if args and isinstance(args[0], _NOT_TENSORS) and _is_a_layer(module):
                came = type(args[0]).__name__
                message = f"{type(module).__name__}: the input must be a Tensor, got {came}"
                raise type_error(message) from error
            raise
        finally:
            if token is None:  # interrupted between state.set and the assignment
                state.set(outer)
            else:  # cheaper
                state.reset(token)

    # Operations on this module and all modules below it

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module below this one, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set training mode here and by `train` of all children.

        Dropout is active then, and batch norm uses batch statistics.
        """
        check_flag("train", "mode", mode)
        self.training = mode
        for child in self.children():
            child.train(mode)  # the class may have its own, as one that keeps a layer frozen
        return self

    def eval(self) -> Self:
        """Set evaluation mode: deterministic; returns the module itself."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters."""
        for module in self.modules():
            for name, parameter in module._own_parameters():
                parameter.requires_grad_(requires_grad)
                if isinstance(parameter._node, Leaf):  # a new one
                    parameter._node.name = name
        return self

    @effect
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the ``.grad`` of every parameter to None; with ``set_to_none=False`` to zeros."""
        for parameter in self.parameters():
            parameter.zero_grad(set_to_none)

    def reset_parameters(self) -> None:
        """Initialize all parameters again, as the constructor did.

        A layer with parameters of its own overrides this; other modules call it on their children.
        """
        own = dict(self._own_parameters())
        if own:
            kind, names = type(self).__name__, ", ".join(own)
            raise NotImplementedError(f"{kind} ({names}) does not define reset_parameters()")
        for child in self.children():
            child.reset_parameters()

    # The dtype

    def to(
        self, *target: Any, dtype: Any = None, device: Any = None,
        non_blocking: bool = False, memory_format: Any = None,  # noqa: ARG002
    ) -> Self:  # fmt: skip
        """Convert floating-point parameters, their gradients and buffers to a floating dtype.

        Parameters stay the same objects, so an optimizer keeps them. Buffers are replaced.

        Args:
            *target: A dtype, such as ``minigrad.float64``, the device "cpu", or a tensor whose
                dtype is meant.
            dtype: The dtype.
            device: "cpu".
            non_blocking: It changes nothing, as `memory_format`.
            memory_format: It changes nothing.

        Raises:
            TypeError: It is not a floating dtype.
            ValueError: It is a device other than the CPU.
        """
        on_cpu(device)
        dtype = dtype_asked(target, dtype)
        if dtype is not None:
            found = checked(dtype, type(self).__name__)
            if found.kind != "f":
                raise TypeError(f"{type(self).__name__}: a floating dtype expected, got {found}")
            self._convert(found)
        return self

    def _convert(self, target: np.dtype[Any]) -> None:
        for parameter in self.parameters():
            if parameter.dtype.kind == "f" and parameter.dtype != target:
                gradient = parameter.grad
                parameter.data = values_of(parameter).astype(target)
                parameter.grad = None if gradient is None else ops.astype(gradient, target)
        floating = [b for b in self.buffers() if b.dtype.kind == "f" and b.dtype != target]
        converted = {id(buffer): ops.astype(buffer.detach(), target) for buffer in floating}
        for module in self.modules():
            for name, buffer in module._own_buffers():
                setattr(module, name, converted.get(id(buffer), buffer))

    def type(self, dst_type: Any) -> Self:
        """Convert to a dtype, or to that of a class such as `minigrad.FloatTensor`: see `to`."""
        return self.to(dtype=dtype_of_kind(dst_type))

    def cpu(self) -> Self:
        """Return the module: it is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """Raise an error: there is no GPU."""
        on_cpu(device or "cuda")
        return self

    def half(self) -> Self:
        """Convert to float16: see `to`."""
        return self.to(np.float16)

    def float(self) -> Self:
        """Convert to float32: see `to`."""
        return self.to(np.float32)

    def double(self) -> Self:
        """Convert to float64: see `to`."""
        return self.to(np.float64)

    def compile(self, *_: Any, **__: Any) -> None:
        """Do nothing: PyTorch compiles here; `minigrad.compile` is a function."""

    # The state

    def state_dict(
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return parameters and persistent buffers by path.

        Args:
            destination: A dict that they are added to, and that is returned; by default a new
                `OrderedDict`.
            prefix: Prepended to every key.
            keep_vars: Return the tensors themselves instead of detached ones.

        Returns:
            A dict of tensors that **share memory** with the module, so that training changes them:
            ``copy.deepcopy(model.state_dict())`` keeps their values. A shared tensor appears under
            each of its paths.

        Example:
            >>> from minigrad import nn
            >>> list(nn.Sequential(nn.Linear(2, 3), nn.ReLU()).state_dict())
            ['0.weight', '0.bias']
        """
        found: Any = OrderedDict() if destination is None else destination
        if destination is None:
            found._metadata = OrderedDict()
        own = {"version": self._version}
        getattr(found, "_metadata", {})[prefix[:-1]] = own
        for _, hook in self._hooks_of("_state_dict_pre_hooks"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(found, prefix, keep_vars)
        for name, child in self._children():
            child.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for _, hook in self._hooks_of("_state_dict_hooks"):
            replaced = hook(self, found, prefix, own)
            found = found if replaced is None else replaced
        return found

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Add the entries of this module alone."""
        for name, tensor in (*self._own_parameters(), *self._own_buffers("buffer")):
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._defines("get_extra_state"):
            destination[prefix + states.EXTRA] = self.get_extra_state()

    def _load_from_state_dict(self, *args: Any, **options: Any) -> None:
        """What the method of a program's own class calls when it has changed what is loaded."""

    def _defines(self, method: str) -> bool:
        """Whether its class defines a method anew."""
        return getattr(type(self), method) is not getattr(Module, method)

    def get_extra_state(self) -> Any:
        """Return what the state dict has of this module besides its tensors.

        A class that defines it, and `set_extra_state`, has an entry ``_extra_state``.

        Example:
            >>> from minigrad import nn
            >>> class Counter(nn.Module):
            ...     count = 0
            ...     def get_extra_state(self):
            ...         return {"count": self.count}
            ...     def set_extra_state(self, state):
            ...         self.count = state["count"]
            >>> counter = Counter()
            >>> counter.load_state_dict({"_extra_state": {"count": 3}}), counter.count
            (<All keys matched successfully>, 3)
        """
        raise RuntimeError(f"{type(self).__name__} does not define get_extra_state()")

    def set_extra_state(self, state: Any) -> None:  # noqa: ARG002
        """Take what `get_extra_state` returned."""
        raise RuntimeError(f"{type(self).__name__} does not define set_extra_state()")

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> states.Differences:
        """Copy values into parameters and persistent buffers: all of them, or none.

        Values are converted to the dtype of the target. A shared tensor needs one of its keys only.

        Args:
            state_dict: Tensors, ndarrays or PyTorch tensors by path. PyTorch's keys are accepted,
                including the packed projections of its attention. Hooks do not change it.
            strict: Whether a missing or unexpected key is an error. A wrong shape always is.
            assign: Whether tensors take the memory of the values, and their dtype, instead of a
                copy.

        Returns:
            The missing and the unexpected keys.

        Raises:
            RuntimeError: The state does not fit; every wrong key is named, and nothing was changed.

        Example:
            >>> from minigrad import nn
            >>> model, other = nn.Linear(2, 3), nn.Linear(2, 3)
            >>> model.load_state_dict(other.state_dict())
            <All keys matched successfully>
        """
        return states.load(self, state_dict, strict, assign)

    def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
        """Translate another framework's state of this module into its own; called while loading.

        Override it in a layer whose parameters have other names or another packing elsewhere. The
        state has the values of this module and those below it, by path from here.
        """
        return state


def _is_a_layer(module: Module) -> bool:
    """Whether its first argument is a tensor: it is not a container, nor a module of a user's."""
    home = module_of(module.forward)
    return home.startswith("minigrad.nn.") and not home.startswith("minigrad.nn.module")
