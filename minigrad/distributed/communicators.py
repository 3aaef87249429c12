"""Communicators: the ranks that take part, and the check that all of them make the same call.

Before each collective, the ranks exchange three numbers: do they call the same one, on the same
shape and dtype, and does any of them record it? So a mismatch is an error on every rank, not a
wait, and a collective is recorded on all ranks or on none. The exchange is polled, so that a rank
that waits can say for whom.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
import traceback
import warnings
import weakref
import zlib
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.mode import located
from minigrad.support.checks import check_number, check_size, optional_package
from minigrad.trace.lines import line_at, user_frame

ANNOUNCE_AFTER, WARN_AFTER = 1.0, 10.0  # seconds
SPINS = 1000  # polls without a pause, about a millisecond

_communicators: weakref.WeakSet[Communicator] = weakref.WeakSet()
_world: Communicator | None = None


class Call(NamedTuple):
    """One call of a collective, the same on all ranks."""

    comm: Communicator  # the communicator
    what: str  # the collective, its options, and the shape and dtype of the tensor
    number: int  # the number of the call; all ranks of `comm` count alike
    place: tuple[str, int]  # the file and the line of the user's program; 0 at its end
    recorded: bool = False  # whether a rank records the call; then all do

    def __str__(self) -> str:
        return f"{self.what} at {line_at(*self.place)}" if self.place[1] else self.what

    def __repr__(self) -> str:
        return f"Call({self.what}, rank {self.comm.rank} of {self.comm.size})"


class Communicator:
    """A group of ranks that call collectives together.

    Args:
        mpi: The communicator of `mpi4py`; None for this process alone, without MPI.
        timeout: How many seconds to wait for a rank that is late; a warning comes after 10.

    Attributes:
        rank: The number of this process in the group, from 0.
        size: The number of ranks.
        mpi: The communicator of `mpi4py`, for its own functions, such as ``send``; or None.
        timeout: As above; it can be changed.

    Example:
        >>> from minigrad import distributed
        >>> comm = distributed.Communicator()
        >>> comm.rank, comm.size
        (0, 1)
    """

    def __init__(self, mpi: Any = None, timeout: float = 600.0) -> None:
        self.mpi, self.timeout = mpi, check_number("Communicator", "timeout", timeout, above=0)
        self.rank: int = 0 if mpi is None else mpi.rank
        self.size: int = 1 if mpi is None else mpi.size
        self._number = 0
        self._announcements: list[Any] = []
        self._own: Any = None
        """A duplicate of `mpi`, so that no message of the user is taken for one of ours."""
        if self.size > 1:
            self._own, request = mpi.Idup()
            self.wait(request, self._call("Communicator"))
        _communicators.add(self)

    def split(self, color: int | None, key: int = 0) -> Communicator | None:
        """Divide the group; all of its ranks call this.

        Args:
            color: Ranks of one color form a new group; None is for a rank that joins none.
            key: The order of the ranks in the new group; those of one key keep their order.

        Returns:
            The new communicator of this rank, with the same `timeout`; None for color None.

        Example:
            >>> from minigrad import distributed
            >>> comm = distributed.world()
            >>> pair = comm.split(comm.rank // 2)
        """
        if color is not None:
            check_size("split", "color", color, least=0)
        if self.size == 1:
            return None if color is None else Communicator(self.mpi, self.timeout)
        from mpi4py import MPI

        self.agree("split")
        part = self._own.Split(MPI.UNDEFINED if color is None else color, key)
        return None if color is None else Communicator(part, self.timeout)

    @property
    def world_ranks(self) -> list[int]:
        """The numbers of these ranks in `world`."""
        if self.mpi is None:
            return [0]
        from mpi4py import MPI

        return list(MPI.Group.Translate_ranks(self.mpi.group, None, MPI.COMM_WORLD.group))

    def barrier(self) -> None:
        """Wait until all ranks call this.

        Example:
            >>> from minigrad import distributed
            >>> distributed.world().barrier()
        """
        self.agree("barrier")

    def agree(self, what: str, records: bool = False, backward_of: Call | None = None) -> Call:
        """Make sure that all ranks make the same call.

        Args:
            what: What is called, with all that must be equal on all ranks.
            records: Whether this rank records it.
            backward_of: In a backward pass, the call in the forward pass that belongs to it.

        Returns:
            The call; `recorded` says whether any rank records it.

        Raises:
            RuntimeError: The ranks make different calls.
            TimeoutError: A rank did not come within `timeout` seconds.
        """
        call = self._call(what, backward_of)
        if self.size == 1:
            return call._replace(recorded=records)
        request, found = self._exchange(call, records)
        self.wait(request, call)
        self.compare(found, call)
        return call._replace(recorded=bool(found[2]))

    def _call(self, what: str, backward_of: Call | None = None) -> Call:
        self._number += 1
        if backward_of is not None:
            what = f"the backward pass of call {backward_of.number}, {what}"
            return Call(self, what, self._number, backward_of.place)
        frame = user_frame()
        return Call(self, what, self._number, (frame.f_code.co_filename, frame.f_lineno))

    def _exchange(self, call: Call, records: bool = False) -> tuple[Any, np.ndarray]:
        """Start the exchange: the request, and the array that it will fill."""
        from mpi4py import MPI

        code = zlib.crc32(call.what.encode())
        found = np.empty(3, np.int64)
        mine = np.array([code, -code, records], np.int64)
        return self._own.Iallreduce(mine, found, MPI.MAX), found

    def compare(self, found: np.ndarray, call: Call) -> None:
        """Raise an error on every rank unless all exchanged the same code."""
        if found[0] == -found[1]:  # the largest and the smallest
            return
        ranks: dict[str, list[int]] = {}
        for rank, what in enumerate(self._own.allgather(str(call))):
            ranks.setdefault(what, []).append(rank)
        lines = [
            f"\n  rank {', '.join(map(str, some[:8]))}{' ...' * (len(some) > 8)}: {what}"
            for what, some in ranks.items()
        ]
        raise RuntimeError(
            located(
                f"{call.what.partition('(')[0]}: all {self.size} ranks must make the same call, on "
                f"tensors of one shape and dtype; this is rank {self.rank}, and the ranks are "
                f"here:{''.join(lines)}"
            )
        )

    def wait(self, request: Any, call: Call) -> None:
        """Wait for a request of MPI in which all ranks take part, and say so if one is late.

        Raises:
            TimeoutError: It was not complete within `timeout` seconds.
        """
        began, spins, told, warned = time.monotonic(), 0, False, False
        arrived = {self.rank}
        while not request.Test():
            spins += 1
            if spins < SPINS:
                if spins > SPINS // 10:
                    time.sleep(0)  # lets another rank on this core run
                continue
            waited = time.monotonic() - began
            time.sleep(min(1e-3, waited / 20))
            if not told and waited > min(ANNOUNCE_AFTER, self.timeout / 4):
                told = True
                self._announce(call)
            if told and waited > min(WARN_AFTER, self.timeout / 2):
                arrived |= self._announced(call)
                if waited > self.timeout:
                    raise TimeoutError(
                        f"rank {self.rank} waited {self.timeout:g} s in {call}; "
                        f"{self._late(arrived)}; a longer wait: Communicator.timeout"
                    )
                if not warned and self.rank == min(arrived):
                    message = f"rank {self.rank} has waited {waited:.0f} s in {call}; "
                    warnings.warn(message + self._late(arrived), stacklevel=4)
                warned = True

    def _announce(self, call: Call) -> None:
        """Tell the other ranks that this one has arrived."""
        self._announcements = [sent for sent in self._announcements if not sent.Test()]
        for rank in range(self.size):
            if rank != self.rank:
                self._announcements.append(self._own.isend(call.number, rank))

    def _announced(self, call: Call) -> set[int]:
        """The ranks that have told of their arrival since this was last asked."""
        from mpi4py import MPI

        arrived, status = set(), MPI.Status()
        while self._own.Iprobe(status=status):
            if self._own.recv(source=status.source, tag=status.tag) == call.number:
                arrived.add(status.source)
        return arrived

    def _late(self, arrived: set[int]) -> str:
        late = [str(rank) for rank in range(self.size) if rank not in arrived]
        return f"not yet there: rank {', '.join(late)}" if late else "all ranks are there"

    def __deepcopy__(self, memo: dict[int, Any]) -> Communicator:
        return self  # a copy would be another group, which all ranks would have to make

    def __repr__(self) -> str:
        return f"Communicator(rank {self.rank} of {self.size})"


def world() -> Communicator:
    """The communicator of all ranks that ``mpiexec`` started; of one rank without it.

    The first call initializes MPI, and all ranks make it. From then on an exception that nothing
    catches ends all ranks.

    Returns:
        The communicator, always the same.

    Raises:
        ImportError: ``mpiexec`` started several processes, and `mpi4py` is missing.
        RuntimeError: `mpi4py` uses another MPI than this ``mpiexec``.

    Example:
        >>> from minigrad import distributed
        >>> distributed.world()
        Communicator(rank 0 of 1)
    """
    global _world
    if _world is None:
        launched = _launched()
        if launched == 0:
            _world = Communicator()
        else:
            MPI = optional_package("minigrad.distributed", "mpi4py.MPI")
            if MPI.COMM_WORLD.size == 1 < launched:
                library = MPI.Get_library_version().partition("\n")[0].strip("\0")
                raise RuntimeError(
                    f"distributed.world: {launched} processes were started, and MPI finds one: "
                    f"mpi4py uses {library}; start them with the mpiexec that belongs to it"
                )
            _end_together(MPI)
            _world = Communicator(MPI.COMM_WORLD)
    return _world


def _launched() -> int:
    """How many processes ``mpiexec`` or ``srun`` started; 0 without them."""
    for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"):
        if name in os.environ:
            return int(os.environ[name])
    return int(os.environ.get("SLURM_STEP_NUM_TASKS", 1)) if "PMIX_RANK" in os.environ else 0


def _end_together(MPI: Any) -> None:
    """See to it that an exception on one rank ends all, and that none ends while others wait."""
    rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size

    def abort(kind: Any, error: Any, trace: Any) -> None:
        interrupted = issubclass(kind, KeyboardInterrupt)
        if not interrupted:
            lines = "".join(traceback.format_exception(kind, error, trace))
            sys.stderr.write(f"Rank {rank} of {size} raised:\n{lines}")
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.5)  # mpiexec may drop what it has not yet read when it hears of the end
        MPI.COMM_WORLD.Abort(130 if interrupted else 1)

    def finish() -> None:
        try:
            groups = sorted(_communicators, key=lambda comm: comm.size, reverse=True)
            calls = [
                Call(comm, "the end of the program", 0, ("", 0)) for comm in groups if comm.size > 1
            ]
            started = [(call, *call.comm._exchange(call)) for call in calls]
            for call, request, found in started:
                while not request.Test():
                    time.sleep(0.01)  # for as long as the others run
                call.comm.compare(found, call)
        except BaseException:
            abort(*sys.exc_info())

    if size > 1:
        sys.excepthook = abort
        atexit.register(finish)
