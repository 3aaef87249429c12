"""Idioms of PyTorch, run as they stand with minigrad in PyTorch's place, and beside PyTorch.

An idiom works if its value is PyTorch's: numbers, shapes, kinds of dtype. Each other one is listed
here, with why: it differs by design, or it is refused by an error that says what to write.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from idioms import TENSORS, TRAINING

from minigrad.spellings.lookup import spellings
from minigrad.spellings.table import ATTRIBUTES, MODULES, NAMES

NUMPYS = "NumPy's meaning of the same call"
DIFFERENT = {
    "torch.randperm(5).sort()[0]": NUMPYS,
    "x.repeat(2, 1)": NUMPYS,
    "torch.equal(x, x)": NUMPYS,
    "x.nonzero()": NUMPYS,
    "torch.nonzero(x > 0)": NUMPYS,
    "torch.autograd.grad((parameter * parameter).sum(), parameter)[0]": "a tensor for a tensor",
    "torch.autograd.grad((parameter ** 3).sum(), parameter, create_graph=True)[0].sum()"
    ".backward(); parameter.grad": "a tensor for a tensor",
}
REFUSED = {
    'torch.save({"x": x}, path); torch.load(path, map_location="cpu")["x"]': "safetensors",
    "m = nn.Linear(4, 2); m.weight.data.normal_(mean=0.0, std=0.02); m.bias.data.zero_(); "
    "m.bias.detach()": "ndarray",
}


def run(idiom: str, world: str, path: Path) -> Any:
    """The value of an idiom's last expression in a world."""
    torch = importlib.import_module(world)
    numbers = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return torch.tensor(numbers.standard_normal(shape).astype(np.float32))

    names = {
        "np": np, "torch": torch, "nn": importlib.import_module(f"{world}.nn"),
        "F": importlib.import_module(f"{world}.nn.functional"), "path": str(path / "file"),
        "x": draw(3, 4), "y": draw(3, 4), "v": draw(4), "b": draw(2, 3, 4),
        "i": torch.tensor(numbers.integers(0, 3, (3, 4))),
        "parameter": torch.tensor(np.ones((3, 4), np.float32) / 7, requires_grad=True),
    }  # fmt: skip
    *before, last = ast.parse(re.sub(r"^(import|from) torch\b", rf"\1 {world}", idiom)).body
    value = last.value if isinstance(last, ast.Expr) else ast.Name("r", ast.Load())
    if not isinstance(last, ast.Expr):
        before.append(last)
    exec(compile(ast.Module(before, []), idiom, "exec"), names)
    expression = ast.fix_missing_locations(ast.Expression(value))
    return eval(compile(expression, idiom, "eval"), names)


def plain(value: Any) -> Any:
    """A value without its world: arrays, lists of them, or the name of what else it is."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return np.asarray(value)
    if hasattr(value, "detach"):
        return np.asarray(value.detach().numpy())
    return str(value) if isinstance(value, str) or value is None else type(value).__name__.lower()


def same(a: Any, b: Any) -> bool:
    """Whether two plain values agree."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        alike = a.shape == b.shape and a.dtype.kind == b.dtype.kind
        return alike and np.allclose(a.astype(float), b.astype(float), 1e-4, 1e-5, equal_nan=True)
    return type(a) is type(b) and bool(a == b)


KINDS = {"device", "dtype"}  # a device is a string here, and a dtype NumPy's


@pytest.mark.parametrize("idioms", [TENSORS, TRAINING], ids=["tensors", "training"])
def test_every_idiom_is_pytorchs_or_listed(
    idioms: str,
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)  # torch.compile would leave a thread
    wrong, working = [], 0
    lines = idioms.strip().splitlines()
    for idiom in lines:
        torch.manual_seed(0)
        wanted = plain(run(idiom, "torch", tmp_path))
        try:
            found = plain(run(idiom, "minigrad", tmp_path))
        except Exception as error:
            if idiom not in REFUSED or REFUSED[idiom] not in str(error):
                wrong.append(f"{idiom}\n    {type(error).__name__}: {error}")
            continue
        agrees = same(found, wanted) or (isinstance(wanted, str) and wanted in KINDS)
        if agrees == (idiom in DIFFERENT) or idiom in REFUSED:
            wrong.append(f"{idiom}\n    {found}\n    PyTorch: {wanted}")
        working += agrees
    print(f"{working} of {len(lines)} idioms work")
    assert not wrong, "\n".join(["mend, or list in DIFFERENT or REFUSED with a reason:", *wrong])


@pytest.mark.parametrize("idioms", [TENSORS, TRAINING], ids=["tensors", "training"])
def test_through_the_door_every_idiom_means_what_it_means_in_pytorch(
    idioms: str,
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None gives something else without an error."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("tqdm.tqdm.monitor_interval", 0)
    wrong = []
    for idiom in idioms.strip().splitlines():
        torch.manual_seed(0)
        wanted = plain(run(idiom, "torch", tmp_path))
        try:
            found = plain(run(idiom, "minigrad.torch", tmp_path))
        except Exception as error:
            wrong.append(f"{idiom}\n    {type(error).__name__}: {error}")
            continue
        if not (same(found, wanted) or (isinstance(wanted, str) and wanted in KINDS)):
            wrong.append(f"{idiom}\n    {found}\n    PyTorch: {wanted}")
    assert not wrong, "\n".join(wrong)


MEANT_OTHERWISE = {
    "x.max(y.data)": "max(x, axis) reduces, as in NumPy; PyTorch's max(x, other) is maximum",
    "torch.min(x, y.data)": "min(x, axis) reduces, as in NumPy; PyTorch's min(x, other) is minimum",
    "x.sum(i)": "sum: a tensor with axes cannot be an axis",
    "x.split(3, 1)": "makes n parts, as in NumPy; PyTorch's pieces of size n are split(x, n, dim=",
    "x.norm('fro')": 'of vectors, and norm(x) is PyTorch\'s norm(x, "fro")',
    "x.var(1, True)": "PyTorch's var(x, 1, True) is var(x, 1, ddof=1), Lucid 2's is",
    "x.var(True)": "PyTorch's var(x, 1, True) is var(x, 1, ddof=1), Lucid 2's is",
    "torch.std(x, 1, False)": "PyTorch's std(x, 1, True) is std(x, 1, ddof=1)",
    "x.view(torch.int32)": "a shape expected, got int32; .astype() converts numbers",
    "x.repeat(2, 3)": "repeats elements, as in NumPy; PyTorch's x.repeat(2, 3) is x.tile((2, 3))",
    "x.repeat(2, 3, 4)": "repeats elements, as in NumPy; PyTorch's x.repeat(2, 3) is x.tile(",
    "x.repeat((2, 3))": "repeats elements, as in NumPy; PyTorch's x.repeat(2, 3) is x.tile(",
    "x.squeeze(0)": "NumPy refuses an axis that is longer than 1, PyTorch leaves it",
    "torch.randint(5, (3,))": "as in NumPy; PyTorch's randint(high, (2, 3)) is randint(high, size=",
    "torch.Tensor(2, 3)": "PyTorch's Tensor(2, 3) is empty(2, 3)",
    "F.cross_entropy(x, i[0, :3], v, False)": "reduction",
    "nn.TransformerEncoderLayer(4, 2, 8, 0.0, F.gelu, 1e-5, True)": "norm_first here and batch_",
    "torch.FloatTensor(2, 3)": "for a shape write empty(2, 3, dtype=float32)",
    "torch.LongTensor(3)": "for a shape write empty(3, dtype=int64)",
    "nn.Conv3d(1, 2, 3)": "no layer has three spatial axes",
    "torch._assert(False, 'the sizes differ')": "the sizes differ",
    "import torch.fft as fft; fft": "has no 'fft': there are no complex numbers",
    "from torch.utils.data import DataLoade; DataLoade": "cannot import name 'DataLoade'",
    "torch.bfloat16": "has no 'bfloat16': the floats are float16, float32 and float64",
    "torch.cumsun(x, 1)": "near to it: cumsum",
    "x.cumsum_(1)": "no in-place form: write x = x.cumsum(...)",
    "x.sum(axes=1)": "sum: got an unexpected keyword argument 'axes'; it takes x, axis, keepdims",
    "x.sum(dim=1, axes=1)": "sum: got an unexpected keyword argument 'axes'; it takes x, axis",
    "torch.cat([x], axes=1)": "cat: it takes (tensors, dim=0), got 1 by position, axes=",
    "x.transpose(axis=1)": "transpose: got an unexpected keyword argument 'axis'",
    "torch.optim.Adagrad([parameter], foreach=True, maximize=True)": "argument 'maximize'; it",
    "torch.some_name": "has no 'some_name'; docs/aliases.md lists the spellings",
    "torch.linalg.eigenvalues": "linalg has no 'eigenvalues'; near to it: eigvals",
    "torch.utils.data.BatchSampler": "data has no 'BatchSampler'; near to it",
    "nn.Linear(4, 2).cuda()": "minigrad runs on the CPU only",
    "torch.device('cuda') and torch.zeros(2, device='cuda')": "minigrad runs on the CPU only",
}


@pytest.mark.parametrize("call", MEANT_OTHERWISE)
def test_a_call_that_means_something_else_is_an_error_that_says_what(
    call: str, tmp_path: Path
) -> None:
    kinds = AssertionError, AttributeError, ImportError, RuntimeError, TypeError, ValueError
    with pytest.raises(kinds) as error:
        run(call, "minigrad", tmp_path)
    assert MEANT_OTHERWISE[call] in str(error.value)


def test_a_remedy_stays_away_from_other_errors(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="out of bounds") as error:
        run("x.max(5)", "minigrad", tmp_path)
    assert "maximum" not in str(error.value)


LUCID2 = """
torch.Float32, torch.Float64, torch.Float16 => torch.float32, torch.float64, torch.float16
torch.Int8, torch.Int16 => torch.int8, torch.int16
torch.Int32, torch.Int64 => torch.int32, torch.int64
torch.Float, torch.Double, torch.Half => torch.float32, torch.float64, torch.float16
torch.Char, torch.Short, torch.Int, torch.Long => torch.int8, torch.int16, torch.int32, torch.int64
torch.to_tensor([1.0, 2.0], requires_grad=True) => torch.tensor([1.0, 2.0])
x.clip(min_value=0, max_value=1) => x.clip(0, 1)
torch.clip(x, min_value=0) => x.clip(0)
torch.linalg.pinv(x, rcond=1e-6) => torch.linalg.pinv(x, rtol=1e-6)
torch.grad_enabled() => True
x.is_cpu() and not x.is_gpu() => True
torch.cube(x) => x ** 3
x.char() => x.astype(torch.int8)
x.zero() => torch.zeros(3, 4)
"""


@pytest.mark.parametrize("line", LUCID2.strip().splitlines())
def test_lucid_2(line: str, tmp_path: Path) -> None:
    theirs, here = line.split(" => ")
    found, wanted = (run(part, "minigrad", tmp_path) for part in (theirs, here))
    dtypes = "(" not in line
    assert found == wanted if dtypes else same(plain(found), plain(wanted))


def test_every_spelling_of_lucid_2_is_run(tmp_path: Path) -> None:
    used = set(re.findall(r"\w+", LUCID2))
    theirs = {name for name, lines in spellings().items() if any(s.whose == "2" for s in lines)}
    theirs |= {line.split()[0] for line in NAMES.strip().splitlines() if "# 2" in line}
    assert not theirs - used - {"gpu"}, "add a line to LUCID2"
    with pytest.raises(RuntimeError, match="runs on the CPU"):
        run("x.gpu()", "minigrad", tmp_path)


ROW = re.compile(r"^\| `([^`]+)` \| [^|]+ \| `([^`]+)` \|$", re.MULTILINE)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "from_pytorch.md"
TWO_MEANINGS = ROW.findall(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("theirs", "here"), TWO_MEANINGS)
def test_what_the_page_tells_to_write_gives_pytorchs_answer(
    theirs: str, here: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    pytest.importorskip("torch")
    wanted = plain(run(theirs, "torch", tmp_path))
    assert same(plain(run(here, "minigrad", tmp_path)), wanted)
    assert not same(plain(run(theirs, "minigrad", tmp_path)), wanted), "it means the same: no row"


def test_the_page_has_its_rows() -> None:
    assert len(TWO_MEANINGS) > 25


def test_every_spelling_of_the_table_is_an_idiom() -> None:
    used = set(re.findall(r"\w+", TENSORS + TRAINING))
    theirs = {*ATTRIBUTES, *(name for names in MODULES.values() for name in names)} - {"*"}
    theirs |= {name for module in MODULES for name in module.split(".")} - {"minigrad"}
    theirs |= {name for name, lines in spellings().items() if any(s.whose == "T" for s in lines)}
    theirs |= {line.split()[0] for line in NAMES.strip().splitlines() if "# 2" not in line}
    assert not theirs - used, "add an idiom that uses it to tests/ported/idioms.py"
