"""Reads pickles with Python's own unpickler, a closed list of opcodes, and a closed list of names.

Nothing in a pickle can import, call or make anything that is not on the list. The work and the
memory are bounded by the size of the file: a call may not copy more than the file has, and the
value is small also if each part is counted wherever it occurs.
"""

import pickle
import pickletools
import struct
from collections import OrderedDict
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import IO, Any

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.errors import LoadError
from minigrad.io.pt.objects import FUNCTIONS, SAVED
from minigrad.io.tree import DEEPEST
from minigrad.tensors.tensor import Tensor

LONGEST_KEY = 100
MOST_PARTS = 1_000_000
ATOMS = (type(None), bool, int, float, str, bytes)


NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}


class Opcodes(dict[int, Any]):
    """What the unpickler does for each opcode that it has; another one is an error."""

    def __missing__(self, code: int) -> None:
        if code not in NAMES:
            raise LoadError(f"damaged: its pickle is invalid (no opcode is {bytes([code])!r})")
        raise LoadError(f"its pickle uses {NAMES[code]}, which no file of plain values needs")


OPCODES = Opcodes({
    code: pickle._Unpickler.dispatch[code]
    for code, name in NAMES.items()
    if name in {
        "APPEND", "APPENDS", "BINBYTES", "BINBYTES8", "BINFLOAT", "BINGET", "BININT", "BININT1",
        "BININT2", "BINPERSID", "BINPUT", "BINSTRING", "BINUNICODE", "BINUNICODE8", "EMPTY_DICT",
        "EMPTY_LIST", "EMPTY_SET", "EMPTY_TUPLE", "FRAME", "GLOBAL", "LONG1", "LONG4",
        "LONG_BINGET", "LONG_BINPUT", "MARK", "MEMOIZE", "NEWFALSE", "NEWTRUE", "NONE", "PROTO",
        "SHORT_BINBYTES", "SHORT_BINSTRING", "SHORT_BINUNICODE", "STACK_GLOBAL", "STOP", "TUPLE",
        "TUPLE1", "TUPLE2", "TUPLE3",
    }
})  # fmt: skip
"""The opcodes of plain values; others make objects of classes, or are of older protocols."""


class Unpickler(pickle._Unpickler):
    """Reads pickles; a subclass says what the names in them mean, and finds storages.

    The functions that `find_class` returns are called with the unpickler first.

    Args:
        file: The open file; after each pickle it is behind it.
        size: The size of the file: how many values calls may copy.
    """

    dispatch = OPCODES
    stack: list[Any]
    pop_mark: Callable[[], list[Any]]

    def __init__(self, file: IO[bytes], size: int) -> None:
        super().__init__(file, encoding="utf-8")
        self.size = self.room = size

    def load(self) -> Any:
        """The value."""
        self.memo: dict[int, Any] = {}  # of one pickle
        try:
            value = super().load()
            if self.stack:
                raise LoadError("damaged: its pickle is invalid (it has several values)")
            check(value, self.size + MOST_PARTS)
        except LoadError:
            raise
        except (
            ArithmeticError, AttributeError, EOFError, LookupError, TypeError, ValueError,
            pickle.UnpicklingError, struct.error,
        ) as error:  # fmt: skip
            raise LoadError(f"damaged: its pickle is invalid ({error})") from error
        return value

    def _target(self, *kinds: type) -> Any:
        target = self.stack[-1]
        if type(target) not in kinds:
            raise LoadError(f"damaged: its pickle adds to a {type(target).__name__}")
        return target

    def _reduce(self) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not isinstance(function, FunctionType) or type(arguments) is not tuple:
            raise LoadError("damaged: its pickle calls something that is not a function")
        if arguments and isinstance(arguments[0], (dict, list, str, tuple)):
            self.room -= len(arguments[0])
            if self.room < 0:
                raise LoadError("it copies the same values again and again")
        self.stack.append(function(self, *arguments))

    def _build(self) -> None:
        state = self.stack.pop()
        if type(state) is not dict or state.keys() != {"_metadata"}:
            raise LoadError("it sets attributes of an object, which may run anything")
        vars(self._target(OrderedDict)).update(state)

    def _add_items(self) -> None:
        items = self.pop_mark()
        self._target(set).update(map(key, items))

    def _set_items(self) -> None:
        items = self.pop_mark()
        self._target(dict, OrderedDict).update(
            (key(name), value) for name, value in zip(items[::2], items[1::2], strict=True)
        )

    def _set_item(self) -> None:
        value, name = self.stack.pop(), self.stack.pop()
        self._target(dict, OrderedDict)[key(name)] = value

    dispatch |= {
        pickle.REDUCE[0]: _reduce, pickle.BUILD[0]: _build, pickle.ADDITEMS[0]: _add_items,
        pickle.SETITEMS[0]: _set_items, pickle.SETITEM[0]: _set_item,
    }  # fmt: skip


def key(value: Any) -> Any:
    """A key of a dict, or an element of a set: a plain value or a tuple of them.

    Each use of a key takes as long as the key: so long ones are refused.
    """
    parts = value if type(value) is tuple else (value,)
    if len(parts) > LONGEST_KEY:
        raise LoadError(f"it has a key with {len(parts):,} parts")
    for part in parts:
        if type(part) not in ATOMS:
            raise LoadError(f"it has a key of type {type(part).__name__}, or one that is nested")
        if type(part) is int and part.bit_length() > 64 * LONGEST_KEY:
            raise LoadError(f"it has a key of {part.bit_length():,} bits")
    return value


def check(value: Any, room: int) -> None:
    """Check that a value holds values only, does not contain itself, and is not made to explode.

    A list of ten times the same list of ten times the same list takes little memory, and whoever
    looks through it never ends. So each part is counted wherever it occurs.
    """

    def visit(value: Any, level: int) -> None:
        nonlocal room
        room -= 1
        if room < 0:
            raise LoadError("it repeats its values so often that there are too many")
        if level > DEEPEST:
            raise LoadError("its values are nested too deeply, or one contains itself")
        for part in () if type(value) in ATOMS else _parts(value):
            visit(part, level + 1)

    visit(value, 0)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value.values(), *getattr(value, "__dict__", {}).values()]
    if isinstance(value, SAVED):
        return vars(value).values()
    if isinstance(value, (list, tuple, set)):
        return value
    if isinstance(value, FunctionType) and value in FUNCTIONS.values():
        return ()
    if isinstance(value, (Tensor, dtype, np.dtype, str)):
        return ()
    raise LoadError(f"it holds a {type(value).__name__.lower()}, not a value; save tensors")
