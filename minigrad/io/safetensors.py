"""The format of the package safetensors, which many frameworks read and write.

Its header says where each array lies, and is compared with the size of the file before anything is
read. What stands beside the arrays is in the header's texts, under "minigrad".
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np

from minigrad.io.errors import LoadError
from minigrad.io.tree import Packed

STRUCTURE = "minigrad"
DTYPES = {
    "BOOL", "F16", "F32", "F64", "I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64",
}  # fmt: skip


def write(path: Path, packed: Packed) -> None:
    """Write arrays, and what stands beside them.

    That is written for state dicts too: it has their order, which the format changes, and
    checksums, which the format lacks.

    Raises:
        ValueError: There is more of it than the format's header can hold, 100 MB.
    """
    package = _package()
    try:
        # Not by its `save_file`, which writes another file, not flushed, and moves it to this name.
        data = package.numpy.save(packed.arrays, {STRUCTURE: packed.structure})
    except package.SafetensorError as error:
        raise ValueError(f"{error}; .npz has no such limit") from error
    path.write_bytes(data)


def read(path: Path) -> tuple[dict[str, np.ndarray], str | None]:
    """The arrays by name, and what stands beside them.

    Raises:
        LoadError: The file is damaged, or holds what NumPy has no dtype for.
    """
    package = _package()
    arrays: dict[str, np.ndarray] = {}
    try:
        with package.safe_open(str(path), framework="np") as file:
            structure = (file.metadata() or {}).get(STRUCTURE)
            for name in file.keys():  # noqa: SIM118  # no dict
                dtype = file.get_slice(name).get_dtype()
                if dtype not in DTYPES:
                    raise LoadError(
                        f"{name} has dtype {dtype}, which NumPy lacks or tensors do not have; "
                        f"convert it, to F32 say, where it was written"
                    )
                arrays[name] = np.require(file.get_tensor(name), requirements="W")
    except package.SafetensorError as error:
        raise LoadError(f"no safetensors file, or damaged ({error})") from error
    except ValueError as error:  # NumPy's, of a shape; and of LoadError, which is one
        raise LoadError(str(error)) from error
    return arrays, structure


def _package() -> ModuleType:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        raise ImportError(
            "files that end with .safetensors need the package safetensors: "
            "pip install safetensors"
        ) from None
    return safetensors
