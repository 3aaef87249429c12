"""Hooks of modules: on calls, on gradients and on state dicts; of one module, or of all."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from minigrad.autograd.hooks import Removable, register
from minigrad.nn.module.backward_hooks import BackwardHooks
from minigrad.nn.module.registry import HOOKS, Registry, registered

__all__ = [
    "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip

Hook = Callable[..., Any]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]

of_all: dict[int, tuple[str, Hook]] = {}
"""The hooks of all modules, and the table of a module in which each would be."""


@dataclass(frozen=True)
class Special:
    """A hook on calls with options: see `Hooked.register_forward_hook`."""

    function: Hook
    with_kwargs: bool
    always_call: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Hooked(Registry):
    """Base class of `Module`: hooks, and calls that run them."""

    _forward_pre_hooks: dict[int, Hook]
    _forward_hooks: dict[int, Hook]
    _backward_pre_hooks: dict[int, Hook]
    _backward_hooks: dict[int, Hook]

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update({name: {} for name in HOOKS})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; defined by every subclass."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward()")

    def _hooks_of(self, table: str) -> list[tuple[int, Hook]]:
        """The hooks of all modules, then those of this one."""
        shared = [(key, hook) for key, (of, hook) in of_all.items() if of == table]
        return [*shared, *self.__dict__[table].items()]

    def _forward_with_hooks(self, args: Args, kwargs: Kwargs) -> Any:
        output, ran = None, set()
        try:
            args, kwargs = self._before(args, kwargs)
            backward = None
            pulled = [self._hooks_of(table) for table in ("_backward_pre_hooks", "_backward_hooks")]
            if any(pulled):
                backward = BackwardHooks(self, *([hook for _, hook in hooks] for hooks in pulled))
                args = backward.enter(args)
            output = self.forward(*args, **kwargs)
            for key, hook in self._hooks_of("_forward_hooks"):
                ran.add(key)
                replaced = _called(hook, self, args, kwargs, output)
                output = output if replaced is None else replaced
            return output if backward is None else backward.leave(output)
        except Exception:
            for key, hook in self._hooks_of("_forward_hooks"):
                if isinstance(hook, Special) and hook.always_call and key not in ran:
                    try:
                        _called(hook, self, args, kwargs, output)
                    except Exception as error:  # noqa: BLE001  # the first error is to be told
                        warnings.warn(f"a forward hook raised {error!r} too", stacklevel=3)
            raise

    def _before(self, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        """The arguments after the hooks that run before the call."""
        for _, hook in self._hooks_of("_forward_pre_hooks"):
            replaced = _called(hook, self, args, kwargs)
            if replaced is None:
                continue
            if not isinstance(hook, Special):
                args = replaced if isinstance(replaced, tuple) else (replaced,)
            elif isinstance(replaced, tuple) and len(replaced) == 2:
                args, kwargs = replaced
            else:
                wanted = "a forward pre-hook with_kwargs returns None or a pair (args, kwargs)"
                raise RuntimeError(f"{type(self).__name__}: {wanted}, got {replaced!r}")
        return args, kwargs

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> Removable:
        """Register a hook ``hook(module, args)`` that runs before each `forward`.

        Args:
            hook: If it does not return None, the result replaces the positional arguments.
            prepend: Whether it runs before all others.
            with_kwargs: Call ``hook(module, args, kwargs)``; it may return ``(args, kwargs)``.

        Example:
            >>> from minigrad import nn, tensor
            >>> layer = nn.Identity()
            >>> remove = layer.register_forward_pre_hook(lambda module, args: 2 * args[0])
            >>> layer(tensor(3.0)).item()
            6.0
            >>> remove()
            >>> layer(tensor(3.0)).item()
            3.0
        """
        entry = Special(hook, True) if with_kwargs else hook
        return register(self._forward_pre_hooks, entry, prepend)

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> Removable:  # fmt: skip
        """Register a hook ``hook(module, args, output)`` that runs after each `forward`.

        Args:
            hook: If it does not return None, the result replaces the output.
            prepend: Whether it runs before all others.
            with_kwargs: Call ``hook(module, args, kwargs, output)``.
            always_call: Whether it runs after a `forward` that failed too; the output is then None.

        Example:
            >>> from minigrad import nn, ones
            >>> model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
            >>> shapes = []
            >>> remember = lambda module, args, output: shapes.append(output.shape)
            >>> with model[0].register_forward_hook(remember):
            ...     output = model(ones((2, 4)))
            >>> shapes
            [minigrad.Size([2, 3])]
        """
        entry = _with_options(hook, with_kwargs, always_call)
        return register(self._forward_hooks, entry, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> Removable:
        """Register a hook ``hook(module, grad_input, grad_output)`` for each backward pass.

        Both are tuples: the gradients of the positional arguments and those of the outputs, None
        for what has none, zeros for an output that was not used. The hook runs when the gradients
        of all inputs are known, or, if no input requires one, those of the outputs. What it
        returns, if not None, replaces `grad_input`. With `prepend` it runs before all others.

        Example:
            >>> from minigrad import nn, ones
            >>> layer, shapes = nn.Linear(4, 3), []
            >>> remember = lambda module, inputs, outputs: shapes.append(inputs[0].shape)
            >>> remove = layer.register_full_backward_hook(remember)
            >>> layer(ones((2, 4), requires_grad=True)).sum().backward()
            >>> shapes
            [minigrad.Size([2, 4])]
        """
        return register(self._backward_hooks, hook, prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> Removable:
        """Register a hook ``hook(module, grad_output)`` that runs before those of the inputs.

        What it returns, if not None, replaces `grad_output`. With `prepend` it runs before all
        others.

        Example:
            >>> from minigrad import nn, ones
            >>> layer = nn.Identity()
            >>> twice = lambda module, grad_output: (2 * grad_output[0],)
            >>> remove = layer.register_full_backward_pre_hook(twice)
            >>> x = ones(2, requires_grad=True)
            >>> layer(x).sum().backward()
            >>> x.grad.tolist()
            [2.0, 2.0]
        """
        return register(self._backward_pre_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook: Hook) -> Removable:
        """Register a hook ``hook(module, prefix, keep_vars)`` that runs before `state_dict`."""
        return register(self.__dict__["_state_dict_pre_hooks"], hook)

    def register_state_dict_post_hook(self, hook: Hook) -> Removable:
        """Register a hook ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`.

        It changes the dict, in which the entries of this module have the prefix.

        Example:
            >>> from minigrad import nn
            >>> layer = nn.Linear(2, 1)
            >>> without_bias = lambda module, state, prefix, _: state.pop(prefix + "bias") and None
            >>> with layer.register_state_dict_post_hook(without_bias):
            ...     list(nn.Sequential(layer).state_dict())
            ['0.weight']
        """
        return register(self.__dict__["_state_dict_hooks"], hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_load_state_dict_pre_hook(self, hook: Hook) -> Removable:
        """Register a hook that changes a state before this module takes its part.

        Args:
            hook: Called with the module, the state, the prefix of this module's entries, its part
                of the state's metadata, `strict`, and three lists of texts that it may extend: the
                missing keys, the unexpected keys and other errors.

        Example:
            >>> from minigrad import nn
            >>> layer = nn.Linear(2, 1)
            >>> def rename(module, state, prefix, *_):
            ...     state[prefix + "weight"] = state.pop(prefix + "kernel")
            >>> remove = layer.register_load_state_dict_pre_hook(rename)
            >>> layer.load_state_dict({"kernel": [[1.0, 2.0]], "bias": [0.0]})
            <All keys matched successfully>
        """
        return register(self.__dict__["_load_state_dict_pre_hooks"], hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> Removable:
        """The older name; without `with_module` the hook is not given the module."""
        entry = hook if with_module else lambda module, *args: hook(*args)
        return self.register_load_state_dict_pre_hook(entry)

    def register_load_state_dict_post_hook(self, hook: Hook) -> Removable:
        """Register a hook ``hook(module, incompatible_keys)`` that runs after `load_state_dict`.

        It may change the lists of missing and unexpected keys, before they are an error.

        Example:
            >>> from minigrad import nn
            >>> layer = nn.Linear(2, 1)
            >>> remove = layer.register_load_state_dict_post_hook(
            ...     lambda module, keys: keys.missing_keys.clear()
            ... )
            >>> layer.load_state_dict({"weight": [[1.0, 2.0]]})
            <All keys matched successfully>
        """
        return register(self.__dict__["_load_state_dict_post_hooks"], hook)


def _with_options(hook: Hook, with_kwargs: bool, always_call: bool) -> Hook:
    return Special(hook, with_kwargs, always_call) if with_kwargs or always_call else hook


def _called(hook: Hook, module: Hooked, args: Args, kwargs: Kwargs, *output: Any) -> Any:
    if isinstance(hook, Special) and hook.with_kwargs:
        return hook(module, args, kwargs, *output)
    return hook(module, args, *output)


def register_module_forward_pre_hook(hook: Hook) -> Removable:
    """Register a hook for all modules, before their own: `Module.register_forward_pre_hook`."""
    return register(of_all, ("_forward_pre_hooks", hook))


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> Removable:
    """Register a hook for all modules, before their own: `Module.register_forward_hook`."""
    return register(of_all, ("_forward_hooks", _with_options(hook, with_kwargs, always_call)))


def register_module_full_backward_hook(hook: Hook) -> Removable:
    """Register a hook for all modules, before their own: `Module.register_full_backward_hook`."""
    return register(of_all, ("_backward_hooks", hook))


register_module_backward_hook = register_module_full_backward_hook


def register_module_full_backward_pre_hook(hook: Hook) -> Removable:
    """Register a hook for all modules: `Module.register_full_backward_pre_hook`."""
    return register(of_all, ("_backward_pre_hooks", hook))


def register_module_parameter_registration_hook(hook: Hook) -> Removable:
    """Register ``hook(module, name, parameter)``, which may return another parameter."""
    return register(registered, ("parameter", hook))


def register_module_module_registration_hook(hook: Hook) -> Removable:
    """Register ``hook(module, name, child)``, which may return another module."""
    return register(registered, ("module", hook))


def register_module_buffer_registration_hook(hook: Hook) -> Removable:
    """Register ``hook(module, name, buffer)``, which may return another tensor."""
    return register(registered, ("buffer", hook))
