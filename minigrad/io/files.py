"""`save` and `load`: one value, one file."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

from minigrad.io import npz, safetensors
from minigrad.io.atomic import remove_unfinished, replacing
from minigrad.io.errors import LoadError
from minigrad.io.tree import pack, unpack

FORMATS = {".npz": npz, ".safetensors": safetensors}
LONGEST = 300


def save(obj: Any, path: str | os.PathLike[str]) -> None:
    """Write a state dict, or any nested value, into a file.

    The write is atomic: until all of it is on the disk, an old file stays as it was. If a save is
    killed, the next save or load of this path removes what it left. A state dict is written under
    its own names, so other programs can read it.

    Args:
        obj: Tensors, ndarrays, numbers, strings, bools and None; dicts, lists and tuples of
            them. Of tensors the values are saved; what is shared is saved at each of its places.
        path: Ends with ``.npz``, or with ``.safetensors`` (extra ``safetensors``).

    Raises:
        ImportError: The package safetensors is missing.
        OSError: It cannot be written; an old file is as it was.
        TypeError: Something in `obj` cannot be saved; the message says where it is.
        ValueError: The path ends otherwise, or `obj` contains itself.

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


def load(path: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote, a state dict of `np.savez`, or a safetensors file of any program.

    No code from a file is run, and no array is larger than the file. The whole file is checked
    before anything is returned.

    Args:
        path: Ends with ``.npz``, or with ``.safetensors`` (extra ``safetensors``).

    Returns:
        The value; of a file that minigrad did not write, its arrays by name in a dict of tensors,
        those of bfloat16 as float32.
        Tuples, dicts and numbers of classes of one's own come back as plain ones.

    Raises:
        ImportError: The package safetensors is missing.
        LoadError: The file is damaged, or holds what is not loaded.
        OSError: It is not there, or cannot be read.
        ValueError: The path ends otherwise.

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
    path.stat()  # what is not there is no damaged file
    try:
        if not path.is_file():
            raise LoadError("no file")
        return unpack(*form.read(path))
    except LoadError as error:
        why = str(error)  # it quotes the file, which may be long
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
