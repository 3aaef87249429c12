"""Calls that people get wrong: each error says what came, and what to write."""

import inspect
import io
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
import minigrad.nn.functional as F
from minigrad import nn, optim, viz
from minigrad.autograd import checkpoint
from minigrad.distributed import parallelize

X = minigrad.ones(2, 3)
GRU = nn.GRU(3, 4, batch_first=True)
STATE = minigrad.zeros(1, 2, 4)

CALLS: dict[str, tuple[Callable[[], Any], str]] = {
    "no path": (lambda: minigrad.load(None), "or an open binary file expected, got NoneType"),
    "a text file": (lambda: minigrad.load(io.StringIO("x")), 'open it with mode "rb"'),
    "a folder": (lambda: minigrad.load(Path.cwd()), "no file, but a folder or a device; name a"),
    "requires_grad": (lambda: setattr(minigrad.ones(2), "requires_grad", "no"),
                      "Tensor: requires_grad must be True or False, got 'no'"),
    "requires_grad of a tensor": (lambda: minigrad.Tensor([1.0], requires_grad="no"),
                                  "Tensor: requires_grad must be True or False, got 'no'"),
    "train": (lambda: nn.ReLU().train("x"), "train: mode must be True or False, got 'x'"),
    "not a float": (lambda: ~X, "invert: ufunc 'invert' not supported for the input types"),
    "a list of layers": (lambda: nn.Sequential([nn.ReLU()]), "got list; pass its modules one by"),
    "a function": (lambda: nn.Sequential(F.relu), "got function; a function becomes a layer in"),
    "a class": (lambda: nn.Sequential(nn.ReLU), "got the class ReLU; write ReLU()"),
    "a single layer": (lambda: nn.ModuleList(GRU), "ModuleList: a list expected, got GRU"),
    "a number": (lambda: nn.ModuleList([GRU, 3]), "ModuleList: '1' must be a Module, got int"),
    "a layer too far": (lambda: nn.Sequential(GRU)[-2], "Sequential: index out of range, got -2"),
    "a path as a state": (lambda: GRU.load_state_dict("m.pt"),  # type: ignore[arg-type]
                          "got <class 'str'>, not a dict: minigrad.load gives one"),
    "repeat": (lambda: X.repeat(2), "a size for each of 2 axes expected, got (2,)"),
    "split": (lambda: X.split([1, 2]), "sizes that add up to 2, the axis, expected, got [1, 2]"),
    "bernoulli": (lambda: minigrad.bernoulli(X * 2), "from 0 to 1 expected, got 2.0 to 2.0"),
    "batch": (lambda: F.kl_div(X, X, reduction="batch"), '"sum", "batchmean", "none" or None, got'),
    "no layers": (lambda: optim.SGD([], lr=0.1), "layers in a list go into nn.ModuleList"),
    "histc": (lambda: minigrad.histc("a"), "histogram: ufunc 'minimum' did not contain a loop"),
    "two tensors": (lambda: minigrad.concatenate(X, X), "one list: concatenate([a, b])"),
    "stacked": (lambda: minigrad.stack(X, X), "one list: stack([a, b])"),
    "clip a module": (lambda: nn.utils.clip_grad_norm(GRU, 1.0), "got a GRU; pass its parameters"),
    "train a module": (lambda: optim.SGD(GRU, lr=0.1), "got a single GRU; pass a list"),
    "not called": (lambda: optim.SGD(GRU.parameters, lr=0.1), "got a single method; pass a list"),
    "checkpoint": (lambda: checkpoint(3), "checkpoint: a function expected, got int"),
    "capture": (lambda: minigrad.capture(3), "capture: a function expected, got int"),
    "parallelize": (lambda: parallelize(3), "parallelize: a module expected, got int"),
    "a second argument": (lambda: minigrad.func.functional_call(GRU, {}, X, STATE),
                          "functional_call(module, parameters, (x, mask))"),
    "layers": (lambda: optim.SGD(nn.Sequential(GRU), lr=0.1), "got GRU; pass model.parameters()"),
    "no bounds": (lambda: minigrad.randint(), "randint: high must be at least 1, got 0"),
    "a norm": (lambda: minigrad.linalg.vector_norm(X, "fro"), "vector_norm: ord must be a number"),
    "pivots": (lambda: minigrad.linalg.lu(X, pivot="no"), "lu: pivot must be True or False, got"),
    "unpacked": (lambda: minigrad.lu_unpack(X, X, "no"), "lu_unpack: unpack_data must be True or"),
    "lower": (lambda: minigrad.linalg.solve_triangular(X, X, lower=True),
              "'upper'; it takes A, B, upper"),
    "no end": (lambda: minigrad.arange("a"), "arange: start must be a number, got 'a'"),
    "no seed": (lambda: minigrad.manual_seed("a"), "manual_seed: seed must be an int, got 'a'"),
    "digits": (lambda: minigrad.set_printoptions(precision="a"), "precision must be a number of"),
    "half a digit": (lambda: minigrad.set_printoptions(precision=0.5), "precision must be an int"),
    "nothing": (lambda: minigrad.sum(), "'input'; it takes input, dim, keepdim, dtype"),
    "no such keyword": (lambda: minigrad.mul(X, X, beta=1), "'beta'; it takes input, other"),
    "both spellings": (lambda: minigrad.std(X, keepdims=True, keepdim=True),
                       "std: keepdims is keepdim: give one of them"),
    "a dtype is no tensor": (lambda: minigrad.randint_like(X, dtype=minigrad.float32),
                             "randint: high must be at least 1, got 0"),
    "height and width first": (lambda: nn.Conv2d(3, 4, 2)(minigrad.ones(2, 8, 8, 3)),
                               "3 for each of 1 group; channels come first, x.movedim(-1, -3)"),
    "transposed": (lambda: nn.ConvTranspose1d(3, 4, 2)(minigrad.ones(2, 8, 3)),
                   "this weight takes 3; channels come first, x.movedim(-1, -2)"),
    "no axis": (lambda: minigrad.sum(X, (None,)), "sum: 'NoneType' object cannot be interpreted"),
    "axes in axes": (lambda: X.amax(((0, 1),)), "amax: 'tuple' object cannot be interpreted"),
    "put": (lambda: minigrad.put(X, [0, 1], [5.0]), "put: as many values as indices expected, got"),
    "no shape": (lambda: minigrad.broadcast_to(X[0, 0]), "broadcast_to: a shape expected, got"),
    "no sizes": (lambda: nn.Unflatten(1, 6),  # type: ignore[arg-type]
                 "Unflatten: a tuple of sizes expected, got 6"),
    "step": (lambda: minigrad.arange(3, 3, 0), "arange: step must not be 0"),
    "tolerance": (lambda: minigrad.isclose(X, X, "a"), "isclose: ufunc 'less' did not contain a"),
    "no tolerance": (lambda: minigrad.isclose(X, X, atol=None), "isclose: '<' not supported"),
    "one slice for two": (lambda: minigrad.index_reduce(X, 0, [0, 1], X[:1], "prod"),
                          "index_reduce: source of shape (2, 3) expected, got (1, 3)"),
    "a sum": (lambda: minigrad.index_reduce(X, 0, [0, 1], X, "sum"), "index_reduce: reduce must"),
    "weights": (lambda: minigrad.cov(X, fweights=[1, 1, 1]), "of 3 integers, one of at least 0"),
    "frequencies": (lambda: minigrad.cov(X, fweights=X[0]), "cov: fweights: a tensor of 3 int"),
    "no floats": (lambda: minigrad.cov(X, aweights=X[0].long()), "aweights: a tensor of 3 floats"),
    "less than 0": (lambda: minigrad.cov(X, aweights=-X[0]), "one of at least 0 for each column"),
    "no weight": (lambda: minigrad.cov(X, aweights=0 * X[0]), "weights with a sum above 0"),
    "three axes": (lambda: minigrad.corrcoef(X[None]), "corrcoef: 2 axes expected"),
    "no pivots": (lambda: minigrad.lu(X, False), "lu: pivot=False is not there"),
    "a diagonal": (lambda: X.diagonal_scatter(X[0, :1]),
                   "diagonal_scatter: src in the shape of the diagonal expected, got (1,) and"),
    "a shape": (lambda: X.broadcast_to("a"), "broadcast_to: 'str' object cannot be interpreted"),
    "-1 first": (lambda: X[0].broadcast_to(-1, 3), "broadcast_to: shape (3,) does not expand to"),
    "a pair of states": (lambda: GRU(X[:, None], (STATE, STATE)), "h_0 must be a Tensor, got"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_it_says_what_came_and_what_to_write(name: str) -> None:
    call, told = CALLS[name]
    with pytest.raises((IndexError, RuntimeError, TypeError, ValueError)) as caught:
        call()
    assert told in str(caught.value)


@pytest.mark.parametrize("ending", [".npz", ".pt", ".safetensors"])
def test_a_pointer_of_git_lfs_is_known(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{ending}"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 3\n")
    with pytest.raises(ValueError, match="it is a pointer of Git LFS, not the file: run `git lfs"):
        minigrad.load(path)


def test_a_number_is_as_good_as_a_bool() -> None:
    x = minigrad.ones(2)
    for value in (1, 0, np.True_, False):
        x.requires_grad = value
        assert x.requires_grad is bool(value)


@pytest.mark.needs("onnx")
def test_an_export_into_no_folder_names_the_file(tmp_path: Path) -> None:
    from minigrad import onnx

    with pytest.raises(OSError, match="onnx.export: .*a.onnx was not written"):
        onnx.export(nn.Linear(3, 2), (X,), tmp_path / "missing" / "a.onnx")


@pytest.mark.parametrize("name", ["a.html", "a.svg", "a.npz"])
def test_a_file_in_no_folder_is_named(name: str, tmp_path: Path) -> None:
    path, graph = tmp_path / "missing" / name, viz.graph(GRU(X[:, None])[0])
    write = {
        "a.html": lambda: viz.explore(graph, path=path),
        "a.svg": lambda: graph.save(path),
        "a.npz": lambda: minigrad.save({"x": X}, path),
    }[name]
    with pytest.raises(FileNotFoundError, match="there is no folder .*missing: create") as caught:
        write()
    assert name in str(caught.value)
    assert "unfinished" not in str(caught.value)


@pytest.mark.parametrize("name", ["mul", "exp", "matmul", "xlogy", "linalg.det"])
def test_the_signature_and_the_text_of_an_op_name_its_tensors_as_errors_do(name: str) -> None:
    function = operator.attrgetter(name)(minigrad)
    shown = list(inspect.signature(function).parameters)
    assert shown == ["input", "other"][: len(shown)]
    assert not re.search(r"`[abxy]`|^ +[abxy]: ", function.__doc__, re.MULTILINE)
