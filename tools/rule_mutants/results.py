"""What a run of `make needed` found: the survivors, which test kills what, the needless tests."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

__all__ = ["Result", "agreed", "report"]

Result = dict[str, Any]
"""The tests, in the order of the files, and the mutants with the tests that kill them."""


def cover(tests: Iterable[str], mutants: Sequence[Result]) -> set[str]:
    """The test functions that kill something which none before them kills."""
    kills = defaultdict(set)
    for number, mutant in enumerate(mutants):
        for name in mutant["killers"]:
            kills[name].add(number)
    killed: set[int] = set()
    kept = set()
    for name in tests:
        if kills[name] - killed:
            kept.add(name)
            killed |= kills[name]
    return kept


def needless(result: Result) -> list[str]:
    """The test functions that ran on a mutant, and kill nothing new in either order."""
    tests, mutants = result["tests"], result["mutants"]
    asked = {name for mutant in mutants for name in mutant["asked"]}
    by_cost = sorted(tests, key=lambda name: tests[name]["seconds"])
    kept = cover(by_cost, mutants) | cover(tests, mutants)
    return [name for name in tests if name in asked and name not in kept]


def report(result: Result) -> Iterator[str]:
    """The survivors, the table of the test functions, and what is needless."""
    tests, mutants = result["tests"], result["mutants"]
    alive = [mutant for mutant in mutants if not mutant["killers"]]
    for mutant in alive:
        reached = f"{len(mutant['asked'])} test functions" if mutant["asked"] else "no test"
        yield f"survived {reached}: {mutant['name']}\n- {mutant['before']}\n+ {mutant['after']}\n"
    kills = Counter(name for mutant in mutants for name in mutant["killers"])
    alone = Counter(mutant["killers"][0] for mutant in mutants if len(mutant["killers"]) == 1)
    asked = Counter(name for mutant in mutants for name in mutant["asked"])
    idle = {*needless(result)}
    yield f"{'asked':>6}{'kills':>6}{'alone':>6}{'seconds':>9}"
    for name, test in tests.items():
        mark = "needless: " if name in idle else ""
        stays = f"  (stays: {test['stays']})" if mark and test["stays"] else ""
        figures = f"{asked[name]:6}{kills[name]:6}{alone[name]:6}{test['seconds']:9.2f}"
        yield f"{figures}  {mark}{name}{stays}"
    free = [name for name in idle if not tests[name]["stays"]]
    yield (
        f"{len(mutants)} mutants, {len(mutants) - len(alive)} killed, "
        f"{sum(not mutant['asked'] for mutant in alive)} reached by no test; "
        f"{sum(mutant['left out'] > 0 for mutant in mutants)} not run on all tests"
    )
    yield (
        f"{len(tests)} test functions: {sum(alone[name] > 0 for name in tests)} kill one alone, "
        f"{len(idle)} kill nothing new in either order ({sum(not kills[n] for n in idle)} kill "
        f"nothing); {len(free)} of these {len(idle)} need not stay"
    )


def agreed(results: Sequence[Result]) -> Iterator[str]:
    """What every result that has a test calls needless."""
    idle = [{*needless(result)} for result in results]
    asked = [{name for m in result["mutants"] for name in m["asked"]} for result in results]
    for name in dict.fromkeys(name for result in results for name in result["tests"]):
        judges = [k for k, names in enumerate(asked) if name in names]
        if judges and all(name in idle[k] for k in judges):
            stays = next(r["tests"][name]["stays"] for r in results if name in r["tests"])
            kills = sum(name in m["killers"] for result in results for m in result["mutants"])
            yield f"{kills:6} kills, none new: {name}" + (f"  (stays: {stays})" if stays else "")
