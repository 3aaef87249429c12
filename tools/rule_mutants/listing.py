"""The list of equivalent mutants, each with the reason why it equals the rule."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["Name", "entry", "read_listing"]

Name = tuple[str, str, str]
"""The site of a mutant, the statement before and the statement after. No line numbers."""


def entry(name: Name) -> str:
    """The entry of a mutant in the list and the report."""
    site, before, after = name
    return f"{site}\n- {before}\n+ {after}"


def read_listing(path: Path) -> dict[Name, str]:
    """Read the list.

    Args:
        path: A TOML file of tables ``[[equivalent]]``, each with a ``reason`` and, in ``mutants``,
            the `entry` of each mutant to which it applies.

    Returns:
        The reason for each mutant.

    Raises:
        ValueError: A mutant has not the form of `entry`, or is listed twice.
    """
    reasons: dict[Name, str] = {}
    for table in tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []):
        for name in _names(table["mutants"].splitlines()):
            if name in reasons:
                raise ValueError(f"{path.name}: listed twice:\n{entry(name)}")
            reasons[name] = table["reason"]
    return reasons


def _names(lines: Iterable[str]) -> Iterator[Name]:
    rest = iter([line for line in lines if line.strip()])
    site = before = ""
    for line in rest:
        if line.startswith("- "):
            before = line[2:]
        elif not line.startswith("+ "):
            site, before = line, ""
        elif site and before:
            yield site, before, line[2:]
        else:
            raise ValueError(f"a site, `- before` and `+ after` expected, got {line!r}")
