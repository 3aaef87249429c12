"""Zip archives whose members are stored as they are, checked before memory is allocated.

Compressed members are refused: so nothing needs more memory than the size of the file, whatever the
file claims.
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from minigrad.io.errors import LoadError

CHUNK = 1 << 20
END = 22
"""The length of the end record, without a comment."""


def size_of(file: IO[bytes]) -> int:
    """The number of bytes of an open file; its position is then the start."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


@contextmanager
def opened(file: IO[bytes], kind: str, advice: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive and check it; an inconsistency is a LoadError, also later.

    At the end of a member, zipfile checks its checksum.

    Args:
        file: The open file.
        kind: What it should be, for the message.
        advice: What to do if a member is compressed.
    """
    try:
        size = size_of(file)
        file.seek(max(size - END, 0))
        end = file.read()
        with zipfile.ZipFile(file) as archive:
            _check(archive, size, end, advice)
            yield archive
    except LoadError:
        raise
    except zipfile.BadZipFile as error:
        raise LoadError(f"not {kind} ({error})") from error
    # zipfile's errors for an inconsistent archive
    except (
        ArithmeticError, EOFError, LookupError, NotImplementedError, OSError, RuntimeError,
        ValueError, struct.error, zlib.error,
    ) as error:  # fmt: skip
        raise LoadError(f"damaged ({type(error).__name__}: {error})") from error


def fill(content: IO[bytes], memory: np.ndarray, name: str) -> None:
    """Read as many bytes as an array of bytes has."""
    rest = memory.data
    while rest:
        count = content.readinto(rest[:CHUNK])  # type: ignore[attr-defined]
        if not count:
            raise LoadError(f"damaged: {name} ends too early")
        rest = rest[count:]


def _check(archive: zipfile.ZipFile, size: int, end: bytes, advice: str) -> None:
    """Refuse an archive that would need more memory than its size, or of which a part is missing.

    zipfile accepts a wrong end record: if a length in the directory is wrong, it takes the entries
    after it for a comment, and members for data before the archive.
    """
    members = archive.infolist()
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            what = f"{member.filename} is compressed, so its size is not bounded by the file's"
            raise LoadError(f"{what}; if you trust the file, {advice}")
        if member.file_size != member.compress_size or member.comment:
            raise LoadError(f"damaged: the entry of {member.filename} is wrong")
    claimed = sum(member.file_size for member in members)
    if claimed > size:
        raise LoadError(f"damaged: {claimed:,} bytes claimed, the file has {size:,}")
    if len({member.filename for member in members}) < len(members):
        raise LoadError("damaged: two members have the same name")
    first = min((member.header_offset for member in members), default=archive.start_dir)
    if end[:4] != b"PK\5\6" or end[20:] != b"\0\0" or first != 0:
        raise LoadError("damaged: bytes missing or added before its members or at its end")
    counted = int.from_bytes(end[10:12], "little")
    if counted != min(len(members), 0xFFFF):
        raise LoadError(f"damaged: {counted} members expected, {len(members)} found")
