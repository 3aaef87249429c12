"""`capture`: a step that is recorded in its first calls, and replayed from then on."""

from __future__ import annotations

import enum
import functools
import random
import threading
import warnings
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from minigrad.autograd.call import wrap
from minigrad.autograd.dtype_class import dtype
from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.grad_mode import is_grad_enabled
from minigrad.autograd.mode import state, version
from minigrad.autograd.node import Leaf, clock
from minigrad.compiler import passes
from minigrad.compiler.functions import constant, read
from minigrad.compiler.program import Argument, CaptureError, Program, Value
from minigrad.compiler.recording import agree, program_of
from minigrad.compiler.replay import compiled
from minigrad.compiler.step_trace import StepTrace
from minigrad.optim.options import Option
from minigrad.support.tree import mapped, structure
from minigrad.tensors.tensor import Tensor

__all__ = ["CapturedStep", "capture"]

MOST = 32
"""The number of programs that a step keeps; the least recently used one gives way to a new one."""
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_CONSTANTS = (*_PLAIN, np.generic, np.dtype, dtype, enum.Enum, type)
_HINTS = ("_name",)  # attributes of a module that say nothing of what it computes


def capture(step: Callable[..., Any] | None = None, *, verify: bool | int = True) -> Any:
    """Record a step in its first calls, and replay it from then on.

    Tensors are live memory. Arguments are structures of tensors and constants; the structure with
    its constants is part of the key, so other constants make another program. Everything else of
    Python is read once, when the step is recorded, except what moves a version number: attributes
    of modules, containers of modules, train and eval, hooks, ``requires_grad``, parameters and
    ``.data``. When it has moved, what the step reached is compared, and the step is recorded anew
    if it differs. A module is reached when it is called, a container when its entries are read, and
    what is in a module that is reached; so is a module that is an argument.

    The first two calls run the step, and record the forward pass, the backward passes and the
    optimizer's step. Later calls run the program without tensors, nodes and plans. Its numbers are
    those of the step, bit for bit. Options of optimizers that the step reads are read at each call.

    Args:
        step: A function of tensors and constants in tuples, lists, dicts and dataclasses. It
            returns such a structure; tensors in it have no history.
        verify: When to run the step plainly instead, and compare what it does with the program:
            True for the calls 4, 8, 16, 32 and so on; an int n for every n-th call; False for
            never. So a number that Python has changed is found.

    Returns:
        A function with the signature of the step. On a method, each object has programs of its own.

    Raises:
        CaptureError: At the call: the step does what a replay could not repeat, such as looking at
            the values of a tensor, and has changed nothing yet. If it has, it runs to its end, now
            and later, with one warning. Also if the step does something else in each call; then
            the error has what the step returned as `result`.

    Example:
        >>> import minigrad
        >>> from minigrad import nn, optim
        >>> model = nn.Linear(3, 1)
        >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
        >>> @minigrad.capture
        ... def step(x):
        ...     optimizer.zero_grad()
        ...     loss = (model(x) ** 2).mean()
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
        >>> losses = [step(minigrad.ones(4, 3)).item() for _ in range(5)]
        >>> losses == sorted(losses, reverse=True)
        True
    """
    return functools.partial(capture, verify=verify) if step is None else CapturedStep(step, verify)


class CapturedStep:
    """A step with the programs that were recorded; `capture` makes it.

    Args:
        step: The function.
        verify: When to compare a call with its program: see `capture`.

    Attributes:
        program: The program that ran last, None before the second call.
        stages: The same program as it was recorded, and after each pass, with the pass's name.
    """

    def __init__(self, step: Callable[..., Any], verify: bool | int = True) -> None:
        if not callable(step):
            raise TypeError(f"capture: a function expected, got {type(step).__name__}")
        self.program: Program | None = None
        self.stages: list[tuple[str, Program]] = []
        self._step, self._verify = step, verify
        self._entries: list[_Entry] = []  # replaced as a whole: other threads read it
        self._made = 0
        self._plain = False  # the step cannot be replayed
        self._warned = False
        self._recording = threading.Lock()
        self.__name__: str = getattr(step, "__name__", type(step).__name__)
        functools.update_wrapper(self, step, updated=())

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        if not hasattr(owner, "__dict__"):
            return functools.partial(self, owner)
        bound = CapturedStep(MethodType(self._step, owner), self._verify)
        bound.__name__ = self.__name__
        return vars(owner).setdefault(self.__name__, bound)

    def __set_name__(self, owner: Any, name: str) -> None:
        self.__name__ = name

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has no programs: it records them anew."""
        owner = getattr(self._step, "__self__", None)
        if isinstance(getattr(type(owner), self.__name__, None), CapturedStep):
            return getattr, (owner, self.__name__)
        return CapturedStep, (self._step, self._verify)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._plain or state.get().observers:  # somebody watches: a drawing, another capture
            return self._step(*args, **kwargs)
        tensors: list[Tensor] = []
        kept: list[Any] = []
        key: Any = is_grad_enabled(), get_default_dtype(), _key((args, kwargs), tensors, kept)
        key = hash(key), key  # a tensor may be the key of a dict, and == of tensors is no bool
        entry = next((e for e in self._entries if e.key == key and e.valid(tensors)), None)
        if entry is not None and entry.run is not None:
            entry.calls += 1
            if not entry.is_due(self._verify):
                self._show(entry)
                return entry.replay(tensors)
        if not self._recording.acquire(blocking=False):  # another thread records
            return self._step(*args, **kwargs)
        try:
            return self._record(entry, key, tensors, kept, args, kwargs)
        finally:
            self._recording.release()

    def _record(
        self, entry: _Entry | None, key: Any, tensors: list[Tensor], kept: list[Any], args: Any,
        kwargs: Any,
    ) -> Any:  # fmt: skip
        if entry is None:
            if self._made >= 2 * MOST:
                self._warn(f"met more than {2 * MOST} different shapes, constants or states")
                return self._step(*args, **kwargs)
            self._made += 1
            entry = _Entry(key, kept)
            if len(self._entries) >= MOST:
                self._forget(min(self._entries, key=lambda each: each.used))
            self._entries = [*self._entries, entry]
        try:
            result = entry.record(self._step, tensors, args, kwargs)
        except BaseException:
            self._forget(entry)
            self._made -= entry.run is None
            raise
        if entry.refused:
            self._plain = True
            self._warn(entry.refused.removeprefix("capture: "))
        else:
            self._show(entry)
        return result

    def _show(self, entry: _Entry) -> None:
        self.program, self.stages, entry.used = entry.program, entry.stages, next(clock)

    def _forget(self, entry: _Entry) -> None:
        self._entries = [each for each in self._entries if each is not entry]

    def _warn(self, why: str) -> None:
        if not self._warned:
            self._warned = True
            name = getattr(self._step, "__qualname__", type(self._step).__name__)
            message = f"capture: {name} runs plainly from now on: {why}"
            warnings.warn(message, RuntimeWarning, stacklevel=4)


class _Entry:
    """The program for calls of one kind.

    Args:
        key: The key of these calls.
        kept: The constants that were passed; they are kept, since they are known by identity.
    """

    def __init__(self, key: Any, kept: list[Any]) -> None:
        self.key, self.used = key, next(clock)
        self.program: Program | None = None
        self.stages: list[tuple[str, Program]] = []
        self.run: Callable[..., Any] | None = None
        self.calls = 0
        self.refused = ""
        self._kept = kept
        self._recorded: tuple[Program, _Result] | None = None  # the recording to compare with
        self._tries = 0
        self._result: _Result | None = None
        self._modules: list[Any] = []
        self._state: list[Any] = []
        self._tensors: list[Any] = []
        self._gradients: list[tuple[Any, bool | None]] = []  # and if one was there before the step
        self._passed: list[weakref.ref[Tensor] | None] = []
        self._options: list[tuple[Any, str, Any]] = []
        self._version = -1

    def valid(self, tensors: list[Tensor]) -> bool:
        """Whether what it has reached is as it was."""
        for tensor, passed in zip(tensors, self._passed if self.run else (), strict=False):
            if passed is not None and passed() is not tensor:
                return False
        for tensor, had in self._gradients:
            if had is not None and had is (tensor._grad is None):
                return False
        if any(dict.__getitem__(group, name) != value for group, name, value in self._options):
            return False
        if self._version != version.number:
            number = version.number
            if self._state != self._now():
                return False
            self._version = number
        return True

    def is_due(self, verify: bool | int) -> bool:
        """Whether this call is compared with the program."""
        n = self.calls + 2  # the first two calls were recorded
        if verify is True:
            return n >= 4 and n & (n - 1) == 0
        return verify is not False and n % verify == 0

    def record(self, step: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        """Run the step and record it; make the program of two recordings that agree."""
        arguments, randomness = _kinds(args, kwargs), _other_randomness()
        reached = (step, getattr(step, "__self__", None), *self._kept)
        own = [thing for thing in reached if hasattr(type(thing), "named_children")]  # modules
        known = {id(module): module for module in (*self._modules, *own)}
        attributes = [_attributes(module) for module in known.values()]
        before = {id(tensor): tensor._grad is not None for tensor, _ in self._gradients}
        trace = StepTrace(tensors)
        with trace:
            returned = step(*args, **kwargs)
        try:
            result = _Result(returned)
            leaves = [trace.live(leaf) for leaf in result.leaves]
            if trace.refused:
                self.refused = trace.refused
                return returned
            if _kinds(args, kwargs) != arguments:
                raise CaptureError("capture: the step changes its arguments; return what it makes")
            for module, earlier in zip(known.values(), attributes, strict=True):
                _refuse_changes(module, earlier)
            if _other_randomness() != randomness:
                raise CaptureError(
                    "capture: the step draws from the random numbers of Python or NumPy, which a "
                    "replay would not: use minigrad.random, or draw outside of the step"
                )
            program = program_of(trace, leaves[0] if result.structure == 0 else tuple(leaves))
            self._reach(trace, program, tensors, own, before)
            self._take(program, result)
        except CaptureError as error:
            error.result = returned
            raise
        return result.with_leaves([_without_history(leaf) for leaf in result.leaves])

    def _take(self, program: Program, result: _Result) -> None:
        """Compare a recording with the one before; the first two that agree make the program."""
        self._tries += 1
        if self._recorded is not None:
            try:
                agree(self._recorded[0], program)
                if not self._recorded[1].same_as(result):
                    raise CaptureError("capture: the step returns another structure in each call")
            except CaptureError:
                if self.run is not None or self._tries > 2:
                    raise
            else:
                if self.run is None:
                    first, self._recorded = self._recorded[0], (program.copied(), result)
                    _make_constants(first, program)
                    self._result, self.program = result, program
                    self.stages = passes.run_all(program)
                    self.run = compiled(program)
                return
        self._recorded = program, result

    def _reach(
        self, trace: StepTrace, program: Program, tensors: list[Tensor], own: list[Any],
        had: dict[int, bool],
    ) -> None:  # fmt: skip
        """Remember what the step depends on besides its arguments."""
        roots = {id(root): root for root in (*trace.modules.values(), *own)}
        found = {id(each): each for root in roots.values() for each in root.modules()}
        self._modules = list(found.values())
        if self.run is None:  # one that is passed each time may also be a variable of the step
            before = self._passed if self._tries else [*map(weakref.ref, tensors)]
            self._passed = [
                old if old is not None and old() is tensor else None
                for old, tensor in zip(before, tensors, strict=True)
            ]
        reads = [each.args[0] for each in program.instructions if each.function is read]
        self._tensors = list({id(t): t for t in reads if not isinstance(t, Argument)}.values())
        read_grads = {id(tensor): tensor for tensor in trace.gradients}
        self._gradients = [(tensor, had.get(key)) for key, tensor in read_grads.items()]
        self._options = trace.options
        self._version, self._state = version.number, self._now()

    def _now(self) -> list[Any]:
        modules: list[Any] = [_attributes(module) for module in self._modules]
        return [*modules, *map(_state_of, self._tensors)]

    def replay(self, tensors: list[Tensor]) -> Any:
        """Run the program."""
        assert self.run is not None
        assert self.program is not None
        assert self._result is not None
        found = iter(self.run(tensors))
        leaves = self.program.result
        made = [
            each if not isinstance(each, (Value, Argument))
            else tensors[each.index] if isinstance(each, Argument)
            else next(found) if each.shape is None
            else wrap(next(found))
            for each in (leaves if isinstance(leaves, tuple) else (leaves,))
        ]  # fmt: skip
        return self._result.with_leaves(made)


def _without_history(leaf: Any) -> Any:
    if isinstance(leaf, Option):
        return float(leaf)
    own = isinstance(leaf, Tensor) and leaf._node is not None and not isinstance(leaf._node, Leaf)
    return wrap(leaf._data) if own else leaf


# Structures -----------------------------------------------------------------------------------


def _key(thing: Any, tensors: list[Tensor], kept: list[Any]) -> Any:
    """The key that calls of one program share; gathers the tensors, and other objects."""

    def key(leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            array = leaf._data
            place = next((i for i, known in enumerate(tensors) if known is leaf), len(tensors))
            if place == len(tensors):
                tensors.append(leaf)
            return place, array.shape, array.dtype, array.strides, leaf._node is not None
        if isinstance(leaf, (bool, int, str, bytes, type(None))):
            return type(leaf), leaf
        if isinstance(leaf, (float, complex, np.generic)):
            return type(leaf), repr(leaf)
        if isinstance(leaf, np.ndarray):
            raise CaptureError("capture: an argument is an array; pass minigrad.tensor(array)")
        kept.append(leaf)
        return type(leaf), id(leaf)

    return structure(thing, key, fields=True)


def _kinds(args: Any, kwargs: Any) -> Any:
    """The parts of the arguments that a step must not change."""
    tensors: list[Tensor] = []
    kept: list[Any] = []
    return _key((args, kwargs), tensors, kept), [*map(id, tensors)]


class _Result:
    """The result of a step, taken apart.

    Attributes:
        leaves: The tensors and constants; each tensor once.
        structure: The structure with their places.
    """

    def __init__(self, result: Any) -> None:
        self.leaves: list[Any] = []
        self.structure = mapped(self._place, result, fields=True)

    def _place(self, leaf: Any) -> int:
        if not isinstance(leaf, (Tensor, *_CONSTANTS)):
            raise CaptureError(
                f"capture: the step returns a {type(leaf).__name__}; tensors and constants in "
                f"tuples, lists, dicts and dataclasses are expected"
            )
        for i, known in enumerate(self.leaves):
            if known is leaf and isinstance(leaf, Tensor):
                return i
        self.leaves.append(leaf)
        return len(self.leaves) - 1

    def with_leaves(self, leaves: list[Any]) -> Any:
        """The structure with other leaves."""
        return mapped(leaves.__getitem__, self.structure, fields=True)

    def same_as(self, other: _Result) -> bool:
        """Whether the structures are equal."""
        one, two = (structure(each.structure, int, fields=True) for each in (self, other))
        return bool(one == two)


# What a step depends on -----------------------------------------------------------------------


class _Same:
    """An object that is compared by identity."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.thing is self.thing

    __hash__ = None  # type: ignore[assignment]


def _state_of(thing: Any) -> Any:
    """The key that must be equal for a recording to hold: a tensor's kind and hooks, constants."""
    if isinstance(thing, Tensor):
        array, node = thing._data, thing._node
        hooks = (*node.hooks, *node.post_hooks) if isinstance(node, Leaf) else ()
        return _Same(thing), type(node), array.shape, array.dtype, array.strides, hooks
    if isinstance(thing, _PLAIN):
        return type(thing), repr(thing)
    return _Same(thing)


def _attributes(module: Any) -> dict[str, Any]:
    """The state of each attribute of a module."""
    return {
        name: structure(value, _state_of)
        for name, value in vars(module).items()
        if name not in _HINTS and not isinstance(value, CapturedStep)
    }


def _refuse_changes(module: Any, before: dict[str, Any]) -> None:
    """Raise if a step has changed an attribute of a module."""
    now = _attributes(module)
    for name in (*before, *now):
        if before.get(name) != now.get(name):
            raise CaptureError(
                f"capture: the step changes {name} of {type(module).__name__}; a replay would "
                f"not: keep it as a tensor that is written in place, or change it outside of the "
                f"step"
            )


def _other_randomness() -> tuple[Any, ...]:
    """The state of Python's and NumPy's global random numbers."""
    return random.getstate(), repr(np.random.get_state())  # noqa: NPY002


def _make_constants(first: Program, second: Program) -> None:
    """A tensor that was another object in each recording is a constant."""
    for before, now in zip(first.instructions, second.instructions, strict=True):
        tensor = now.args[0] if now.function is read else None
        if isinstance(tensor, Tensor) and tensor is not before.args[0]:
            now.name, now.function, now.args = "constant", constant, (tensor._data,)
