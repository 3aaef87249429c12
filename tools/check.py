"""Run the quick tests of one subject: `make check WHAT=softmax`.

    python tools/check.py softmax         an op: its cases, its examples, what pages say of it
    python tools/check.py Conv2d          a layer
    python tools/check.py ops/rounding    a file, of the library or of the tests

The convention tests run too, because any change can break them. Slow tests run only in `make test`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONVENTIONS = [
    "test_conventions", "public_names", "public_methods", "everything_public", "exports_exist",
    "every_alias", "every_rule_has", "every_function_has",
]  # fmt: skip
HOMES = ["test_conventions.py", "test_documentation.py", "ops/test_derivatives.py"]


def python_files(*folders: str) -> list[Path]:
    """Every Python file in some folders of the repository."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def modules_of(name: str) -> set[str]:
    """The modules with this name, or that define it."""
    defines = re.compile(rf"^(def|class) {name}\b|^{name}\b.* = ", re.MULTILINE)
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in python_files("minigrad", "nn")
        if path.stem == name or defines.search(path.read_text(encoding="utf-8"))
    }


def main() -> int:
    """Run the tests of the subject; returns pytest's exit code."""
    if len(sys.argv) != 2 or not re.fullmatch(r"[\w/.]+", sys.argv[1]):
        print("Name an op, a layer or a file: make check WHAT=softmax", file=sys.stderr)
        return 2
    name = Path(sys.argv[1]).stem
    word = re.compile(rf"\b{name}\b")
    mentions = [
        str(path)
        for path in python_files("tests")
        if path.name.startswith("test_")
        and (name in path.stem or word.search(path.read_text(encoding="utf-8")))
    ]
    homes = [str(ROOT / "tests" / home) for home in HOMES]
    # -k ignores case, and matches the names of files, tests and their parameters.
    wanted = " or ".join([name, *modules_of(name), *CONVENTIONS])
    selected = ["-m", "not slow and not long", "-k", wanted]
    return int(pytest.main(["-q", *selected, *dict.fromkeys([*homes, *mentions])]))


if __name__ == "__main__":
    sys.exit(main())
