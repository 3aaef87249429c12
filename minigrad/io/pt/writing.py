"""Writing files that `torch.load` reads: the value as a pickle, and the memories of its tensors."""

import io
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cache
from typing import IO, Any, NamedTuple

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.pt.layout import Storage, Stored, storages_of
from minigrad.io.pt.storages import DTYPES, STORAGES, UNTYPED
from minigrad.io.pt.unpickler import ATOMS, DEEPEST, LONGEST_KEY
from minigrad.io.tree import said, storable
from minigrad.nn import Parameter
from minigrad.tensors.creation import Device
from minigrad.tensors.tensor import Tensor

FOLDER = "archive"
STORAGE_OF = {np.dtype(dtype): name for name, dtype in STORAGES.items()}
ALIGNMENT = 64
"""Each record begins at a multiple: so a reader can map the file into memory."""
HEADER, SIZES, PADDING = struct.Struct("<4s5H3I2H"), struct.Struct("<2H2Q"), struct.Struct("<2sH")
"""What precedes a record, beside its name: the local header, and two extra fields.

Source: PKWARE, ".ZIP file format specification", 4.3.7, 4.5.3 and 4.5.
"""


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
    out = io.BytesIO()
    _Pickler(out, 2).dump(content)
    return Packed(out.getvalue(), storages)


def write(file: IO[bytes], packed: Packed) -> None:
    """Write the records in PyTorch's order.

    Without its `.format_version`, PyTorch reads where a record is; it would compute that otherwise.
    """
    with zipfile.ZipFile(file, "w") as archive:

        def record(name: str, content: bytes | memoryview) -> None:
            info = zipfile.ZipInfo(f"{FOLDER}/{name}")  # without a time: equal values, equal files
            large = len(content) > zipfile.ZIP64_LIMIT
            start = file.tell() + HEADER.size + len(info.filename) + (SIZES.size if large else 0)
            padding = -(start + PADDING.size) % ALIGNMENT
            info.extra = PADDING.pack(b"FB", padding) + b"Z" * padding
            with archive.open(info, "w", force_zip64=large) as member:
                member.write(content)

        record("data.pkl", packed.pickle)
        record(".storage_alignment", str(ALIGNMENT).encode())
        record("byteorder", sys.byteorder.encode())
        for storage in packed.storages:
            record(f"data/{storage.number}", storage.content())
        record("version", b"3\n")
        identity = 0  # at most 40 digits, which depend on the content of each record so far
        for info in archive.infolist():
            identity = (identity * 1_000_003 + info.CRC) % 10**40
        record(".data/serialization_id", f"{identity:040d}".encode())


class Parts(NamedTuple):
    """The function that makes a value, and its arguments."""

    function: type
    arguments: tuple[Any, ...]


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


@cache
def named(module: str, name: str) -> type:
    """Something that a file names, which need not exist here: only its name is written."""
    return type(name, (), {"__module__": module})


class _Pickler(pickle._Pickler):  # its Python code, in which a name need not be importable
    """Writes plain values in protocol 2, which every version of PyTorch reads."""

    write: Callable[[bytes], Any]

    def memoize(self, obj: Any) -> None:
        """Remember tensors and names only: then equal values give equal files."""
        if isinstance(obj, (Stored, type, np.dtype)):
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
            case Device():
                return named("torch", "device"), (str(obj),)
            case Parts():
                return obj
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
