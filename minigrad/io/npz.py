"""NumPy's npz format: a zip archive with one npy member for each array.

Files of `np.savez` are read too.
"""

import math
import tokenize
import zipfile
from typing import IO

import numpy as np

from minigrad.io.archive import fill, opened
from minigrad.io.errors import LoadError
from minigrad.io.tree import Packed, storable

STRUCTURE = "minigrad.json"
LONGEST_HEADER = 1_000
HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""NumPy's functions that read a header, by the version of the format."""


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
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if member.filename == STRUCTURE:
                structure = archive.read(member).decode()
            elif name == member.filename:
                raise LoadError(f"{name} is not an array")
            else:
                with archive.open(member) as content:
                    arrays[name] = _array(content, member.file_size, name)
    return arrays, structure


def _array(content: IO[bytes], size: int, name: str) -> np.ndarray:
    """Read a member of `size` bytes; at its end zipfile checks the checksum."""
    try:
        header = HEADERS[np.lib.format.read_magic(content)]
        shape, fortran_order, dtype = header(content, max_header_size=LONGEST_HEADER)
    except (
        LookupError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError,
        tokenize.TokenError,
    ) as error:  # fmt: skip
        raise LoadError(f"damaged: {name} is not an npy array ({error})") from error
    if not storable(dtype):
        raise LoadError(f"{name} has dtype {dtype}; only bools, ints and floats are supported")
    if not all(type(n) is int and n >= 0 for n in shape):  # True is an int too
        raise LoadError(f"damaged: {name} has shape {shape}")
    claimed, there = math.prod(shape) * dtype.itemsize, size - content.tell()
    if claimed != there:
        raise LoadError(f"damaged: {name} should have {claimed:,} bytes, but has {there:,}")
    data = np.empty(there, np.uint8)
    fill(content, data, name)
    return data.view(dtype).reshape(shape, order="F" if fortran_order else "C")
