"""Reading the table: a name that is not ours, and a call that does not fit our signature."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.spellings import answers
from minigrad.spellings.table import (
    ABSENT,
    ARGUMENTS,
    ATTRIBUTES,
    FUNCTIONS,
    KEYWORDS,
    MODULES,
    NAMES,
    REMEDIES,
    UNUSED,
)

__all__ = ["Spelling", "attribute", "method", "remedy", "renamed", "respelled", "spellings"]


class Spelling(NamedTuple):
    """One line of the table.

    Attributes:
        call: The call as others write it.
        ours: What it computes, in our names.
        whose: Whose spelling it is: T for PyTorch and Lucid 3, 2 for Lucid 2, N for NumPy.
    """

    call: str
    ours: str
    whose: str

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.call.partition("(")[0]

    @property
    def is_method(self) -> bool:
        """Whether it can be a tensor's method."""
        return self.call.partition("(")[2].startswith(("self", "input"))

    @property
    def is_function(self) -> bool:
        """Whether it can be a function of the module."""
        return not self.call.partition("(")[2].startswith("self")


@functools.cache
def spellings() -> dict[str, list[Spelling]]:
    """The lines of the table by name."""
    found: dict[str, list[Spelling]] = {}
    for line in FUNCTIONS.strip().splitlines():
        text, _, whose = line.partition("  # ")
        call, _, ours = text.partition(" => ")
        spelling = Spelling(call, ours, whose or "T")
        found.setdefault(spelling.name, []).append(spelling)
    return found


@functools.cache
def dtype_names() -> dict[str, str]:
    """The names of dtypes, theirs to ours."""
    lines = [line.partition("  # ")[0].split() for line in NAMES.strip().splitlines()]
    return dict(lines)


@functools.cache
def compiled(spelling: Spelling) -> Callable[..., Any]:
    """The function that a line of the table stands for."""
    parameters = spelling.call.partition("(")[2].removesuffix(")")
    function: Callable[..., Any] = eval(
        f"lambda {parameters}: {spelling.ours}", answers.namespace()
    )
    function.__name__ = function.__qualname__ = spelling.name
    return function


def called(name: str, lines: list[Spelling], args: Any, kwargs: Any) -> Any:
    """Run the first of the lines whose signature fits.

    Raises:
        TypeError: None fits.
    """
    for line in lines:
        function = compiled(line)
        if _fits(function, args, kwargs):
            return function(*_tensors(line, args), **kwargs)
    takes = " or ".join(line.call.partition("(")[2].removesuffix(")") for line in lines)
    given = [type(value).__name__ for value in args] + [f"{key}=" for key in kwargs]
    raise TypeError(f"{name}: it takes ({takes}), got ({', '.join(given)})")


def _tensors(line: Spelling, args: Any) -> Any:
    """The arguments of a line, the first as a tensor: ``x.data`` is an ndarray here."""
    if line.is_method and args and isinstance(args[0], np.ndarray):
        return answers.as_tensor(args[0], None, None), *args[1:]
    return args


def _fits(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _of(name: str, lines: list[Spelling]) -> Callable[..., Any]:
    """What a name of others stands for, as one function."""
    if len(lines) == 1 and "=>" not in lines[0].ours:
        return compiled(lines[0])
    return functools.wraps(compiled(lines[0]))(
        lambda *args, **kwargs: called(name, lines, args, kwargs)
    )


def attribute(module: str, name: str, known: Sequence[str]) -> Any:
    """What a name of others stands for in a module.

    Raises:
        AttributeError: It is unknown; the error names what is near.
    """
    ours = MODULES.get(module, {}).get(name)
    if ours is not None:
        return answers.found(ours)
    if module != "minigrad":
        raise AttributeError(
            _unknown(f"minigrad.{module}", name, [*known, *MODULES.get(module, ())])
        )
    lines = [line for line in spellings().get(name, ()) if line.is_function]
    if lines:
        return _of(name, lines)
    if name in dtype_names():
        return answers.namespace()[dtype_names()[name]]
    if name in answers.VALUES:
        return answers.VALUES[name]
    raise AttributeError(_unknown(f"module {module!r}", name, [*known, *spellings()]))


def method(tensor: Any, name: str) -> Any:
    """What a name of others stands for as a method of a tensor.

    Raises:
        AttributeError: It is unknown; the error names what is near.
    """
    if name in ATTRIBUTES:
        return eval(ATTRIBUTES[name], {**answers.namespace(), "self": tensor})
    lines = [line for line in spellings().get(name, ()) if line.is_method]
    if lines:
        return functools.partial(_of(name, lines), tensor)
    if name.startswith("__"):
        raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}")
    plain = name.removesuffix("_")
    remedy = ""
    if plain != name and (hasattr(type(tensor), plain) or plain in spellings()):
        remedy = f"; it has no in-place form: write x = x.{plain}(...)"
    raise AttributeError(_unknown("Tensor", name, dir(type(tensor))) + remedy)


def _unknown(owner: str, name: str, known: Any) -> str:
    if name in ABSENT:
        return f"{owner} has no {name!r}: {ABSENT[name]}"
    near = difflib.get_close_matches(name, {n for n in known if not n.startswith("_")}, 3, 0.7)
    hint = f"; near to it: {', '.join(near)}" if near else ""
    return f"{owner} has no {name!r}{hint}"


def respelled(name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Answer a call that does not fit our signature, if it is a call in another spelling.

    Args:
        name: What the function is called.
        function: The function.
        args: Its positional arguments.
        kwargs: Its keywords.

    Raises:
        TypeError: It is none; the error names what the function takes.
    """
    for line in spellings().get(name, ()):
        if _fits(compiled(line), args, kwargs):
            return compiled(line)(*_tensors(line, args), **kwargs)
    names = [parameter.name for parameter in inspect.signature(function).parameters.values()]
    ours = renamed(name, names, kwargs)
    if ours.keys() != kwargs.keys() and _fits(function, args, ours):
        return function(*args, **ours)
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        meant = remedy(name, args, kwargs)
        raise TypeError(f"{name}: {error}; it takes {', '.join(names)}{meant}") from None
    raise AssertionError(f"{name}: the call fits")


@functools.cache
def remedies() -> dict[str, tuple[Callable[..., Any], str]]:
    """By name: whether a call that failed is certainly meant otherwise, and how it is said."""
    found = {}
    for line in REMEDIES.strip().splitlines():
        call, _, rest = line.partition(") if ")
        name, _, parameters = call.partition("(")
        condition, _, advice = rest.partition(" => ")
        found[name] = (eval(f"lambda {parameters}: {condition}", answers.namespace()), advice)
    return found


def remedy(name: str, args: Any, kwargs: Any) -> str:
    """What a call that failed is in our names, to be added to its error; "" if it is not known."""
    if name not in remedies():
        return ""
    meant, advice = remedies()[name]
    return f"; {advice}" if _fits(meant, args, kwargs) and meant(*args, **kwargs) else ""


def renamed(owner: str, names: Sequence[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call, those of other libraries under our names."""
    first_two = dict(zip(("input", "other"), names, strict=False))
    others = {**KEYWORDS, **first_two, **dict(ARGUMENTS.get(owner, {}))}
    ours = {}
    for key, value in kwargs.items():
        name = key if key in names else others.get(key, key)
        if name in names or key not in UNUSED:
            ours[name if name in names else key] = value
    return ours
