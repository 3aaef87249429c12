"""Calling a module as a function of its parameters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from minigrad._tensor import Tensor
from minigrad.autograd.mutation import history, view_of
from minigrad.nn.module.base import Module
from minigrad.nn.module.module_paths import join, walk
from minigrad.nn.module.parameter import Parameter
from minigrad.transforms.random_state import register_snapshot

__all__ = ["functional_call"]

_one_at_a_time = threading.RLock()
_running: ContextVar[tuple[tuple[Module, dict[str, Any]], ...]] = ContextVar(
    "minigrad.functional_call", default=()
)
"""The calls that this thread is in, the outermost first."""


def functional_call(
    module: Module,
    parameters_and_buffers: Mapping[str, Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers.

    So a model becomes a function of its parameters, which function transforms can differentiate:
    ``hessian(lambda p: loss(functional_call(model, p, x)))(dict(model.named_parameters()))``.

    While it runs, the module itself holds the given tensors; afterwards it has its own again, also
    when an exception passes. Calls in several threads wait for each other; a plain call of the same
    module in another thread at that time would see the given tensors.

    Args:
        module: The module.
        parameters_and_buffers: Tensors or arrays by path, as in `Module.named_parameters`. What is
            not given stays what it is. A tensor that is shared by several paths is replaced in all
            of them, and given under one.
        args: The positional arguments of the call: a tuple, or a single argument.
        kwargs: Its keyword arguments.

    Returns:
        What the module returns.

    Raises:
        TypeError: A value is no tensor and cannot become one.
        ValueError: A path names no parameter or buffer, one tensor is given under two paths, or a
            shape differs from the module's own; it says which.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> linear = nn.Linear(2, 1)
        >>> weight, bias = minigrad.tensor([[1.0, 2.0]]), minigrad.tensor([0.5])
        >>> nn.utils.functional_call(linear, {"weight": weight, "bias": bias}, minigrad.ones(2))
        Tensor([3.5], dtype=float32)
    """
    given = args if isinstance(args, tuple) else (args,)
    with _replaced(module, dict(parameters_and_buffers)):
        return module(*given, **(kwargs or {}))


@contextmanager
def _replaced(module: Module, tensors: dict[str, Any]) -> Iterator[None]:
    """Within the block a module holds other tensors, and no other thread replaces any."""
    with _one_at_a_time:
        pairs, places = _fitting(module, tensors)

        def put(tensor: Tensor, before: Tensor) -> None:
            for owner, name in places[id(before)]:
                owner.__dict__[name] = tensor  # not registered: its leaf keeps its name

        def put_back() -> None:
            for before, _ in pairs:
                put(before, before)
            _running.set(outer)

        outer = _running.get()
        try:
            _running.set((*outer, (module, tensors)))
            for before, after in pairs:
                put(after, before)
            yield
        finally:
            try:
                put_back()
            except BaseException:  # an interrupt
                put_back()
                raise


def _fitting(
    module: Module, tensors: dict[str, Any]
) -> tuple[list[tuple[Tensor, Tensor]], dict[int, list[tuple[Module, str]]]]:
    """What is to be replaced, checked before anything is.

    Returns:
        Pairs of a tensor of the module and the one given for it; and for the identity of each
        tensor of the module, all places where it stands.
    """
    own: dict[str, Tensor] = {}
    places: dict[int, list[tuple[Module, str]]] = {}
    for path, owner in walk(module):
        for name, tensor in (*owner._own_parameters(), *owner._own_buffers()):
            own[join(path, name)] = tensor
            places.setdefault(id(tensor), []).append((owner, name))

    given: dict[int, Any] = {}
    pairs: list[tuple[Tensor, Tensor]] = []
    for path, value in tensors.items():
        if path not in own:
            raise ValueError(
                f"functional_call: {type(module).__name__} has no parameter or buffer {path!r}; "
                f"it has {list(own)}"
            )
        before, after = own[path], value if isinstance(value, Tensor) else Tensor(value)
        if after.shape != before.shape:
            raise ValueError(f"functional_call: {path} has shape {before.shape}, got {after.shape}")
        if given.setdefault(id(before), value) is not value:
            raise ValueError(
                f"functional_call: {path} and another path given are one tensor of "
                f"{type(module).__name__}; give it once"
            )
        pairs.append((before, _as_parameter(after) if isinstance(before, Parameter) else after))
    return pairs, places


def _as_parameter(tensor: Tensor) -> Parameter:
    """The same tensor, but of the class by which a module knows its parameters."""
    parameter = Parameter.__new__(Parameter)
    parameter._data, parameter._node = tensor._data, history(tensor)
    view_of(parameter, tensor)
    return parameter


def _snapshot() -> Callable[[], AbstractContextManager[None]]:
    """The calls that are running, for whoever runs a part of one again: a checkpoint."""
    running = _running.get()

    @contextmanager
    def again() -> Iterator[None]:
        with ExitStack() as stack:
            for module, tensors in running:
                stack.enter_context(_replaced(module, tensors))
            yield

    return again


register_snapshot(_snapshot)
