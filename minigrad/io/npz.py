"""NumPy's npz format: a zip archive with one npy member for each array.

Files of `np.savez` are read too. Compressed members are refused: so arrays never need more memory
than the size of the file, whatever the file claims.
"""

import ast
import math
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from minigrad.io.errors import LoadError
from minigrad.io.tree import Packed, storable

STRUCTURE = "minigrad.json"
MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
CHUNK = 1 << 20
END = struct.Struct("<4s6xHIIH")
"""The end record: signature, number of members, length and start of their directory, and the length
of a comment."""


def write(path: Path, packed: Packed) -> None:
    """Write arrays, and the structure unless the value is a state dict."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in packed.arrays.items():
            # An explicit ZipInfo has no time stamp, so equal values make equal files.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        if not packed.is_state_dict:
            archive.writestr(zipfile.ZipInfo(STRUCTURE), packed.structure)


def read(path: Path) -> tuple[dict[str, np.ndarray], str | None]:
    """The arrays by name, and the structure as JSON, or None."""
    with open(path, "rb") as file:
        try:
            return _read(
                file, os.fstat(file.fileno()).st_size
            )  # of the open file: the path may be replaced
        except LoadError:
            raise
        except zipfile.BadZipFile as error:
            raise LoadError(f"not an npz file ({error})") from error
        # zipfile's errors for an inconsistent archive
        except (
            ArithmeticError, EOFError, LookupError, NotImplementedError, OSError, RuntimeError,
            ValueError, struct.error, zlib.error,
        ) as error:  # fmt: skip
            raise LoadError(f"damaged ({type(error).__name__}: {error})") from error


def _read(file: IO[bytes], size: int) -> tuple[dict[str, np.ndarray], str | None]:
    arrays: dict[str, np.ndarray] = {}
    structure = None
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check(members, size)
        _check_end(file, size, len(members))
        for member in members:
            with archive.open(member) as content:
                if member.filename == STRUCTURE:
                    structure = content.read().decode()
                else:
                    name = member.filename.removesuffix(".npy")
                    arrays[name] = _array(content, member.file_size, name)
    return arrays, structure


def _check(members: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse, before allocating, an archive that would need more memory than its size."""
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            raise LoadError(
                f"{member.filename} is compressed, so its size is not bounded by the file's; if "
                f"you trust the file, read it with np.load and write it with minigrad.save"
            )
        if member.file_size != member.compress_size:
            raise LoadError(f"damaged: {member.filename} has two different sizes")
        if not member.filename.endswith(".npy") and member.filename != STRUCTURE:
            raise LoadError(f"{member.filename} is not an array")
    claimed = sum(member.file_size for member in members)
    if claimed > size:
        raise LoadError(f"damaged: {claimed:,} bytes claimed, the file has {size:,}")
    if len({member.filename for member in members}) < len(members):
        raise LoadError("damaged: two members have the same name")


def _check_end(file: IO[bytes], size: int, count: int) -> None:
    """Check the end record, because zipfile accepts wrong ones.

    If a length in the directory is wrong, zipfile takes the entries after it for a comment. If the
    length of the directory is wrong, it takes members for data before the archive.

    Source: PKWARE, ".ZIP file format specification", 4.3.16, end of central directory record.
    """
    file.seek(-END.size, os.SEEK_END)
    signature, counted, length, start, comment = END.unpack(file.read(END.size))
    if signature != b"PK\5\6" or comment:
        raise LoadError("damaged: bytes missing or added at the end")
    if counted != min(count, 0xFFFF):
        raise LoadError(f"damaged: {counted} members expected, {count} found")
    if (
        start < 0xFFFFFFFF and start + length + END.size != size
    ):  # else a ZIP64 record has the sizes
        raise LoadError("damaged: its directory is not where it should be")


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
    rest = data.data
    while rest:
        count = content.readinto(rest[:CHUNK])  # type: ignore[attr-defined]
        if not count:
            raise LoadError(f"damaged: {name} ends too early")
        rest = rest[count:]
    flat = data.view(header.dtype)
    if header.fortran_order:
        return flat.reshape(header.shape[::-1]).transpose()
    return flat.reshape(header.shape)
