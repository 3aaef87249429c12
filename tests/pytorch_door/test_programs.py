"""Small programs of PyTorch's: what they print here, and what PyTorch prints."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from programs import PROGRAMS

import minigrad.torch
from minigrad.autograd import dtype_class

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def in_the_name_of_pytorch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dtype_class, "shown_as", "torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def printed(package: Any, program: str) -> str:
    """What a program prints, and the kind of an error that ends it."""
    lines: list[str] = []
    names = {"torch": package, "nn": package.nn, "F": package.nn.functional, "optim": package.optim}
    names["print"] = lambda *values: lines.append(" ".join(map(str, values)))
    package.manual_seed(0)
    text = re.sub(r"^(import|from) torch\b", rf"\1 {package.__name__}", program, flags=re.MULTILINE)
    try:
        exec(text, names)
    except (RuntimeError, ValueError, NotImplementedError) as error:
        lines.append(type(error).__name__)
    return re.sub(r" object at 0x[0-9a-f]+", "", "\n".join(lines))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_the_same(program: str) -> None:
    assert printed(minigrad.torch, program) == printed(torch, program)
