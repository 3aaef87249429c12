"""Atomic writes: a file is written completely or not at all.

The new content is written to a temporary file in the same folder, flushed to the disk, and then
renamed, which is one step for the file system. Even if a program is killed, a reader finds either
the old file or the new one. The writer holds a lock, which the system releases when the program
ends. So the next save or load of that path recognizes the temporary file of a killed program and
removes it.
"""

import contextlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no locks, and temporary files of killed programs stay
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A context manager that writes a file, ``.{name}.{random}.unfinished``, and puts it in place.

    If the block fails it is removed, and the old file is unchanged.
    """
    path = Path(os.path.realpath(path))  # a link stays; its target is replaced
    remove_unfinished(path)
    unfinished, lock = _created_beside(path)
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
    finally:
        if lock is not None:
            os.close(lock)
    _flush_folder(path.parent)


def remove_unfinished(path: Path) -> None:
    """Remove unfinished files of killed programs; files that are being written stay."""
    path = Path(os.path.realpath(path))
    left = re.compile(rf"\.{re.escape(_start(path))}\.[0-9a-f]{{12}}\.unfinished")
    with contextlib.suppress(OSError):  # no permission to write here
        for name in filter(left.fullmatch, os.listdir(path.parent)):
            unfinished = path.with_name(name)
            with contextlib.suppress(OSError):  # being written, or removed meanwhile
                lock = os.open(unfinished, os.O_RDWR)
                try:
                    if _locked(lock, wait=False):
                        unfinished.unlink()
                finally:
                    os.close(lock)


def _created_beside(path: Path) -> tuple[Path, int | None]:
    """Create and lock an empty file with the permissions of any new file.

    Closing the returned descriptor releases the lock.
    """
    while True:
        unfinished = path.with_name(f".{_start(path)}.{secrets.token_hex(6)}.unfinished")
        lock = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            os.close(lock)  # an open file cannot be renamed there
            return unfinished, None
        with contextlib.suppress(OSError):  # not every file system supports locks
            _locked(lock, wait=True)
        if os.fstat(lock).st_nlink:
            return unfinished, lock
        os.close(lock)  # another process removed it before it was locked


def _start(path: Path) -> str:
    """The prefix of its temporary files, shortened because file names have a maximum length."""
    return path.name.encode()[:100].decode(errors="ignore")


def _locked(descriptor: int, wait: bool) -> bool:
    """Lock an open file; return False where locks are not supported."""
    if fcntl is None:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    return True


def _flush(path: Path) -> None:
    """Flush the system's buffers of a file to the disk."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, where supported; a crash could undo a rename."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
