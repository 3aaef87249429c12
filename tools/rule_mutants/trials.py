"""Trying mutants: each in a process of its own, which ends with the first test that fails.

pytest collects the tests once. Every mutant then gets a fork of that process, which puts the
mutant's code into the function and runs the tests that reach the statement, the quickest first.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rule_mutants.mutations import Mutant
from rule_mutants.processes import in_children, limit_work
from rule_mutants.sites import Site
from rule_mutants.suite import Line, Test, passes

__all__ = ["Verdict", "try_mutants"]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Attributes:
        site: Where it was.
        mutant: What it was.
        killer: The test that failed, or how else it ended; None for a survivor.
        tests: How many tests reach it.
    """

    site: Site
    mutant: Mutant
    killer: str | None
    tests: int


def try_mutants(
    mutants: Iterable[tuple[Site, Mutant]], tests: Sequence[Test], jobs: int
) -> Iterator[Verdict]:
    """Run tests on mutants, each until one fails.

    Args:
        mutants: What to try.
        tests: From `reaching`.
        jobs: How many processes run at a time.

    Returns:
        The verdicts, as they come.
    """
    at: dict[Line, list[Test]] = defaultdict(list)
    for test in tests:
        for line in test.lines:
            at[line].append(test)
    kills: Counter[tuple[str, str]] = Counter()

    def tasks() -> Iterator[tuple[Any, Callable[[], Any]]]:
        for site, mutant in mutants:
            # What killed another mutant of the function will likely kill this one.
            chosen = sorted(
                at[site.name, mutant.line],
                key=lambda test: (-kills[site.name, test.item.nodeid], test.seconds),
            )
            trial = functools.partial(_first_failing, site.function, mutant.code, chosen)
            yield (site, mutant, len(chosen)), trial

    for (site, mutant, count), killer in in_children(tasks(), jobs):
        if killer is not None:
            kills[site.name, killer] += 1
        yield Verdict(site, mutant, killer, count)


def _first_failing(function: Any, code: CodeType, tests: Sequence[Test]) -> str | None:
    """Put a mutant's code into its function, and name the first test that fails."""
    function.__code__ = code  # this process is thrown away afterwards
    for test in tests:
        limit_work(2 + 5 * test.seconds)
        if not passes(test.item):
            return test.item.nodeid
    return None
