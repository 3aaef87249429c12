"""Writing files that `torch.load` reads: the value as a pickle, and the memories of its tensors.

Arrays that overlap share a storage: the part of the memory that they span. Elements in between that
belong to none of them are written as zeros.
"""

import io
import pickle
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from typing import IO, Any, NamedTuple

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.pt.objects import FUNCTIONS, SAVED, attributes
from minigrad.io.pt.reading import DTYPES, STORAGES, UNTYPED
from minigrad.io.pt.unpickler import ATOMS, LONGEST_KEY
from minigrad.io.tree import Packer, said
from minigrad.nn import Parameter
from minigrad.tensors.creation import Device
from minigrad.tensors.tensor import Tensor

FOLDER = "archive"
STORAGE_OF = {np.dtype(dtype): name for name, dtype in STORAGES.items()}


class Stored:
    """A tensor as it is written: a view of a storage.

    Attributes:
        array: Its values, in a layout that PyTorch has.
        requires_grad: Whether it requires a gradient.
        parameter: Whether it is a parameter.
        storage: The memory that it is a view of.
        start: The byte of the storage at which it begins.
    """

    storage: "Storage"
    start: int

    def __init__(self, array: np.ndarray, requires_grad: bool, parameter: bool) -> None:
        self.array = representable(array)
        self.requires_grad, self.parameter = requires_grad, parameter

    def span(self) -> tuple[int, int]:
        """The addresses of its first byte, and behind its last one."""
        first, last = np.lib.array_utils.byte_bounds(self.array)
        return first, last if self.array.size else first

    def strides(self) -> tuple[int, ...]:
        """Its strides in elements; that of an axis of length 1 may be any."""
        return tuple([abs(step) // self.array.itemsize for step in self.array.strides])


class Storage:
    """A memory, from the first byte of its tensors to the last."""

    def __init__(self, number: int, tensors: list[Stored]) -> None:
        self.number, self.tensors = number, tensors
        self.dtype = tensors[0].array.dtype
        spans = [tensor.span() for tensor in tensors]
        first = min(start for start, _ in spans)
        self.size = max(end for _, end in spans) - first
        for tensor, (start, _) in zip(tensors, spans, strict=True):
            tensor.storage, tensor.start = self, start - first

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
    alike: dict[tuple[Any, ...], list[tuple[int, int, int]]] = {}
    for number, tensor in enumerate(tensors):
        start, end = tensor.span()
        kind = tensor.array.dtype, start % tensor.array.itemsize
        alike.setdefault(kind, []).append((start, end, number))
    groups: list[list[int]] = []
    for spans in alike.values():
        last = -1
        for start, end, number in sorted(spans):
            if start < last:
                groups[-1].append(number)
            else:
                groups.append([number])
            last = max(last, end)
    return [
        Storage(i, [tensors[number] for number in sorted(group)])
        for i, group in enumerate(sorted(groups, key=min))
    ]


class Packed(NamedTuple):
    """A value as a pickle and the storages that it names."""

    pickle: bytes
    storages: list[Storage]


def pack(value: Any) -> Packed:
    """The pickle of a value, and its storages.

    Raises:
        TypeError: Something cannot be written; the message says where.
        ValueError: It is nested too deeply, or contains itself.
    """
    plain = _Plain()
    content = plain.entry(value, ())
    storages = storages_of([*plain.tensors.values()])
    out = io.BytesIO()
    _Pickler(out, 2).dump(content)
    return Packed(out.getvalue(), storages)


def write(file: IO[bytes], packed: Packed) -> None:
    """Write the records in PyTorch's order."""
    with zipfile.ZipFile(file, "w") as archive:

        def record(name: str, content: bytes | memoryview) -> None:
            info = zipfile.ZipInfo(f"{FOLDER}/{name}")  # without a time: equal values, equal files
            with archive.open(info, "w", force_zip64=len(content) > zipfile.ZIP64_LIMIT) as member:
                member.write(content)

        record("data.pkl", packed.pickle)
        record("byteorder", sys.byteorder.encode())
        for storage in packed.storages:
            record(f"data/{storage.number}", storage.content())
        record("version", b"3\n")


class Parts(NamedTuple):
    """The function that makes a value, and its arguments."""

    function: type
    arguments: tuple[Any, ...]


class Made:
    """An object of a class as it is written: its class, and its attributes."""

    def __init__(self, kind: type) -> None:
        self.path = kind.__module__, kind.__qualname__
        self.state: dict[str, Any] | None = None  # while it is being looked at


class _Plain(Packer):
    """Makes a value of plain types: subclasses become their base, arrays and tensors `Stored`.

    Modules become `Made`.
    """

    plain = (Device, int, float, str, bytes)
    saved = (
        "tensors, arrays, numbers, strings, bytes, bools, None, dtypes, modules, and dicts, lists, "
        "tuples and sets of them"
    )

    def __init__(self) -> None:
        self.tensors: dict[int, Stored] = {}  # by the identity of what they were made of
        self.objects: dict[int, Made] = {}
        self.alive: list[Any] = []  # that no other object gets its identity

    def entry(self, value: Any, path: tuple[str, ...]) -> Any:
        if not isinstance(value, SAVED):
            return super().entry(value, path)
        if (known := self.objects.get(id(value))) is None:
            known = self.objects[id(value)] = Made(type(value))
            self.alive.append(value)
            known.state = {k: self.entry(v, (*path, k)) for k, v in attributes(value).items()}
        if known.state is None:
            raise ValueError(f"{said(path)} is a module that contains itself")
        return known

    def array(self, value: Any, array: np.ndarray, path: tuple[str, ...]) -> Any:  # noqa: ARG002
        if isinstance(value, np.generic):
            return value.item()
        if id(value) not in self.tensors:
            trained = isinstance(value, Tensor) and value.requires_grad
            self.tensors[id(value)] = Stored(array, trained, isinstance(value, Parameter))
            self.alive.append(value)
        return self.tensors[id(value)]

    def other(self, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, set):
            return {self._key(part, "the element", path) for part in value}
        if isinstance(value, (np.dtype, dtype)) and value in DTYPES.values():
            return np.dtype(value).newbyteorder("=")
        name = getattr(value, "__name__", "")
        if FUNCTIONS.get(name, self) is value:
            return Parts(named("minigrad.io", "function"), (name,))
        return super().other(value, path)

    def mapping(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> dict[Any, Any]:
        pairs = [
            (self._key(key, "the key", path), self.entry(part, (*path, str(key))))
            for key, part in value.items()
        ]
        if not isinstance(value, OrderedDict):
            return Counter(dict(pairs)) if isinstance(value, Counter) else dict(pairs)
        ordered = OrderedDict(pairs)
        if "_metadata" in vars(value):  # of a state dict of PyTorch
            metadata = self.entry(vars(value)["_metadata"], (*path, "_metadata"))
            vars(ordered)["_metadata"] = metadata
        return ordered

    def _key(self, key: Any, what: str, path: tuple[str, ...]) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > LONGEST_KEY or not all(isinstance(part, ATOMS) for part in parts):
            raise TypeError(
                f"{said(path)} has {what} {key!r}: numbers, strings, bytes and short tuples of "
                f"them can be keys and elements of sets"
            )
        return self.entry(key, path)


@cache
def named(module: str, name: str) -> type:
    """Something that a file names, which need not exist here: only its name is written."""
    return type(name, (), {"__module__": module})


class _Pickler(pickle._Pickler):  # its Python code, in which a name need not be importable
    """Writes plain values in protocol 2, which every version of PyTorch reads."""

    write: Callable[[bytes], Any]

    def memoize(self, obj: Any) -> None:
        """Remember tensors and names only: then equal values give equal files."""
        if isinstance(obj, (Stored, Made, type, np.dtype)):
            super().memoize(obj)  # type: ignore[misc]  # typeshed lacks it

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a name, of a class or of a dtype."""
        path = f"torch\n{name}" if name else f"{obj.__module__}\n{obj.__name__}"
        self.write(pickle.GLOBAL + f"{path}\n".encode())
        self.memoize(obj)

    def persistent_id(self, obj: Any) -> Any:
        """How a pickle names a storage."""
        if not isinstance(obj, Storage):
            return None
        kind, count = named("torch", STORAGE_OF.get(obj.dtype, "")), obj.size // obj.dtype.itemsize
        if obj.dtype in UNTYPED.values():
            kind, count = named("torch.storage", "UntypedStorage"), obj.size
        return "storage", kind, str(obj.number), "cpu", count

    def reducer_override(self, obj: Any) -> Any:
        """The function and arguments that make a value; NotImplemented for one of Python."""
        match obj:
            case np.dtype():
                return obj.name
            case bytes():
                return named("_codecs", "encode"), (obj.decode("latin1"), "latin1")
            case set():
                return named("__builtin__", "set"), (sorted(obj, key=repr),)
            case Counter():
                return named("collections", "Counter"), (dict(obj),)
            case Device():
                return named("torch", "device"), (str(obj),)
            case Parts():
                return obj
            case Made():
                return named("minigrad.io", "object"), (*obj.path, obj.state)
            case Stored():
                array = obj.array
                no_hooks: OrderedDict[Any, Any] = OrderedDict()
                kind = [array.dtype] if array.dtype in UNTYPED.values() else []
                tensor = Parts(
                    named("torch._utils", f"_rebuild_tensor_v{3 if kind else 2}"),
                    (obj.storage, obj.start // array.itemsize, array.shape, obj.strides(),
                     obj.requires_grad and not obj.parameter, no_hooks, *kind),
                )  # fmt: skip
                if obj.parameter:
                    rebuild = named("torch._utils", "_rebuild_parameter")
                    return rebuild, (tensor, obj.requires_grad, no_hooks)
                return tensor
        return NotImplemented
