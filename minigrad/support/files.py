"""Writing files: completely or not at all, and never in the place of anything but a file.

The new content is written to a temporary file in the same folder, flushed to the disk, and then
renamed, which is one step for the file system. Even if a program is killed, a reader finds either
the old file or the new one. A save or load of that path removes the temporary file of a killed
program: one to which nothing was written for an hour.

A path may lead, also through links, to a named pipe, a socket or a device. A rename would remove
it, for the whole machine if root runs the program. Everything that writes a file uses this module.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

HOUR = 3600.0
KINDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFREG: "a regular file",
}  # fmt: skip


def write(path: Path, content: bytes | str) -> None:
    """Write a file: bytes, or text as UTF-8. See `replacing`."""
    with replacing(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def written_by(owner: str, path: Path) -> Iterator[None]:
    """A context manager: an OSError in it says who could not write which file, and why."""
    try:
        yield
    except OSError as error:
        message = f"{owner}: {path} was not written ({error.strerror})"
        raise OSError(error.errno, message) from error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A context manager that writes a file, ``.{name}.{random}.unfinished``, and puts it in place.

    If the block fails it is removed, and the old file is unchanged. If the path is a link, the link
    stays, and the file to which it leads is replaced.

    Raises:
        OSError: Something is there that is not a regular file.
    """
    check_place(path)
    target = Path(os.path.realpath(path))
    remove_unfinished(target)
    unfinished = target.with_name(f".{_start(target)}.{secrets.token_hex(6)}.unfinished")
    try:
        unfinished.touch(exist_ok=False)
    except OSError as error:
        folder = target.parent
        why = error.strerror if folder.is_dir() else f"there is no folder {folder}: create it first"
        raise OSError(error.errno, why, str(path)) from error
    try:
        yield unfinished
        with open(unfinished, "r+b") as file:
            os.fsync(file.fileno())
        before = check_place(path)
        if before is not None:
            os.chmod(unfinished, before.st_mode & 0o7777)
        os.replace(unfinished, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename in (None, str(unfinished)):
            error.filename = str(path)  # which its message names
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise
    _flush_folder(target.parent)


def folder_for(path: Path, names: Iterable[str] = ()) -> Path:
    """Create a folder for files of these names; one that exists is kept.

    Raises:
        OSError: Something else has one of the places. Nothing was created.
    """
    check_place(path, stat.S_IFDIR)
    for name in names:
        check_place(path / name)
    path.mkdir(parents=True, exist_ok=True)
    return path


def check_place(path: Path, kind: int = stat.S_IFREG) -> os.stat_result | None:
    """Return what the system says of a path, links followed; None if nothing is there.

    Raises:
        OSError: Something of another kind is there, or the system does not say.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    there = stat.S_IFMT(found.st_mode)
    if there == kind:
        return found
    code = errno.EISDIR if there == stat.S_IFDIR else errno.EEXIST
    target = os.path.realpath(path)
    by_link = "" if target == os.path.abspath(path) else f" ({target}, by a link)"
    raise OSError(
        code,
        f"{KINDS.get(there, 'something else')} is there{by_link}, and is not replaced by "
        f"{KINDS[kind]}: choose another path",
        str(path),
    )


def remove_unfinished(path: Path) -> None:
    """Remove unfinished files of killed programs, to which nothing was written for an hour."""
    path = Path(os.path.realpath(path))
    left = re.compile(rf"\.{re.escape(_start(path))}\.[0-9a-f]{{12}}\.unfinished")
    with contextlib.suppress(OSError):  # no permission to write here
        for name in filter(left.fullmatch, os.listdir(path.parent)):
            unfinished = path.with_name(name)
            with contextlib.suppress(OSError):  # removed meanwhile
                if time.time() - unfinished.stat().st_mtime > HOUR:
                    unfinished.unlink()


def _start(path: Path) -> str:
    """The prefix of its temporary files, shortened because file names have a maximum length."""
    return path.name.encode()[:100].decode(errors="ignore")


def _flush_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, where supported; a crash could undo a rename."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
