"""Names and calls in another library's spelling; the table of `minigrad.spellings` answers."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


@functools.cache
def table() -> ModuleType:
    """The reader of the table, loaded when it is first needed: it imports all of minigrad."""
    return importlib.import_module("minigrad.spellings.lookup")


def respelled(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Answer a call that does not fit the signature of `function`, or raise a TypeError."""
    return table().respelled(name, function, args, kwargs)


def renamed(owner: str, names: Sequence[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a call of `owner`, with those of other libraries under its `names`."""
    answer: dict[str, Any] = table().renamed(owner, names, kwargs)
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
    advice: str = table().remedy(name, args, kwargs)
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


def names(module: str, known: Sequence[str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module with these public names, for those of other libraries."""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module 'minigrad.{module}' has no attribute {name!r}")
        return table().attribute(module, name, known)

    return __getattr__


class _Finder:
    """Imports the modules of other libraries that the table names, as ``minigrad.utils.data``."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        owner, _, module = name.partition(".")
        theirs = owner == "minigrad" and table().importable(module)
        return ModuleSpec(name, self, is_package=True) if theirs else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        name = module.__name__.removeprefix("minigrad.")
        module.__all__ = table().public_names(name)
        module.__getattr__ = names(name, module.__all__)


sys.meta_path.append(_Finder())
