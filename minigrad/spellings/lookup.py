"""Reading the table: a name that is not ours, and a call that does not fit our signature."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
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


@functools.lru_cache(maxsize=4096)
def fitting(name: str, as_method: bool, count: int, keys: tuple[str, ...]) -> Any:
    """The function of the first line that takes `count` positional arguments and these keywords.

    Raises:
        TypeError: There is none.
    """
    lines = _lines(name, as_method)
    for line in lines:
        if _fits(compiled(line), count, keys):
            return compiled(line)
    takes = " or ".join(line.call.partition("(")[2].removesuffix(")") for line in lines)
    given = ", ".join([f"{count} by position", *(f"{key}=" for key in keys)])
    raise TypeError(f"{name}: it takes ({takes}), got {given}")


def _lines(name: str, as_method: bool) -> list[Spelling]:
    lines = spellings().get(name, ())
    return [line for line in lines if (line.is_method if as_method else line.is_function)]


def _fits(function: Callable[..., Any], count: int, keys: Iterable[str]) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count, **dict.fromkeys(keys))
    except TypeError:
        return False
    return True


@functools.cache
def _of(name: str, as_method: bool) -> Callable[..., Any] | None:
    """What a name of others stands for, as one function; None if it is unknown."""
    lines = _lines(name, as_method)
    if len(lines) < 2:
        return compiled(lines[0]) if lines else None

    @functools.wraps(compiled(lines[0]))
    def call(*args: Any, **kwargs: Any) -> Any:
        return fitting(name, as_method, len(args), tuple(kwargs))(*args, **kwargs)

    return call


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
    function = _of(name, False)
    if function is not None:
        return function
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
    function = _of(name, True)
    if function is not None:
        return functools.partial(function, tensor)
    if name.startswith("__"):
        raise AttributeError(f"{type(tensor).__name__!r} object has no attribute {name!r}")
    plain = name.removesuffix("_")
    remedy = ""
    if plain != name and (hasattr(type(tensor), plain) or plain in spellings()):
        remedy = f"; it has no in-place form: write x = x.{plain}(...)"
    raise AttributeError(_unknown("Tensor", name, dir(tensor)) + remedy)


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
    found = _translation(name, function, len(args), tuple(kwargs))
    if found is not None:
        target, keys = found
        if target is not function and args and isinstance(args[0], np.ndarray):
            args = answers.as_tensor(args[0], None, None), *args[1:]  # x.data is an ndarray here
        pairs = zip(keys, kwargs.values(), strict=True)
        return target(*args, **{key: value for key, value in pairs if key})
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        takes = ", ".join(signature.parameters)
        meant = remedy(name, args, kwargs)
        raise TypeError(f"{name}: {error}; it takes {takes}{meant}") from None
    raise AssertionError(f"{name}: the call fits")


@functools.lru_cache(maxsize=4096)
def _translation(
    name: str, function: Callable[..., Any], count: int, keys: tuple[str, ...]
) -> tuple[Callable[..., Any], tuple[str, ...]] | None:
    """What answers a call with these keywords, and its own names for them; "" for one left out."""
    for line in spellings().get(name, ()):
        if _fits(compiled(line), count, keys):
            return compiled(line), keys
    names = list(inspect.signature(function).parameters)
    ours = tuple("".join(renamed(name, names, {key: None})) for key in keys)
    used = [key for key in ours if key]
    if ours != keys and len({*used}) == len(used) and _fits(function, count, used):
        return function, ours
    return None


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
    return f"; {advice}" if _fits(meant, len(args), kwargs) and meant(*args, **kwargs) else ""


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
