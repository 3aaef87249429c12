"""Files of `torch.save`: zip archives, and the plain pickles of PyTorch before 1.6.

An archive `weights.pt` has the members::

    weights/data.pkl     the value as a pickle; tensors name their storages
    weights/data/0 ...   the bytes of each storage
    weights/byteorder    "little" or "big"; little where it is missing
    weights/version      the version of the format

In the old format a magic number, the version, the properties of the machine, the value, and the
names of the storages follow each other as pickles. Then come the storages, each behind its length.

Source: the documentation of PyTorch, "Serialization semantics".
"""

import io
import re
import struct
from collections import OrderedDict
from typing import IO, Any

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.io.archive import Archive, opened, size_of
from minigrad.io.errors import LoadError
from minigrad.io.pt.storages import BFLOAT16, DTYPES, STORAGES, Kind, Storage, Tensors
from minigrad.io.pt.unpickler import Function, Room, Unpickler, key
from minigrad.tensors.creation import Device

NEWEST = 10
MAGIC = 0x1950A86A20F9469CFC6C
OLD_VERSION = 1001
REMEDIES = [
    (r"builtins\.complex|torch\.[Cc]omplex\w+", "there are no complex numbers here: save .real "
     "and .imag"),
    (r"torch\._utils\._rebuild_sparse\w+|torch\.serialization\._get_layout", "for a sparse tensor "
     "save tensor.to_dense()"),
    (r"torch\._utils\._rebuild_qtensor|torch\.q\w+|torch\.Q\w+", "for a quantized tensor save "
     "tensor.dequantize()"),
    (r"torch\._utils\._rebuild_nested_tensor", "of a nested tensor save the list of its parts"),
    (r"torch\.float\w+", "NumPy has no such dtype: save tensor.float()"),
    (r"numpy\.\w+(\.\w+)*", "save torch.from_numpy(array), or a number of Python"),
    (r"torch\._tensor\._rebuild_from_type_v2|torch\._utils\._rebuild_parameter_with_state",
     "save a tensor without attributes of its own: tensor.detach()"),
    (r"torch\.\w+\.\w+.*", "save the state_dict() of a module, not the module"),
]  # fmt: skip
WIDEN = 'float32 holds its values, in twice the memory: minigrad.load(path, bfloat16="float32")'


def read(file: IO[bytes], bfloat16: str | None) -> Any:
    """The value in a file."""
    size = size_of(file)
    start = file.read(4)
    file.seek(0)
    return (_read_archive if start == b"PK\3\4" else _read_old)(file, size, bfloat16)


class _Reader:
    """The storages and tensors of a file."""

    def __init__(self, size: int, bfloat16: str | None) -> None:
        self.room, self.widens = Room(size), bfloat16 == "float32"
        self.bytes_left = size
        self.tensors = Tensors(size)
        self.storages: dict[str, Storage] = {}
        self.allowed = self._allowed()

    def unpickled(self, file: IO[bytes]) -> Any:
        """The value of one pickle; the file is then behind it."""
        return Unpickler(file, self.allowed, self._storage, self._refusal, self.room).load()

    def _allowed(self) -> dict[str, Any]:
        tensors = self.tensors
        allowed: dict[str, Any] = {f"torch.{name}": dtype(name) for name in DTYPES}
        kinds = {**STORAGES, "BFloat16Storage": BFLOAT16}
        for module in ("torch", "torch.cuda"):
            allowed |= {f"{module}.{name}": Kind(dtype) for name, dtype in kinds.items()}
        if self.widens:
            allowed["torch.bfloat16"] = dtype("float32")
        return {
            **allowed,
            "torch.storage.UntypedStorage": Kind(None),
            "torch._utils._rebuild_tensor": Function(tensors.rebuild),
            "torch._utils._rebuild_tensor_v2": Function(tensors.rebuild),
            "torch._utils._rebuild_tensor_v3": Function(tensors.rebuild_untyped),
            "torch._utils._rebuild_parameter": Function(tensors.parameter),
            "torch.Size": Function(_size),
            "torch.device": Function(_device),
            "collections.OrderedDict": Function(_ordered),
            "builtins.set": Function(lambda items: {key(item) for item in items}),
            "builtins.bytes": Function(lambda: b""),
            "_codecs.encode": Function(_encoded),
        }

    def _refusal(self, name: str) -> str:
        if name == "torch.bfloat16":
            return f", a dtype that NumPy lacks; {WIDEN}"
        remedy = next((said for names, said in REMEDIES if re.fullmatch(names, name)), None)
        return f"; {remedy}" if remedy else ", which nothing may ask for; nothing was run"

    def _storage(self, identity: Any) -> Storage:
        """The storage that a pickle names."""
        _, kind, name, _, count, *views = identity
        if identity[0] != "storage" or type(name) is not str or any(views):
            raise LoadError("its storages are not described as PyTorch 0.4 and later do it")
        if not isinstance(kind, Kind) or type(count) is not int or count < 0:
            raise LoadError(f"damaged: storage {name} has no type, or no size")
        if kind.name == BFLOAT16 and not self.widens:
            raise LoadError(f"it has tensors of bfloat16, which NumPy lacks; {WIDEN}")
        known = self.storages.get(name)
        if known is None:
            size = count * kind.itemsize
            self._check_size(name, size)
            self.bytes_left -= size
            if self.bytes_left < 0:
                raise LoadError(
                    f"damaged: storage {name} claims {size:,} bytes, more than the file has"
                )
            known = self.storages[name] = Storage(kind, count)
        elif (known.kind.name, known.count) != (kind.name, count):
            raise LoadError(f"damaged: storage {name} is described in two ways")
        return known

    def _check_size(self, name: str, size: int) -> None:
        """Refuse a storage for which the file has another number of bytes."""

    def finish(self, byteorder: str) -> None:
        """Complete the tensors: all storages have been read."""
        for name, storage in self.storages.items():
            storage.finish(name, byteorder)
        self.tensors.finish()


class _ArchiveReader(_Reader):
    def __init__(self, size: int, bfloat16: str | None, archive: Archive) -> None:
        super().__init__(size, bfloat16)
        self.archive = archive
        self.folder = next(iter(archive.members), "").partition("/")[0]

    def member(self, name: str) -> str:
        """The full name of a member."""
        return f"{self.folder}/{name}"

    def has(self, name: str) -> bool:
        """Whether there is such a member."""
        return self.member(name) in self.archive.members

    def _check_size(self, name: str, size: int) -> None:
        if not self.has(f"data/{name}"):
            raise LoadError(f"damaged: storage {name} is missing")
        there = self.archive.members[self.member(f"data/{name}")].file_size
        if there != size:
            raise LoadError(
                f"damaged: storage {name} should have {size:,} bytes, but has {there:,}"
            )

    def value(self) -> Any:
        """The value of the archive."""
        if self.has("constants.pkl"):
            raise LoadError("it holds a program (torch.jit.save); save a state_dict()")
        if not self.has("data.pkl") or not self.has("version"):
            raise LoadError("a zip archive, but not of torch.save")
        version = self.archive.read(self.member("version")).strip()
        if not version.isdigit() or not 0 < int(version[:9]) <= NEWEST:
            raise LoadError(f"version {version[:9]!r} of the format, 1 to {NEWEST} are known")
        byteorder = "little"
        if self.has("byteorder"):
            byteorder = self.archive.read(self.member("byteorder")).decode()
        if byteorder not in ("little", "big"):
            raise LoadError(f"damaged: its byte order is {byteorder!r}")
        value = self.unpickled(io.BytesIO(self.archive.read(self.member("data.pkl"))))
        for name, storage in self.storages.items():
            self.archive.read_into(self.member(f"data/{name}"), storage.content)
        self.finish(byteorder)
        return value


def _read_archive(file: IO[bytes], size: int, bfloat16: str | None) -> Any:
    advice = "load it with PyTorch and save a state_dict()"
    with opened(file, "a pt file", advice) as archive:
        return _ArchiveReader(size, bfloat16, archive).value()


def _read_old(file: IO[bytes], size: int, bfloat16: str | None) -> Any:
    """A file of PyTorch before 1.6; its bytes are little-endian on every machine."""
    data = file.read()
    if data[257:262] == b"ustar":
        raise LoadError("a tar file of PyTorch before 0.1.10; load it with PyTorch and save it")
    if data[:1] != b"\x80":
        raise LoadError("not a pt file: neither a zip archive nor a pickle")
    reader, content = _Reader(size, bfloat16), io.BytesIO(data)
    magic = reader.unpickled(content)
    if magic != MAGIC or reader.unpickled(content) != OLD_VERSION:
        raise LoadError("a pickle, but not of torch.save")
    reader.unpickled(content)  # the sizes of C's types
    value = reader.unpickled(content)
    names = reader.unpickled(content)
    if type(names) is not list or {*map(key, names)} != reader.storages.keys():
        raise LoadError("damaged: its storages are not those that its tensors need")
    at = content.tell()
    for name in names:
        storage = reader.storages[name]
        count, at = data[at : at + 8], at + 8 + storage.size
        if count != struct.pack("<q", storage.count) or at > len(data):
            raise LoadError(f"damaged: storage {name} has another size, or is cut off")
        storage.content[:] = np.frombuffer(data, np.uint8, storage.size, at - storage.size)
    if at != len(data):
        raise LoadError("damaged: bytes were added at its end")
    reader.finish("little")
    return value


def _size(lengths: Any) -> tuple[int, ...]:
    if type(lengths) is not tuple or not all(type(n) is int for n in lengths):
        raise LoadError("damaged: a torch.Size holds something else than lengths")
    return lengths


def _device(kind: Any, _index: Any = None) -> Device:
    if kind not in ("cpu", "cuda"):
        raise LoadError(f"it holds a device of type {kind!r}: cpu and cuda are read, as cpu")
    return Device("cpu")


def _ordered(pairs: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((key(name), value) for name, value in pairs)


def _encoded(text: Any, encoding: Any) -> bytes:
    if type(text) is not str or encoding != "latin1":
        raise LoadError(f"it asks for the encoding {encoding!r}; bytes are latin1")
    return text.encode("latin1")
