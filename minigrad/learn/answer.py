"""The checks of an answer: call it, compare it, and name the likely mistake."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["GENERAL", "Answer", "Failure", "confirmed", "numbers", "show"]

GENERAL = {
    "gap": "Replace the line `raise NotImplementedError(...)` by your code.",
    "missing": "The name was there when the exercise was opened: put it back, spelled as it was.",
    "nothing": "A function gives back what is after `return`; without it, it gives back None.",
    "form": "The task says what is returned: in which form, and how many values.",
    "changed": "An array that you are given belongs to the caller. `x += 1` and `x[i] = 1` write "
    "into it; `x = x + 1` makes a new one, and so does `x.copy()`.",
    "shape": "A gradient has exactly the shape of what it is the gradient of.",
    "sign": "Only the sign is wrong: somewhere a minus is missing, or is one too many.",
    "factor": "Every entry is wrong by one factor: a constant is missing, or is one too many.",
    "transposed": "These are the right numbers, but with rows and columns exchanged.",
    "nan": "Look for 0 / 0, inf - inf, 0 * inf, or the logarithm or root of a negative number.",
    "overflow": "An infinity comes from a division by 0, or from a number that is too large, as "
    "np.exp(1000) is.",
    "zero": "Nothing arrived there. Is a contribution computed, and then thrown away?",
    "integers": "The result has an integer dtype, so everything after the decimal point was lost. "
    "Start from floats: np.zeros(3), not np.array([0, 0, 0]).",
    "values": "None of the known mistakes gives this. Compute a small case by hand, let your code "
    "print each of its steps, and see where the two part.",
    "syntax": "Python cannot read this. Is a bracket, a colon, a quote or a `*` missing, here or "
    "at the end of the line above? (3x is written 3 * x.)",
    "time": "That is far longer than it needs. Is there a loop that never ends, or a function that "
    "calls itself again and again?",
    "RecursionError": "A function calls itself again and again. What ends the recursion?",
    "error": "Python stopped at this line; its own message is the last line.",
    "ended": "Something in the file ended Python itself, as os._exit does: the check needs what "
    "the functions return.",
    "MemoryError": "That is far more memory than it needs. Does a list grow in an endless loop?",
    "NameError": "Nothing has this name here. Is it spelled as it was where it was made? "
    "`np.exp` needs the `np.`.",
    "KeyError": "The dictionary has no such key yet: `d.get(key, 0.0)` answers 0.0 then.",
    "AttributeError": "The value before the dot has nothing of this name. Print its type.",
    "caret": "A power is written with two stars: x**2. In Python `^` is another operator.",
    "TypeError": "A value of another kind was expected. Print what goes in, one line above.",
    "ValueError": "Shapes that do not fit are the usual cause. Print the shapes of what goes in, "
    "one line above.",
    "IndexError": "An index counts from 0, and each axis of an array takes one.",
    "ZeroDivisionError": "For which input does this become 0?",
}
"""The texts about mistakes that are possible in every exercise, by the name of the diagnosis."""


@dataclass(eq=False)
class Failure(Exception):
    """A fault of an answer.

    Args:
        facts: The observation: which entry, its value and the right value.
        diagnosis: A name from the diagnoses of the exercise, or from `GENERAL`.
        suspected: The misconceptions that explain the value: what follows may refute them.
        value: The function and the name of the value, where there is one.
    """

    facts: str
    diagnosis: str
    suspected: tuple[str, ...] = ()
    value: tuple[str, str] = ("", "")


@dataclass
class _Call:
    """The last call of a learner's function, for the message."""

    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        shown = {name: show(value) for name, value in self.arguments.items()}
        line = f"{self.name}({', '.join(f'{name}={text}' for name, text in shown.items())})"
        if len(line) <= 80 and "\n" not in line:
            return line
        lines = [f"{self.name}({', '.join(shown)}), where"]
        for name, text in shown.items():
            margin = " " * len(f"  {name} = ")
            lines.append(f"  {name} = " + text.replace("\n", f"\n{margin}"))
        return "\n".join(lines)


class Answer:
    """A learner's file: its functions and classes are attributes.

    A function may be called as it is. Arguments that it writes into, and a missing `return`, are
    told to the learner without further work of the exercise.

    Args:
        names: What the file defines, by name.

    Attributes:
        confirming: Whether a check runs for the second time, after a failure: it may leave out what
            names no misconception.
    """

    confirming = False

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._call: _Call | None = None
        self._called: list[str] = []

    @property
    def passed(self) -> tuple[str, ...]:
        """The functions that have been called, except for the one at which the check is."""
        return tuple(name for name in self._called if name != self._called[-1])

    @property
    def names(self) -> dict[str, Any]:
        """The definitions of the file, as they are: a call of these functions is not watched."""
        return dict(self._names)

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise Failure(f"Your file does not define `{name}`.", "missing")
        value = self._names[name]
        if not callable(value):
            raise Failure(f"`{name}` is not a function here: it is {show(value)}.", "missing")
        return self._watched(value, name) if inspect.isfunction(value) else value

    def _watched(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            try:
                arguments = inspect.signature(function).bind(*values, **named).arguments
            except TypeError as error:
                facts = f"`{name}` has other arguments now: {error}."
                raise Failure(facts, "missing") from None
            self._call = _Call(name, arguments)
            self._called = [*(one for one in self._called if one != name), name]
            before = {key: value.copy() for key, value in _arrays(arguments)}
            result = function(*values, **named)
            for key, value in _arrays(arguments):
                if not np.array_equal(before[key], value, equal_nan=value.dtype.kind in "fc"):
                    raise Failure(f"{name} changed its argument `{key}`.", "changed")
            if result is None:
                raise Failure(f"{name} returned None.", "nothing")
            return result

        return call

    def unpack(self, result: Any, *names: str) -> tuple[Any, ...]:
        """Take a returned tuple apart.

        Args:
            result: What the learner's function returned.
            names: What its parts are called in the task.

        Returns:
            The parts.

        Raises:
            Failure: They are not as many.
        """
        if not isinstance(result, (tuple, list)) or len(result) != len(names):
            came = f"{len(result)} values" if isinstance(result, (tuple, list)) else show(result)
            facts = self.after(f"It should return {', '.join(names)}; got {came}.")
            raise Failure(facts, "form")
        return tuple(result)

    def require(self, right: bool, facts: str, diagnosis: str) -> None:
        """Fail with a diagnosis unless something holds.

        Args:
            right: What should hold.
            facts: The observation.
            diagnosis: The likely mistake.

        Raises:
            Failure: It does not hold.
        """
        if not right:
            raise Failure(self.after(facts), diagnosis)

    def compare(
        self, name: str, got: Any, want: Any, mistakes: Mapping[str, Any] | None = None, *,
        rtol: float = 1e-6, atol: float = 1e-9,
    ) -> None:  # fmt: skip
        """Compare a value, and find out which misconception explains it.

        Args:
            name: What the value is called in the task.
            got: The learner's value.
            want: The right value.
            mistakes: By diagnosis, the value which that misconception leads to, of whatever shape,
                or several of them as a tuple; or whether it is that one, as a bool or a function
                of the learner's array.
            rtol: How far it may be away, as a part of its size.
            atol: How far it may be away at least.

        Raises:
            Failure: The values differ.
        """
        right = np.asarray(want)
        try:
            mine = _array(got)
        except (TypeError, ValueError):
            form = f"an array of shape {right.shape}" if right.shape else "a number"
            facts = self.after(f"{name} should be {form}; got {show(got)}.")
            raise Failure(facts, "form") from None
        if _same(mine, right, rtol, atol):
            return
        self._differs(name, mine, right, mistakes or {}, rtol, atol)

    def _differs(
        self, name: str, mine: np.ndarray, right: np.ndarray, mistakes: Mapping[str, Any],
        rtol: float, atol: float,
    ) -> None:  # fmt: skip
        facts = self.after(_difference(name, mine, right, rtol, atol))
        suspected = tuple(
            diagnosis for diagnosis, wrong in mistakes.items() if _explains(wrong, mine, rtol, atol)
        )
        diagnosis, more = _in_general(mine, right, rtol, atol)
        raise Failure(facts + more, diagnosis, suspected, (self._function, name))

    @property
    def _function(self) -> str:
        """The learner's function that was called last."""
        return "" if self._call is None else self._call.name

    def after(self, facts: str) -> str:
        """Put the last call in front of what came of it.

        Args:
            facts: The observation.

        Returns:
            The call, and the facts.
        """
        if self._call is None:
            return facts
        call = str(self._call)
        return f"{call}\n\n{facts}" if "\n" in call else f"{call}:\n{facts}"


class _Witness(Answer):
    """Goes on after a failure, and drops each misconception that does not explain what follows."""

    confirming = True

    def __init__(self, names: Mapping[str, Any], failure: Failure) -> None:
        super().__init__(names)
        self.left = failure.suspected
        self._value = failure.value

    def require(self, right: bool, facts: str, diagnosis: str) -> None:
        pass

    def _differs(
        self, name: str, mine: np.ndarray, right: np.ndarray,  # noqa: ARG002
        mistakes: Mapping[str, Any], rtol: float, atol: float,
    ) -> None:  # fmt: skip
        if (self._function, name) == self._value:
            known = {one for one, wrong in mistakes.items() if _explains(wrong, mine, rtol, atol)}
            self.left = tuple(one for one in self.left if one in known or one not in mistakes)


def confirmed(check: Callable[[Answer], None], names: Mapping[str, Any], failure: Failure) -> str:
    """The diagnosis that holds in the whole check, and not only where it failed first.

    A misconception is named if it explains each wrong value that comes of the same function under
    the same name. Otherwise only the observation is given.

    Args:
        check: The check of the exercise.
        names: What the answer defines, by name.
        failure: What the check raised.

    Returns:
        A name from the diagnoses of the exercise, or from `GENERAL`.
    """
    witness = _Witness(names, failure)
    with contextlib.suppress(Exception):  # a later case may end the check: no more evidence
        check(witness)
    return [*witness.left, failure.diagnosis][0]


def numbers(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Random numbers that read well in a message: float64, with one decimal, none of them 0.

    Args:
        random: Where they come from.
        shape: The shape of the array.

    Returns:
        The array, between -2.9 and 2.9.
    """
    return random.choice([-1.0, 1.0], shape) * random.integers(1, 30, shape) / 10


def _arrays(arguments: Mapping[str, Any]) -> list[tuple[str, np.ndarray]]:
    return [(key, value) for key, value in arguments.items() if isinstance(value, np.ndarray)]


def _array(value: Any) -> np.ndarray:
    """An array of numbers, also of a Tensor."""
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if array.dtype.kind not in "biufc":
        raise TypeError("not numbers")
    return array


def _same(got: np.ndarray, want: Any, rtol: float, atol: float) -> bool:
    want = np.asarray(want)
    return got.shape == want.shape and np.allclose(got, want, rtol, atol, equal_nan=True)


def _explains(wrong: Any, mine: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether a misconception leads to the learner's array."""
    wrong = wrong(mine) if callable(wrong) else wrong
    if isinstance(wrong, (bool, np.bool_)):
        return bool(wrong)
    values = wrong if isinstance(wrong, tuple) else (wrong,)
    return any(_same(mine, value, rtol, atol) for value in values)


def _difference(name: str, got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> str:
    """Which entry is how far away."""
    if got.shape != want.shape:
        return f"{name} has shape {got.shape}; it should be {want.shape}."
    away = np.atleast_1d(~np.isclose(got, want, rtol, atol, equal_nan=True))
    distance = np.where(away, np.abs(np.nan_to_num(got - want, nan=np.inf)), -1.0)
    place = np.unravel_index(int(np.argmax(distance)), away.shape)
    where = f"[{', '.join(map(str, place))}]" if want.ndim else ""
    one, other = (np.atleast_1d(array)[place].item() for array in (got, want))
    enough = (digits for digits in (4, 7, 10) if number(one, digits) != number(other, digits))
    digits = next(enough, 17)
    text = f"{name}{where} is {number(one, digits)}; it should be {number(other, digits)}"
    if np.isfinite(one) and np.isfinite(other):
        text += f" (it is {number(abs(one - other))} too {'large' if one > other else 'small'})"
    if away.size > 1:
        count = int(away.sum())
        text += f". {count} of {away.size} entries {'is' if count == 1 else 'are'} wrong"
    return text + "."


def _in_general(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> tuple[str, str]:
    """What can be said of wrong values without knowing the exercise: a diagnosis, a sentence."""
    if got.ndim == 2 and _same(got.T, want, rtol, atol):
        return "transposed", ""
    if got.shape != want.shape:
        return "shape", ""
    if np.isnan(got).any() and not np.isnan(want).any():
        return "nan", ""
    if np.isinf(got).any() and not np.isinf(want).any():
        return "overflow", ""
    if _same(got, -want, rtol, atol):
        return "sign", ""
    if got.dtype.kind in "iu" and _same(got, np.trunc(want), rtol, atol):
        return "integers", ""
    if not got.any():
        return "zero", ""
    largest = np.argmax(np.abs(want))
    if want.size > 1 and want.flat[largest]:
        factor = got.flat[largest] / want.flat[largest]
        if _same(got, factor * want, rtol, atol):
            return "factor", f" Every entry is {number(factor)} times what it should be."
    return "values", ""


def number(value: float, digits: int = 4) -> str:
    """A number as a reader wants it: four digits, or as many as are needed."""
    return f"{value:.{digits}g}"


def show(value: Any) -> str:
    """A value in a message: all of a small array, the shape of a large one."""
    if isinstance(value, np.ndarray) and value.size > 30:
        return f"an array of shape {value.shape}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, separator=", ")
    if callable(value):
        return str(inspect.getdoc(value) or getattr(value, "__name__", "a function"))
    if isinstance(value, dict) and len(value) <= 8:
        return f"{{{', '.join(f'{key!r}: {show(one)}' for key, one in value.items())}}}"
    if isinstance(value, dict):
        return f"a dict with {len(value):,} keys"
    text = re.sub(r"<(?:\w+\.)*(\w+) object at 0x\w+>", r"a \1", repr(value))
    text = re.sub(r" at 0x\w+", "", text)  # an address says nothing
    return text if len(text) <= 100 else f"{text[:97]}..."
