"""A program that damages files in every way, and loads them: run by test_io_damaged.py.

    python damaged_files.py SUFFIX COUNT SEED

Each file loads as what it was, or is refused with the one error for that. The program
may take little more memory than it has: who believes a length that chance has written, fails.
"""

import random
import resource
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from same_values import same

import minigrad
from minigrad import Tensor
from minigrad.io import LoadError, load, save

ROOM = 64 << 20
NUMBERS = [0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1]


def values() -> list[Any]:
    """What is saved: a state dict, a training, and a little of everything."""
    draw = np.random.default_rng(0)
    weights = {
        "linear.weight": minigrad.tensor(draw.random((3, 4), np.float32)),
        "linear.bias": minigrad.zeros(3),
        "count": minigrad.tensor(7),
    }
    moments = {i: {"step": 3, "exp_avg": draw.random(3), "on": True} for i in range(2)}
    training = {
        "model": weights,
        "optimizer": {"state": moments, "param_groups": [{"lr": 0.1, "betas": (0.9, 0.99)}]},
        "random": dict(np.random.default_rng(1).bit_generator.state),
    }
    rest = [1.5, None, "text", float("inf"), np.float16(2), np.zeros((0, 2)), np.ones(300, bool)]
    return [weights, training, rest]


def damaged(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """A file with one kind of damage or several."""
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        at, length = draw.randrange(len(changed) + 1), draw.randrange(1, 40)
        width = draw.choice([1, 2, 4, 8])
        match draw.randrange(9):
            case 0 if at < len(changed):
                changed[at] ^= 1 << draw.randrange(8)
            case 1 if at < len(changed):
                changed[at] = draw.randrange(256)
            case 2:
                del changed[at:]
            case 3:
                del changed[at : at + length]
            case 4:
                changed[at:at] = draw.randbytes(length)
            case 5:  # a length, a place or a size
                number = draw.choice([*NUMBERS, len(changed)]) % 256**width
                changed[at : at + width] = number.to_bytes(width, "little")
            case 6:  # two lengths, one for the other
                to = draw.randrange(len(changed) + 1)
                one, two = changed[at : at + width], changed[to : to + width]
                if len(one) == len(two) and abs(at - to) >= width:
                    changed[at : at + width], changed[to : to + width] = two, one
            case 7:  # a number in a header in letters
                digits = [i for i, byte in enumerate(changed) if 48 <= byte <= 57]
                if digits:
                    i = draw.choice(digits)
                    changed[i : i + 1] = draw.choice([b"0", b"7", b"-1", b"1" * 15, b"9" * 30])
            case 8:
                changed[at:] = other[draw.randrange(len(other)) :]
        if not changed:
            break
    return bytes(changed)


def main(suffix: str, count: int, seed: int) -> None:
    draw = random.Random(seed)
    originals = values()
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"file{suffix}")
        files = []
        for value in originals:
            save(value, path)
            assert suffix == ".pt" or same(load(path), value)
            files.append(path.read_bytes())
        if suffix == ".pt":  # arrays come back as tensors
            originals = []
            for data in files:
                path.write_bytes(data)
                originals.append(load(path))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        room = pages * resource.getpagesize() + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        for _ in range(count):
            i = draw.randrange(len(files))
            data = damaged(files[i], draw.choice(files), draw)
            path.write_bytes(data)
            try:
                found = load(path)
            except LoadError as error:
                assert str(error).startswith(f"load: {path}: "), error
                assert len(str(error)) < 1000, error
                outcomes["refused"] += 1
                continue
            if any(same(found, value) for value in originals):
                outcomes["unharmed"] += 1
            else:  # a file in which nothing says that minigrad wrote it, and what it should be
                assert suffix == ".safetensors", (seed, found)
                length = struct.unpack("<Q", data[:8])[0]
                assert b'"minigrad":' not in data[8 : 8 + length], (seed, found)
                assert all(isinstance(tensor, Tensor) for tensor in found.values())
                outcomes["foreign"] += 1
    counted = ", ".join(f"{outcomes[kind]} {kind}" for kind in ("refused", "unharmed", "foreign"))
    print(f"{count} files: {counted}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
