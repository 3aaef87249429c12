"""What every test relies on: one rule for missing tools, one seed, one place the package is from.

A test that needs more than minigrad's own dependencies says so in one of two ways::

    torch = pytest.importorskip("torch")      # a whole file, at its top

    @pytest.mark.needs("dot")                 # one test; a Python module or a program
    def test_picture(): ...

On a user's machine such a test is skipped and the reason printed. In CI nothing may be skipped:
there every skip is a failure, whichever way it came about.
"""

import gc
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}

OPTIONAL = {
    "torch": "parity with PyTorch is not checked: pip install torch",
    "expecttest": "PyTorch's op database is not tried: pip install expecttest",
    "safetensors": "files of weights are not read: pip install safetensors",
    "tokenizers": "models from outside are not tried on texts: pip install tokenizers",
    "onnxruntime": "ONNX files are not tried: pip install onnx onnxruntime",
    "jaxtyping": "shapes as types are not tried: pip install jaxtyping beartype",
    "mpi4py": "nothing is tried on several ranks: pip install mpi4py mpich",
    "tensorboardX": "nothing is written for TensorBoard: pip install tensorboardX",
    "chromium": "the explorer page is not tried in a browser: install Chromium",
    "playwright": "the explorer page is not tried in a browser, and its functions are not compared "
    "with Python's: pip install playwright",
    "axe_playwright_python": "the explorer page's accessibility is not checked: "
    "pip install axe-playwright-python",
    "basedpyright": "what Pyright sees is not checked: pip install basedpyright",
    "syrupy": "pictures and texts are not compared with golden files: pip install syrupy",
    "cairosvg": "graphs are not saved as PNG and PDF: pip install cairosvg",
    "dot": "pictures of graphs are not rendered by it: install Graphviz (apt, brew or winget)",
}

hypothesis.settings.register_profile("short", max_examples=30, deadline=None, derandomize=True)
hypothesis.settings.register_profile("long", max_examples=2000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "short"))


def available(tool: str) -> bool:
    """Whether `tool` can be imported, or run."""
    return shutil.which(tool) is not None or importlib.util.find_spec(tool) is not None


def pytest_report_header() -> list[str]:
    return [
        f"not on this machine: {tool}; {consequence}"
        for tool, consequence in OPTIONAL.items()
        if not available(tool)
    ]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--installed",
        action="store_true",
        help="test the minigrad that is installed, a wheel's say, not the files beside the tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("installed"):
        # `python -m pytest` puts the current folder first; some tests run pytest themselves.
        sys.path[:] = [path for path in sys.path if Path(path).resolve() != ROOT]
        os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} --installed"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to test some other minigrad than the one that is meant."""
    found = importlib.util.find_spec("minigrad")
    origin = Path(found.origin).resolve() if found and found.origin else None
    beside = ROOT / "minigrad" / "__init__.py"
    where = f"minigrad is imported from {origin.parent}" if origin else "minigrad is not installed"
    if not session.config.getoption("installed"):
        if origin != beside:
            raise pytest.UsageError(
                f"{where}, not from {ROOT}: run `make test`, or `make install`; "
                "--installed tests the one that is installed"
            )
    elif origin is None or origin == beside:
        raise pytest.UsageError(f"--installed: {where}; install a wheel, not --editable")
    elif version(origin) != version(beside):
        raise pytest.UsageError(
            f"--installed: {where}, version {version(origin)}; these tests are of {version(beside)}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Take modules and tests out of the cyclic collector, which would walk them all each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def version(package: Path) -> str:
    """What a package says of its version, without importing it."""
    text = package.read_text(encoding="utf-8")
    return next(line for line in text.splitlines() if line.startswith("__version__"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        missing = [tool for tool in marker.args if not available(tool)]
        if missing:
            pytest.skip(f"needs {', '.join(missing)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    skip_in_browsers(report)
    fail_skips_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_skips_in_ci(report)
    return report


IMPOSSIBLE = re.compile(
    "can't start new thread|emscripten does not support processes|stack switching not supported"
)


def skip_in_browsers(report: pytest.TestReport) -> None:
    """Turn a failure for want of a thread, process or event loop into a skip where none can be."""
    if sys.platform == "emscripten" and report.failed:
        found = IMPOSSIBLE.search(str(report.longrepr))
        if found:
            report.outcome = "skipped"
            report.longrepr = (str(report.fspath), 0, f"Skipped: {found[0]}")


def fail_skips_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where CI=true; expected failures stay what they are."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        _path, _line, reason = report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{reason}: in CI nothing may be skipped"


@pytest.fixture(autouse=True)
def surroundings() -> Iterator[None]:
    """Start every test from the same random numbers, and fail one that leaves something behind."""
    from leaks import Surroundings

    from minigrad.random import seed, set_state

    before = Surroundings.now()
    seed(0)
    yield
    set_state(before.drawn)
    leaks = before.leaks()
    if leaks:
        before.restore()
        pytest.fail("the test leaves behind:\n" + "\n".join(leaks), pytrace=False)


@pytest.fixture
def global_random() -> Iterator[None]:
    """For a test that seeds or draws from np.random's global generator: it is put back."""
    from leaks import numpy_random, set_numpy_random

    state = numpy_random()
    yield
    set_numpy_random(state)
