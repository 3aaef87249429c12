"""Nested values as flat arrays and a structure in JSON, and back.

In the JSON, numbers, strings, lists and dicts are written as they are. A type that JSON lacks is a
dict with a key that begins with a dollar sign::

    {"$tensor": "model.weight", "crc32": 1234567}    a Tensor with the values of that array
    {"$array": ...}, {"$scalar": ...}                the same for ndarrays and NumPy scalars
    {"$tuple": [...]}, {"$float": "inf"}
    {"$dict": [[key, value], ...]}                   a dict with keys that JSON does not allow

A state dict needs no structure: its keys are the names of the arrays.
"""

import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.io.errors import LoadError
from minigrad.tensors.tensor import Tensor

VERSION = 1
DEEPEST = 100
NAME = re.compile(r"[\w.-]{1,200}", re.ASCII)
RESERVED = "__metadata__"  # safetensors' name for its metadata


class Packed(NamedTuple):
    """A value as arrays and a structure."""

    arrays: dict[str, np.ndarray]  # the arrays by name, contiguous and little-endian
    structure: str  # the rest, as JSON
    is_state_dict: bool  # whether it is a dict of these tensors: no `structure`


def storable(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype can be saved: bools, integers, floats up to 64 bits."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def pack(value: Any) -> Packed:
    """Flatten a nested value into arrays and a structure."""
    packer = _JsonPacker()
    entry = packer.entry(value, ())
    is_state_dict = isinstance(value, Mapping) and all(
        isinstance(tensor, Tensor) and name in packer.arrays for name, tensor in value.items()
    )
    text = _canonical(entry)
    document = {"minigrad": VERSION, "crc32": zlib.crc32(text.encode()), "value": entry}
    return Packed(packer.arrays, json.dumps(document), is_state_dict)


def unpack(arrays: dict[str, np.ndarray], structure: str | None) -> Any:
    """Rebuild a value from arrays and a structure; None for a dict of tensors."""
    if structure is None:
        return {name: leaf_of(_native(name, array), False) for name, array in arrays.items()}
    try:
        document = json.loads(structure)
        if not isinstance(document, dict) or document.keys() != {"minigrad", "crc32", "value"}:
            raise LoadError("its structure was not written by minigrad")
        if document["minigrad"] != VERSION:
            raise LoadError(f"written in version {document['minigrad']!r} of the format, not 1")
        entry = document["value"]
        if zlib.crc32(_canonical(entry).encode()) != document["crc32"]:
            raise LoadError("damaged: the structure has another checksum")
        unpacker = _Unpacker(arrays)
        value = unpacker.value(entry)
    except LoadError:
        raise
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise LoadError(f"damaged: the structure is invalid ({error})") from error
    if unpacker.arrays:
        unused = ", ".join(sorted(unpacker.arrays))
        raise LoadError(f"arrays that the structure does not use: {unused}")
    return value


class Packer:
    """Makes of a nested value what a format writes; an error says where in the value it is."""

    plain: tuple[type, ...] = (int, float, str)
    """The types that are written as they are; of a subclass, the value of the type."""
    saved = "tensors, arrays, numbers, strings, bools, None, and dicts, lists and tuples of them"

    def entry(self, value: Any, path: tuple[str, ...]) -> Any:
        """What is written of a value."""
        if len(path) > DEEPEST:
            raise ValueError(f"{said(path)} is nested too deeply, or contains itself")
        if value is None or isinstance(value, bool):
            return self.atom(value)
        text = isinstance(value, (str, bytes))  # also NumPy's
        if isinstance(value, (Tensor, np.ndarray, np.generic)) and not text:
            array = value._data if isinstance(value, Tensor) else np.asarray(value)
            if not storable(array.dtype):
                wanted = "bools, integers and floats of up to 64 bits are saved"
                raise TypeError(f"{said(path)} has dtype {array.dtype}: {wanted}")
            return self.array(value, array, path)
        for kind in self.plain:
            if isinstance(value, kind):
                return self.atom(kind(value))
        if isinstance(value, (list, tuple)):
            parts = [self.entry(part, (*path, str(i))) for i, part in enumerate(value)]
            return self.list_of(parts) if isinstance(value, list) else self.tuple_of(parts)
        if isinstance(value, Mapping):
            return self.mapping(value, path)
        return self.other(value, path)

    def array(self, value: Any, array: np.ndarray, path: tuple[str, ...]) -> Any:
        """What is written of a tensor, an array or a number of NumPy."""
        raise NotImplementedError

    def atom(self, value: Any) -> Any:
        """What is written of None, a bool or a value of a plain type."""
        return value

    def list_of(self, parts: list[Any]) -> Any:
        """What is written of a list."""
        return parts

    def tuple_of(self, parts: list[Any]) -> Any:
        """What is written of a tuple."""
        raise NotImplementedError

    def mapping(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> Any:
        """What is written of a dict."""
        raise NotImplementedError

    def other(self, value: Any, path: tuple[str, ...]) -> Any:
        """What is written of a value of another type, if anything is."""
        remedy = "; pass its state_dict()" if hasattr(value, "state_dict") else ""
        what = f"{said(path)} is of type {type(value).__name__}"
        raise TypeError(f"{what}; what can be saved are {self.saved}{remedy}")


class _JsonPacker(Packer):
    """Makes JSON of a value, and collects its arrays by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.names: Counter[str] = Counter()

    def atom(self, value: Any) -> Any:
        odd = isinstance(value, float) and not math.isfinite(value)
        return {"$float": repr(value)} if odd else value

    def array(self, value: Any, array: np.ndarray, path: tuple[str, ...]) -> dict[str, Any]:
        kind = "$tensor" if isinstance(value, Tensor) else "$array"
        if isinstance(value, np.generic):
            kind = "$scalar"
        array = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        name = self._name(path)
        self.arrays[name] = array
        return {kind: name, "crc32": _checksum(array)}

    def tuple_of(self, parts: list[Any]) -> dict[str, Any]:
        return {"$tuple": parts}

    def mapping(self, value: Mapping[Any, Any], path: tuple[str, ...]) -> dict[str, Any]:
        for key in value:
            if not (key is None or isinstance(key, (str, int, float))):
                raise TypeError(f"{said(path)} has the key {key!r}: keys must be strings, numbers")
        pairs = [(key, self.entry(part, (*path, str(key)))) for key, part in value.items()]
        if all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs):
            return dict(pairs)
        return {"$dict": [[self.entry(key, path), part] for key, part in pairs]}

    def _name(self, path: tuple[str, ...]) -> str:
        name = ".".join(path)
        if not NAME.fullmatch(name) or name == RESERVED:
            name = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[-100:].strip("_") or "value"
        self.names[name] += 1
        return name if self.names[name] == 1 else f"{name}~{self.names[name]}"


class _Unpacker:
    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self.arrays = dict(arrays)  # not used yet

    def value(self, entry: Any) -> Any:
        """The value of an entry."""
        if isinstance(entry, list):
            return [self.value(part) for part in entry]
        if not isinstance(entry, dict):
            return entry
        kind = next((key for key in entry if key.startswith("$")), None)
        if kind is None:
            return {key: self.value(part) for key, part in entry.items()}
        content = entry[kind]
        match kind:
            case "$tuple":
                return tuple([self.value(part) for part in content])
            case "$dict":
                return {self.value(key): self.value(part) for key, part in content}
            case "$float":
                return float(content)
            case "$tensor":
                return leaf_of(self._array(content, entry["crc32"]), False)
            case "$array":
                return self._array(content, entry["crc32"])
            case "$scalar":
                return self._array(content, entry["crc32"])[()]
        raise LoadError(f"unknown kind of entry {kind}")

    def _array(self, name: str, checksum: int) -> np.ndarray:
        """An array, at most once: a small file that repeats a name must not use much memory."""
        if name not in self.arrays:
            raise LoadError(f"damaged: the array {name} is missing")
        array = self.arrays.pop(name)
        if _checksum(array) != checksum:
            raise LoadError(f"damaged: the array {name} has another checksum")
        return _native(name, array)


def _canonical(entry: Any) -> str:
    return json.dumps(entry, separators=(",", ":"))


def _checksum(array: np.ndarray) -> int:
    """A checksum of dtype, shape and values, against accidental damage."""
    start = zlib.crc32(f"{array.dtype.str}{array.shape}".encode())
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, start)


def _native(name: str, array: np.ndarray) -> np.ndarray:
    """The array in native byte order."""
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise LoadError(f"damaged: {name} has bools that are neither True nor False")
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=False)


def said(path: tuple[str, ...]) -> str:
    """The place of a part of a value, for messages."""
    return ".".join(path[:10]) + (" ..." if len(path) > 10 else "") if path else "the value"
