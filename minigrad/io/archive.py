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
END = struct.Struct("<4s6xHIIH")
"""The end record: signature, number of members, length and start of their directory, and the length
of a comment."""
END_64 = struct.Struct("<4s28xQQQ4s16x")
"""The ZIP64 end record and its locator, where there is one before the end record."""


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
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            _check(members, size, advice)
            _check_end(file, size, len(members))
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


def _check(members: list[zipfile.ZipInfo], size: int, advice: str) -> None:
    """Refuse, before allocating, an archive that would need more memory than its size."""
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            raise LoadError(
                f"{member.filename} is compressed, so its size is not bounded by the file's; "
                f"if you trust the file, {advice}"
            )
        if member.file_size != member.compress_size:
            raise LoadError(f"damaged: {member.filename} has two different sizes")
    claimed = sum(member.file_size for member in members)
    if claimed > size:
        raise LoadError(f"damaged: {claimed:,} bytes claimed, the file has {size:,}")
    if len({member.filename for member in members}) < len(members):
        raise LoadError("damaged: two members have the same name")


def _check_end(file: IO[bytes], size: int, count: int) -> None:
    """Check the end record, because zipfile accepts wrong ones.

    If a length in the directory is wrong, zipfile takes the entries after it for a comment. If the
    length of the directory is wrong, it takes members for data before the archive.

    Source: PKWARE, ".ZIP file format specification", 4.3.14 to 4.3.16.
    """
    file.seek(-END.size, os.SEEK_END)
    signature, counted, length, start, comment = END.unpack(file.read(END.size))
    if signature != b"PK\5\6" or comment:
        raise LoadError("damaged: bytes missing or added at the end")
    end = size - END.size
    if size >= END.size + END_64.size:
        file.seek(-END.size - END_64.size, os.SEEK_END)
        record, counted_64, length_64, start_64, locator = END_64.unpack(file.read(END_64.size))
        if record == b"PK\6\6" and locator == b"PK\6\7":
            for short, whole, most in (
                (counted, counted_64, 0xFFFF),
                (length, length_64, 0xFFFFFFFF),
                (start, start_64, 0xFFFFFFFF),
            ):
                if short not in (whole, most):
                    raise LoadError("damaged: its two end records differ")
            end, counted, length, start = end - END_64.size, counted_64, length_64, start_64
    if counted != count:
        raise LoadError(f"damaged: {counted} members expected, {count} found")
    if start + length != end:
        raise LoadError("damaged: its directory is not where it should be")
