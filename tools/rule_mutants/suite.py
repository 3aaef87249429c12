"""Collects tests with pytest, runs them, and finds the statements that each reaches."""

import ast
import copy
import functools
import time
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, NamedTuple

import pytest

from rule_mutants.mutations import Function, compiled
from rule_mutants.processes import in_children
from rule_mutants.sites import Site

__all__ = ["Line", "Test", "passes", "reaching", "with_tests"]

Line = tuple[str, int]
"""The name of a site, and the line at which one of its statements begins."""


class Test(NamedTuple):
    """A test that passes without mutants.

    Attributes:
        item: The item of pytest.
        seconds: Its run time.
        lines: The statements of each site that it runs.
    """

    item: pytest.Item
    seconds: float
    lines: frozenset[Line]


def with_tests(paths: Sequence[str], work: Callable[[list[pytest.Item]], None]) -> list[str]:
    """Let pytest collect tests, and pass them to `work` instead of running them.

    Args:
        paths: Files and folders of tests.
        work: Called once with the collected tests.

    Returns:
        The errors of the collection.

    Raises:
        RuntimeError: pytest failed before it collected the tests.
    """
    broken: list[str] = []
    ends: list[BaseException | None] = []

    class Handover:
        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                broken.append(report.nodeid)

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            try:
                work(session.items)
                ends.append(None)
            except BaseException as error:  # noqa: BLE001  # pytest would only print it
                ends.append(error)
            return True

    # -x: the first failing case of a test is enough.
    options = ["-p", "no:cacheprovider", "-p", "no:terminal", "-o", "addopts="]
    options += ["-m", "not slow and not long"]
    status = pytest.main([*options, "-x", "-s", *paths], plugins=[Handover()])
    if not ends:
        raise RuntimeError(f"pytest ended with {status!r} before it came to {', '.join(paths)}")
    if ends[0] is not None:
        raise ends[0]
    return broken


def passes(item: pytest.Item) -> bool:
    """Run one test as pytest does; return whether it passes."""
    failed = []

    class Watch:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report)

    watch = Watch()
    item.config.pluginmanager.register(watch)
    item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
    item.config.pluginmanager.unregister(watch)
    return not failed


def reaching(
    items: Sequence[pytest.Item], sites: Sequence[Site], jobs: int
) -> tuple[list[Test], list[str]]:
    """Run tests without mutants, and find the statements that they reach.

    Returns:
        The tests that reach a statement of a site, and the names of those that fail without
        mutants.
    """
    parts = [items[k::jobs] for k in range(jobs)]
    tasks = ((k, functools.partial(_observed, part, sites)) for k, part in enumerate(parts))
    tests, failing = [], []
    for k, results in in_children(tasks, jobs):
        if isinstance(results, str):
            raise RuntimeError(f"the tests without any mutant ended with {results}")
        for item, (passed, seconds, lines) in zip(parts[k], results, strict=True):
            if not passed:
                failing.append(item.nodeid)
            elif lines:
                tests.append(Test(item, seconds, lines))
    return tests, failing


def _observed(
    items: Sequence[pytest.Item], sites: Sequence[Site]
) -> list[tuple[bool, float, frozenset[Line]]]:
    """Run tests with instrumented sites; this process ends afterwards."""
    reached: set[Line] = set()
    for site in sites:
        site.function.__globals__[REACHED] = lambda name, line: reached.add((name, line))
        site.put(_telling(site))
    found = []
    for item in items:
        reached.clear()
        start = time.process_time()
        passed = passes(item)
        found.append((passed, time.process_time() - start, frozenset(reached)))
    return found


REACHED = "__reached__"


def _telling(site: Site) -> CodeType:
    """The code of a site, with a call before each statement that records it."""
    tree: Function = copy.deepcopy(site.tree)

    def call(line: int) -> ast.Call:
        words: list[Any] = [ast.Constant(site.name), ast.Constant(line)]
        return ast.Call(ast.Name(REACHED, ast.Load()), words, [])

    if isinstance(tree, ast.Lambda):
        both = ast.Tuple([call(tree.lineno), tree.body], ast.Load())
        tree.body = ast.Subscript(both, ast.Constant(1), ast.Load())
    else:
        for block in _blocks(tree):
            block[:] = [part for node in block for part in (ast.Expr(call(node.lineno)), node)]
    ast.fix_missing_locations(tree)
    return compiled(tree, site.function.__code__.co_filename, site.owners)


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    """Every list of statements in a tree."""
    return [
        value
        for node in ast.walk(tree)
        for _, value in ast.iter_fields(node)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt)
    ]
