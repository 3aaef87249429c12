"""Small programs of PyTorch's: what they print here, and what PyTorch prints."""

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from printed_programs import PROGRAMS
from prints import HISTORIES, MODULES, TENSORS

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
    """What a program prints, and whether an error ends it."""
    lines: list[str] = []
    names = {"torch": package, "nn": package.nn, "F": package.nn.functional, "optim": package.optim}
    names["print"] = lambda *values: lines.append(" ".join(map(str, values)))
    package.manual_seed(0)
    text = re.sub(r"^(import|from) torch\b", rf"\1 {package.__name__}", program, flags=re.MULTILINE)
    try:
        exec(text, names)
    except (RuntimeError, ValueError):
        lines.append("error")
    return re.sub(r" object at 0x[0-9a-f]+", "", "\n".join(lines))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_the_same(program: str) -> None:
    assert printed(minigrad.torch, program) == printed(torch, program)


SETTING = """
w = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
q = torch.ones(3, requires_grad=True)
m = torch.tensor([[3.0, 1.0], [2.0, 5.0], [0.5, -1.0]])
x = torch.tensor([[[[2.0, 1.0], [0.0, 1.0]]]], requires_grad=True)
p = nn.Parameter(torch.ones(2))
o = optim.SGD([p], lr=0.1)
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales, self.free = nn.ParameterList([p, p]), nn.ParameterDict({"a": p})
        self.body = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
"""


@pytest.mark.parametrize("line", [*filter(None, (TENSORS + HISTORIES + MODULES).splitlines())])
def test_values_print_the_same(line: str) -> None:
    program = SETTING + "".join([f"print(repr({each}))\n" for each in line.split(" ; ")])
    assert printed(minigrad.torch, program) == printed(torch, program)
