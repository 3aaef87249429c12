"""A module in another state for a while: other parameters, evaluation mode."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, type_error
from minigrad.nn.module.base import Module
from minigrad.nn.module.registry import join, walk
from minigrad.support.random_state import register_snapshot
from minigrad.tensors.creation import asarray
from minigrad.tensors.tensor import Tensor

__all__ = ["stack_module_state"]

_one_at_a_time = threading.RLock()
_running: ContextVar[tuple[tuple[Module, dict[str, Any], bool], ...]] = ContextVar(
    "minigrad.functional_call", default=()
)
"""The calls running in this thread, outermost first."""


def functional_call(
    module: Module, parameter_and_buffer_dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None, kwargs: Mapping[str, Any] | None = None, *, tie_weights: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with the given tensors in place of its parameters and buffers.

    A model becomes a function of its parameters, which function transforms can differentiate:
    ``hessian(lambda p: loss(functional_call(model, p, x)))(dict(model.named_parameters()))``.

    The tensors are replaced during the call and restored afterwards, also after an exception.
    Where the module assigns a new tensor in the place of a given one, the dict has it afterwards.
    Calls from several threads wait for each other; a plain call of the same module in another
    thread would see the given tensors.

    Args:
        module: The module.
        parameter_and_buffer_dicts: Tensors or arrays by path, as in `Module.named_parameters`; or
            several such dicts. Others stay as they are.
        args: The positional arguments of the call: a tuple, or a single argument; None for none.
        kwargs: The keyword arguments of the call.
        tie_weights: Whether a tensor that the module holds under several paths, and that is given
            under one of them, is replaced under all.
        strict: Whether each parameter and buffer must be given.

    Raises:
        RuntimeError: With `strict`, one is not given.
        TypeError: `kwargs` is not a dict, such as a second positional argument.
        ValueError: A path is unknown, a tensor is given under two paths, or a shape differs.

    Example:
        >>> from minigrad import func, nn, ones, tensor
        >>> linear = nn.Linear(2, 1)
        >>> weight, bias = tensor([[1.0, 2.0]]), tensor([0.5])
        >>> func.functional_call(linear, {"weight": weight, "bias": bias}, ones(2))
        tensor([3.5000])
    """
    if kwargs is not None and not isinstance(kwargs, Mapping):
        came = f"kwargs must be a dict, got {type(kwargs).__name__}"
        remedy = "several arguments are one tuple: functional_call(module, parameters, (x, mask))"
        raise type_error(f"functional_call: {came}; {remedy}")
    several: Any = parameter_and_buffer_dicts
    tensors: dict[str, Any] = {}
    dicts: Any = (several,) if isinstance(several, Mapping) else tuple(several)
    for each in dicts:
        if twice := tensors.keys() & each.keys():
            raise ValueError(f"functional_call: {sorted(twice)} stand in several of the dicts")
        tensors |= each
    given = args if isinstance(args, tuple) else () if args is None else (args,)
    with _replaced(module, tensors, tie_weights, strict) as replacements:
        result = module(*given, **(kwargs or {}))
        now = {id(after): owner.__dict__[name] for owner, name, _, after in replacements}
    for each in dicts:
        changed = {path: now[id(x)] for path, x in each.items() if now.get(id(x), x) is not x}
        if changed:
            each.update(changed)
    return result


@contextmanager
def _replaced(
    module: Module, tensors: dict[str, Any], tie_weights: bool = True, strict: bool = False
) -> Iterator[list[tuple[Module, str, Tensor, Tensor]]]:
    """Replace tensors of a module within the block, in one thread at a time."""
    with _one_at_a_time:
        replacements = _fitting(module, tensors, tie_weights, strict)

        def put_back() -> None:
            for owner, name, before, _ in replacements:
                owner.__dict__[name] = before
            _running.set(outer)

        outer = _running.get()
        with _afterwards(put_back):
            _running.set((*outer, (module, tensors, tie_weights)))
            for owner, name, _, after in replacements:
                owner.__dict__[name] = after  # past `__setattr__`: the leaf keeps its name
            yield replacements


@contextmanager
def _afterwards(put_back: Callable[[], None]) -> Iterator[None]:
    """Restore something after a block, whatever interrupts it."""
    try:
        yield
    finally:
        try:
            put_back()
        except BaseException:  # an interrupt
            put_back()
            raise


def _fitting(
    module: Module, tensors: dict[str, Any], tie_weights: bool, strict: bool
) -> list[tuple[Module, str, Tensor, Tensor]]:
    """Check the given tensors before any is replaced.

    Returns:
        For each place: the module, the name, its own tensor and the one that takes its place.
    """
    own: dict[str, tuple[Module, str, Tensor]] = {}
    for path, owner in walk(module):
        for name, tensor in (*owner._own_parameters(), *owner._own_buffers()):
            own[join(path, name)] = owner, name, tensor
    # What has one key is replaced together.
    keys = {path: id(place[2]) if tie_weights else path for path, place in own.items()}
    given: dict[Any, Any] = {}
    found: dict[Any, Tensor] = {}
    for path, value in tensors.items():
        if path not in own:
            kind = type(module).__name__
            raise ValueError(f"functional_call: {kind} has no {path!r}; it has {list(own)}")
        before, after = own[path][2], asarray(value)
        wanted = f"{path} of shape {tuple(before.shape)}"
        refuse_shapes(after.shape != before.shape, "functional_call", wanted, after)
        if given.setdefault(keys[path], value) is not value:
            raise ValueError(f"functional_call: {path} and another path given are one tensor")
        found[keys[path]] = after
    missing = [path for path, key in keys.items() if key not in given]
    if strict and missing:
        raise RuntimeError(f"functional_call: strict is set, and {missing} are not given")
    return [(*place, found[keys[path]]) for path, place in own.items() if keys[path] in found]


def _snapshot() -> Callable[[], AbstractContextManager[None]]:
    """Snapshot of the running calls, for a checkpoint that recomputes a part of one."""
    running = _running.get()

    @contextmanager
    def again() -> Iterator[None]:
        with ExitStack() as stack:
            for module, tensors, tie_weights in running:
                stack.enter_context(_replaced(module, tensors, tie_weights))
            yield

    return again


register_snapshot(_snapshot)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode within a block, then restore each module's mode.

    Anything that is not a module is left alone.

    Example:
        >>> from minigrad import nn
        >>> model = nn.Dropout(0.5)
        >>> with nn.utils.evaluating(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    modes = {m: m.training for m in model.modules()} if isinstance(model, Module) else {}

    def put_back() -> None:
        for module, training in modes.items():
            module.training = training

    with _afterwards(put_back):
        for module in modes:
            module.training = False
        yield


def stack_module_state(
    models: Sequence[Module] | Iterable[Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Stack the parameters of models of one class by name, and their buffers: an ensemble.

    Args:
        models: The models; they differ in the values of their tensors only.

    Returns:
        The parameters, new leaves with one more axis in front, and the buffers.

    Raises:
        RuntimeError: There is no model, or they differ in class, in mode, or in what is frozen.

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
        raise RuntimeError("stack_module_state: models of one class, all in one mode, expected")
    parameters = _stacked([dict(model.named_parameters()) for model in several])
    return parameters, _stacked([dict(model.named_buffers()) for model in several])


def _stacked(of_each: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The tensors of several models, as leaves that require a gradient where those do."""
    stacked = {}
    for name, first in of_each[0].items():
        several = [tensors[name] for tensors in of_each]
        if any(tensor.requires_grad != first.requires_grad for tensor in several):
            raise RuntimeError(f"stack_module_state: {name} is frozen in some models, not in all")
        stacked[name] = ops.stack(several).detach()
        stacked[name].requires_grad = first.requires_grad
    return stacked
