"""Run the quick tests of one subject: `make check WHAT=softmax`.

    python tools/check.py softmax           an op, a function or a method
    python tools/check.py Conv2d            a layer
    python tools/check.py autograd/engine   a file or a folder, of the library or of the tests

Options of pytest may follow. tools/subjects.py says which tests are about it. The convention tests
run too, because any change can break them. Slow tests run only in `make test-slow`, or where there
is no quick one. The exit code is 0 only if a test of the subject ran, and all passed.

The file is a plugin of pytest as well, since pytest-xdist selects the tests in each worker.
"""

import sys
from pathlib import Path

import pytest
from subjects import Repository, UnknownSubject, tests_of

CONVENTIONS = [
    "tests/test_conventions.py",
    "tests/test_documentation.py::test_public_names_are_explained_with_an_example",
    "tests/test_documentation.py::test_public_methods_are_explained",
    "tests/test_documentation.py::test_everything_public_is_in_the_reference",
    "tests/test_documentation.py::test_exports_exist_once",
    "tests/ops/test_derivatives.py::test_every_rule_has_a_case",
    "tests/ops/test_derivatives.py::test_every_function_has_a_case",
    "tests/nn/test_every_layer.py::test_every_layer_is_here",
]
"""The tests that list what is missing anywhere."""
ran: list[bool] = []
"""Whether each test that was not skipped is about the subject."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the subject from the command line, which pytest-xdist hands to its workers."""
    parser.addoption("--subject", required=True, help="an op, a layer, a file or a folder")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is not about the subject, and its slow tests unless there are no others."""
    about = tests_of(Repository(Path.cwd()).subject(config.getoption("subject")), items)
    kept = [item for item in about if not item.get_closest_marker("slow")] or about
    for item in kept:
        item.user_properties.append(("about", True))
    listing = (i for i in items if i.nodeid.partition("[")[0].startswith(tuple(CONVENTIONS)))
    wanted = {*kept, *listing}
    config.hook.pytest_deselected(items=[item for item in items if item not in wanted])
    items[:] = [item for item in items if item in wanted]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the tests that are not skipped."""
    if report.when == "call" and not report.skipped:
        ran.append(("about", True) in report.user_properties)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run without a test of the subject is a failure."""
    if session.exitstatus == pytest.ExitCode.OK and not any(ran):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many of the tests are about the subject."""
    subject, conventions = terminalreporter.config.getoption("subject"), len(ran) - sum(ran)
    terminalreporter.write_line(f"{sum(ran)} tests of {subject}, {conventions} of conventions")


def main() -> int:
    """Run the tests of the subject; returns pytest's exit code, or 2 where there is none."""
    if sys.argv[1:2] in ([], [""]) or sys.argv[1].startswith("-"):
        print("Name an op, a layer or a file: make check WHAT=softmax", file=sys.stderr)
        return 2
    repository = Repository(Path.cwd())
    try:
        files = repository.mentions(repository.subject(sys.argv[1]))
    except UnknownSubject as error:
        print(f"make check: {error}", file=sys.stderr)
        return 2
    there = [test for test in CONVENTIONS if (repository.root / test.partition("::")[0]).exists()]
    paths = [path.relative_to(repository.root).as_posix() for path in files]
    conventions = [test for test in there if test.partition("::")[0] not in paths]
    options = ["-q", "-m", "not long", "-p", "check", "--subject", *sys.argv[1:]]
    return int(pytest.main([*options, *conventions, *paths]))


if __name__ == "__main__":
    sys.exit(main())
