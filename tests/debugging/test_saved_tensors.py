"""saved_tensors_hooks and grad_fn: what an op saved, seen and kept otherwise."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.autograd import grad, saved_tensors_hooks


def test_what_is_kept_elsewhere_comes_back(tmp_path: Any) -> None:
    files = []

    def pack(t: Any) -> Any:
        files.append(tmp_path / f"{len(files)}.npy")
        np.save(files[-1], t.numpy())
        return files[-1]

    def run() -> list[np.ndarray]:
        minigrad.random.seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.LayerNorm(4), nn.Linear(4, 1))
        (model(x) ** 2).sum().backward()
        return [p.grad.numpy() for p in model.parameters()]

    x = minigrad.tensor(np.random.default_rng(0).standard_normal((5, 3)), dtype=minigrad.float32)
    plain = run()
    with saved_tensors_hooks(pack, lambda path: tensor(np.load(path))):
        packed = run()
    assert files
    for a, b in zip(plain, packed, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_second_order_reads_them_too() -> None:
    x = Tensor([2.0, 3.0], requires_grad=True)
    with saved_tensors_hooks(lambda t: t.numpy() * 1, minigrad.tensor):
        (first,) = grad((x**3).sum(), x, create_graph=True)
    assert grad(first.sum(), x)[0].tolist() == [12.0, 18.0]


def test_what_unpack_must_return() -> None:
    x = Tensor([2.0], requires_grad=True)
    with saved_tensors_hooks(lambda t: t, lambda t: 3.0):
        y = x.exp()
    with pytest.raises(TypeError, match="unpack returned a float"):
        y.backward()


def test_grad_fn_reads_the_graph() -> None:
    x = Tensor([[2.0, 1.0], [0.0, 3.0]], requires_grad=True)
    assert x.grad_fn is None
    logdet = minigrad.linalg.slogdet(x)[1]
    assert logdet.grad_fn == logdet.grad_fn
    loss = (logdet * 2).sum()
    found: Any = loss.grad_fn
    names = []
    while found.next_functions:
        names.append(found.name())
        found, _ = found.next_functions[0]
    assert names == ["SumBackward0", "MulBackward0", "LinalgSlogdetBackward0"]
    assert found.variable is x
    assert loss.grad_fn.next_functions[0][0].next_functions[0][1] == 1
    assert loss.grad_fn.next_functions[0][0].saved == {"b": 2}
    loss.backward()
    with pytest.raises(RuntimeError, match="freed"):
        loss.grad_fn.next_functions[0][0].saved


def test_the_innermost_block_packs() -> None:
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    by = lambda factor: saved_tensors_hooks(lambda t: t * factor, lambda t: t * factor)
    with by(3):
        with by(5):
            inner = x * x
        outer = x * x
    assert minigrad.autograd.grad(inner.sum(), x)[0].tolist() == [50.0, 100.0]
    assert minigrad.autograd.grad(outer.sum(), x)[0].tolist() == [18.0, 36.0]
