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
import math
import re
import struct
import sys
import zipfile
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.autograd.dtype_class import dtype
from minigrad.io.archive import fill, opened, size_of
from minigrad.io.errors import LoadError
from minigrad.io.pt.objects import FUNCTIONS, made, name_leaves
from minigrad.io.pt.unpickler import Unpickler, key
from minigrad.nn import Module, Parameter
from minigrad.tensors.creation import Device, Size
from minigrad.tensors.tensor import Tensor

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
    (r"torch\.float\w+", "NumPy has no such dtype: save tensor.float()"),
    (r"numpy\.\w+(\.\w+)*", "save torch.from_numpy(array), or a number of Python"),
    (r"torch\._tensor\._rebuild_from_type_v2|torch\._utils\._rebuild_parameter_with_state",
     "save a tensor without attributes of its own: tensor.detach()"),
    (r"torch\.\w+\.\w+.*", "save the state_dict() of a module, not the module"),
]  # fmt: skip


STORAGES = {
    "BoolStorage": "bool", "ByteStorage": "uint8", "CharStorage": "int8", "ShortStorage": "int16",
    "IntStorage": "int32", "LongStorage": "int64", "HalfStorage": "float16",
    "FloatStorage": "float32", "DoubleStorage": "float64",
}  # fmt: skip
"""The names of typed storages, and the dtype of each."""
UNTYPED = {name: np.dtype(name) for name in ("uint16", "uint32", "uint64")}
"""The dtypes that PyTorch has no typed storage for: they are views of bytes."""
DTYPES = {name: np.dtype(name) for name in (*STORAGES.values(), *UNTYPED)}
BFLOAT16 = "bfloat16"
WIDEST = 1 << 26
"""Bytes that a tensor may have, by repeating its elements, also if the file is smaller."""


@dataclass(frozen=True)
class Kind:
    """The type of a storage: the name of its dtype, none for bytes, and the size of an element."""

    name: str | None
    itemsize: int


KINDS = {
    **{name: Kind(dtype, np.dtype(dtype).itemsize) for name, dtype in STORAGES.items()},
    "BFloat16Storage": Kind(BFLOAT16, 2),
}


class Storage:
    """A memory that several tensors may share; its content is read when all of them are known.

    Attributes:
        memory: The elements. bfloat16 is widened to float32 within this memory.
        content: The bytes into which the file is read.
    """

    def __init__(self, kind: Kind, count: int) -> None:
        self.kind, self.count = kind, count
        self.dtype = DTYPES.get("float32" if kind.name == BFLOAT16 else kind.name or "")
        self.size = count * kind.itemsize
        self.memory = np.empty(count, self.dtype or np.uint8)
        self.content = self.memory.view(np.uint8)[self.memory.nbytes - self.size :]

    def elements(self, dtype: np.dtype[Any] | None) -> np.ndarray:
        """The elements, as a dtype if it is a memory of bytes."""
        if self.dtype is None and dtype is not None:
            if self.size % dtype.itemsize:
                raise LoadError(f"damaged: {self.size} bytes are not a whole number of {dtype}")
            self.dtype, self.memory = dtype, self.memory.view(dtype)
        if self.dtype is None or dtype not in (None, self.dtype):
            raise LoadError(f"damaged: a memory of {self.dtype or 'bytes'} is read as {dtype}")
        return self.memory

    def finish(self, key: str, byteorder: str) -> None:
        """Convert the bytes of the file to elements."""
        bits = self.content.view(np.uint16) if self.kind.name == BFLOAT16 else self.memory
        if byteorder != sys.byteorder:
            bits.byteswap(inplace=True)
        if bits is not self.memory:  # the upper half of a float32
            np.left_shift(bits, 16, out=self.memory.view(np.uint32), dtype=np.uint32)
        if self.dtype == np.bool_ and (self.content > 1).any():
            raise LoadError(f"damaged: storage {key} has bools that are neither True nor False")

    def view(
        self, dtype: np.dtype[Any] | None, offset: Any, shape: Any, stride: Any, most: int
    ) -> np.ndarray:
        """A view of the elements; one that repeats them has at most so many bytes, or `WIDEST`."""
        memory = self.elements(dtype)
        whole = type(shape) is type(stride) is tuple and len(shape) == len(stride)
        if not whole or not all(type(n) is int and n >= 0 for n in (offset, *shape, *stride)):
            layout = f"offset {offset}, shape {shape} and strides {stride}"
            raise LoadError(f"damaged: a tensor has {layout}")
        reach = [(n - 1) * step for n, step in zip(shape, stride, strict=True)]
        count = math.prod(shape)
        if count and offset + sum(reach) >= len(memory):
            layout = f"shape {shape} and strides {stride} from element {offset}"
            what = f"a tensor of {layout} reaches out of its storage"
            raise LoadError(f"damaged: {what} of {len(memory):,} elements")
        if count > len(memory) and count * memory.itemsize > max(most, WIDEST):
            what = f"a tensor of shape {shape} repeats its {len(memory):,} elements"
            raise LoadError(f"{what}: it is larger than the file; save it before it is expanded")
        if not count:
            return np.empty(shape, memory.dtype)
        width = memory.itemsize
        steps = [step * width for step in stride]
        return np.ndarray(shape, memory.dtype, memory, offset * width, steps)


def read(file: IO[bytes], weights_only: bool = False) -> Any:
    """The value in a file; tensors of bfloat16, which NumPy lacks, are widened to float32.

    With `weights_only`, modules are refused.
    """
    size = size_of(file)
    start = file.read(4)
    file.seek(0)
    if start != b"PK\3\4":
        return _read_old(file.read(), weights_only)
    with opened(file, "a pt file", "load it with PyTorch and save a state_dict()") as archive:
        return _read_archive(archive, size, weights_only)


class Reader(Unpickler):
    """The value, the storages and the tensors of a file.

    Args:
        file: The open file.
        size: Its size.
        weights_only: Whether to refuse modules.
    """

    def __init__(self, file: IO[bytes], size: int, weights_only: bool) -> None:
        super().__init__(file, size)
        self.weights_only, self.bytes_left = weights_only, size
        self.storages: dict[str, Storage] = {}
        self.overlapping: list[np.ndarray] = []
        self.trained: list[Tensor] = []
        self.modules: list[Module] = []

    def find_class(self, module: str, name: str) -> Any:
        """The meaning of a name."""
        path = f"{module}.{name}".replace("__builtin__.", "builtins.", 1)
        if path not in NAMES:
            remedy = next((said for names, said in REMEDIES if re.fullmatch(names, path)), None)
            why = f"; {remedy}" if remedy else ", which nothing may ask for; nothing was run"
            raise LoadError(f"it asks for {path if path.isprintable() else ascii(path)}{why}")
        return NAMES[path]

    def persistent_load(self, pid: Any) -> Storage:
        """The storage that a pickle names."""
        _, kind, name, _, count, *views = pid
        if pid[0] != "storage" or type(name) is not str or any(views):
            raise LoadError("its storages are not described as PyTorch 0.4 and later do it")
        if not isinstance(kind, Kind) or type(count) is not int or count < 0:
            raise LoadError(f"damaged: storage {name} has no type, or no size")
        known = self.storages.get(name)
        if known is None:
            self.bytes_left -= count * kind.itemsize
            if self.bytes_left < 0:
                raise LoadError(f"damaged: storage {name} claims more bytes than the file has")
            known = self.storages[name] = Storage(kind, count)
        elif (known.kind, known.count) != (kind, count):
            raise LoadError(f"damaged: storage {name} is described in two ways")
        return known

    def rebuild(
        self, storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any = False,
        hooks: Any = None, metadata: Any = None, *, dtype: np.dtype[Any] | None = None,
    ) -> Tensor:  # fmt: skip
        """`torch._utils._rebuild_tensor_v2`: a view of a storage."""
        if not isinstance(storage, Storage):
            raise LoadError("damaged: a tensor is not a view of a storage")
        _no_more(hooks, "hooks")
        _no_more(metadata, "the marks of a conjugate or negative view: save resolve_neg() of it")
        array = storage.view(dtype, offset, shape, stride, self.size)
        end = 0  # the last element that the axes of smaller strides reach
        for step, n in sorted(zip(stride, shape, strict=True)):
            if n > 1 and step <= end and array.size:
                self.overlapping.append(array)
                break
            end += (n - 1) * step
        return self._training(leaf_of(array, False), requires_grad)

    def rebuild_untyped(
        self, storage: Any, offset: Any, shape: Any, stride: Any, requires_grad: Any, hooks: Any,
        dtype: Any, metadata: Any = None,
    ) -> Tensor:  # fmt: skip
        """`torch._utils._rebuild_tensor_v3`: a view of bytes."""
        if dtype not in UNTYPED.values():
            raise LoadError(f"damaged: bytes are read as {dtype}")
        return self.rebuild(
            storage, offset, shape, stride, requires_grad, hooks, metadata, dtype=np.dtype(dtype)
        )

    def parameter(self, data: Any, requires_grad: Any, hooks: Any) -> Tensor:
        """`torch._utils._rebuild_parameter`."""
        if not isinstance(data, Tensor):
            raise LoadError("damaged: a parameter is not a tensor")
        _no_more(hooks, "hooks")
        parameter = Parameter.__new__(Parameter)
        parameter._data = data._data
        return self._training(parameter, requires_grad)

    def object(self, where: Any, name: Any, state: Any) -> Any:
        """An object of a class of the program."""
        if self.weights_only:
            remedy = "pass weights_only=False, no code of the file runs"
            raise LoadError(f"it holds an object of class {where}.{name}: {remedy}")
        value = made(where, name, state)
        if isinstance(value, Module):
            self.modules.append(value)
        return value

    def function(self, name: Any) -> Any:
        """A function of `minigrad.nn.functional`."""
        if name not in FUNCTIONS:
            raise LoadError(f"it asks for the function {name!r}, which is not here")
        return FUNCTIONS[name]

    def _training(self, tensor: Tensor, requires_grad: Any) -> Tensor:
        if type(requires_grad) is not bool or (requires_grad and tensor._data.dtype.kind != "f"):
            raise LoadError(f"damaged: a tensor of {tensor._data.dtype} requires a gradient")
        if requires_grad:
            self.trained.append(tensor)
        return tensor

    def finish(self, byteorder: str) -> None:
        """Complete the tensors: the bytes of all storages have been read."""
        for name, storage in self.storages.items():
            storage.finish(name, byteorder)
        for array in self.overlapping:
            array.flags.writeable = False
        copied = 0
        for tensor in self.trained:  # one that repeats its elements gets memory of its own
            copied += 0 if tensor._data.flags.writeable else tensor._data.nbytes
            if copied > max(self.size, WIDEST):
                raise LoadError("its parameters repeat their elements: they are larger than it is")
            tensor.requires_grad = True
        for module in self.modules:
            name_leaves(module)


def _read_archive(archive: zipfile.ZipFile, size: int, weights_only: bool) -> Any:
    folder = next(iter(archive.namelist()), "").partition("/")[0] + "/"
    sizes = {
        member.filename.removeprefix(folder): member.file_size
        for member in archive.infolist() if member.filename.startswith(folder)
    }  # fmt: skip
    if "constants.pkl" in sizes:
        raise LoadError("it holds a program (torch.jit.save); save a state_dict()")
    if "data.pkl" not in sizes or "version" not in sizes:
        raise LoadError("a zip archive, but not of torch.save")
    version = archive.read(f"{folder}version").strip()
    if not version.isdigit() or not 0 < int(version[:9]) <= NEWEST:
        raise LoadError(f"version {version[:9]!r} of the format, 1 to {NEWEST} are known")
    byteorder = archive.read(f"{folder}byteorder").decode() if "byteorder" in sizes else "little"
    if byteorder not in ("little", "big"):
        raise LoadError(f"damaged: its byte order is {byteorder!r}")
    content = io.BytesIO(archive.read(f"{folder}data.pkl"))
    reader = Reader(content, size, weights_only)
    value = reader.load()
    for name, storage in reader.storages.items():
        there = sizes.get(f"data/{name}", 0)
        if there != storage.size:
            lengths = f"should have {storage.size:,} bytes, but has {there:,}"
            raise LoadError(f"damaged: storage {name} {lengths}")
        with archive.open(f"{folder}data/{name}") as record:
            fill(record, storage.content, name)
    reader.finish(byteorder)
    return value


def _read_old(data: bytes, weights_only: bool) -> Any:
    """A file of PyTorch before 1.6; its bytes are little-endian on every machine."""
    if data[:1] != b"\x80":
        raise LoadError("not a pt file: neither a zip archive nor a pickle")
    content = io.BytesIO(data)
    reader = Reader(content, len(data), weights_only)
    if reader.load() != MAGIC or reader.load() != OLD_VERSION:
        raise LoadError("a pickle, but not of torch.save")
    reader.load()  # the sizes of C's types
    value = reader.load()
    names = reader.load()
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


def _no_more(value: Any, what: str) -> None:
    """Refuse what a tensor has beside its values."""
    if value is not None and not (isinstance(value, dict) and len(value) == 0):
        raise LoadError(f"a tensor has {what}, which are not supported")


def _size(_reader: Any, lengths: Any) -> Size:
    if type(lengths) is not tuple or not all(type(n) is int for n in lengths):
        raise LoadError("damaged: a torch.Size holds something else than lengths")
    return Size(lengths)


def _device(_reader: Any, kind: Any, _index: Any = None) -> Device:
    if kind not in ("cpu", "cuda"):
        raise LoadError(f"it holds a device of type {kind!r}: cpu and cuda are read, as cpu")
    return Device("cpu")


def _ordered(_reader: Any, pairs: Any = ()) -> OrderedDict[Any, Any]:
    return OrderedDict((key(name), value) for name, value in pairs)


def _counter(_reader: Any, counts: Any) -> Counter[Any]:
    if type(counts) is not dict or not all(type(n) is int for n in counts.values()):
        raise LoadError("damaged: a Counter holds something else than counts")
    return Counter(counts)


def _encoded(_reader: Any, text: Any, encoding: Any) -> bytes:
    if type(text) is not str or encoding != "latin1":
        raise LoadError(f"it asks for the encoding {encoding!r}; bytes are latin1")
    return text.encode("latin1")


NAMES: dict[str, Any] = {
    **{f"torch.{name}": dtype(name) for name in DTYPES},
    **{f"torch.{name}": kind for name, kind in KINDS.items()},
    **{f"torch.cuda.{name}": kind for name, kind in KINDS.items()},
    f"torch.{BFLOAT16}": dtype("float32"),
    "torch.storage.UntypedStorage": Kind(None, 1),
    "torch._utils._rebuild_tensor": Reader.rebuild,
    "torch._utils._rebuild_tensor_v2": Reader.rebuild,
    "torch._utils._rebuild_tensor_v3": Reader.rebuild_untyped,
    "torch._utils._rebuild_parameter": Reader.parameter,
    "minigrad.io.object": Reader.object,
    "minigrad.io.function": Reader.function,
    "torch.Size": _size,
    "torch.device": _device,
    "collections.OrderedDict": _ordered,
    "collections.Counter": _counter,
    "builtins.set": lambda _reader, items: {*map(key, items)},
    "builtins.bytes": lambda _reader: b"",
    "_codecs.encode": _encoded,
}
"""The meaning of each name that a pickle may have."""
