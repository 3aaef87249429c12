"""Writing a file whole or not at all.

What is new is written beside the old file, brought to the disk, and only then given its name, which
the file system does in one step. Whoever reads, and whatever is killed when, finds either the old
file or the new one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = ".unfinished"
"""How the names of files end that are being written; killed programs leave them behind."""


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Have a block write a file that takes the place of another when the block is through.

    Args:
        path: The file to be written, anew or for the first time.

    Yields:
        An empty file in the same folder, ``.{name}.{random}.unfinished``, to be written into. If
        the block fails it is removed, and the old file is left as it is.

    Raises:
        OSError: The folder cannot be written into, or the disk is full.
    """
    path = Path(os.path.realpath(path))  # a link stays, what it points at is replaced
    unfinished = _created_beside(path)
    try:
        yield unfinished
        _flush(unfinished)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(unfinished, path.stat().st_mode & 0o7777)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def _created_beside(path: Path) -> Path:
    """A new empty file that only this process knows, with the permissions of any new file."""
    start = path.name.encode()[:100].decode(errors="ignore")  # names have a greatest length
    unfinished = path.with_name(f".{start}.{secrets.token_hex(6)}{UNFINISHED}")
    os.close(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return unfinished


def _flush(path: Path) -> None:
    """Have the system write to the disk what it holds of a file."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """The same for the names in a folder, where the system can: without it, the old may be back."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
