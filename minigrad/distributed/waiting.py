"""Waits that end: what the ranks tell each other while they wait, and when they end.

Each rank counts its waits in each communicator; all ranks of it count alike. A rank that has waited
for a second, and one that ends, tell the others where they are and how far they have counted. So a
waiting rank knows who is there, and who will never come: a rank that has ended, or one that waits
for this rank elsewhere. For all other cases there is a time limit.
"""

from __future__ import annotations

import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from minigrad.autograd.mode import located

LISTEN_AFTER, ANNOUNCE_AFTER, WARN_AFTER = 0.05, 1.0, 10.0  # seconds
END = ""
"""The key of the wait at the end of the program, which is one like all others."""
NEWS, SWAP = 0, 1  # kinds of messages
SPINS = 1000  # polls without a pause, about a millisecond


class News(NamedTuple):
    """Where a rank is."""

    waits_in: str  # the key of the communicator in which it waits
    counts: Mapping[str, int]  # by the key of a communicator, how many waits it has begun
    what: str  # the call in which it waits
    finals: Mapping[str, Mapping[str, str]]  # if it has ended, what is then compared


class Place(NamedTuple):
    """Where this rank waits."""

    key: str  # of the communicator, or END; the same on all of its ranks
    ranks: Sequence[int]  # its ranks, by their numbers in `world`
    rank: int  # the number of this one
    what: object  # the call, or what its text is
    timeout: float  # how many seconds to wait

    def named(self, ranks: Iterable[int]) -> str:
        """Some ranks of the communicator, by their numbers there and, where it differs, in all."""
        everywhere = [f" ({self.ranks[i]} of all)" * (self.ranks[i] != i) for i in ranks]
        listed = [f"{i}{more}" for i, more in zip(ranks, everywhere, strict=True)]
        return f"rank {', '.join(listed[:8])}{' ...' * (len(listed) > 8)}"

    def listing(self, whats: Mapping[int, str]) -> str:
        """A line for each group of ranks that are at the same place."""
        alike: dict[str, list[int]] = {}
        for rank, what in sorted(whats.items()):
            alike.setdefault(what, []).append(rank)
        return "".join(f"\n  {self.named(ranks)}: {what}" for what, ranks in alike.items())


def poll(done: Callable[[], bool], look: Callable[[float], None]) -> None:
    """Wait until something is done; `look` is called with the seconds that have passed."""
    began, spins = time.monotonic(), 0
    while not done():
        spins += 1
        if spins < SPINS:
            if spins > SPINS // 10:
                time.sleep(0)  # lets another rank on this core run
            continue
        waited = time.monotonic() - began
        time.sleep(min(1e-3, waited / 20))
        if waited > LISTEN_AFTER:
            look(waited)


class Watch:
    """The knowledge of this rank about all others, which it shares with them.

    Args:
        mpi: A communicator of all ranks for these messages alone.

    Attributes:
        counts: By the key of a communicator, how many waits this rank has begun.
        last: The last call of this rank, or what its text is.
        finals: What is compared at the end: by a key, which all ranks have alike, a weak reference
            to a function that returns a text by each name.
        news: The last that each rank has told.
    """

    def __init__(self, mpi: Any) -> None:
        self.counts = {END: 0}
        self.last: object = "no collective"
        self.finals: dict[str, Callable[[], Callable[[], dict[str, str]] | None]] = {}
        self._mpi, self._process = mpi, os.getpid()
        self.news: dict[int, News] = {}
        self._said: dict[str, dict[str, str]] = {}  # at the end, by the functions of `finals`
        self._sent: list[Any] = []
        self._swapped: dict[tuple[str, int], Any] = {}
        self._lock = threading.RLock()  # threads, each in a communicator of its own

    def wait(self, done: Callable[[], bool], place: Place) -> None:
        """Wait until something is done in which all ranks of a communicator take part.

        Raises:
            RuntimeError: A rank will never come.
            TimeoutError: It was not done within the time limit.
        """
        self.counts[place.key] = self.counts.get(place.key, 0) + 1
        self.last = place.what
        if not done():
            poll(done, _Wait(self, place))

    def swap(self, value: Any, place: Place) -> list[Any]:
        """The values of all ranks of a communicator, by messages beside its collectives."""
        from mpi4py import MPI

        others = {*place.ranks} - {self._mpi.rank}
        self._sent += [self._mpi.isend((place.key, value), rank, SWAP) for rank in others]
        status, found = MPI.Status(), self._swapped

        def done() -> bool:
            with self._lock:
                while self._mpi.Iprobe(tag=SWAP, status=status):
                    key, theirs = self._mpi.recv(source=status.source, tag=SWAP)
                    found[key, status.source] = theirs
            return all((place.key, rank) in found for rank in others)

        self.wait(done, place)
        return [
            value if i == place.rank else found.pop((place.key, rank))
            for i, rank in enumerate(place.ranks)
        ]

    def end(self, timeout: float) -> None:
        """Tell all ranks that this one has ended, and wait until all have.

        Raises:
            RuntimeError: The ranks have not made the same calls.
            TimeoutError: A rank did not end within `timeout` seconds.
        """
        if os.getpid() != self._process:  # a fork of a rank is not a rank
            return
        rank, size = self._mpi.rank, self._mpi.size
        what = f"the end of the program, after {self.last}"
        place = Place(END, range(size), rank, what, timeout)
        methods = ((key, method()) for key, method in self.finals.items())
        self._said = {key: method() for key, method in methods if method is not None}
        self.counts[END] = 1
        self.tell(place)

        def done() -> bool:
            self.listen()
            ended = sum(news.waits_in == END for news in self.news.values())
            return ended == size - 1 and not self._sending()

        poll(done, _Wait(self, place))
        common = [(news.counts, news.counts.keys() & self.counts) for news in self.news.values()]
        if any(counts[key] != self.counts[key] for counts, keys in common for key in keys):
            listing = place.listing({rank: what} | {i: news.what for i, news in self.news.items()})
            raise RuntimeError(f"the ranks have ended after different calls:{listing}")
        if rank == 0:
            for key, mine in self._said.items():
                others = {i: news.finals.get(key, mine) for i, news in self.news.items()}
                _warn_of_difference({0: mine} | others, place)

    def tell(self, place: Place) -> None:
        """Tell the ranks of a communicator that this one waits there."""
        self._sending()
        news = News(place.key, dict(self.counts), str(place.what), self._said)
        for rank in place.ranks:
            if rank != self._mpi.rank and rank >= 0:  # below 0: outside of `world`
                self._sent.append(self._mpi.isend(tuple(news), rank, NEWS))

    def listen(self) -> None:
        """Take what other ranks have told."""
        from mpi4py import MPI

        status = MPI.Status()
        with self._lock:
            while self._mpi.Iprobe(tag=NEWS, status=status):
                news = self._mpi.recv(source=status.source, tag=NEWS)
                self.news[status.source] = News(*news)

    def _sending(self) -> bool:
        self._sent = [sent for sent in self._sent if not sent.Test()]
        return bool(self._sent)


def _warn_of_difference(finals: Mapping[int, Mapping[str, str]], place: Place) -> None:
    """Warn of the first entry that the ranks do not have alike at the end."""
    for name in finals[0]:
        values = {i: final.get(name, "it is not there") for i, final in finals.items()}
        if len({*values.values()}) > 1:
            warnings.warn(
                f"at the end of the program, {name} differs between ranks; was it trained or "
                f"loaded on some of them only?{place.listing(values)}",
                stacklevel=3,
            )
            return


class _Wait:
    """One wait that takes long: what this rank tells, and what it concludes from the news."""

    def __init__(self, watch: Watch, place: Place) -> None:
        self.watch, self.place = watch, place
        self.count = watch.counts[place.key]
        at_end = place.key == END  # where one rank may still write what all have computed
        self.told = at_end
        self.warn_after = min(math.inf if at_end else WARN_AFTER, place.timeout / 3)

    def __call__(self, waited: float) -> None:
        place, limit = self.place, self.place.timeout
        if not self.told and waited > min(ANNOUNCE_AFTER, limit / 4):
            self.told = True
            self.watch.tell(place)
        self.watch.listen()
        late = [i for i in range(len(place.ranks)) if not self._is_there(i)]
        if never := [i for i in late if self._never_comes(i)]:
            raise RuntimeError(
                located(
                    f"{str(place.what).partition('(')[0]}: {place.named(never)} will not come; the "
                    f"ranks are here:{place.listing(self._whereabouts(late))}"
                )
            )
        if waited > min(limit, self.warn_after):
            self.warn_after = math.inf
            where = f"{'at' if place.key == END else 'in'} {place.what}"
            missing = f"not yet there: {place.named(late)}" if late else "all ranks are there"
            heard = {i: what for i, what in self._whereabouts(late).items() if i != place.rank}
            missing += place.listing(heard)
            if waited > limit:
                raise TimeoutError(
                    f"rank {place.rank} waited {limit:g} s {where}; {missing}; a longer wait: "
                    f"Communicator.timeout"
                )
            if place.rank == min({*range(len(place.ranks))} - {*late}):  # one warning is enough
                warnings.warn(
                    f"rank {place.rank} has waited {waited:.0f} s {where}; {missing}", stacklevel=5
                )

    def _is_there(self, i: int) -> bool:
        """Whether a rank is known to have come to this wait."""
        news = self.watch.news.get(self.place.ranks[i])
        return i == self.place.rank or (
            news is not None and news.counts.get(self.place.key, 0) >= self.count
        )

    def _never_comes(self, i: int) -> bool:
        """Whether a late rank has ended, or waits for this one elsewhere."""
        news = self.watch.news.get(self.place.ranks[i])
        own = None if news is None else self.watch.counts.get(news.waits_in)
        return news is not None and own is not None and own < news.counts[news.waits_in]

    def _whereabouts(self, late: Iterable[int]) -> dict[int, str]:
        """Where this rank and the late ones are, as far as they told."""
        news, ranks = self.watch.news, self.place.ranks
        told = {i: news[ranks[i]].what for i in late if ranks[i] in news}
        return {self.place.rank: str(self.place.what)} | told
