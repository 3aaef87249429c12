"""Calling a module as a function of its parameters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from minigrad.nn.module.base import Module
from minigrad.nn.module.module_paths import join, walk
from minigrad.support.random_state import register_snapshot
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

_one_at_a_time = threading.RLock()
_running: ContextVar[tuple[tuple[Module, dict[str, Any]], ...]] = ContextVar(
    "minigrad.functional_call", default=()
)
"""The calls running in this thread, outermost first."""


def functional_call(
    module: Module, parameters_and_buffers: Mapping[str, Any], args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """Call a module with the given tensors in place of its parameters and buffers.

    A model becomes a function of its parameters, which function transforms can differentiate:
    ``hessian(lambda p: loss(functional_call(model, p, x)))(dict(model.named_parameters()))``.

    The tensors are replaced during the call and restored afterwards, also after an exception.
    Calls from several threads wait for each other; a plain call of the same module in another
    thread would see the given tensors.

    Args:
        module: The module.
        parameters_and_buffers: Tensors or arrays by path, as in `Module.named_parameters`. Others
            stay as they are. A shared tensor is given under one of its paths, and replaced in all.
        args: The positional arguments of the call: a tuple, or a single argument.
        kwargs: The keyword arguments of the call.

    Raises:
        ValueError: A path is unknown, a tensor is given under two paths, or a shape differs.

    Example:
        >>> from minigrad import nn, ones, tensor
        >>> linear = nn.Linear(2, 1)
        >>> weight, bias = tensor([[1.0, 2.0]]), tensor([0.5])
        >>> nn.utils.functional_call(linear, {"weight": weight, "bias": bias}, ones(2))
        Tensor([3.5], dtype=float32)
    """
    given = args if isinstance(args, tuple) else (args,)
    with _replaced(module, dict(parameters_and_buffers)):
        return module(*given, **(kwargs or {}))


@contextmanager
def _replaced(module: Module, tensors: dict[str, Any]) -> Iterator[None]:
    """Replace tensors of a module within the block, in one thread at a time."""
    with _one_at_a_time:
        pairs, places = _fitting(module, tensors)

        def put(tensor: Tensor, before: Tensor) -> None:
            for owner, name in places[id(before)]:
                owner.__dict__[name] = tensor  # past `__setattr__`: the leaf keeps its name

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
    """Check the given tensors before any is replaced; return pairs (own tensor, replacement).

    Also, for the id of each tensor of the module, the modules and names that hold it.
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
        before, after = own[path], asarray(value)
        if after.shape != before.shape:
            raise ValueError(f"functional_call: {path} has shape {before.shape}, got {after.shape}")
        if given.setdefault(id(before), value) is not value:
            raise ValueError(
                f"functional_call: {path} and another path given are one tensor of "
                f"{type(module).__name__}; give it once"
            )
        pairs.append((before, after))
    return pairs, places


def _snapshot() -> Callable[[], AbstractContextManager[None]]:
    """Snapshot of the running calls, for a checkpoint that recomputes a part of one."""
    running = _running.get()

    @contextmanager
    def again() -> Iterator[None]:
        with ExitStack() as stack:
            for module, tensors in running:
                stack.enter_context(_replaced(module, tensors))
            yield

    return again


register_snapshot(_snapshot)
