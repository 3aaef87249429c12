"""The sizes for which a file is valid, from every comparison of a size in Python.

The graph holds the ops of the runs. It is valid for all sizes at which each comparison has the same
outcome as in the runs. For the nearest size at which a comparison has another outcome, the model is
run. If it raises, as with an assertion, the file is valid only for the sizes before. If it does not
raise, the file would lack what the model does there, so the model is refused.
"""

import functools
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from minigrad.onnx.program import REMEDY, Program, shown
from minigrad.onnx.runs import Run
from minigrad.onnx.sizes import Size, value_at
from minigrad.onnx.traced import Axis, Comparison, Formula, Untraced, evaluated, why_not

MOST = 2**31
SWEEP = [*range(1, 257), *(2**k for k in range(9, 32))]


class Promise(NamedTuple):
    """The sizes for which a file is valid."""

    least: dict[str, int]  # the minimum size of each symbol
    most: dict[str, int]  # the maximum size, for the symbols that have one
    conditions: list[str]  # assertions in the user's program that must also hold


def promised(
    program: Program, limits: Mapping[str, int], tried: Callable[[dict[str, int]], str | None]
) -> Promise:
    """Find the sizes, up to `limits`, at which the model computes what the program computes.

    `tried` runs the model at some sizes; it returns None if the model raises. A use of a size in
    Python that cannot be traced is an error.
    """
    return _Search(program, limits, tried).promise()


class _Search:
    """The remaining sizes, while the comparisons are examined."""

    def __init__(
        self, program: Program, limits: Mapping[str, int],
        tried: Callable[[dict[str, int]], str | None],
    ) -> None:  # fmt: skip
        self._program = program
        self._tried = functools.cache(lambda *sizes: tried(dict(sizes)))
        symbols = program.runs[0].sizes
        self._least = dict.fromkeys(symbols, 1)
        self._most = {symbol: limits.get(symbol, MOST) for symbol in symbols}
        self._conditions: dict[str, None] = {}

    def promise(self) -> Promise:
        """Examine the comparisons until the sizes no longer change."""
        noted = [(event, run) for run in self._program.runs for event in run.noted]
        for event, run in noted:
            if isinstance(event, Untraced):
                self._refuse_if_it_varies(event, run)
        compared = {event: run for event, run in reversed(noted) if isinstance(event, Comparison)}
        wrong: dict[Comparison, str] = {}
        for event in sorted(compared, key=lambda event: not event.place):
            why = self._examine(event, compared[event])
            if why is not None and event.place:
                wrong[event] = why
        for event, why in wrong.items():  # other comparisons may exclude those sizes later
            if self._examine(event, compared[event]) is not None:
                raise NotImplementedError(f"onnx.export: {why}")
        most = {symbol: n for symbol, n in self._most.items() if n < MOST}
        return Promise(self._least, most, [*self._conditions])

    def _length(self, axis: Axis) -> Any:
        shape = self._program.value(axis.number).shape
        return shape[axis.axis] if shape else None  # the number of axes may depend on sizes

    def _refuse_if_it_varies(self, event: Untraced, run: Run) -> None:
        """Refuse an untraceable use of a size or value that differs between runs."""
        if event.number is not None:
            if not all(self._program.value(n).fixed for n in run.sources[event.number]):
                raise NotImplementedError(why_not(event))
        elif any(not isinstance(self._length(axis), int) for axis in _axes(event.term)):
            raise NotImplementedError(
                f"onnx.export: {event.what} hides a size that varies; write sums, products and "
                f"comparisons of x.shape, compute with ops on tensors, or fix the size with "
                f"dynamic_axes ({event.place})"
            )

    def _examine(self, event: Comparison, run: Run) -> str | None:
        """Exclude the sizes at which a comparison has another outcome and the model raises.

        If the model does not raise, return the reason to refuse it.
        """
        lengths = {axis: self._length(axis) for axis in (*_axes(event.terms[0]),
                                                         *_axes(event.terms[1]))}  # fmt: skip
        if any(length is None for length in lengths.values()):
            return (
                f"sizes are compared of which one is not a sum or product of the inputs' sizes; "
                f"write it with ops on tensors, or fix the size with dynamic_axes ({event.place})"
            )
        symbols = {s for size in lengths.values() if isinstance(size, Size) for s in size.symbols}
        for symbol in sorted(symbols):
            for base in self._bases(run.sizes, symbol):
                for size in self._otherwise(event, lengths, base, symbol):
                    sizes = {**base, symbol: size}
                    found = self._tried(*sizes.items())
                    if found is not None:
                        return (
                            f"a comparison of sizes is {event.outcome} {shown(run.sizes)} and "
                            f"{not event.outcome} {shown(sizes)}, where the model {found}. "
                            f"{REMEDY}; or assert what the file is for ({event.place})"
                        )
                    self._exclude(event, symbol, size, alone=len(symbols) == 1)
        return None

    def _bases(self, sizes: dict[str, int], symbol: str) -> list[dict[str, int]]:
        """Sizes to try for the other symbols: the example's, the smallest, and large ones."""
        many = {s: min(max(1000, n), self._most[s]) for s, n in sizes.items()}
        own = {symbol: sizes[symbol]}
        found = [sizes, self._least | own, many | own]
        return found if len(sizes) > 1 else found[:1]

    def _otherwise(
        self, event: Comparison, lengths: Mapping[Axis, Any], base: dict[str, int], symbol: str
    ) -> Iterator[int]:
        """The nearest sizes below and above at which the comparison has another outcome."""

        def sides(size: int) -> tuple[Any, Any] | None:
            sizes = {**base, symbol: size}
            try:
                left, right = (
                    evaluated(term, lambda axis: value_at(lengths[axis], sizes))
                    for term in event.terms
                )
            except (ArithmeticError, ValueError):
                return None
            return left, right

        def sign(size: int) -> int:
            found = sides(size)
            return 0 if found is None else (found[0] > found[1]) - (found[0] < found[1])

        points = {*SWEEP, base[symbol]}
        for low, high in itertools.pairwise(SWEEP):
            if (before := sign(low)) != sign(high):
                while high - low > 1:
                    middle = (low + high) // 2
                    low, high = (middle, high) if sign(middle) == before else (low, middle)
                points |= {low, high, high + 1}
        others = [
            size for size in points
            if self._least[symbol] <= size <= self._most[symbol]
            and (found := sides(size)) is not None and event.function(*found) != event.outcome
        ]  # fmt: skip
        yield from sorted(size for size in others if size < base[symbol])[-1:]
        yield from sorted(size for size in others if size >= base[symbol])[:1]

    def _exclude(self, event: Comparison, symbol: str, size: int, alone: bool) -> None:
        """Exclude a size and all beyond it; if runs went beyond it, record the condition."""
        seen = [run.sizes[symbol] for run in self._program.runs]
        if alone and size > max(seen):
            self._most[symbol] = min(self._most[symbol], size - 1)
        elif alone and size < min(seen):
            self._least[symbol] = max(self._least[symbol], size + 1)
        elif event.place:
            path, _, line = event.place.partition(":")
            self._conditions.setdefault(f"{os.path.basename(path)}:{line}")


def _axes(term: Any) -> Iterator[Axis]:
    """The lengths in a term."""
    if isinstance(term, Axis):
        yield term
    elif isinstance(term, Formula):
        for part in term.terms:
            yield from _axes(part)
