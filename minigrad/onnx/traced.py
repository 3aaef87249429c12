"""Traced sizes: the lengths of a tensor's axes as integers that carry their formula.

A graph holds only ops. A number that Python takes from a size, or a branch that depends on one,
would be fixed in the graph with its value in this run. So while a run is recorded, arithmetic on
sizes is traced, and every comparison is noted with its place in the user's program, to be examined
after the runs (promises.py).
"""

from __future__ import annotations

import math
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minigrad.tensors.size import Size
from minigrad.tensors.tensor import Tensor
from minigrad.tracing.lines import is_users, line_of

if TYPE_CHECKING:
    from minigrad.onnx.runs import Run

SIZES: dict[Any, Callable[[Any], Any]] = {
    np.shape: lambda x: x.shape, np.ndim: lambda x: x.ndim, np.size: lambda x: x.numel(),
}  # fmt: skip


class Axis(NamedTuple):
    """The length of an axis of a value."""

    number: int
    axis: int


class Formula(NamedTuple):
    """A Python computation: a function of lengths, numbers and other formulas."""

    function: Callable[..., Any]
    terms: tuple[Any, ...]


def evaluated(term: Any, length: Callable[[Axis], Any]) -> Any:
    """Evaluate a number, an axis or a formula; `length` gives the length of an axis."""
    if isinstance(term, Axis):
        return length(term)
    if isinstance(term, Formula):
        return term.function(*(evaluated(part, length) for part in term.terms))
    return term


class Comparison(NamedTuple):
    """A comparison of a size in Python."""

    function: Callable[[Any, Any], bool]  # the function of the module `operator`
    terms: tuple[Any, Any]  # the compared terms
    place: str  # the line of the user's program; "" if it was in minigrad or NumPy
    outcome: bool  # its result


class Untraced(NamedTuple):
    """A use of a size, or of a tensor's values, whose result cannot be traced."""

    what: str  # how it was used
    place: str  # the line of the user's program
    term: Any = None  # the size, or None
    number: int | None = None  # of the value, or None
    module: str = ""  # for a message: where it happened


def follow(value: Any, run: Run, number: int) -> None:
    """Turn an input, or a tensor that an op returned, into a traced one."""
    if isinstance(value, Tensor):
        value.__class__ = Traced
        assert isinstance(value, Traced)
        value._run, value._number = run, number


def release(value: Any) -> None:
    """Turn a traced tensor back into an ordinary one."""
    if isinstance(value, Traced):
        del value._run, value._number
        object.__setattr__(value, "__class__", Tensor)


def _frames() -> Iterator[FrameType]:
    """The frames from the innermost one outside this file to the call of the model."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__")
        if (module, frame.f_code.co_name) == ("minigrad.onnx.runs", "watch"):
            return
        if module != __name__:
            yield frame
        frame = frame.f_back


def _caller() -> str:
    """The current line, if it is in the user's program, not in minigrad or NumPy; otherwise ""."""
    frame = next(_frames(), None)
    return line_of(frame) if frame is not None and is_users(frame) else ""


def users_place() -> str:
    """The line of the user's program that is being executed."""
    frame = next(filter(is_users, _frames()), None)
    return "" if frame is None else line_of(frame)


class TracedNumber:
    """Mixin for lengths and numbers computed from lengths: traces their use."""

    _term: Any
    _run: weakref.ref[Run]  # a cache may outlive the run

    def _note(self, event: Comparison | Untraced) -> None:
        run = self._run()
        if run is not None and run.watching:
            run.noted.setdefault(event)

    def hidden(self, what: str) -> None:
        """Record an untraceable use, if it is in the user's program."""
        place = _caller()
        if place:
            self._note(Untraced(what, place, self._term))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(_plain(self)), (_plain(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __hash__(self) -> int:
        self.hidden("the hash of a size, as a key of a dict, a set or a cache,")
        return hash(_plain(self))

    def __int__(self) -> int:
        self.hidden("int() of a size")
        return int(_plain(self))

    def __float__(self) -> float:
        self.hidden("float() of a size, or a function of math,")
        return float(_plain(self))

    def __bool__(self) -> bool:
        return bool(operator.ne(self, 0))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


class TracedInt(TracedNumber, int):
    """A length, or an int computed from lengths; it behaves like any int."""


class TracedFloat(TracedNumber, float):
    """A float computed from lengths; it behaves like any float."""


def traced_number(value: Any, term: Any, run: weakref.ref[Run]) -> Any:
    """A number with its formula."""
    kind = {int: TracedInt, float: TracedFloat}.get(type(value))
    if kind is None:
        return value
    number = kind(value)
    number._term, number._run = term, run
    return number


def _plain(number: Any) -> Any:
    return number.real if isinstance(number, TracedNumber) else number  # type: ignore[attr-defined]


def _term(number: Any) -> Any:
    return number._term if isinstance(number, TracedNumber) else number


def _comparing(function: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def method(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        outcome = function(_plain(self), _plain(other))
        self._note(Comparison(function, (self._term, _term(other)), _caller(), outcome))
        return outcome

    return method


def _computing(function: Callable[..., Any], reflected: bool = False) -> Callable[..., Any]:
    def method(self: TracedNumber, *others: Any) -> Any:
        if not all(isinstance(other, (int, float)) for other in others):
            return NotImplemented
        numbers = (*others, self) if reflected else (self, *others)
        value = function(*map(_plain, numbers))
        return traced_number(value, Formula(function, tuple(map(_term, numbers))), self._run)

    return method


for _name in ("lt", "le", "eq", "ne", "ge", "gt"):
    setattr(TracedNumber, f"__{_name}__", _comparing(getattr(operator, _name)))
for _name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow"):
    _function = getattr(operator, f"__{_name}__")
    setattr(TracedNumber, f"__{_name}__", _computing(_function))
    setattr(TracedNumber, f"__r{_name}__", _computing(_function, reflected=True))
for _name in ("lshift", "rshift", "and", "or", "xor"):
    _function = getattr(operator, f"__{_name}__")
    setattr(TracedInt, f"__{_name}__", _computing(_function))
    setattr(TracedInt, f"__r{_name}__", _computing(_function, reflected=True))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(TracedNumber, f"__{_name}__", _computing(getattr(operator, _name)))
for _function in (math.floor, math.ceil, math.trunc, round):
    setattr(TracedNumber, f"__{_function.__name__}__", _computing(_function))


class Traced(Tensor):
    """A tensor that depends on an input or a constant, while its run is recorded."""

    _run: Run
    _number: int

    @property
    def shape(self) -> Size:
        place = _caller() if self._number in self._run.unsettled else ""
        if place:
            what = "the shape, after an op that the file cannot hold,"
            self._run.noted.setdefault(Untraced(what, place, None, self._number))
        run = weakref.ref(self._run)
        return Size(
            traced_number(n, Axis(self._number, axis), run)
            for axis, n in enumerate(self._data.shape)
        )

    def __len__(self) -> int:
        length = super().__len__()
        self.shape[0].hidden("len(x), unlike x.shape[0],")  # type: ignore[attr-defined]
        return length

    def __iter__(self) -> Iterator[Tensor]:
        rows = super().__iter__()
        self.shape[0].hidden("a loop over rows")  # type: ignore[attr-defined]
        return rows

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in SIZES and len(args) == 1 and not kwargs:
            return SIZES[func](*args)
        return super().__array_function__(func, types, args, kwargs)

    def __copy__(self) -> Tensor:
        return self.detach()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.clone()


def why_not(event: Untraced) -> str:
    """The message that values cannot be read."""
    where = f" ({event.place})" if event.place else ""
    return (
        f"onnx.export: {event.what} takes values that depend on an input out of the graph, and the "
        f"file would have those of the example for ever; compute with ops on tensors, as "
        f"minigrad.where does for a choice{where}{event.module}"
    )
