"""A process beside a rank while MPI starts: it tells of a long wait, and ends the rank after it.

`MPI_Init` returns when all ranks have called it, and holds the interpreter's lock until then, so
that no thread of the rank can count the seconds. `communicators` starts this file as a program of
its own, and closes its input when MPI has started. It imports nothing of minigrad.
"""

import os
import signal
import sys
import threading


def main(pid: int, rank: str, limit: float) -> None:
    """Wait for the end of the input, at most `limit` seconds."""
    whom = (
        "for other ranks to import minigrad.distributed, which starts MPI; a rank that says "
        "nothing of this kind is late, or ended before\n"
    )
    start = threading.Thread(target=sys.stdin.read, daemon=True)
    start.start()
    start.join(limit / 3)
    if start.is_alive():
        sys.stderr.write(f"rank {rank} has waited {limit / 3:.0f} s {whom}")
        start.join(limit * 2 / 3)
    if start.is_alive():
        sys.stderr.write(f"TimeoutError: rank {rank} waited {limit:g} s {whom}")
        os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
    os._exit(0)  # the thread may still wait for input
