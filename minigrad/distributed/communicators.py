"""Communicators: the ranks that take part, and the check that all of them make the same call.

Before each collective, the ranks exchange three numbers: do they call the same one, on the same
shape and dtype, and does any of them record it? So a mismatch is an error on every rank, not a
wait, and a collective is recorded on all ranks or on none. Every exchange is polled (`waiting`), so
that a rank that waits can say for whom, and does not wait for ever.
"""

from __future__ import annotations

import atexit
import os
import pickle
import sys
import time
import traceback
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.events import unrepeatable
from minigrad.autograd.mode import located
from minigrad.distributed import start_guard
from minigrad.distributed.waiting import Place, Watch, poll
from minigrad.support.checks import check_number, check_size, optional_package
from minigrad.tracing.lines import line_at, user_frame

TIMEOUT = float(os.environ.get("MINIGRAD_DISTRIBUTED_TIMEOUT", "600"))  # seconds
RANK_NAMES = "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK"

_world: Communicator | None = None
_watch: Watch | None = None
_made: Counter[int] = Counter()
"""The number of communicators of a group of ranks, by a checksum of their numbers."""


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
        timeout: How many seconds to wait for a rank that is late; a warning comes after 10, or
            after a third of this.

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

    def __init__(self, mpi: Any = None, timeout: float = TIMEOUT) -> None:
        self.mpi, self.timeout = mpi, check_number("Communicator", "timeout", timeout, above=0)
        self.rank: int = 0 if mpi is None else mpi.rank
        self.size: int = 1 if mpi is None else mpi.size
        self._number = self._compared = 0
        self._thread: int | None = None  # which is in a call
        self._abandoned: list[Any] = []
        self._own: Any = None
        """A duplicate of `mpi`, so that no message of the user is taken for one of ours."""
        if self.size > 1:
            if _watch is None:
                world()
            ranks = self.world_ranks
            group = zlib.crc32(repr(ranks).encode())
            _made[group] += 1  # all of these ranks count alike
            self._place = Place(f"{group:x}.{_made[group]}", ranks, self.rank, "", timeout)
            self._own, request = mpi.Idup()
            self.wait(self._call("Communicator"), request)

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
        call = self.agree("split")
        mine = np.array([-1 if color is None else color, key], np.int64)
        every = np.empty((self.size, 2), np.int64)
        self.run(call, "Iallgather", mine, every)
        if color is None:
            return None
        ranks = np.flatnonzero(every[:, 0] == color).tolist()
        group = self._own.group.Incl(sorted(ranks, key=lambda rank: every[rank, 1]))
        part = self._own.Create_group(group)
        return Communicator(part, self.timeout)

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

    def agree(
        self, what: str, records: bool = False, backward_of: Call | None = None,
        entries: Mapping[str, str] | None = None,
    ) -> Call:  # fmt: skip
        """Make sure that all ranks make the same call.

        Args:
            what: The name of the call, with all that must be equal on all ranks.
            records: Whether this rank records it.
            backward_of: In a backward pass, the call in the forward pass that belongs to it.
            entries: What else must be equal, by names; an error shows the first that is not.

        Returns:
            The call; `recorded` says whether any rank records it.

        Raises:
            RuntimeError: The ranks make different calls.
            TimeoutError: A rank did not come within `timeout` seconds.
        """
        takes_part()
        call = self._call(what, backward_of)
        if self.size == 1:
            return call._replace(recorded=records)
        with self._in_one_thread(call):
            request, found = self.exchange(call, records, entries)
            self.wait(call, request)
            self.compare(found, call, entries)
        return call._replace(recorded=bool(found[2]))

    def _call(self, what: str, backward_of: Call | None = None) -> Call:
        self._number += 1
        if backward_of is not None:
            what = f"the backward pass of call {backward_of.number}, {what}"
            return Call(self, what, self._number, backward_of.place)
        frame = user_frame()
        return Call(self, what, self._number, (frame.f_code.co_filename, frame.f_lineno))

    def exchange(
        self, call: Call, records: bool = False, entries: Mapping[str, str] | None = None
    ) -> tuple[Any, np.ndarray]:
        """Start the exchange of a call: the request, and the array that it will fill."""
        from mpi4py import MPI

        code = zlib.crc32(repr((call.what, entries)).encode())
        mine = np.array([code, -code, records], np.int64)
        found = np.empty_like(mine)
        return self._own.Iallreduce(mine, found, MPI.MAX), found

    def compare(
        self, found: np.ndarray, call: Call, entries: Mapping[str, str] | None = None
    ) -> None:
        """Raise an error on every rank unless all exchanged the same call and entries."""
        if found[0] == -found[1]:  # the largest and the smallest
            return
        assert _watch is not None
        every = _watch.swap((call.what, str(call), entries), self._place_of(call))
        if len({what for what, _, _ in every}) > 1:
            message = (
                f"{call.what.partition('(')[0]}: all {self.size} ranks must make the same call, on "
                f"tensors of one shape and dtype; this is rank {self.rank}, and the ranks are here:"
            )
            whats = {rank: shown for rank, (_, shown, _) in enumerate(every)}
        else:
            theirs = [dict(others) for _, _, others in every]
            names = dict.fromkeys(name for others in theirs for name in others)
            first = next(name for name in names if len({one.get(name) for one in theirs}) > 1)
            message = f"{call.what}: the ranks differ; the first difference is {first}:"
            whats = {rank: one.get(first, "it is not there") for rank, one in enumerate(theirs)}
        raise RuntimeError(located(message + self._place.listing(whats)))

    def at_end(self, entries: Callable[[], dict[str, str]]) -> None:
        """Compare what a method returns, a text by each name, on all ranks when they end."""
        if self.size > 1:
            assert _watch is not None
            self._compared += 1  # all ranks count alike
            key = f"{self._place.key}/{self._compared}"
            _watch.finals[key] = weakref.WeakMethod(entries)

    def all_gather_object(self, value: Any) -> list[Any]:
        """Gather values of all ranks, in their order: anything that can be pickled.

        Example:
            >>> from minigrad import distributed
            >>> distributed.world().all_gather_object({"loss": 0.5})
            [{'loss': 0.5}]
        """
        if self.size == 1:
            return [value]
        call = self.agree("all_gather_object")
        sent = _pickled(value)
        sizes = np.empty(self.size, np.int64)
        self.run(call, "Iallgather", np.array([sent.size]), sizes)
        received = np.empty(sizes.sum(), np.uint8)
        self.run(call, "Iallgatherv", sent, [received, sizes])
        return [pickle.loads(part.data) for part in np.split(received, np.cumsum(sizes)[:-1])]

    def broadcast_object(self, call: Call, value: Any) -> Any:
        """Return the value of rank 0, once the ranks agree on a call."""
        sent = _pickled(value)
        size = np.array([sent.size])
        self.run(call, "Ibcast", size, 0)
        received = sent.copy() if self.rank == 0 else np.empty(size[0], np.uint8)
        self.run(call, "Ibcast", received, 0)
        return pickle.loads(received.data)

    def run(self, call: Call, method: str, *args: Any, **options: Any) -> None:
        """Run a method of MPI that starts an exchange, and wait for its end."""
        with self._in_one_thread(call):
            self.wait(call, getattr(self._own, method)(*args, **options))

    @contextmanager
    def _in_one_thread(self, call: Call) -> Iterator[None]:
        """A part of a call, with no other thread in it and no other call since it began."""
        before, own = self._thread, get_ident()
        if before not in (None, own) or call.number != self._number:
            raise RuntimeError(
                f"{call.what.partition('(')[0]}: two threads of rank {self.rank} call collectives "
                f"of one communicator, so that the ranks cannot agree on their order; give each "
                f"thread a communicator of its own: comm.split(0)"
            )
        self._thread = own
        try:
            yield
        finally:
            self._thread = before

    def wait(self, call: Call, *requests: Any) -> None:
        """Wait for requests of MPI in which all ranks take part.

        Raises:
            RuntimeError: A rank will never come.
            TimeoutError: They were not complete within `timeout` seconds.
        """
        assert _watch is not None
        place = self._place_of(call)
        try:
            for request in requests:
                _watch.wait(request.Test, place)
        except BaseException:
            self._abandoned += requests  # MPI may still write into their arrays
            raise

    def _place_of(self, call: Call) -> Place:
        return self._place._replace(what=call, timeout=self.timeout)

    def __deepcopy__(self, memo: dict[int, Any]) -> Communicator:
        return self  # a copy would be another group, which all ranks would have to make

    def __repr__(self) -> str:
        return f"Communicator(rank {self.rank} of {self.size})"


def _pickled(value: Any) -> np.ndarray:
    return np.frombuffer(pickle.dumps(value, pickle.HIGHEST_PROTOCOL), np.uint8)


@unrepeatable(
    "the step calls a collective, in which all ranks take part, and a replay runs on one rank; "
    "capture what lies between two collectives"
)
def takes_part() -> None:
    """Tell observers that all ranks take part in what runs now."""


def world() -> Communicator:
    """Return the communicator of all ranks that ``mpiexec`` started; of one rank without it.

    Under ``mpiexec``, importing `minigrad.distributed` makes it. From then on an exception that
    nothing catches ends all ranks.

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
    global _watch, _world
    if _world is None:
        launched = _launched()
        if launched == 0:
            _world = Communicator()
        else:
            with _guard():
                MPI = optional_package("minigrad.distributed", "mpi4py.MPI")
            if MPI.COMM_WORLD.size == 1 < launched:
                library = MPI.Get_library_version().partition("\n")[0].strip("\0")
                raise RuntimeError(
                    f"distributed.world: {launched} processes were started, and MPI finds one: "
                    f"mpi4py uses {library}; start them with the mpiexec that belongs to it"
                )
            if MPI.COMM_WORLD.size > 1:
                _watch = _watching(MPI)
            _world = Communicator(MPI.COMM_WORLD)
    return _world


@contextmanager
def _guard() -> Iterator[None]:
    """A block in which MPI starts: a process beside this one ends it after the time limit."""
    import subprocess  # not every Python can start processes

    rank = next((os.environ[name] for name in RANK_NAMES if name in os.environ), "?")
    command = [sys.executable, "-I", "-S", start_guard.__file__, str(os.getpid()), rank]
    with subprocess.Popen([*command, str(TIMEOUT)], stdin=subprocess.PIPE):
        yield  # its end closes the input, which ends that process


def start() -> None:
    """Start MPI where several ranks were started: a rank that fails from now on ends all."""
    if _launched() > 1 and find_spec("mpi4py") is not None:
        world()


def _watching(MPI: Any) -> Watch:
    """Make the watch of this rank."""
    began = f"rank {MPI.COMM_WORLD.rank} waited {TIMEOUT:g} s in distributed.world"

    def look(waited: float) -> None:
        if waited > TIMEOUT:
            raise TimeoutError(f"{began}; all {MPI.COMM_WORLD.size} ranks must call it")

    own, request = MPI.COMM_WORLD.Idup()
    _end_together(MPI)
    poll(request.Test, look)
    watch = Watch(own)
    atexit.register(_end, watch)
    return watch


def _launched() -> int:
    """The number of processes that ``mpiexec`` or ``srun`` started; 0 without them."""
    for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"):
        if name in os.environ:
            return int(os.environ[name])
    return int(os.environ.get("SLURM_STEP_NUM_TASKS", "1")) if "PMIX_RANK" in os.environ else 0


def _end_together(MPI: Any) -> None:
    """See to it that an exception on one rank ends all."""
    rank, size = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size

    def abort(kind: Any, error: Any, trace: Any) -> None:
        interrupted = issubclass(kind, KeyboardInterrupt)
        if not interrupted:
            lines = "".join(traceback.format_exception(kind, error, trace))
            sys.stderr.write(f"Rank {rank} of {size} raised:\n{lines}")
        atexit.unregister(_end)
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(0.5)  # mpiexec may drop what it has not yet read when it hears of the end
        MPI.COMM_WORLD.Abort(130 if interrupted else 1)

    sys.excepthook = abort


def _end(watch: Watch) -> None:
    """See to it that no rank ends while others wait for it."""
    try:
        watch.end(TIMEOUT if _world is None else _world.timeout)
    except BaseException:  # noqa: BLE001  # it is told, and ends all ranks
        sys.excepthook(*sys.exc_info())
