"""A program that saves, and is killed while it does: run by test_io_atomic.py, not a test itself.

    python killed_saves.py PATH KILLS SEED

A child saves one numbered value after the other, and is killed at a random moment; what the file
then holds must be whole, and no older than the last that the child said was saved. Every other
child is killed by the system at a random byte instead: a limit is set to how much it may write.
"""

import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np

from minigrad.io import load, save


def value(number: int) -> dict[str, object]:
    """Something whose parts tell whether they belong together."""
    sizes = (number % 5, 1000 + number % 7, 60_000)
    return {"number": number, "arrays": [np.full(size, number) for size in sizes]}


def check(path: Path) -> int:
    """The number of the value in the file, which must be whole."""
    found = load(path)
    number = found["number"]
    expected = value(number)["arrays"]
    assert all(map(np.array_equal, found["arrays"], expected)), path
    return number


def child(path: Path, said: int, number: int, most: int | None) -> None:
    """Save until killed, and say the number of each value when it is saved."""
    if most is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    while True:
        number += 1
        save(value(number), path)
        os.write(said, number.to_bytes(8, "little"))


def main(path: Path, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    save(value(0), path)
    start = time.perf_counter()
    for _ in range(5):
        save(value(0), path)
    duration, size = (time.perf_counter() - start) / 5, path.stat().st_size
    number, unfinished = 0, 0
    for i in range(kills):
        hear, say = os.pipe()
        most = draw.randrange(size) if i % 2 else None
        process = os.fork()
        if not process:
            child(path, say, number, most)
        os.close(say)
        told = b""
        if most is None:
            if draw.random() < 0.5:  # on a busy machine the others may never come to a save
                told = os.read(hear, 8)
            time.sleep(draw.uniform(0, 4 * duration))
            os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        ended = os.WTERMSIG(status)
        assert ended == (signal.SIGKILL if most is None else signal.SIGXFSZ), (ended, most)
        with os.fdopen(hear, "rb") as file:
            told += file.read()
        last = int.from_bytes(told[-8:], "little") if told else number
        left = [name for name in os.listdir(path.parent) if name != path.name]
        assert all(name.startswith(f".{path.name}.") for name in left), left
        assert all(name.endswith(".unfinished") for name in left), left
        unfinished += len(left)
        found = check(path)
        assert found in (last, last + 1), (found, last)  # saved, but not yet said
        number = found
        for name in left:
            os.utime(path.with_name(name), (0, 0))
        load(path)
        assert os.listdir(path.parent) == [path.name]  # loading it has removed what was left
    print(f"{kills} kills, {number} saves, {unfinished} unfinished files")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
