"""Reading the table: a name that is not ours, and a call that does not fit our signature."""

import difflib
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

import minigrad as ours
from minigrad.spellings import answers
from minigrad.spellings.table import (
    ABSENT,
    ARGUMENTS,
    ATTRIBUTES,
    FUNCTIONS,
    KEYWORDS,
    LAYERS,
    MODULES,
    NAMES,
    REMEDIES,
    UNUSED,
)
from minigrad.support.spelling import fits, misfit

__all__ = [
    "Spelling", "attribute", "importable", "method", "public_names", "remedy", "renamed",
    "respelled", "spellings",
]  # fmt: skip


class Spelling(NamedTuple):
    """One line of the table."""

    call: str  # the call as others write it
    ours: str  # what it computes, in our names
    whose: str  # whose spelling it is: T for PyTorch and Lucid 3, 2 for Lucid 2, N for NumPy

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
def fitting(name: str, as_method: bool, count: int, keys: tuple[str, ...]) -> tuple[Any, Any]:
    """The function of the first line that takes `count` positional arguments and these keywords.

    PyTorch takes NumPy's `axis` and `keepdims` for its own: the second result are the names.
    """
    lines = _lines(name, as_method)
    for names in (keys, tuple({"axis": "dim", "keepdims": "keepdim"}.get(k, k) for k in keys)):
        for line in lines:
            if _fits(compiled(line), count, names):
                return compiled(line), names
    takes = " or ".join(line.call.partition("(")[2].removesuffix(")") for line in lines)
    given = ", ".join([f"{count} by position", *(f"{key}=" for key in keys)])
    raise TypeError(f"{name}: it takes ({takes}), got {given}")


def _lines(name: str, as_method: bool) -> list[Spelling]:
    lines = spellings().get(name, ())
    return [line for line in lines if (line.is_method if as_method else line.is_function)]


def _fits(function: Callable[..., Any], count: int, keys: Iterable[str]) -> bool:
    """Whether a call with so many positional arguments and these keywords fits a signature."""
    return fits(function, [None] * count, dict.fromkeys(keys))


@functools.cache
def _of(name: str, as_method: bool) -> Callable[..., Any] | None:
    """What a name of others stands for, as one function; None if it is unknown."""
    lines = _lines(name, as_method)
    if not lines:
        return None

    @functools.wraps(compiled(lines[0]))
    def call(*args: Any, **kwargs: Any) -> Any:
        function, names = fitting(name, as_method, len(args), tuple(kwargs))
        return function(*args, **dict(zip(names, kwargs.values(), strict=True)))

    return call


def attribute(module: str, name: str, known: Sequence[str]) -> Any:
    """What a name of others stands for in a module."""
    here = MODULES.get(module, {})
    path = here.get(name) or here.get("*", "").replace("*", name)
    if path:
        return answers.found(path)
    if f"{module}.{name}" in MODULES:
        return importlib.import_module(f"minigrad.{module}.{name}")
    if module == "nn" and name in LAYERS:
        return answers.unmade(name, LAYERS[name])
    if module == "minigrad" and name in MODULES:
        return importlib.import_module(f"minigrad.{name}")
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


def importable(module: str) -> bool:
    """Whether the table names a module, which can be imported even if we have none of its name."""
    if module in ABSENT:
        raise ModuleNotFoundError(_unknown("minigrad", module, ()), name=f"minigrad.{module}")
    return module in MODULES


def public_names(module: str) -> list[str]:
    """The names of a module of the table, with all for which its ``*`` stands."""
    found = {*MODULES[module]} - {"*"}
    if "*" in MODULES[module]:
        owner = MODULES[module]["*"].removesuffix("*").removesuffix(".")
        found |= {*(dir(answers.found(owner)) if owner else ours.__all__)}
    return sorted(name for name in found if not name.startswith("_"))


def method(tensor: Any, name: str) -> Any:
    """What a name of others stands for as a method of a tensor."""
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
    hint = f"; near to it: {', '.join(near)}" if near else "; docs/aliases.md lists the spellings"
    return f"{owner} has no {name!r}{hint}"


def respelled(name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Answer a call that does not fit our signature, if it is a call in another spelling.

    Otherwise the TypeError names what the function takes.
    """
    found = _translation(name, function, len(args), tuple(kwargs))
    if found is not None:
        target, keys = found
        if target is not function and args and isinstance(args[0], np.ndarray):
            args = answers.as_tensor(args[0], None, None), *args[1:]  # x.data is an ndarray here
        if keys is None:
            return target(*args, **kwargs)
        pairs = zip(keys, kwargs.values(), strict=True)
        return target(*args, **{key: value for key, value in pairs if key})
    names = [key for key in inspect.signature(function).parameters if key != "self"]
    keywords = renamed(name, names, kwargs)
    if fits(function, args, keywords):  # then the spelling of a keyword is what is wrong
        keywords = kwargs
    raise misfit(name, function, args, keywords, remedy(name, args, kwargs))


@functools.lru_cache(maxsize=4096)
def _translation(
    name: str, function: Callable[..., Any], count: int, keys: tuple[str, ...]
) -> tuple[Callable[..., Any], tuple[str, ...] | None] | None:
    """What answers a call with these keywords, and its own names for them; "" for one left out.

    None stands for the same names.
    """
    kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    open_ended = inspect.Parameter.VAR_KEYWORD in kinds
    fits_ours = not open_ended and _fits(function, count, keys)  # but for a tensor as its axis
    for line in spellings().get(name, ()):
        if _fits(compiled(line), count, keys) and ("*_" in line.call) == fits_ours:
            return compiled(line), None
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
