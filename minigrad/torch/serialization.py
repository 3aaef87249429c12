"""`torch.save` and `torch.load`: PyTorch's files, in which nothing is executed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from minigrad.io import pt
from minigrad.io.files import read_file, write_file
from minigrad.support.checks import on_cpu
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)

__all__ = ["load", "save"]


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:  # fmt: skip
    """Save tensors, numbers and strings in dicts, lists and tuples to a file.

    Args:
        obj: The value, such as a `state_dict`.
        f: A path, or a binary file.
        pickle_module: Not used.
        pickle_protocol: Not used.

    Raises:
        TypeError: It has something else in it.

    Example:
        >>> import io
        >>> from minigrad import torch
        >>> file = io.BytesIO()
        >>> torch.save({"x": torch.ones(2)}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'x': Tensor([1., 1.], dtype=float32)}
    """
    write_file(obj, Path(f) if isinstance(f, (str, os.PathLike)) else f, pt)


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *,
    weights_only: bool | None = None, mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Load what `save`, here or in PyTorch, has written; nothing in the file is executed.

    Args:
        f: A path, or a binary file.
        map_location: "cpu", or something that means it.
        pickle_module: Not used.
        weights_only: Whether to refuse everything else; it is refused in any case.
        mmap: Not used.
        **pickle_load_args: Not used.

    Raises:
        LoadError: The file is damaged, or holds something else.
    """
    if map_location is not None and not callable(map_location):
        on_cpu("cpu" if isinstance(map_location, dict) else str(map_location))
    return read_file(Path(f) if isinstance(f, (str, os.PathLike)) else f, pt)
