"""Writing files that `torch.load` reads: the value as a pickle, and the memories of its tensors.

Arrays that overlap share a storage: the part of the memory that they span. Elements in between that
belong to none of them are written as zeros.
"""

import pickle
import struct
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import IO, Any

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.pt.objects import FUNCTIONS, SAVED, attributes
from minigrad.io.pt.reading import DTYPES, STORAGES, UNTYPED
from minigrad.io.pt.unpickler import ATOMS, LONGEST_KEY
from minigrad.io.tree import Packer, said
from minigrad.nn import Parameter
from minigrad.tensors.creation import Device, Size
from minigrad.tensors.tensor import Tensor

FOLDER = "archive"
Code = list[Any]
"""Opcodes with their arguments, as bytes, and tensors."""
STORAGE_OF = {np.dtype(dtype): name for name, dtype in STORAGES.items()}


class Stored:
    """A tensor as it is written: a view of a storage.

    Attributes:
        array: Its values, in a layout that PyTorch has.
        requires_grad: Whether it requires a gradient.
        parameter: Whether it is a parameter.
        first: The address of its first byte.
        end: The address behind its last byte.
        kind: What tensors of one storage have in common.
        storage: The memory that it is a view of.
        start: The byte of the storage at which it begins.
    """

    storage: "Storage"
    start: int

    def __init__(self, array: np.ndarray, requires_grad: bool, parameter: bool) -> None:
        self.array = array = representable(array)
        self.requires_grad, self.parameter = requires_grad, parameter
        self.first, end = np.lib.array_utils.byte_bounds(array)
        self.end = end if array.size else self.first
        self.kind = array.dtype.str, self.first % array.itemsize

    def code(self) -> Code:
        """The opcodes that make it a view of its storage."""
        array, no_hooks = self.array, call("collections OrderedDict")
        untyped = array.dtype in UNTYPED.values()
        kind = "torch.storage UntypedStorage" if untyped else f"torch {STORAGE_OF[array.dtype]}"
        count = self.storage.size // (1 if untyped else array.itemsize)
        storage = tuple_of([
            opcodes("storage"), [named(kind)], opcodes(str(self.storage.number)), opcodes("cpu"),
            opcodes(count),
        ])  # fmt: skip
        # The stride of an axis of length 1 may be any.
        strides = tuple([abs(step) // array.itemsize for step in array.strides])
        view = call(
            f"torch._utils _rebuild_tensor_v{3 if untyped else 2}", [*storage, pickle.BINPERSID],
            opcodes(self.start // array.itemsize), opcodes(array.shape), opcodes(strides),
            opcodes(self.requires_grad and not self.parameter), no_hooks,
            *([opcodes(array.dtype)] if untyped else []),
        )  # fmt: skip
        if not self.parameter:
            return view
        requires_grad = opcodes(self.requires_grad)
        return call("torch._utils _rebuild_parameter", view, requires_grad, no_hooks)


class Storage:
    """A memory, from the first byte of its tensors to the last."""

    def __init__(self, number: int, tensors: list[Stored]) -> None:
        self.number, self.tensors = number, tensors
        self.dtype = tensors[0].array.dtype
        first = min(tensor.first for tensor in tensors)
        self.size = max(tensor.end for tensor in tensors) - first
        for tensor in tensors:
            tensor.storage, tensor.start = self, tensor.first - first

    def content(self) -> memoryview:
        """Its bytes."""
        arrays = [tensor.array for tensor in self.tensors]
        for array in arrays:
            if array.flags.c_contiguous and array.nbytes == self.size:
                return array.reshape(-1).view(np.uint8).data
        memory = np.zeros(self.size // self.dtype.itemsize, self.dtype)
        for tensor, array in zip(self.tensors, arrays, strict=True):
            if array.size:
                view: np.ndarray[Any, Any] = np.ndarray(
                    array.shape, self.dtype, memory, tensor.start, array.strides
                )
                view[...] = array
        return memory.view(np.uint8).data


def representable(array: np.ndarray) -> np.ndarray:
    """The array itself if PyTorch has its layout: native, and strides that are whole and positive.

    PyTorch's storages are of one dtype. A view of another dtype gets a storage of its own.
    """
    steps = [step for n, step in zip(array.shape, array.strides, strict=True) if n != 1]
    if array.dtype.isnative and all(step >= 0 and step % array.itemsize == 0 for step in steps):
        return array
    return array.astype(array.dtype.newbyteorder("="), order="C")


def storages_of(tensors: list[Stored]) -> list[Storage]:
    """The storages of tensors, in the order of the tensors; each tensor gets its place."""
    groups: list[list[int]] = []
    kind, end = ("", 0), 0
    for i in sorted(range(len(tensors)), key=lambda i: (tensors[i].kind, tensors[i].first)):
        tensor = tensors[i]
        if tensor.kind == kind and tensor.first < end:
            groups[-1].append(i)
        else:
            groups.append([i])
            end = 0
        kind, end = tensor.kind, max(end, tensor.end)
    in_order = enumerate(sorted(groups, key=min))
    return [Storage(number, [tensors[i] for i in group]) for number, group in in_order]


def pack(value: Any) -> tuple[bytes, list[Storage]]:
    """The pickle of a value, and the storages that it names.

    Raises:
        TypeError: Something cannot be written; the message says where.
        ValueError: It is nested too deeply, or contains itself.
    """
    pickler = _Pickler()
    content = pickler.entry(value, ())
    storages = storages_of(pickler.tensors)
    parts = chain.from_iterable(p.code() if isinstance(p, Stored) else [p] for p in content)
    return b"".join([pickle.PROTO, b"\2", *parts, pickle.STOP]), storages


def write(file: IO[bytes], packed: tuple[bytes, list[Storage]]) -> None:
    """Write the records in PyTorch's order."""
    content, storages = packed
    with zipfile.ZipFile(file, "w") as archive:

        def record(name: str, content: bytes | memoryview) -> None:
            info = zipfile.ZipInfo(f"{FOLDER}/{name}")  # without a time: equal values, equal files
            with archive.open(info, "w", force_zip64=len(content) > zipfile.ZIP64_LIMIT) as member:
                member.write(content)

        record("data.pkl", content)
        record("byteorder", sys.byteorder.encode())
        for storage in storages:
            record(f"data/{storage.number}", storage.content())
        record("version", b"3\n")


def opcodes(value: Any) -> Code:
    """The opcodes of a number, a string, bytes, None, a device, a dtype or a tuple of them."""
    match value:
        case tuple():
            return tuple_of(map(opcodes, value))
        case np.dtype():
            return [named(f"torch {value.name}")]
        case Device():
            return call("torch device", opcodes(str(value)))
        case str():
            text = value.encode("utf-8", "surrogatepass")
            return [pickle.BINUNICODE, struct.pack("<I", len(text)), text]
        case bytes():
            return call("_codecs encode", opcodes(value.decode("latin1")), opcodes("latin1"))
    return [pickle.dumps(value, 2)[2:-1]]


def named(name: str) -> bytes:
    """The opcode of a name, such as "torch Size", which need not exist here."""
    return pickle.GLOBAL + name.replace(" ", "\n").encode() + b"\n"


def tuple_of(parts: Iterable[Code]) -> Code:
    """The opcodes of a tuple."""
    return [pickle.MARK, *chain.from_iterable(parts), pickle.TUPLE]


def call(name: str, *arguments: Code) -> Code:
    """The opcodes of a call of a function by its name."""
    return [named(name), *tuple_of(arguments), pickle.REDUCE]


class _Pickler(Packer):
    """Makes the opcodes of a value in protocol 2, which every version of PyTorch reads.

    A tensor stands among them as `Stored`, until all tensors are known. Tensors and modules are
    remembered, and nothing else: then equal values give equal files.
    """

    plain = (Device, int, float, str, bytes)
    saved = (
        "tensors, arrays, numbers, strings, bytes, bools, None, dtypes, modules, and dicts, lists, "
        "tuples and sets of them"
    )
    atom, tuple_of = staticmethod(opcodes), staticmethod(tuple_of)

    def __init__(self) -> None:
        self.tensors: list[Stored] = []
        self.memo: dict[int, Code] = {}  # by identity, how an object is remembered
        self.alive: list[Any] = []  # that no other object gets its identity

    def entry(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, Size):
            return call("torch Size", super().entry(value, path))
        if not isinstance(value, SAVED):
            return super().entry(value, path)
        kind = type(value)
        names = opcodes(kind.__module__), opcodes(kind.__qualname__)
        return self.once(
            value, path,
            lambda: call("minigrad.io object", *names, self.mapping(attributes(value), path)),
        )  # fmt: skip

    def once(self, value: Any, path: tuple[str, ...], make: Callable[[], Code]) -> Code:
        """The opcodes that make an object; where it occurs again, those that remember it."""
        if id(value) not in self.memo:
            self.memo[id(value)] = []
            self.alive.append(value)
            number = struct.pack("<I", len(self.alive))
            made = make()
            self.memo[id(value)] = [pickle.LONG_BINGET, number]
            return [*made, pickle.LONG_BINPUT, number]
        if not self.memo[id(value)]:
            raise ValueError(f"{said(path)} is a module that contains itself")
        return self.memo[id(value)]

    def array(self, value: Any, array: np.ndarray, path: tuple[str, ...]) -> Code:
        if isinstance(value, np.generic):
            return opcodes(value.item())

        def stored() -> Code:
            trained = isinstance(value, Tensor) and value.requires_grad
            self.tensors.append(Stored(array, trained, isinstance(value, Parameter)))
            return [self.tensors[-1]]

        return self.once(value, path, stored)

    def list_of(self, parts: list[Any]) -> Code:
        return [pickle.EMPTY_LIST, pickle.MARK, *chain.from_iterable(parts), pickle.APPENDS]

    def other(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, set):
            elements = [self._key(part, "the element", path) for part in sorted(value, key=repr)]
            return call("__builtin__ set", self.list_of(elements))
        if isinstance(value, (np.dtype, dtype)) and value in DTYPES.values():
            return opcodes(np.dtype(value))
        name = getattr(value, "__name__", "")
        if FUNCTIONS.get(name, self) is value:
            return call("minigrad.io function", opcodes(name))
        return super().other(value, path)

    def mapping(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> Code:
        parts = [pickle.MARK]
        for key, part in value.items():
            parts += self._key(key, "the key", path) + self.entry(part, (*path, str(key)))
        parts.append(pickle.SETITEMS)
        if isinstance(value, Counter):
            return call("collections Counter", [pickle.EMPTY_DICT, *parts])
        if not isinstance(value, OrderedDict):
            return [pickle.EMPTY_DICT, *parts]
        if "_metadata" in vars(value):  # of a state dict of PyTorch
            metadata = {"_metadata": vars(value)["_metadata"]}
            parts += [*self.mapping(metadata, path), pickle.BUILD]
        return [*call("collections OrderedDict"), *parts]

    def _key(self, key: Any, what: str, path: tuple[str, ...]) -> Code:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > LONGEST_KEY or not all(isinstance(part, ATOMS) for part in parts):
            wanted = "numbers, strings, bytes and short tuples of them can be keys and elements"
            raise TypeError(f"{said(path)} has {what} {key!r}: {wanted} of sets")
        return self.entry(key, path)
