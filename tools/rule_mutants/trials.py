"""Runs tests on mutants: each in its own process, which ends with the first failing test.

pytest collects the tests once. Each mutant gets a fork of that process, which replaces the code of
the function and runs the tests that reach the statement, fastest first.
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
    """The result for a mutant.

    Attributes:
        site: Its site.
        mutant: The mutant.
        killer: The failing test, or another reason; None for a survivor.
        tests: The number of tests that reach it.
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
        mutants: The mutants.
        tests: From `reaching`.
        jobs: The number of parallel processes.

    Returns:
        The verdicts, in the order of completion.
    """
    at: dict[Line, list[Test]] = defaultdict(list)
    for test in tests:
        for line in test.lines:
            at[line].append(test)
    kills: Counter[tuple[str, str]] = Counter()

    def tasks() -> Iterator[tuple[Any, Callable[[], Any]]]:
        for site, mutant in mutants:
            # A test that killed another mutant of the function will likely kill this one.
            chosen = sorted(
                at[site.name, mutant.line],
                key=lambda test: (-kills[site.name, test.item.nodeid], test.seconds),
            )
            trial = functools.partial(_first_failing, site, mutant.code, chosen)
            yield (site, mutant, len(chosen)), trial

    for (site, mutant, count), killer in in_children(tasks(), jobs):
        if killer is not None:
            kills[site.name, killer] += 1
        yield Verdict(site, mutant, killer, count)


def _first_failing(site: Site, code: CodeType, tests: Sequence[Test]) -> str | None:
    """Replace the function's code by the mutant's, and return the first failing test."""
    site.put(code)  # this process ends afterwards
    for test in tests:
        limit_work(2 + 5 * test.seconds)
        if not passes(test.item):
            return test.item.nodeid
    return None
