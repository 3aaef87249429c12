"""Mutation testing: put one mistake at a time into every rule; a test must fail.

    python tools/mutants.py                     all of them: `make mutants`
    python tools/mutants.py --op tanh softmax   only some ops
    python tools/mutants.py --changed HEAD~1    only the rules in files that differ from a commit
    python tools/mutants.py --doubt             also run the listed ones on every test

pytest collects the tests once. Each mutant gets a fork of that process, which replaces the code of
the function and runs the tests that reach the statement, fastest first, until one fails.

A mutant that no test detects is a survivor. Either a test is missing, or the mutant is equivalent
to the rule: then tools/mutants_equivalent.toml lists it with the reason. The exit code is 0 if the
survivors are exactly the listed ones.
"""

import argparse
import functools
import importlib
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import pytest
from rule_mutants.listing import read_listing, shown
from rule_mutants.mutations import Mutant
from rule_mutants.processes import in_children, limit_work, say, seconds
from rule_mutants.sites import Site, find_sites
from rule_mutants.suite import Line, Test, passes, reaching, with_tests

ROOT = Path(__file__).resolve().parent.parent
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.toml"
DERIVATIVES = "test_derivatives.py"  # tried first: it tests each op alone
TESTS = ["ops", "autograd", "checking", "debugging", "transforms", "nn"]


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--op", nargs="+", metavar="NAME", help="only the rules of these ops")
    parser.add_argument("--changed", metavar="BASE", help="only files that differ from a commit")
    parser.add_argument("--at-most", type=int, metavar="N", help="a sample, where there are more")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("--package", default="minigrad.ops", help="whose rules are altered")
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="the tests that must fail")
    parser.add_argument("--equivalent", type=Path, default=EQUIVALENT, metavar="FILE")
    parser.add_argument(
        "--doubt", action="store_true", help="try those that are listed on all tests"
    )
    return parser.parse_args()


def chosen_sites(package: str, ops: Sequence[str] | None, base: str | None) -> list[Site]:
    """The functions to mutate; with --op, without helpers that other ops share."""
    folder = Path(str(importlib.import_module(package).__file__)).parent
    sites = find_sites(package)
    if base is not None:
        git = ["git", "-C", str(folder), "diff", "--name-only", "--relative", base]
        changed = subprocess.run(git, check=True, capture_output=True, text=True).stdout
        files = {str(folder / name) for name in changed.splitlines()}
        return [site for site in sites if site.function.__code__.co_filename in files]
    if ops is None:
        return sites
    known = {op for site in sites for op in site.ops}
    if unknown := sorted({*ops} - known):
        raise SystemExit(f"no op with a rule is called {', '.join(unknown)}")
    return [site for site in sites if site.ops <= {*ops}]


def test_files(ops: Sequence[str] | None, sites: Sequence[Site]) -> list[str]:
    """The folders of tests; with --op, the files that mention one of the ops.

    An op without a public name is run by another function of its file.
    """
    folder = ROOT / "tests"
    if ops is None:
        return [str(folder / name) for name in TESTS]
    public = {
        name: site.function.__globals__.get("__all__", ()) for site in sites for name in site.ops
    }
    private = [op for op in ops if op not in public.get(op, [op])]
    words = {*ops, *(word for op in private for word in public[op])}
    word = re.compile(rf"\b({'|'.join(map(re.escape, sorted(words)))})\b")
    return [
        str(file)
        for name in TESTS
        for file in sorted((folder / name).rglob("test_*.py"))
        if file.name == DERIVATIVES or word.search(file.read_text(encoding="utf-8"))
    ]


def is_cheap(item: pytest.Item, ops: Sequence[str] | None) -> bool:
    """Whether a test belongs to the first round: derivatives of single ops."""
    if item.path.name != DERIVATIVES:
        return False
    cases = item.callspec.params.get("cases") if hasattr(item, "callspec") else None
    of_op = cases[0].op if cases else ""
    return ops is None or of_op.rpartition(".")[2] in ops


class Verdict(NamedTuple):
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


class Run:
    """One run over mutants: two rounds of tests, and their verdicts."""

    def __init__(
        self, sites: list[Site], ops: Sequence[str] | None, given: argparse.Namespace
    ) -> None:
        self.sites, self.ops, self.jobs = sites, ops, given.jobs
        self.listed = read_listing(given.equivalent) if given.equivalent.exists() else {}
        self.believed = {} if given.doubt else self.listed
        self.mutants = [(site, mutant) for site in sites for mutant in site.mutants()]
        self.made = {mutant.name for _, mutant in self.mutants}
        if given.at_most is not None and len(self.mutants) > given.at_most:
            say(f"{len(self.mutants)} mutants: a sample of {given.at_most}")
            self.mutants = random.Random(len(self.mutants)).sample(self.mutants, given.at_most)
        self.killed: list[list[Verdict]] = []  # of each round
        self.survivors: list[Verdict] = []
        self.failing: list[str] = []

    def __call__(self, items: list[pytest.Item]) -> None:
        """Run the tests of derivatives on all mutants, then the other tests on the survivors.

        Listed mutants skip the second round, because a survivor is slowest: it runs all tests.
        """
        cheap = [item for item in items if is_cheap(item, self.ops)]
        rest = [item for item in items if item not in {*cheap}]
        left = self.round(self.mutants, cheap, last=False)
        spared = [verdict for verdict in self.survivors if verdict.mutant.name in self.believed]
        doubted = [(site, mutant) for site, mutant in left if mutant.name not in self.believed]
        self.round(doubted, rest, last=True)
        self.survivors += spared

    def round(
        self, mutants: list[tuple[Site, Mutant]], items: list[pytest.Item], last: bool
    ) -> list[tuple[Site, Mutant]]:
        """Run tests on mutants; return the survivors. The last round prints them at once."""
        tests: list[Test] = []
        if mutants and items:
            sites = list({site.name: site for site, _ in mutants}.values())
            tests, failing = reaching(items, sites, self.jobs)
            self.failing += failing
            say(f"{len(mutants)} mutants, {len(tests)} tests reach them")
        verdicts = []
        for verdict in try_mutants(mutants, tests, self.jobs):
            verdicts.append(verdict)
            if last and verdict.killer is None and verdict.mutant.name not in self.listed:
                print(f"survived {verdict.tests} tests: {entry(verdict.mutant)}\n", flush=True)
            if not len(verdicts) % 500:
                say(f"{len(verdicts)} tried")
        self.killed.append([verdict for verdict in verdicts if verdict.killer is not None])
        self.survivors = [verdict for verdict in verdicts if verdict.killer is None]
        return [(verdict.site, verdict.mutant) for verdict in self.survivors]

    def unlisted(self) -> list[Verdict]:
        """The survivors that are not listed."""
        return [verdict for verdict in self.survivors if verdict.mutant.name not in self.listed]


def entry(mutant: Mutant) -> str:
    """A mutant by its name in the list, with the statement before and after."""
    return f"{shown(mutant.name)}\n- {mutant.before}\n+ {mutant.after}"


def table(run: Run) -> Iterator[str]:
    """A line for each family: the number of mutants and of their verdicts."""
    made = Counter(site.family for site, _ in run.mutants)
    rounds = [Counter(verdict.site.family for verdict in part) for part in run.killed]
    equivalent = Counter(v.site.family for v in run.survivors if v.mutant.name in run.listed)
    alive = Counter(v.site.family for v in run.unlisted())
    columns = [made, *rounds, equivalent, alive]
    heads = ["mutants", "derivatives", "corners", "equivalent", "survivors"]
    yield f"{'family':22}" + "".join(f"{head:>13}" for head in heads)
    for family in sorted(made):
        yield f"{family:22}" + "".join(f"{column[family]:13}" for column in columns)
    yield f"{'all':22}" + "".join(f"{column.total():13}" for column in columns)


def complaints(run: Run) -> Iterator[str]:
    """The errors of the list."""
    dead = {verdict.mutant.name: verdict for part in run.killed for verdict in part}
    for name in run.listed:
        if name in dead:
            killer, mutant = dead[name].killer, dead[name].mutant
            yield f"listed as equivalent, but it is killed by {killer}: {entry(mutant)}"
        elif name not in run.made and (run.ops is None or name[0] in {s.name for s in run.sites}):
            yield f"listed as equivalent, but there is no such mutant: {shown(name)}"


def main() -> int:
    """Run the command."""
    given = arguments()
    sites = chosen_sites(given.package, given.op, given.changed)
    ops = given.op if given.changed is None else sorted({op for site in sites for op in site.ops})
    if given.changed is not None:
        print(f"changed since {given.changed}: the rules of {', '.join(ops) or 'no op'}")
        if not sites:
            return 0
    run = Run(sites, ops, given)
    broken = with_tests(given.tests or test_files(ops, sites), run)
    wrong = list(complaints(run))
    for complaint in wrong:
        print(f"{complaint}\n")
    for name in (*broken, *run.failing):
        print(f"left out, because it fails without any mutant: {name}")
    print("\n".join(table(run)))
    print(f"{seconds():.0f} s")
    return 1 if wrong or run.unlisted() or not run.mutants else 0


if __name__ == "__main__":
    sys.exit(main())
