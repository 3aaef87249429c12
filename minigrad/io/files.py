"""`save` and `load`: one value, one file."""

import errno
import io
import os
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from minigrad.io import npz, pt, safetensors
from minigrad.io.archive import opened
from minigrad.io.errors import LoadError
from minigrad.io.tree import pack, unpack
from minigrad.support.checks import on_cpu
from minigrad.support.files import remove_unfinished, replacing, written_by

FORMATS = {".npz": npz, ".safetensors": safetensors, ".pt": pt, ".pth": pt}
POINTER = b"version https://git-lfs.github.com/"
LONGEST = 300


Place = str | os.PathLike[str] | IO[bytes]


def save(
    obj: Any, f: Place, pickle_module: Any = None, pickle_protocol: int = 2,  # noqa: ARG001
    _use_new_zipfile_serialization: bool = True,
) -> None:  # fmt: skip
    """Write a state dict, a module, or any nested value, into a file.

    The format is PyTorch's, which ``torch.load`` reads, but for a path that ends with ``.npz`` or
    ``.safetensors``. A state dict is written under its own names, so other programs can read it.

    The write is atomic: the old file stays until the new one is completely on the disk. If a save
    is killed, a save or load of this path an hour later removes its temporary file. Where the path
    is a link, the file that it leads to is replaced, and the link stays.

    Args:
        obj: Tensors, ndarrays, numbers, strings, bools and None; dicts, lists and tuples of
            them. Only the values of tensors are saved. An object that occurs several times is saved
            each time. PyTorch's format takes bytes, sets, dtypes and modules too; of a module it
            holds the names of the classes and the attributes, which must be such values or
            functions of `nn.functional`, and no code. It keeps what requires a gradient, which are
            parameters, strides, and which tensors and modules are shared; ndarrays come back as
            tensors, NumPy's scalars as numbers.
        f: A path; or a binary file that is open for writing, which gets everything at once, or
            nothing. ``.safetensors`` needs the extra ``safetensors``.
        pickle_module: Without effect.
        pickle_protocol: Without effect.

    Raises:
        OSError: It cannot be written, or the path leads to something other than a regular file,
            such as a folder, a named pipe or a device; the old file is unchanged.
        TypeError: Something in `obj` cannot be saved; the message says where.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn
        >>> path = pathlib.Path(tempfile.mkdtemp(), "weights.pt")
        >>> model, other = nn.Linear(2, 3), nn.Linear(2, 3)
        >>> minigrad.save(model.state_dict(), path)
        >>> other.load_state_dict(minigrad.load(path))
        <All keys matched successfully>
    """
    place = _place("save", f, "write")
    form = _format(place) or pt
    try:
        packed = pt.pack(obj) if form is pt else pack(obj)
        if isinstance(place, Path):
            with (
                written_by("save", place), replacing(place) as unfinished,
                unfinished.open("wb") as file,
            ):  # fmt: skip
                form.write(file, packed)
        else:
            whole = io.BytesIO()
            form.write(whole, packed)
            _write_all(place, whole.getvalue())
    except (TypeError, ValueError) as error:
        # An archive that cannot be closed since Ctrl-C ended a write in it
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"save: {_named(place)}: {error}") from error


def _write_all(file: IO[bytes], content: bytes) -> None:
    """Write into an open file; one without a buffer may take a part at a time."""
    left = memoryview(content)
    while left:
        taken = file.write(left)
        if isinstance(file, io.RawIOBase) and not taken:
            raise BlockingIOError(errno.EAGAIN, f"the file took {len(content) - len(left)} bytes")
        left = left[taken:] if taken else left[:0]


def load(
    f: Place, map_location: Any = None, pickle_module: Any = None, *,  # noqa: ARG001
    weights_only: bool | None = None, mmap: bool | None = None,  # noqa: ARG001
    encoding: str = "utf-8",  # noqa: ARG001
) -> Any:  # fmt: skip
    """Load a file written by `save`, `torch.save` or `np.savez`, or a safetensors file.

    No code from a file is run, and no array can be larger than the file. The whole file is checked
    before anything is returned. PyTorch is not needed.

    Args:
        f: A path, whose format is that of `save`; or a binary file that is open for reading, whose
            format is that of what it holds from its position on.
        map_location: "cpu", or what leads to it, such as ``{"cuda:0": "cpu"}`` or a function.
        pickle_module: Without effect.
        weights_only: Whether to refuse modules. Without it, a file of `save` may hold modules whose
            classes the program has imported or defined. No code runs: neither of the file, nor
            ``__init__``, ``__reduce__`` or ``__setstate__`` of a class.
        mmap: Without effect.
        encoding: Without effect: the texts of Python 2 are refused.

    Returns:
        The value. A file that minigrad did not write gives a dict of tensors by name. Subclasses of
        tuple, dict and numbers come back as the plain type. PyTorch's format gives the saved
        values: tensors, parameters and containers; tensors that shared memory share it. A
        ``torch.Size`` is a tuple, and each device the CPU. Tensors of bfloat16, which NumPy lacks,
        become float32, which holds their values.

    Raises:
        LoadError: The file is damaged, is a folder, or holds something unsupported.
        OSError: It does not exist or cannot be read.
        ValueError: `map_location` is another device.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "notes")
        >>> minigrad.save({"step": 3, "scores": [0.5, None], "x": minigrad.ones(2)}, path)
        >>> minigrad.load(path)
        {'step': 3, 'scores': [0.5, None], 'x': tensor([1., 1.])}
    """
    if not callable(map_location):
        places = map_location.values() if isinstance(map_location, dict) else [map_location]
        for device in places:
            on_cpu(device)
    place = _place("load", f, "read")
    form = _format(place)
    try:
        if not isinstance(place, Path):
            return _content(io.BytesIO(_bytes(place)), None, weights_only)
        remove_unfinished(place)
        place.stat()  # a missing file is not a damaged one
        if not place.is_file():
            raise LoadError("no file, but a folder or a device; name a file in it")
        with place.open("rb") as file:
            return _content(file, form, weights_only)
    except LoadError as error:
        why = str(error)  # it may quote much of the file
        brief = why if len(why) <= LONGEST else f"{why[:LONGEST]} ..."
        raise LoadError(f"load: {_named(place)}: {brief}") from error.__cause__


def _bytes(file: IO[bytes]) -> bytes:
    content = file.read()
    if not isinstance(content, bytes | bytearray | memoryview):
        came = f'one that gives {type(content).__name__}: open it with mode "rb"'
        raise TypeError(f"load: a binary file expected, got {came}")
    return bytes(content)


def _content(file: IO[bytes], form: ModuleType | None, weights_only: bool | None) -> Any:
    start = file.read(len(POINTER))
    file.seek(0)
    if start == POINTER:
        raise LoadError("it is a pointer of Git LFS, not the file: run `git lfs pull`")
    if start.startswith(b"\x93NUMPY"):
        raise LoadError("it is one array of NumPy's: np.load reads it")
    form = form or _format_of(file, start)
    return pt.read(file, bool(weights_only)) if form is pt else unpack(*form.read(file))


def _format_of(file: IO[bytes], start: bytes) -> ModuleType:
    """The format of a file's content."""
    if start[8:9] == b"{":
        return safetensors
    if start[:4] != b"PK\3\4":
        return pt  # an older file of PyTorch, or none
    with opened(file, "a pt or npz file", "load it with the program that wrote it") as archive:
        is_pt = any(name.endswith("data.pkl") for name in archive.namelist())
    file.seek(0)
    return pt if is_pt else npz


def _named(place: Path | IO[bytes]) -> str:
    return str(place) if isinstance(place, Path) else f"an open file ({type(place).__name__})"


def _place(name: str, f: Any, method: str) -> Path | IO[bytes]:
    """A path, or an open file with a method."""
    if isinstance(f, (str, os.PathLike)):
        return Path(f)
    if not hasattr(f, method):
        wanted = "a path such as 'model.pt', whose ending says the format, or an open binary file"
        raise TypeError(f"{name}: {wanted} expected, got {type(f).__name__}")
    file: IO[bytes] = f
    return file


def _format(place: Path | IO[bytes]) -> ModuleType | None:
    """The format that a path's ending says, PyTorch's if it says none; None for an open file."""
    return FORMATS.get(place.suffix.lower(), pt) if isinstance(place, Path) else None
