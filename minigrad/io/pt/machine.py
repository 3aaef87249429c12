"""Pickles are read by a machine that knows plain values, and what a closed list names.

Nothing in a pickle can import, call or make anything that is not on the list. The work and the
memory are bounded by the size of the file: a call may not copy more than the file has, and the
value is small also if each part is counted wherever it occurs.

Source: the Python standard library, `pickletools`, which describes the format and decodes it.
"""

import pickletools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.errors import LoadError
from minigrad.tensors.tensor import Tensor

DEEPEST = 100
LONGEST_KEY = 100
MOST_PARTS = 1_000_000
ATOMS = (type(None), bool, int, float, str, bytes)
EMPTY = (list, tuple, dict, set)
CONSTANTS = {
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
    "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8",
}  # fmt: skip
"""The opcodes that put their argument on the stack."""
OPCODES = {
    opcode.code.encode("latin1"): opcode
    for opcode in pickletools.opcodes
    if opcode.name in CONSTANTS | {
        "ADDITEMS", "APPEND", "APPENDS", "BINGET", "BINPERSID", "BINPUT", "BINSTRING", "BUILD",
        "EMPTY_DICT", "EMPTY_LIST", "EMPTY_SET", "EMPTY_TUPLE", "FRAME", "GLOBAL", "LONG_BINGET",
        "LONG_BINPUT", "MARK", "MEMOIZE", "NEWFALSE", "NEWTRUE", "NONE", "PROTO", "REDUCE",
        "SETITEM", "SETITEMS", "SHORT_BINSTRING", "STACK_GLOBAL", "STOP", "TUPLE", "TUPLE1",
        "TUPLE2", "TUPLE3",
    }
}  # fmt: skip
"""The opcodes of the machine; others make objects of classes, or are of older protocols."""


class Function:
    """The meaning of a name on the list, if it is called with a few arguments."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


class Machine:
    """Reads pickles with the functions and values of a list.

    Args:
        allowed: The meaning of the names in the file.
        persistent: Finds values that are stored outside of the pickle.
        refusal: Says what to do about a name that is not on the list.
        size: The size of the file.
    """

    def __init__(
        self, allowed: Mapping[str, Any], persistent: Callable[[Any], Any],
        refusal: Callable[[str], str], size: int,
    ) -> None:  # fmt: skip
        self.allowed, self.persistent, self.refusal = allowed, persistent, refusal
        self.size = self.room = size
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def read(self, file: IO[bytes]) -> Any:
        """The value of one pickle; the file is then behind it."""
        self.stack, self.marks, self.memo = [], [], {}
        try:
            while (opcode := known(file.read(1))).name != "STOP":
                # Only arguments of known opcodes are decoded: those of others may be anything.
                if opcode.name == "GLOBAL":  # pickletools would replace escape sequences
                    self.stack.append(self._named(f"{_line(file)}.{_line(file)}"))
                else:
                    self.step(opcode.name, opcode.arg.reader(file) if opcode.arg else None)
            (value,) = self.stack
            check(value, self.size + MOST_PARTS)
        except LoadError:
            raise
        except (ArithmeticError, LookupError, TypeError, UnicodeError, ValueError) as error:
            raise LoadError(f"damaged: its pickle is invalid ({error})") from error
        return value

    def step(self, name: str, argument: Any) -> None:
        """Do what an opcode says."""
        stack = self.stack
        match name:
            case "BINPUT" | "LONG_BINPUT":
                self.memo[argument] = stack[-1]
            case "MEMOIZE":
                self.memo[len(self.memo)] = stack[-1]
            case "BINGET" | "LONG_BINGET":
                stack.append(self.memo[argument])
            case _ if name in CONSTANTS:
                stack.append(argument)
            case "SHORT_BINSTRING" | "BINSTRING":  # the text of Python 2
                stack.append(argument.encode("latin1").decode())
            case "MARK":
                self.marks.append(len(stack))
            case "EMPTY_TUPLE":
                stack.append(())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                stack.append(tuple(self._top(int(name[-1]))))
            case "TUPLE":
                stack.append(tuple(self._marked()))
            case "NONE":
                stack.append(None)
            case "NEWTRUE" | "NEWFALSE":
                stack.append(name == "NEWTRUE")
            case "EMPTY_LIST":
                stack.append([])
            case "APPEND" | "APPENDS":
                items = self._top(1) if name == "APPEND" else self._marked()
                self._target(list).extend(items)
            case "EMPTY_SET":
                stack.append(set())
            case "ADDITEMS":
                items = self._marked()
                self._target(set).update(map(key, items))
            case "EMPTY_DICT":
                stack.append({})
            case "SETITEM" | "SETITEMS":
                items = self._top(2) if name == "SETITEM" else self._marked()
                target = self._target(dict, OrderedDict)
                pairs = zip(items[::2], items[1::2], strict=True)
                target.update((key(name), value) for name, value in pairs)
            case "STACK_GLOBAL":
                module, attribute = self._top(2)
                stack.append(self._named(f"{module}.{attribute}"))
            case "REDUCE":
                function, arguments = self._top(2)
                stack.append(self._called(function, arguments))
            case "BUILD":
                (state,) = self._top(1)
                if type(state) is not dict or state.keys() != {"_metadata"}:
                    raise LoadError("it sets attributes of an object, which may run anything")
                vars(self._target(OrderedDict)).update(state)
            case "BINPERSID":
                stack.append(self.persistent(stack.pop()))
            case "PROTO" | "FRAME":
                pass

    def _named(self, name: str) -> Any:
        name = name.replace("__builtin__.", "builtins.", 1)
        if name not in self.allowed:
            said = name if name.isprintable() else ascii(name)
            raise LoadError(f"it asks for {said}{self.refusal(name)}")
        return self.allowed[name]

    def _called(self, function: Any, arguments: Any) -> Any:
        if not isinstance(function, Function) or type(arguments) is not tuple:
            raise LoadError("damaged: its pickle calls something that is not a function")
        if arguments and isinstance(arguments[0], (list, str, tuple)):
            self.room -= len(arguments[0])
            if self.room < 0:
                raise LoadError("it copies the same values again and again")
        return function.call(*arguments)

    def _target(self, *kinds: type) -> Any:
        target = self.stack[-1]
        if type(target) not in kinds:
            raise LoadError(f"damaged: its pickle adds to a {type(target).__name__}")
        return target

    def _top(self, count: int) -> list[Any]:
        items = self.stack[-count:]
        if len(items) < count:
            raise LoadError("damaged: its pickle lacks a value")
        del self.stack[-count:]
        return items

    def _marked(self) -> list[Any]:
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items


def _line(file: IO[bytes]) -> str:
    line = file.readline()
    if not line.endswith(b"\n"):
        raise LoadError("damaged: its pickle is invalid (it ends within a name)")
    return line[:-1].decode()


def known(code: bytes) -> Any:
    """The description of an opcode that the machine has."""
    if code not in OPCODES:
        if not code:
            raise LoadError("damaged: its pickle is invalid (it has no end)")
        name = next((op.name for op in pickletools.opcodes if op.code.encode("latin1") == code), "")
        if not name:
            raise LoadError(f"damaged: its pickle is invalid (there is no opcode {code!r})")
        raise LoadError(f"its pickle uses {name}, which no file of plain values needs")
    return OPCODES[code]


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


def check(value: Any, most: int) -> None:
    """Check that a value holds values only, does not contain itself, and is not made to explode.

    A list of ten times the same list of ten times the same list takes little memory, and whoever
    looks through it never ends.
    """
    sizes: dict[int, tuple[int, int]] = {}  # of a finished container: its parts, and its depth
    begun: set[int] = set()
    path = [_Walk([value])]
    while path:
        walk = path[-1]
        for part in walk.rest:
            if type(part) in ATOMS or (type(part) in EMPTY and len(part) == 0):
                walk.parts += 1
            elif id(part) in sizes:
                walk.add(*sizes[id(part)])
            elif id(part) in begun:
                raise LoadError("it holds a value that contains itself")
            else:
                begun.add(id(part))
                path.append(_Walk(_parts(part), id(part)))
                break
        else:
            if walk.depth > DEEPEST:
                raise LoadError("its values are nested too deeply")
            if walk.parts > most:
                raise LoadError("it repeats its values so often that there are too many")
            path.pop()
            sizes[walk.number] = walk.parts, walk.depth
            if path:
                path[-1].add(walk.parts, walk.depth)


class _Walk:
    """The parts of a container that remain to be looked at, and the tensors found."""

    def __init__(self, parts: Iterable[Any], number: int = 0) -> None:
        self.rest, self.number = iter(parts), number
        self.parts, self.depth = 1, 0

    def add(self, parts: int, depth: int) -> None:
        self.parts += parts
        self.depth = max(self.depth, depth + 1)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value.values(), *getattr(value, "__dict__", {}).values()]
    if isinstance(value, (list, tuple, set)):
        return value
    if isinstance(value, (Tensor, dtype, np.dtype, str)):
        return ()
    raise LoadError(f"it holds a {type(value).__name__.lower()}, not a value; save tensors")
