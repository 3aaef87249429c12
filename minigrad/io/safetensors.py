"""The safetensors format, which many frameworks read and write.

Its header gives the position of each array, and is checked against the size of the file before any
array is created. The structure is in the header's metadata, under "minigrad".
"""

import json
from typing import IO

import numpy as np

from minigrad.io.errors import LoadError
from minigrad.io.tree import Packed
from minigrad.support.checks import optional_package

FILES, STRUCTURE = ".safetensors files", "minigrad"
DTYPES = {
    "BOOL": "?", "F16": "<f2", "F32": "<f4", "F64": "<f8", "BF16": "<u2",
    "I8": "<i1", "I16": "<i2", "I32": "<i4", "I64": "<i8",
    "U8": "<u1", "U16": "<u2", "U32": "<u4", "U64": "<u8",
}  # fmt: skip
"""The names of dtypes in safetensors and NumPy. NumPy has no bfloat16: it is read as bits."""

LARGEST_HEADER = 100_000_000
"""Readers refuse a larger one. Older versions of the package write it all the same."""


def write(file: IO[bytes], packed: Packed) -> None:
    """Write arrays and the structure.

    State dicts get a structure too: it keeps their order, which the format changes, and checksums,
    which the format lacks.
    """
    package = optional_package(FILES, "safetensors")
    numpy = optional_package(FILES, "safetensors.numpy")
    try:
        # Not with `save_file`, which renames a file that it has not flushed.
        data = numpy.save(packed.arrays, {STRUCTURE: packed.structure})
    except package.SafetensorError as error:
        raise ValueError(f"{error}; .npz has no such limit") from error
    if int.from_bytes(data[:8], "little") > LARGEST_HEADER:
        raise ValueError("the header is too large; .npz has no such limit")
    file.write(data)


def read(file: IO[bytes]) -> tuple[dict[str, np.ndarray], str | None]:
    """The arrays by name, and the structure as JSON, or None; bfloat16 becomes float32."""
    package = optional_package(FILES, "safetensors")
    data = file.read()
    try:
        entries = package.deserialize(data)
    except package.SafetensorError as error:
        raise LoadError(f"not a safetensors file, or damaged ({error})") from error
    length = int.from_bytes(data[:8], "little")
    texts = json.loads(data[8 : 8 + length]).get("__metadata__") or {}
    del data  # the entries are copies
    return {name: _array(name, **entry) for name, entry in entries}, texts.get(STRUCTURE)


def _array(name: str, dtype: str, shape: list[int], data: bytearray) -> np.ndarray:
    if dtype not in DTYPES:
        remedy = "convert it, for example to F32, with the program that wrote it"
        raise LoadError(f"{name} has dtype {dtype}, which tensors do not support; {remedy}")
    try:
        array = np.frombuffer(data, DTYPES[dtype]).reshape(shape)
    except (OverflowError, ValueError) as error:
        raise LoadError(f"{name} has shape {shape}: {error}") from error
    if dtype == "BF16":  # the upper half of a float32
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array
