"""NumPy's npz format: a zip archive with one npy member for each array.

Files of `np.savez` are read too.
"""

import ast
import math
import struct
import zipfile
from typing import IO, Any, NamedTuple

import numpy as np

from minigrad.io.archive import fill, opened
from minigrad.io.errors import LoadError
from minigrad.io.tree import Packed, storable

STRUCTURE = "minigrad.json"
MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000


def write(file: IO[bytes], packed: Packed) -> None:
    """Write arrays, and the structure unless the value is a state dict."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in packed.arrays.items():
            # An explicit ZipInfo has no time stamp, so equal values make equal files.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        if not packed.is_state_dict:
            archive.writestr(zipfile.ZipInfo(STRUCTURE), packed.structure)


def read(file: IO[bytes]) -> tuple[dict[str, np.ndarray], str | None]:
    """The arrays by name, and the structure as JSON, or None."""
    arrays: dict[str, np.ndarray] = {}
    structure = None
    advice = "read it with np.load and write it with minigrad.save"
    with opened(file, "an npz file", advice) as archive:
        for name in archive.members:
            if not name.endswith(".npy") and name != STRUCTURE:
                raise LoadError(f"{name} is not an array")
        for name, member in archive.members.items():
            if name == STRUCTURE:
                structure = archive.read(name).decode()
            else:
                with archive.archive.open(member) as content:
                    name = name.removesuffix(".npy")
                    arrays[name] = _array(content, member.file_size, name)
    return arrays, structure


class _Header(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran_order: bool
    length: int
    """The number of bytes before the data."""


def _header(content: IO[bytes], name: str) -> _Header:
    """Read the header of an npy member.

    Source: NumPy's reference, `numpy.lib.format`.
    """
    magic, version = content.read(6), content.read(2)
    if magic != MAGIC or version not in (b"\1\0", b"\2\0"):
        raise LoadError(f"damaged: {name} is not an npy array")
    width = "<H" if version == b"\1\0" else "<I"
    (length,) = struct.unpack(width, content.read(struct.calcsize(width)))
    if length > LONGEST_HEADER:
        raise LoadError(f"damaged: the header of {name} has {length} bytes")
    try:
        fields = ast.literal_eval(content.read(length).decode("latin1").strip())
        descr, order, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        if not (isinstance(descr, str) and isinstance(order, bool) and isinstance(shape, tuple)):
            raise TypeError("not a plain array")
        dtype = np.dtype(descr)
        if not all(type(n) is int and n >= 0 for n in shape):  # True is an int too
            raise TypeError("not a shape")
    except (KeyError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        raise LoadError(
            f"the header of {name} does not describe a numeric array ({error})"
        ) from error
    if not storable(dtype):
        raise LoadError(f"{name} has dtype {dtype}; only bools, ints and floats are supported")
    return _Header(dtype, shape, order, 8 + struct.calcsize(width) + length)


def _array(content: IO[bytes], size: int, name: str) -> np.ndarray:
    """Read a member of `size` bytes; at its end zipfile checks the checksum."""
    header = _header(content, name)
    claimed, there = math.prod(header.shape) * header.dtype.itemsize, size - header.length
    if claimed != there:
        raise LoadError(f"damaged: {name} should have {claimed:,} bytes, but has {there:,}")
    data = np.empty(there, np.uint8)
    fill(content, data, name)
    flat = data.view(header.dtype)
    if header.fortran_order:
        return flat.reshape(header.shape[::-1]).transpose()
    return flat.reshape(header.shape)
