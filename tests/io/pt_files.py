"""Files of PyTorch made by hand: pickles of any opcodes, in archives with any storages."""

import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

START, END = b"\x80\x02", b"."


def text(value: str) -> bytes:
    """A string."""
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def named(name: str) -> bytes:
    """A name of a pickle: `module name`."""
    return b"c" + name.replace(" ", "\n").encode() + b"\n"


def called(name: str, *arguments: bytes) -> bytes:
    """A function by its name, called."""
    return named(name) + b"(" + b"".join(arguments) + b"tR"


def storage(
    key: str = "0", count: int = 4, kind: str = "torch FloatStorage", more: bytes = b""
) -> bytes:
    """A storage of the file."""
    parts = text("storage") + named(kind) + text(key) + text("cpu") + pickled(count)
    return b"(" + parts + more + b"tQ"


def tensor(
    shape: Any = (4,), stride: Any = (1,), offset: Any = 0, of: bytes = b"",
    requires: bytes = b"\x89", hooks: bytes = b"", more: bytes = b"", version: int = 2,
) -> bytes:  # fmt: skip
    """A tensor of a storage; each part may lie."""
    return called(
        f"torch._utils _rebuild_tensor_v{version}", of or storage(), pickled(offset),
        pickled(shape), pickled(stride), requires, hooks or called("collections OrderedDict"), more,
    )  # fmt: skip


def pickled(value: Any) -> bytes:
    """A plain value, or a tuple of them, without a memo."""
    if isinstance(value, tuple):
        return b"(" + b"".join(map(pickled, value)) + b"t"
    return pickle.dumps(value, protocol=2)[2:-1]


FLOATS = struct.pack("<4f", 1, 2, 3, 4)


def archive(
    path: Path, content: bytes, storages: dict[str, bytes] | None = None, folder: str = "archive",
    version: bytes = b"3\n", byteorder: bytes | None = b"little", **options: Any,
) -> Path:  # fmt: skip
    """Write an archive of a pickle and storages, as Python's zipfile does."""
    with zipfile.ZipFile(path, "w", **options) as file:
        file.writestr(f"{folder}/data.pkl", START + content + END)
        file.writestr(f"{folder}/version", version)
        if byteorder is not None:
            file.writestr(f"{folder}/byteorder", byteorder)
        for key, data in ({"0": FLOATS} if storages is None else storages).items():
            file.writestr(f"{folder}/data/{key}", data)
    return path


MAGIC = pickled(0x1950A86A20F9469CFC6C)


def old(
    path: Path, content: bytes, storages: dict[str, bytes] | None = None, itemsize: int = 4,
    magic: bytes = MAGIC, version: bytes = pickled(1001), names: bytes | None = None,
) -> Path:  # fmt: skip
    """Write a file in the format of PyTorch before 1.6."""
    found = {"0": FLOATS} if storages is None else storages
    listed = b"](" + b"".join(map(text, found)) + b"e" if names is None else names
    parts = [START + part + END for part in (magic, version, b"}", content, listed)]
    data = [struct.pack("<q", len(part) // itemsize) + part for part in found.values()]
    path.write_bytes(b"".join(parts + data))
    return path
