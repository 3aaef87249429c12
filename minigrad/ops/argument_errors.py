"""Errors about the arguments of a function, read off the hints of its parameters.

A call that succeeds pays for none of this but the flags: the text "False", which is true, would
never raise an error. When a call has failed, the first argument that is not of the kind that its
parameter names is to blame; otherwise the error is the function's own, with its name.
"""

from __future__ import annotations

import functools
import inspect
import re
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from minigrad.autograd.mode import located
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import registry
from minigrad.autograd.typing import P, R
from minigrad.support.checks import check_flag, on_cpu
from minigrad.support.signatures import call_error, fits, into

ARRAYS = Variable, np.ndarray, np.generic
NUMBERS = int, float, np.number, Variable
KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "Tensor": (ARRAYS, "a tensor"), "np.ndarray": (ARRAYS, "an array"),
    "bool": ((bool, np.bool_, int), "True or False"), "float": (NUMBERS, "a number"),
    "int": ((int, np.integer, Variable), "an int"),
    "str": ((str,), "a string"), "tuple": ((Sequence,), "a tuple"), "list": ((Sequence,), "a list"),
    "Sequence": ((Sequence,), "a sequence"), "Iterable": ((Iterable,), "an iterable"),
    "Any": ((*ARRAYS, Sequence, int, float), "a tensor"),
}  # fmt: skip
"""By the first word of a hint: what fits, and how an error calls it."""
REPEATED = AttributeError, IndexError, MemoryError, OverflowError, TypeError, ValueError
"""The errors that get the name of the function."""
WITHOUT_EFFECT = {"layout", "pin_memory", "memory_format"}
"""PyTorch's keywords of creation that change nothing here."""
OPTIONS = {"dtype", "device", "generator"}
"""Parameters whose hint is "Any", and which are not tensors: their own errors say what came."""
OLD = {"size_average", "reduce"}
"""Flags that `reduction_of` checks: a reduction in their place is a common mistake."""


class Arguments:
    """The parameters of a function.

    Args:
        function: The function, whose hints are texts.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function = inspect.unwrap(function)  # its signature is slow to make
        self.name, code = function.__name__, function.__code__
        self.names = code.co_varnames[: code.co_argcount]
        keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        self.hints = {
            name: _words(function.__annotations__.get(name))
            for name in (*self.names, *keywords)
            if name not in OPTIONS
        }
        defaults = function.__defaults__ or ()
        named = zip(self.names[::-1], defaults[::-1], strict=False)
        given = {**dict(named), **(function.__kwdefaults__ or {})}
        self.optional = {name for name, default in given.items() if default is None}
        self.optional |= {name for name, words in self.hints.items() if "None" in words}
        self.flags = {name for name, words in self.hints.items() if {*words} - {"None"} == {"bool"}}
        self.flags -= OLD
        self.places = [(i, name) for i, name in enumerate(self.names) if name in self.flags]
        self.first_flag = self.places[0][0] if self.places else sys.maxsize
        dim = "dims" if "dims" in self.hints else "dim"
        names = {"axis": dim, "keepdims": "keepdim"}
        self.spellings = {numpys: name for numpys, name in names.items() if name in self.hints}

    def respelled(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Keywords with PyTorch's names in the place of NumPy's `axis` and `keepdims`."""
        for numpys, name in self.spellings.items():
            if numpys in kwargs and name in kwargs:
                raise TypeError(f"{self.name}: {numpys} is {name}: give one of them")
        return {self.spellings.get(key, key): value for key, value in kwargs.items()}

    def check_flags(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise a TypeError if a flag is something other than True, False, 1 or 0."""
        given = [(name, args[i]) for i, name in self.places if i < len(args)]
        given += [(name, kwargs[name]) for name in self.flags if name in kwargs]
        for name, value in given:
            if value.__class__ is not bool and not (value is None and name in self.optional):
                check_flag(self.name, name, value)

    def explain(self, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> NoReturn:
        """Raise the error of a call that failed with another one; one that says all stays."""
        text = str(error)
        if text.startswith(f"{self.name}: "):
            raise error
        if isinstance(error, TypeError) and not fits(self.function, args, kwargs):
            raise call_error(self.name, self.function, args, kwargs) from None
        op, _, rest = text.partition(": ")
        if (op in registry or op.startswith("_")) and type(error) in REPEATED:
            # An op that it calls has failed.
            raise type(error)(f"{self.name}: {rest}") from error
        if not re.match(r"[\w.]+: ", text):
            for name, value in (*zip(self.names, args, strict=False), *kwargs.items()):
                if name in self.hints and (wanted := self._wanted(name, value)):
                    message = f"{self.name}: {name} must be {wanted}, got {reprlib.repr(value)}"
                    raise TypeError(located(message)) from error
        plain = [kind for kind in (MemoryError, TypeError) if isinstance(error, kind)]
        kind = plain[0] if plain else type(error)  # NumPy has its own of both
        if (
            kind not in REPEATED
            or re.search(rf"\b{self.name}(:|\(\))", text)
            or re.match(r"\w+: \w+ must be ", text)
        ):
            raise error
        if " got " not in text:
            given = [reprlib.repr(value) for value in args]
            given += [f"{key}={reprlib.repr(value)}" for key, value in kwargs.items()]
            text += f"; got ({', '.join(given)})"
        raise kind(f"{self.name}: {text}") from error

    def _wanted(self, name: str, value: Any) -> str:
        """What a parameter takes, if the value is nothing of it; "" also if a hint is not known."""
        words = [hint.partition("[")[0] for hint in self.hints[name] if hint != "None"]
        if not all(word in KINDS for word in words):
            return ""
        if value is None:
            fits = name in self.optional
        elif isinstance(value, str):
            fits = "str" in words
        else:
            fits = any(isinstance(value, KINDS[word][0]) for word in words)
        return "" if fits else " or ".join(KINDS[word][1] for word in words)


def _words(hint: Any) -> list[str]:
    """The parts of a hint, which is a text or a type."""
    return str(getattr(hint, "__name__", hint)).split(" | ")


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Let the errors of a function name it, and the argument that is of a wrong kind.

    A function of `dim` takes NumPy's keywords `axis` and `keepdims` too, and every one takes `out`
    that does not write to its argument, as names with "_" at their end do.
    """
    arguments = Arguments(function)
    first_flag, flags = arguments.first_flag, arguments.flags
    spellings, makes = arguments.spellings.keys(), not function.__name__.endswith("_")

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        given: dict[str, Any] = kwargs
        try:
            if not kwargs and len(args) <= first_flag:
                return function(*args)  # type: ignore[call-arg]
            if "out" in kwargs and makes:
                return into(call, args, kwargs)
            if not spellings.isdisjoint(kwargs):
                given = arguments.respelled(kwargs)
            if len(args) > first_flag or not flags.isdisjoint(given):
                arguments.check_flags(args, given)
            return function(*args, **given)
        except REPEATED as error:
            arguments.explain(args, given, error)

    return call


def created(function: Callable[P, R]) -> Callable[P, R]:
    """The function as `checked`; one with a device takes the CPU alone.

    It takes PyTorch's other keywords of creation too: they change nothing.
    """
    parameters = inspect.signature(function).parameters
    if "device" not in parameters:
        return checked(function)
    by_sizes = next(iter(parameters.values())).kind is inspect.Parameter.VAR_POSITIONAL
    place = sys.maxsize if by_sizes else [*parameters].index("device")
    plain = checked(function)

    @checked
    @functools.wraps(function)
    def checked_call(*args: Any, **options: Any) -> Any:
        on_cpu(*args[place : place + 1] or [options.get("device")])
        return function(*args, **options)

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        if not options and len(args) <= place:
            return plain(*args)  # type: ignore[call-arg]
        if "out" in options:
            options.setdefault("dtype", getattr(options["out"], "dtype", None))
            return into(call, args, options)
        given: Any = {name: v for name, v in options.items() if name not in WITHOUT_EFFECT}
        size = [given.pop("size")] if by_sizes and "size" in given else []
        return checked_call(*args, *size, **given)

    return call
