"""`save` and `load`: one value, one file."""

import os
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from minigrad.io import npz, pt, safetensors
from minigrad.io.errors import LoadError
from minigrad.io.tree import pack, unpack
from minigrad.support.files import remove_unfinished, replacing, written_by

FORMATS = {".npz": npz, ".safetensors": safetensors, ".pt": pt, ".pth": pt}
POINTER = b"version https://git-lfs.github.com/"
LONGEST = 300


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write a state dict, or any nested value, into a file.

    The write is atomic: the old file stays until the new one is completely on the disk. If a save
    is killed, the next save or load of this path removes its temporary file. Where the path is a
    link, the file that it leads to is replaced, and the link stays. A state dict is written under
    its own names, so other programs can read it. ``torch.load`` reads what is written to a path
    that ends with ``.pt`` or ``.pth``.

    Args:
        obj: Tensors, ndarrays, numbers, strings, bools and None; dicts, lists and tuples of
            them. Only the values of tensors are saved. An object that occurs several times is saved
            each time. A ``.pt`` file takes bytes, sets and dtypes too. It keeps what requires a
            gradient, what is a parameter, strides, and which tensors share memory; ndarrays come
            back as tensors, NumPy's scalars as numbers.
        path: A path that ends with ``.npz``, ``.pt``, ``.pth`` or ``.safetensors`` (extra
            ``safetensors``).

    Raises:
        OSError: It cannot be written, or the path leads to something other than a regular file,
            such as a folder, a named pipe or a device; what was there is unchanged.
        TypeError: Something in `obj` cannot be saved; the message says where.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn
        >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.npz")
        >>> model, other = nn.Linear(2, 3), nn.Linear(2, 3)
        >>> minigrad.save(model.state_dict(), path)
        >>> other.load_state_dict(minigrad.load(path))
        Differences(missing_keys=[], unexpected_keys=[])
    """
    path = _path("save", path)
    write_file(obj, path, _format("save", path))


def write_file(obj: Any, path: Path, form: ModuleType) -> None:
    """Save in a format, whatever the path ends with."""
    try:
        packed = pt.pack(obj) if form is pt else pack(obj)
        with written_by("save", path), replacing(path) as unfinished:
            form.write(unfinished, packed)
    except TypeError as error:
        raise TypeError(f"save: {path}: {error}") from error
    except ValueError as error:
        raise ValueError(f"save: {path}: {error}") from error


def load(path: str | os.PathLike[str], *, bfloat16: Literal["float32"] | None = None) -> Any:
    """Load a file written by `save`, `np.savez` or `torch.save`, or a safetensors file.

    No code from a file is run, and no array can be larger than the file. The whole file is checked
    before anything is returned. PyTorch is not needed.

    Args:
        path: A path that ends with ``.npz``, ``.pt``, ``.pth`` or ``.safetensors`` (extra
            ``safetensors``).
        bfloat16: "float32" to widen tensors of bfloat16, which NumPy lacks, in a ``.pt`` file. Of a
            ``.safetensors`` file they are always widened.

    Returns:
        The value. A file that minigrad did not write gives a dict of tensors by name. Subclasses of
        tuple, dict and numbers come back as the plain type. A ``.pt`` file gives what was saved:
        tensors, parameters and containers; tensors that shared memory share it. A ``torch.Size`` is
        a tuple, and each device the CPU.

    Raises:
        LoadError: The file is damaged, or holds something unsupported.
        OSError: It does not exist or cannot be read.
        ValueError: The path ends with another suffix, or `bfloat16` is another dtype.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.npz")
        >>> minigrad.save({"step": 3, "scores": [0.5, None], "x": minigrad.ones(2)}, path)
        >>> minigrad.load(path)
        {'step': 3, 'scores': [0.5, None], 'x': Tensor([1., 1.], dtype=float32)}
    """
    path = _path("load", path)
    return read_file(path, _format("load", path), bfloat16)


def read_file(path: Path, form: ModuleType, bfloat16: Any = None) -> Any:
    """Load from a format, whatever the path ends with."""
    if bfloat16 not in (None, "float32"):
        raise ValueError(f'load: bfloat16="float32" or None expected, got {bfloat16!r}')
    remove_unfinished(path)
    path.stat()  # a missing file is not a damaged one
    try:
        if not path.is_file():
            raise LoadError("no file")
        with path.open("rb") as file:
            if file.read(len(POINTER)) == POINTER:
                raise LoadError("it is a pointer of Git LFS, not the file: run `git lfs pull`")
        return pt.read(path, bfloat16) if form is pt else unpack(*form.read(path))
    except LoadError as error:
        why = str(error)  # it may quote much of the file
        brief = why if len(why) <= LONGEST else f"{why[:LONGEST]} ..."
        raise LoadError(f"load: {path}: {brief}") from error.__cause__


def _path(name: str, path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"{name}: a path such as 'model.npz' expected, got {type(path).__name__}: the ending "
            f"says the format"
        )
    return Path(path)


def _format(name: str, path: Path) -> ModuleType:
    form = FORMATS.get(path.suffix.lower())
    if form is None and path.name.lower() in FORMATS:
        raise ValueError(f"{name}: {path} has no name before the ending")
    if form is None and path.is_dir():
        raise ValueError(f"{name}: {path} is a folder; name a file in it, such as {path}/model.npz")
    if form is None and path.suffix.lower() == ".npy":
        raise ValueError(f"{name}: {path} is one array: np.load and np.save are for that")
    if form is None:
        raise ValueError(
            f"{name}: {path} ends with none of {', '.join(FORMATS)}: that says the format. Other "
            f"pickled files (.pkl) are not used here, because loading one can run anything"
        )
    return form
