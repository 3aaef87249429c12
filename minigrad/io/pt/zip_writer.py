"""Zip archives in PyTorch's layout: each record begins at a multiple of 64 bytes.

So a reader can map the file into memory. The padding is an extra field, and the checksum and sizes
of a record come after it, where PyTorch expects them.

Source: PKWARE, ".ZIP file format specification", 4.3.7 to 4.3.16 and 4.5.3.
"""

import struct
import zlib
from typing import IO

ALIGNMENT = 64
LARGE = 0xFFFFFFFF
"""From this size, and this place, the ZIP64 fields have the numbers."""
LOCAL = struct.Struct("<4s5H3I2H")
ENTRY = struct.Struct("<4s6H3I5H2I")
FLAGS, SIZES_BEHIND = 1 << 11, 1 << 3  # names are UTF-8; the sizes are behind the content


class ZipWriter:
    """Writes records into an open file, all below one folder."""

    def __init__(self, file: IO[bytes], folder: str) -> None:
        self.file, self.folder = file, folder
        self.at = 0
        self.entries: list[bytes] = []
        self.checksums: list[int] = []

    def record(self, name: str, content: bytes | memoryview) -> None:
        """Write the bytes of a record."""
        path, size, start = f"{self.folder}/{name}".encode(), len(content), self.at
        sizes = struct.pack("<QQ", size, size) if size >= LARGE else b""
        place = struct.pack("<Q", start) if start >= LARGE else b""
        extra = sizes + place
        if extra:  # the ZIP64 field
            extra = struct.pack("<HH", 1, len(extra)) + extra
        padding = -(start + LOCAL.size + len(path) + len(extra) + 4) % ALIGNMENT
        padded = extra + struct.pack("<2sH", b"FB", padding) + b"Z" * padding
        short, begin = 0xFFFFFFFF if sizes else size, 0xFFFFFFFF if place else start
        behind = short if sizes else 0
        flags = FLAGS | (SIZES_BEHIND if size else 0)
        checksum = zlib.crc32(content)
        self._write(LOCAL.pack(
            b"PK\3\4", 0, flags, 0, 0, 0, 0, behind, behind, len(path), len(padded)
        ))  # fmt: skip
        self._write(path + padded)
        if size:
            self._write(content)
            self._write(
                struct.pack("<4sIQQ" if extra else "<4sIII", b"PK\7\x08", checksum, size, size)
            )
        self.entries.append(ENTRY.pack(
            b"PK\1\2", 0, 0, flags, 0, 0, 0, checksum, short, short, len(path), len(extra), 0, 0, 0,
            0, begin,
        ) + path + extra)  # fmt: skip
        self.checksums.append(checksum)

    def identity(self) -> int:
        """A number of at most 40 digits that depends on the content of each record so far."""
        number = 0
        for checksum in self.checksums:
            number = (number * 1_000_003 + checksum) % 10**40
        return number

    def end(self) -> None:
        """Write the directory, and where it is: with 64 bits and with 32."""
        directory, start, count = b"".join(self.entries), self.at, len(self.entries)
        self._write(directory)
        end = self.at
        self._write(struct.pack(
            "<4sQHHIIQQQQ", b"PK\6\6", 44, 0, 45, 0, 0, count, count, len(directory), start
        ))  # fmt: skip
        self._write(struct.pack("<4sIQI", b"PK\6\7", 0, end, 1))
        self._write(struct.pack(
            "<4s4HIIH", b"PK\5\6", 0, 0, min(count, 0xFFFF), min(count, 0xFFFF),
            min(len(directory), 0xFFFFFFFF), min(start, 0xFFFFFFFF), 0,
        ))  # fmt: skip

    def _write(self, content: bytes | memoryview) -> None:
        self.at += self.file.write(content)
