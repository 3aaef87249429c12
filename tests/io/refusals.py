"""Loading a file that must be refused."""

import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import pytest

from minigrad.io import LoadError, load

ENOUGH = 1 << 20
"""Bytes: more than any of these files needs, and far less than they claim."""


def lies(cases: dict[str, list[Any]]) -> Any:
    """A test of each content that lies, under what is said of it."""
    rows = [(content, said) for said, contents in cases.items() for content in contents]
    return pytest.mark.parametrize(
        ("content", "said"), rows, ids=[f"{str(content)[-60:]}-{said}" for content, said in rows]
    )


def refused(path: Path, said: str) -> None:
    """Load a file, which must be refused cheaply and with a reason."""
    with pytest.raises(LoadError):  # the first error of a process imports the table of spellings
        load(path)
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(LoadError) as caught:
                load(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.startswith(f"load: {path}: "), message
    assert said in message, message
    assert peak < ENOUGH, peak
