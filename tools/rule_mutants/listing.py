"""The list of equivalent mutants, each with the reason why it equals the rule."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from rule_mutants.mistakes import KINDS

__all__ = ["Name", "read_listing", "shown"]

Name = tuple[str, str, int]
"""The site of a mutant, its kind, and its number among the mutants of this kind at the site."""


def shown(name: Name) -> str:
    """A mutant as the report has it, and the list: ``activation._relu_x: branch 2``."""
    site, kind, number = name
    return f"{site}: {kind} {number}"


def read_listing(path: Path) -> dict[Name, str]:
    """Read the list.

    Args:
        path: A TOML file with a table for each reason. It has the sites, and the mutants of each by
            kind and number: ``"activation._relu_x" = "argument 2, branch 1-4"``.

    Returns:
        The reason for each mutant.

    Raises:
        ValueError: A mutant has another form, or is listed twice.
    """
    reasons: dict[Name, str] = {}
    for reason, sites in tomllib.loads(path.read_text(encoding="utf-8")).items():
        for site, mutants in sites.items():
            for kind, number in _mutants(site, mutants):
                if (site, kind, number) in reasons:
                    raise ValueError(f"{path.name}: listed twice: {shown((site, kind, number))}")
                reasons[site, kind, number] = reason
    return reasons


def _mutants(site: str, text: str) -> Iterator[tuple[str, int]]:
    for part in text.split(", "):
        kind, _, numbers = part.rpartition(" ")
        if kind not in KINDS or not re.fullmatch(r"\d+(-\d+)?", numbers):
            raise ValueError(f"{site}: kinds with numbers expected, `branch 1-3, sign 1`: {part!r}")
        first, _, last = numbers.partition("-")
        yield from ((kind, number) for number in range(int(first), int(last or first) + 1))
