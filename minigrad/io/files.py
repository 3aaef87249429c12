"""`save` and `load`: one value, one file."""

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from minigrad.io import npz, safetensors
from minigrad.io.errors import LoadError
from minigrad.io.tree import pack, unpack
from minigrad.support.files import remove_unfinished, replacing
from minigrad.support.spelling import spelled

FORMATS = {".npz": npz, ".safetensors": safetensors}
LONGEST = 300


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write a state dict, or any nested value, into a file.

    The write is atomic: the old file stays until the new one is completely on the disk. If a save
    is killed, the next save or load of this path removes its temporary file. Where the path is a
    link, the file that it leads to is replaced, and the link stays. A state dict is written under
    its own names, so other programs can read it.

    Args:
        obj: Tensors, ndarrays, numbers, strings, bools and None; dicts, lists and tuples of
            them. Only the values of tensors are saved. An object that occurs several times is saved
            each time.
        path: A path that ends with ``.npz`` or ``.safetensors`` (extra ``safetensors``).

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
    path = Path(path)
    form = _format("save", path)
    try:
        packed = pack(obj)
        with replacing(path) as unfinished:
            form.write(unfinished, packed)
    except TypeError as error:
        raise TypeError(f"save: {path}: {error}") from error
    except ValueError as error:
        raise ValueError(f"save: {path}: {error}") from error
    except OSError as error:
        message = f"save: {path} was not written ({error.strerror})"
        raise OSError(error.errno, message) from error


@spelled
def load(path: str | os.PathLike[str]) -> Any:
    """Load a file written by `save` or `np.savez`, or a safetensors file of any program.

    No code from a file is run, and no array can be larger than the file. The whole file is checked
    before anything is returned.

    Args:
        path: A path that ends with ``.npz`` or ``.safetensors`` (extra ``safetensors``).

    Returns:
        The value. A file that minigrad did not write gives a dict of tensors by name, with bfloat16
        as float32. Subclasses of tuple, dict and numbers come back as the plain type.

    Raises:
        LoadError: The file is damaged, or holds something unsupported.
        OSError: It does not exist or cannot be read.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "notes.npz")
        >>> minigrad.save({"step": 3, "scores": [0.5, None], "x": minigrad.ones(2)}, path)
        >>> minigrad.load(path)
        {'step': 3, 'scores': [0.5, None], 'x': Tensor([1., 1.], dtype=float32)}
    """
    path = Path(path)
    form = _format("load", path)
    remove_unfinished(path)
    path.stat()  # a missing file is not a damaged one
    try:
        if not path.is_file():
            raise LoadError("no file")
        return unpack(*form.read(path))
    except LoadError as error:
        why = str(error)  # it may quote much of the file
        brief = why if len(why) <= LONGEST else f"{why[:LONGEST]} ..."
        raise LoadError(f"load: {path}: {brief}") from error.__cause__


def _format(name: str, path: Path) -> ModuleType:
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise ValueError(
            f"{name}: {path} ends with neither {' nor '.join(FORMATS)}: that says the format. "
            f"Pickled files (.pt, .pkl) are not used here, because loading one can run anything"
        )
    return form
