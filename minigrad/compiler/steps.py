"""`capture`: a step that is written down in its first two calls, and replayed from then on."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad._dtypes import get_default_dtype
from minigrad._grad_mode import is_grad_enabled
from minigrad._tensor import Tensor
from minigrad._views import owner
from minigrad.autograd.call import wrap
from minigrad.autograd.mode import state
from minigrad.compiler import passes
from minigrad.compiler.comparison import agree
from minigrad.compiler.held import Snapshot, State, held_by
from minigrad.compiler.program import CaptureError, Program, Value
from minigrad.compiler.recording import Recording, read
from minigrad.compiler.replay import compiled
from minigrad.transforms.structure import flatten, mapped

__all__ = ["CapturedStep", "capture"]

MOST = 32
"""How many programs a step may have: beyond that, something changes at every call."""


def capture(step: Callable[..., Any]) -> CapturedStep:
    """Write a training step down in its first calls, and replay it from then on.

    The first two calls with given shapes, dtypes and modes run the step, and record what it
    computes: the forward pass, the backward pass, the optimizer's step. If both recordings agree,
    later calls run the program without tensors, nodes and plans. Its numbers are those of the step,
    bit for bit.

    Tensors that are passed to the step, weights and buffers are read anew at each call. So are
    random draws, and what an optimizer or a schedule counts. A Python number is a part of the
    program: when an argument, or a number that the step's modules or variables hold, has another
    value, the step is written down again.

    Args:
        step: A function of tensors and constants, in tuples, lists and dicts. It returns tensors,
            which have no history in the result.

    Returns:
        A function with the signature of the step.

    Raises:
        CaptureError: At the call: the step does what a replay could not repeat. It looks at the
            values of a tensor, writes to ``.data``, has hooks on gradients, or uses numbers that
            change from call to call and are no arguments.

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
    return CapturedStep(step)


class CapturedStep:
    """A step with the programs that were written down; `capture` makes it.

    Args:
        step: The function.

    Attributes:
        program: The program that ran last, None before the second call.
        stages: The same program as it was recorded, and after each pass, with the pass's name.
    """

    def __init__(self, step: Callable[..., Any]) -> None:
        self.program: Program | None = None
        self.stages: list[tuple[str, Program]] = []
        self._step = step
        self._entries: dict[Any, list[_Entry]] = {}
        self._made = 0
        functools.update_wrapper(self, step, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.get().observers:  # somebody watches the step: a drawing, a check, another capture
            return self._step(*args, **kwargs)
        places = flatten((args, kwargs), "")
        leaves = [leaf for _, leaf in places]
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        same = tuple([[id(t) for t in tensors].index(id(t)) for t in tensors])
        kinds = [(place, _kind(leaf)) for place, leaf in places]
        key = (is_grad_enabled(), get_default_dtype(), same, *kinds)
        entries = self._entries.setdefault(key, [])
        entry = next((entry for entry in entries if entry.held.valid()), None)
        if entry is None:
            self._made += 1
            if self._made > MOST:
                changed = (
                    f" (the latest to change: {entries[-1].held.changed()})" if entries else ""
                )
                raise CaptureError(
                    f"capture: {self._name} met {MOST} different shapes, dtypes or constants"
                    f"{changed} and was written down anew for each; pass numbers that change as "
                    f"tensors"
                )
            entry = _Entry(leaves)
            entries.append(entry)
        if entry.run is not None:
            self.program, self.stages = entry.program, entry.stages
            return entry.replay(tensors)
        try:
            return entry.record(self._step, tensors, args, kwargs)
        except BaseException:
            entries.remove(entry)
            self._made -= 1
            raise
        finally:
            self.program, self.stages = entry.program, entry.stages

    @property
    def _name(self) -> str:
        return getattr(self._step, "__qualname__", type(self._step).__name__)


class _Entry:
    """The program for calls of one kind.

    Args:
        leaves: What was passed; it is kept, so that constants are known by their identity.
    """

    def __init__(self, leaves: list[Any]) -> None:
        self.program: Program | None = None
        self.stages: list[tuple[str, Program]] = []
        self.run: Callable[..., Any] | None = None
        self._constants = [leaf for leaf in leaves if not isinstance(leaf, Tensor)]
        self._first: Program | None = None
        self.held = Snapshot(())

    def record(self, step: Any, tensors: list[Tensor], args: Any, kwargs: Any) -> Any:
        """Run the step and write it down; the second time, make the program of both."""
        before = _other_randomness()
        with Recording(tensors) as recording:
            result = step(*args, **kwargs)
        program = recording.finish(result)
        held = held_by(step, recording.modules.values(), self._constants)
        if any(each.value is tensor for each in held for tensor in tensors):
            raise CaptureError(
                "capture: an argument is also a variable or a weight of the step; a replay could "
                "not tell which of the two is meant: pass a copy"
            )
        if read_on := [str(each) for each in held if isinstance(each.value, Iterator)]:
            raise CaptureError(
                f"capture: the step uses an iterator, {read_on[0]}, and a replay would not advance "
                f"it: call next() outside of the step, and pass what it returns"
            )
        if self._first is None:
            self._first, self.held = program, Snapshot(held)
        else:
            if changed := self.held.changed():
                raise CaptureError(
                    f"capture: the step changes {changed}; a replay would not: keep it as a "
                    f"tensor, or change it outside of the step"
                )
            agree(self._first, program)
            if _other_randomness() != before:
                raise CaptureError(
                    "capture: the step draws from the random numbers of Python or NumPy, which a "
                    "replay would not: use minigrad.random, or draw outside of the step"
                )
            _make_constants_anew(self._first, program, result)
            state = {id(i.args[0]): i.args[0] for i in program.instructions if i.function is read}
            self.held = Snapshot([*held, *map(State.of_tensor, state.values())])
            self.stages = passes.run_all(program)
            self.run, self.program, self._first = compiled(program), program, None
        return mapped(_without_history, result)

    def replay(self, tensors: list[Tensor]) -> Any:
        """Run the program."""
        assert self.run is not None and self.program is not None
        found = iter(self.run(tensors))
        return mapped(lambda leaf: _result(leaf, found), self.program.result)


def _make_constants_anew(first: Program, program: Program, result: Any) -> None:
    """Have a replay copy constants that the step returned: the caller may change them."""
    returned = {id(owner(t._data)) for _, t in flatten(result, "") if isinstance(t, Tensor)}
    for before, now in zip(first.instructions, program.instructions, strict=True):
        if now.function is read and before.args[0] is not now.args[0]:
            array = now.args[0]._data
            if id(owner(array)) in returned:
                now.name, now.function, now.args = "copy", np.array, (array.copy(),)


def _other_randomness() -> tuple[Any, ...]:
    """The state of Python's and NumPy's global random numbers."""
    return random.getstate(), repr(np.random.get_state())  # noqa: NPY002


def _result(leaf: Any, found: Iterator[Any]) -> Any:
    if not isinstance(leaf, Value):
        return leaf
    return next(found) if leaf.shape is None else wrap(next(found))


def _without_history(leaf: Any) -> Any:
    return wrap(leaf._data) if isinstance(leaf, Tensor) and leaf._node is not None else leaf


def _kind(leaf: Any) -> Any:
    """What calls of one program have in common at a leaf of the arguments."""
    if isinstance(leaf, Tensor):
        array = leaf._data
        return array.shape, array.dtype, array.strides, leaf.requires_grad
    if isinstance(leaf, np.ndarray):
        raise CaptureError("capture: an argument is an array; pass minigrad.tensor(array)")
    if isinstance(leaf, (bool, int, float, complex, str, np.generic)):
        return type(leaf), repr(leaf)
    return type(leaf), id(leaf)
