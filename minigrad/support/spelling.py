"""Names and calls in another library's spelling; the table of `minigrad.spellings` answers.

If the table cannot be imported, an error stays what it would be without the table.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import reprlib
import sys
from _thread import get_ident
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class TableError(ImportError):
    """The table could not be imported, or its own import asks for it."""


_importing: set[int] = set()  # the threads that import the table


@functools.cache
def table() -> ModuleType:
    """The reader of the table, loaded when it is first needed: it imports all of minigrad."""
    thread = get_ident()
    if thread in _importing:
        raise TableError("the table of spellings needs itself")
    _importing.add(thread)
    try:
        return importlib.import_module("minigrad.spellings.lookup")
    except Exception as error:
        raise TableError("the table of spellings cannot be imported") from error
    finally:
        _importing.discard(thread)


def attribute(module: str, name: str, known: Sequence[str]) -> Any:
    """What a name that is not ours stands for in a module, or an AttributeError."""
    try:
        reader = table()
    except TableError as error:
        raise AttributeError(f"{module} has no {name!r}") from error
    return reader.attribute(module, name, known)


def respelled(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Answer a call that does not fit the signature of `function`, or raise a TypeError."""
    try:
        reader = table()
    except TableError as error:
        raise misfit(name, function, args, kwargs) from error
    return reader.respelled(name, function, args, kwargs)


def misfit(
    name: str, function: Callable[..., Any], args: Any, kwargs: Any, advice: str = ""
) -> TypeError:
    """The error of a call that does not fit the signature of `function`, with advice at its end."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        method = not hasattr(function, "op")  # or a function, which has no argument `self`
        takes = ", ".join([k for k in signature.parameters if not (method and k == "self")])
        return TypeError(f"{name}: {error}; it takes {takes}{advice}")
    return TypeError(f"{name}: a tensor with axes cannot be an axis{advice}")


def renamed(owner: str, names: Sequence[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call of `owner`, with those of other libraries under its `names`."""
    try:
        reader = table()
    except TableError:
        return kwargs
    answer: dict[str, Any] = reader.renamed(owner, names, kwargs)
    return answer


def spelled(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function take the keywords of other libraries too, such as ``dim=`` for ``axis=``."""
    code: Any = inspect.unwrap(function).__code__
    known = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as error:
            name = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
            ours = kwargs.keys() <= known
            if isinstance(error, ValueError) or (ours and fits(function, args, kwargs)):
                message = remedied(name, str(error), args, kwargs)
                if message == str(error):
                    raise
                raise type(error)(message) from None
            answer: R = respelled(name, function, args, kwargs)
            return answer

    return call


def remedied(name: str, message: str, args: Any, kwargs: Any) -> str:
    """An error's message, and what the call is in our names if it is certainly meant otherwise."""
    try:
        reader = table()
    except TableError:
        return message
    advice: str = reader.remedy(name, args, kwargs)
    return message if advice in message else message + advice


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature of a function; that of any call where Python knows none.

    It knows none of some builtins, and before NumPy 2.4 none of a ufunc.
    """
    try:
        return inspect.signature(function)
    except ValueError:
        return inspect.signature(lambda *args, **kwargs: None)


def fits(function: Callable[..., Any], args: Any, kwargs: Any) -> bool:
    """Whether a call fits the signature of a function."""
    try:
        signature_of(function).bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def named(function: Callable[P, R]) -> Callable[P, R]:
    """Name the function and its arguments in the errors that NumPy raises inside it."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (MemoryError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, TypeError) and not fits(function, args, kwargs):
                answer: R = respelled(name, function, args, kwargs)
                return answer
            message = remedied(name, str(error), args, kwargs)
            if str(error).startswith(name):
                if message == str(error):
                    raise
                raise type(error)(message) from None
            if " got " not in message:
                given = [reprlib.repr(value) for value in args]
                given += [f"{key}={reprlib.repr(value)}" for key, value in kwargs.items()]
                message += f"; got ({', '.join(given)})"
            kinds = (MemoryError, OverflowError, TypeError, ValueError)
            kind = next(kind for kind in kinds if isinstance(error, kind))
            raise kind(f"{name}: {message}") from None

    return call


def names(
    module: str, known: Sequence[str], own: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with these public names, for those of other libraries.

    `own` is the one that the module has already, which is asked first.
    """

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'minigrad.{module}' has no attribute {name!r}")
        with suppress(AttributeError):
            if own is not None:
                return own(name)
        return attribute(module, name, known)

    return __getattr__


class _Finder:
    """Imports the modules of other libraries that the table names, as ``minigrad.utils.data``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        owner, _, module = name.partition(".")
        if owner != "minigrad":
            return None
        try:
            theirs = table().importable(module)
        except TableError as error:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name) from error
        return ModuleSpec(name, self, is_package=True) if theirs else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        name = module.__name__.removeprefix("minigrad.")
        module.__all__ = table().public_names(name)
        module.__getattr__ = names(name, module.__all__)


sys.meta_path.append(_Finder())
