"""Writing files that `torch.load` reads: the value as a pickle, and the memories of its tensors."""

import struct
import sys
from collections import OrderedDict
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.pt.layout import Storage, Stored, storages_of
from minigrad.io.pt.machine import ATOMS, DEEPEST, LONGEST_KEY
from minigrad.io.pt.storages import DTYPES, STORAGES, UNTYPED
from minigrad.io.pt.zip_writer import ALIGNMENT, ZipWriter
from minigrad.io.tree import said, storable
from minigrad.nn import Parameter
from minigrad.tensors.creation import Device
from minigrad.tensors.tensor import Tensor

FOLDER = "archive"
STORAGE_OF = {np.dtype(dtype): name for name, dtype in STORAGES.items()}
START, STOP, MARK, TUPLE, REDUCE = b"\x80\2", b".", b"(", b"t", b"R"


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
    content = plain.value(value, ())
    storages = storages_of([*plain.tensors.values()])
    pickler = _Pickler()
    pickler.value(content)
    return Packed(START + bytes(pickler.out) + STOP, storages)


def write(file: IO[bytes], packed: Packed) -> None:
    """Write the records in PyTorch's order."""
    archive = ZipWriter(file, FOLDER)
    archive.record("data.pkl", packed.pickle)
    archive.record(".format_version", b"1")
    archive.record(".storage_alignment", str(ALIGNMENT).encode())
    archive.record("byteorder", sys.byteorder.encode())
    for storage in packed.storages:
        archive.record(f"data/{storage.number}", storage.content())
    archive.record("version", b"3\n")
    archive.record(".data/serialization_id", f"{archive.identity():040d}".encode())
    archive.end()


class _Plain:
    """Makes a value of plain types: subclasses become their base, arrays and tensors `Stored`."""

    def __init__(self) -> None:
        self.tensors: dict[int, Stored] = {}  # by the identity of what they were made of
        self.alive: list[Any] = []  # that no other object gets its identity

    def value(self, value: Any, path: tuple[str, ...]) -> Any:
        """The plain value, or an error that names its place."""
        if len(path) > DEEPEST:
            raise ValueError(f"{said(path)} is nested too deeply, or contains itself")
        if value is None or isinstance(value, (bool, Device)):
            return value
        if isinstance(value, (Tensor, np.ndarray)):
            return self._tensor(value, path)
        if isinstance(value, np.generic) and storable(value.dtype):
            return value.item()
        for kind in (int, float, str, bytes):
            if isinstance(value, kind):
                return kind(value)  # type: ignore[arg-type]  # the kind that it is
        if isinstance(value, (list, tuple)):
            parts = [self.value(part, (*path, str(i))) for i, part in enumerate(value)]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, Mapping):
            return self._dict(value, path)
        if isinstance(value, set):
            return {self._key(part, "the element", path) for part in value}
        if isinstance(value, (np.dtype, dtype)) and value in DTYPES.values():
            return np.dtype(value).newbyteorder("=")
        remedy = "; pass its state_dict()" if hasattr(value, "state_dict") else ""
        raise TypeError(
            f"{said(path)} is of type {type(value).__name__}; what can be saved are tensors, "
            f"arrays, numbers, strings, bytes, bools, None, dtypes, and dicts, lists, tuples and "
            f"sets of them{remedy}"
        )

    def _tensor(self, value: Tensor | np.ndarray, path: tuple[str, ...]) -> Stored:
        if id(value) not in self.tensors:
            tensor = value if isinstance(value, Tensor) else None
            array = value if isinstance(value, np.ndarray) else value._data
            if not storable(array.dtype):
                raise TypeError(
                    f"{said(path)} has dtype {array.dtype}: bools, integers and floats of up to "
                    f"64 bits are saved"
                )
            trained = tensor is not None and tensor.requires_grad
            self.tensors[id(value)] = Stored(array, trained, isinstance(value, Parameter))
            self.alive.append(value)
        return self.tensors[id(value)]

    def _dict(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> dict[Any, Any]:
        pairs = [
            (self._key(key, "the key", path), self.value(part, (*path, str(key))))
            for key, part in value.items()
        ]
        if not isinstance(value, OrderedDict):
            return dict(pairs)
        ordered = OrderedDict(pairs)
        if "_metadata" in vars(value):  # of a state dict of PyTorch
            metadata = self.value(vars(value)["_metadata"], (*path, "_metadata"))
            vars(ordered)["_metadata"] = metadata
        return ordered

    def _key(self, key: Any, what: str, path: tuple[str, ...]) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > LONGEST_KEY or not all(isinstance(part, ATOMS) for part in parts):
            raise TypeError(
                f"{said(path)} has {what} {key!r}: numbers, strings, bytes and short tuples of "
                f"them can be keys and elements of sets"
            )
        return self.value(key, path)


class _Pickler:
    """Writes plain values as a pickle of protocol 2, which every version of PyTorch reads.

    Source: the Python standard library, `pickletools`, which describes the opcodes.
    """

    def __init__(self) -> None:
        self.out = bytearray()
        self.memo: dict[Any, int] = {}

    def value(self, value: Any) -> None:
        """Write any plain value."""
        match value:
            case None:
                self.out += b"N"
            case bool():
                self.out += b"\x88" if value else b"\x89"
            case int():
                self._int(value)
            case float():
                self.out += b"G" + struct.pack(">d", value)
            case Device():
                self._call("torch device", str(value))
            case str():
                text = value.encode("utf-8", "surrogatepass")
                self.out += b"X" + struct.pack("<I", len(text)) + text
            case bytes():
                self._call("_codecs encode", value.decode("latin1"), "latin1")
            case tuple():
                self._tuple(*value)
            case list():
                self.out += b"]"
                self._items(value, b"e")
            case set():
                self._call("__builtin__ set", sorted(value, key=repr))
            case dict():
                self._dict(value)
            case np.dtype():
                self._global(f"torch {value.name}")
            case Stored() if id(value) in self.memo:
                self._recalled(id(value))
            case Stored():
                self._tensor(value)
                self._remembered(id(value))

    def _int(self, value: int) -> None:
        if 0 <= value < 256:
            self.out += b"K" + bytes([value])
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            content = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            length = len(content)
            self.out += (
                b"\x8a" + bytes([length]) if length < 256 else b"\x8b" + struct.pack("<i", length)
            )
            self.out += content

    def _dict(self, value: dict[Any, Any]) -> None:
        if isinstance(value, OrderedDict):
            self._call("collections OrderedDict")
        else:
            self.out += b"}"
        self._items([part for pair in value.items() for part in pair], b"u")
        if isinstance(value, OrderedDict) and "_metadata" in vars(value):
            self._dict({"_metadata": vars(value)["_metadata"]})
            self.out += b"b"

    def _items(self, values: list[Any], end: bytes) -> None:
        if values:
            self.out += MARK
            for value in values:
                self.value(value)
            self.out += end

    def _tuple(self, *values: Any) -> None:
        self.out += MARK
        for value in values:
            self.value(value)
        self.out += TUPLE

    def _call(self, name: str, *arguments: Any) -> None:
        self._global(name)
        self._tuple(*arguments)
        self.out += REDUCE

    def _global(self, name: str) -> None:
        if name in self.memo:
            self._recalled(name)
        else:
            self.out += b"c" + name.replace(" ", "\n").encode() + b"\n"
            self._remembered(name)

    def _tensor(self, tensor: Stored) -> None:
        array = tensor.array
        untyped = array.dtype in UNTYPED.values()
        if tensor.parameter:
            self._global("torch._utils _rebuild_parameter")
            self.out += MARK
        self._global(f"torch._utils _rebuild_tensor_v{3 if untyped else 2}")
        self.out += MARK
        self._storage(tensor.storage, untyped)
        for part in (tensor.start // array.itemsize, array.shape, tensor.strides()):
            self.value(part)
        self.value(tensor.requires_grad and not tensor.parameter)
        self._call("collections OrderedDict")  # no hooks
        if untyped:
            self.value(array.dtype)
        self.out += TUPLE + REDUCE
        if tensor.parameter:
            self.value(tensor.requires_grad)
            self._call("collections OrderedDict")
            self.out += TUPLE + REDUCE

    def _storage(self, storage: Storage, untyped: bool) -> None:
        self.out += MARK
        self.value("storage")
        name = "torch.storage UntypedStorage" if untyped else f"torch {STORAGE_OF[storage.dtype]}"
        self._global(name)
        count = storage.size if untyped else storage.size // storage.dtype.itemsize
        for part in (str(storage.number), "cpu", count):
            self.value(part)
        self.out += TUPLE + b"Q"

    def _remembered(self, what: Any) -> None:
        number = self.memo[what] = len(self.memo)
        self.out += b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def _recalled(self, what: Any) -> None:
        number = self.memo[what]
        self.out += b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)
