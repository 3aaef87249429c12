"""Idioms of PyTorch through the door, beside PyTorch; names of others in minigrad itself.

An idiom works if its value is PyTorch's: by position, by default, by result, and of its dtype.
"""

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from idioms import TENSORS, TRAINING

MODULES = {
    "nn": "nn", "F": "nn.functional", "init": "nn.init", "optim": "optim", "autograd": "autograd",
    "lr_scheduler": "optim.lr_scheduler", "distributions": "distributions", "func": "func",
    "functional": "autograd.functional", "data": "utils.data",
}  # fmt: skip
"""The names by which idioms call modules."""


def run(idiom: str, world: str, path: Path) -> Any:
    """The value of an idiom's last expression in a world."""
    torch = importlib.import_module(world)
    numbers = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return torch.tensor(numbers.standard_normal(shape).astype(np.float32))

    torch_only = ("func", "data") if world == "minigrad" else ()
    names: dict[str, Any] = {
        name: importlib.import_module(f"{world}.{module}")
        for name, module in MODULES.items()
        if name not in torch_only
    }
    names |= {
        "np": np, "torch": torch, "path": str(path / "file"), "x": draw(3, 4), "y": draw(3, 4),
        "b": draw(2, 3, 4), "v": draw(4), "n": draw(3, 4), "m": names["nn"].Linear(4, 2),
        "i": torch.tensor(numbers.integers(0, 3, (3, 4))),
        "w": torch.tensor(np.arange(12, dtype=np.float32).reshape(3, 4) / 7, requires_grad=True),
        "q": torch.tensor([1.0, 2.0], requires_grad=True),
    }  # fmt: skip
    names["x"][1, 2], names["n"][1, 2] = names["x"][1, 0], float("nan")
    *before, last = ast.parse(re.sub(r"^(import|from) torch\b", rf"\1 {world}", idiom)).body
    value = last.value if isinstance(last, ast.Expr) else ast.Name("r", ast.Load())
    if not isinstance(last, ast.Expr):
        before.append(last)
    exec(compile(ast.Module(before, []), idiom, "exec"), names)
    expression = ast.fix_missing_locations(ast.Expression(value))
    return eval(compile(expression, idiom, "eval"), names)


def idioms_of(line: str) -> Iterator[str]:
    """The expressions of a line, or the line if it is of statements."""
    first, *more = ast.parse(line).body
    if not more and isinstance(first, ast.Expr) and isinstance(first.value, ast.Tuple):
        yield from map(ast.unparse, first.value.elts)
    else:
        yield line


def plain(value: Any) -> Any:
    """A value without its world: numbers, texts, arrays, lists of them, or the name of its kind."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "detach"):
        return np.asarray(value.detach().numpy())
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic)):
        return value
    return type(value).__name__.lower()


def same(a: Any, b: Any) -> bool:
    """Whether two plain values agree."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(b, (np.ndarray, float)):
        alike = np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        return alike and np.allclose(a, b, 1e-5, 1e-6, equal_nan=True)
    return type(a) is type(b) and bool(a == b)


KINDS = {"device", "dtype"}  # a device is a string here, and a dtype NumPy's


@pytest.mark.parametrize("line", [*TENSORS.strip().splitlines(), *TRAINING.strip().splitlines()])
@pytest.mark.usefixtures("recwarn")
def test_every_idiom_means_the_same(line: str, tmp_path: Path, monkeypatch: Any) -> None:
    """None gives something else without an error."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)
    for idiom in idioms_of(line):
        torch.random.default_generator.manual_seed(0)
        wanted = plain(run(idiom, "torch", tmp_path))
        found = plain(run(idiom, "minigrad.torch", tmp_path))
        if not (isinstance(wanted, str) and wanted in KINDS):
            assert same(found, wanted), f"{idiom}\n    {found}\n    PyTorch: {wanted}"


RANDOM = """
torch.randint(5, (3,)), torch.randint(2, 5, (3, 1)), torch.randint(5, size=(2,)), torch.randn(2, 3)
torch.rand((2, 3)), torch.randn(size=(2,)), torch.randperm(4), torch.rand_like(x)
torch.normal(0.0, 1.0, (2, 3)), torch.bernoulli(x.abs().clamp(0, 1)), torch.poisson(x.abs())
x.clone().uniform_(), x.clone().normal_(1, 2), i.clone().random_(3), x.clone().bernoulli_(0.3)
torch.randint_like(i, 3)
"""


@pytest.mark.needs("torch")
@pytest.mark.parametrize("line", RANDOM.strip().splitlines())
def test_a_random_function_draws_in_the_shape_of_pytorchs(line: str, tmp_path: Path) -> None:
    for idiom in idioms_of(line):
        found, wanted = (
            plain(run(idiom, world, tmp_path)) for world in ("minigrad.torch", "torch")
        )
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), idiom


WRONG = {
    "torch.cumsun": "module 'minigrad' has no attribute 'cumsun'",
    "torch.linalg.eigenvalues": "module 'minigrad.linalg' has no attribute 'eigenvalues'",
    "torch.cuda": "module 'minigrad' has no attribute 'cuda'",
    "nn.Lineer": "module 'minigrad.nn' has no attribute 'Lineer'",
    "nn.MultiheadAttention": "minigrad.nn.MultiHeadAttention, whose bool masks are True where",
    "x.sum(axes=1)": "got an unexpected keyword argument 'axes'",
    "nn.Linear(4, out_feature=2)": "got an unexpected keyword argument 'out_feature'",
    "nn.Linear(4, 2).cuda()": "minigrad runs on the CPU only",
    "torch.zeros(2, device='cuda')": "minigrad runs on the CPU only",
}


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_name_is_an_error(call: str, tmp_path: Path) -> None:
    with pytest.raises((AttributeError, TypeError, ValueError)) as error:
        run(call, "minigrad", tmp_path)
    assert WRONG[call] in str(error.value)


LUCID2 = """
torch.Float32, torch.Float64, torch.Float16 => torch.float32, torch.float64, torch.float16
torch.Int8, torch.Int16 => torch.int8, torch.int16
torch.Int32, torch.Int64 => torch.int32, torch.int64
torch.Float, torch.Double, torch.Half => torch.float32, torch.float64, torch.float16
torch.Char, torch.Short, torch.Int, torch.Long => torch.int8, torch.int16, torch.int32, torch.int64
torch.to_tensor([1.0, 2.0], requires_grad=True) => torch.tensor([1.0, 2.0])
torch.grad_enabled() => True
x.is_cpu and not x.is_gpu => True
torch.cube(x) => x ** 3
x.char() => x.astype(torch.int8)
x.zero() => torch.zeros(3, 4)
x.new_tensor() => x.clone()
torch.FloatTensor([1]) => torch.tensor([1.0])
torch.div(x, 2, rounding_mode="floor") => x // 2
torch.sub(x, y) => x - y
torch.unsqueeze(x, (0, -1)).squeeze(axis=(0, -1)) => x
torch.unique(x, sorted=True) => torch.unique(x)
torch.to_tensor([1.0], keep_grad=True) => torch.tensor([1.0])
nn.init.constant(x.clone(), val=2.0) => torch.full((3, 4), 2.0)
x.cpu().half().float().bool() => torch.ones(3, 4) > 0
x.double().long().int().short() => x.astype(torch.int16)
"""


@pytest.mark.parametrize("line", LUCID2.strip().splitlines())
def test_lucid_2(line: str, tmp_path: Path) -> None:
    theirs, here = line.split(" => ")
    found, wanted = (run(part, "minigrad", tmp_path) for part in (theirs, here))
    dtypes = "(" not in line
    assert found == wanted if dtypes else same(plain(found), plain(wanted))
