"""Which tests of a room find something: mutants in every function, each run against all tests.

    python tools/needed.py optim --out first.json              `make needed ROOM=optim`
    python tools/needed.py optim --seed 1 --out second.json    other mutants of the same functions
    python tools/needed.py --agree first.json second.json      what neither needs

A room is a package of minigrad or one module: `nn`, `nn/layers`, `optim/adam.py`. For each test
function the table says how many mutants it kills, and how many it kills alone. A test function is
needless if every mutant that it kills is killed by one before it, in the order of cost and in that
of the files. Some faults come from order and state, which no mutant imitates: tests of these stay,
and so do those that came from a report.
"""

import argparse
import functools
import inspect
import json
import os
import random
import re
import resource
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from rule_mutants.listing import shown
from rule_mutants.mutations import Mutant
from rule_mutants.processes import in_child, in_children, limit_work, say
from rule_mutants.results import Result, agreed, report
from rule_mutants.sites import Site, find_functions
from rule_mutants.suite import Test, passes, reaching, with_tests
from subjects import Repository

ROOT = Path(__file__).resolve().parent.parent
STAY = {
    "a report": r"#\d+|(?<![a-z])issues?(?![a-z])|20\d\d-\d\d",
    "writes in place": r"in_?place|in place|\.\w+_\(|[\])] *[-+*/@|&]?= ",
    "hooks": r"hook",
    "threads": r"thread|concurrent|async|\bFuture",
    "files": r"tmp_path|files?(?![a-z])|(?<![a-z])(saved?(?![a-z])|load)",
    "ranks": r"(?<![a-z])ranks?(?![a-z])|spawn|subprocess|distributed",
}
"""What a test function may be about that keeps it, and the words in its name or source."""


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("room", nargs="?", help="a package or module: nn, optim/adam.py")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="others than those of the room")
    parser.add_argument("--sample", type=int, metavar="N", help="mutants of each function")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which N; none is in two")
    parser.add_argument("--seconds", type=float, default=10, help="for a mutant, once it is killed")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the result is written")
    parser.add_argument("--agree", nargs="+", type=Path, metavar="FILE", help="compare results")
    return parser.parse_args()


def sampled(sites: Iterable[Site], sample: int | None, seed: int) -> list[tuple[Site, Mutant]]:
    """The mutants of each function, or a sample; those of two seeds have none in common."""
    found = []
    for site in sites:
        mutants = list(site.mutants())
        if sample is not None:
            random.Random(site.name).shuffle(mutants)
            mutants = mutants[seed * sample : (seed + 1) * sample]
        found += [(site, mutant) for mutant in mutants]
    random.Random(seed).shuffle(found)  # what is left says how long it takes
    return found


def function_of(item: pytest.Item) -> str:
    """The test function of a case."""
    return item.nodeid.partition("[")[0]


def why_it_stays(item: pytest.Item) -> str:
    """What keeps a test function whatever it kills; nothing for most."""
    text = f"{function_of(item)}\n{inspect.getsource(item.function)}"  # type: ignore[attr-defined]
    return ", ".join(why for why, words in STAY.items() if re.search(words, text))


class Run:
    """One run over the mutants of a room."""

    def __init__(self, package: str, given: argparse.Namespace) -> None:
        self.package = package
        self.given = given
        self.failing: list[str] = []
        self.result: Result = {"room": package, "seed": given.seed, "tests": {}, "mutants": []}

    def __call__(self, items: list[pytest.Item]) -> None:
        """Find what each test reaches, then run on each mutant the tests that reach it."""
        sites = find_functions(self.package)
        tests, self.failing = reaching(items, sites, self.given.jobs)
        tests.sort(key=lambda test: test.seconds)
        seconds: dict[str, float] = defaultdict(float)
        at: dict[Any, dict[str, list[Test]]] = defaultdict(lambda: defaultdict(list))
        for test in tests:
            seconds[function_of(test.item)] += test.seconds
            for line in test.lines:
                at[line][function_of(test.item)].append(test)
        for item in items:
            if (name := function_of(item)) in seconds and name not in self.result["tests"]:
                stays = why_it_stays(item)
                self.result["tests"][name] = {"seconds": round(seconds[name], 3), "stays": stays}
        mutants = sampled(sites, self.given.sample, self.given.seed)
        say(f"{len(mutants)} mutants of {len(sites)} functions, {len(seconds)} test functions")

        def tasks() -> Iterator[tuple[Any, Any]]:
            for site, mutant in mutants:
                asked = sorted(
                    at[site.name, mutant.line].items(),
                    key=lambda pair: sum(test.seconds for test in pair[1]),
                )
                trial = functools.partial(killers, site, mutant, asked, self.given.seconds)
                yield (mutant, [name for name, _ in asked]), trial

        for (mutant, asked), found in in_children(tasks(), self.given.jobs):
            killed, tried = ([], 0) if isinstance(found, str) else found
            self.result["mutants"].append(
                {
                    "name": shown(mutant.name),
                    "before": mutant.before,
                    "after": mutant.after,
                    "killers": killed,
                    "asked": asked[:tried],
                    "left out": len(asked) - tried,
                }
            )
            if not len(self.result["mutants"]) % 25:
                say(f"{len(self.result['mutants'])} tried")
                self.write()
        self.write()

    def write(self) -> None:
        """Write what is known to the file of the result."""
        if self.given.out:
            self.given.out.write_text(json.dumps(self.result, indent=1), encoding="utf-8")


def killers(
    site: Site, mutant: Mutant, asked: Sequence[tuple[str, list[Test]]], seconds: float
) -> tuple[list[str], int]:
    """The test functions that fail on a mutant, and how many ran; this process ends afterwards.

    Each runs in a process of its own: one that fails may have left something behind, or crashed.
    """
    site.put(mutant.code)
    found: list[str] = []
    for tried, (name, tests) in enumerate(asked):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        if found and used.ru_utime + used.ru_stime > seconds:
            return found, tried
        if in_child(functools.partial(fails, tests)) is not False:
            found.append(name)
    return found, len(asked)


def fails(tests: Sequence[Test]) -> bool:
    """Whether one of the tests of a function fails."""
    for test in tests:
        limit_work(2 + 5 * test.seconds)
        if not passes(test.item):
            return True
    return False


def main() -> int:
    """Run the command."""
    given = arguments()
    if given.agree:
        print("\n".join(agreed([json.loads(path.read_text("utf-8")) for path in given.agree])))
        return 0
    if not given.room:
        raise SystemExit("name a room: make needed ROOM=optim")
    room = given.room.removesuffix(".py").strip("/").replace("/", ".").removeprefix("minigrad.")
    repository = Repository(ROOT)
    package = f"minigrad.{room}" if f"minigrad.{room}" in repository.modules else room
    tests = given.tests or repository.mentions(repository.subject(room.replace(".", "/")))
    run = Run(package, given)
    broken = with_tests([str(path) for path in tests], run)
    for name in (*broken, *run.failing):
        print(f"left out, because it fails without any mutant: {name}")
    print("\n".join(report(run.result)))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent, mutants = used.ru_utime + used.ru_stime, len(run.result["mutants"])
    print(f"{spent:.0f} s of processor, {100 * spent / max(mutants, 1):.0f} s for 100 mutants")
    return 0


if __name__ == "__main__":
    sys.exit(main())
