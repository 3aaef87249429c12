"""Tensors beside PyTorch's: what makes one, what one says, and what is not PyTorch's as decided."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad

torch = pytest.importorskip("torch")

EYE = minigrad.eye(2)
ROWS = np.array([[3.0, 1.0, 1.0], [4.0, 2.0, 4.0]], np.float32)


def plain(value: Any) -> Any:
    """Tensors as their dtype, shape and numbers, in containers as they are."""
    if hasattr(value, "detach"):
        numbers = value.detach().tolist()
        return str(value.dtype).rpartition(".")[2], tuple(value.shape), numbers
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    return value


def x(T: Any) -> Any:
    return T.tensor(ROWS)


SAME: dict[str, Callable[[Any], Any]] = {
    "max, min": lambda T: (
        x(T).max(), x(T).max(0), x(T).min(1, keepdim=True), T.max(x(T), 1), T.max(x(T), x(T) - 1),
        x(T).max(dim=0).indices, x(T).amax((0, 1)), x(T).argmax(), x(T).argmax(1),
    ),
    "roll along no axes": lambda T: (T.roll(x(T), 1, ()), x(T)[0].roll(1, [])),
    "typename": lambda T: [T.typename(f) for f in (str.join, int.__add__, [].append, len, int)],
    "size": lambda T: (x(T).size(), x(T).size(0), x(T).size(-1), x(T).numel(), x(T).dim()),
    "empty dims": lambda T: (x(T).sum(()), x(T).mean(dim=()), x(T).sum(dim=(0, 1))),
    "scatter_reduce of bools": lambda T: T.zeros(2, dtype=T.uint8).scatter_reduce(
        0, T.tensor([0, 0]), T.tensor([3, 4], dtype=T.uint8), "sum"
    ),
    "Tensor(sizes)": lambda T: (T.Tensor(2, 3).shape, T.FloatTensor(2, 3).shape),
    "new tensors in a tensor's own dtype": lambda T: [
        x(T).double().new_zeros(2, dtype=None), x(T).long().new_full((2,), 3, dtype=None),
        x(T).double().new_ones((1, 2), dtype=T.int32), x(T).long().new_tensor([1.5]),
    ],
    "data": lambda T: (T.is_tensor(x(T).data), x(T).data, x(T).data.requires_grad),
    "device": lambda T: (x(T).device.type, x(T).is_cpu, str(x(T).device)),
    "dtype": lambda T: (
        T.float32.is_floating_point, T.int64.itemsize, x(T).dtype == T.float32,
        x(T).dtype is T.float32, T.finfo(T.float32).eps, T.iinfo(T.int8).max,
    ),
}  # fmt: skip
"""Calls of a module, `T`, that give what PyTorch's give; functions are in its database of ops."""


@pytest.mark.parametrize("row", SAME.values(), ids=SAME)
def test_as_in_pytorch(row: Callable[[Any], Any]) -> None:
    assert plain(row(minigrad)) == plain(row(torch))


def test_numpy_shares_memory() -> None:
    for T in (minigrad, torch):
        tensor = T.tensor([1.0, 2.0])
        tensor.numpy()[0] = 5.0
        assert tensor.tolist() == [5.0, 2.0]
        assert T.tensor([1.0], requires_grad=True).detach().numpy().flags.writeable
    assert not minigrad.tensor([1.0], requires_grad=True).numpy().flags.writeable


OWN: dict[str, tuple[Callable[[], Any], Any]] = {
    "sign of nan": (lambda: np.isnan(minigrad.sign(minigrad.tensor(np.nan)).item()), True),
    "requires_grad= and dtype=": (
        lambda: str(minigrad.Tensor([1.0], requires_grad=True, dtype="float64").dtype),
        "minigrad.float64",
    ),
    "without data it holds zeros": (lambda: minigrad.Tensor(2, 3).tolist(), [[0.0] * 3] * 2),
    "axis and keepdims": (
        lambda: minigrad.tensor(ROWS).max(axis=1, keepdims=True).values.tolist(), [[3.0], [4.0]]
    ),
    "one argument under two names": (
        lambda: minigrad.tensor(ROWS).sum(axis=1, dim=1), TypeError
    ),
    "a number that does not fit": (
        lambda: minigrad.tensor([1], dtype=minigrad.uint8) + 300, ValueError
    ),
    "softmax of 1 and 2 axes": (
        lambda: minigrad.softmax(minigrad.tensor([0.0, 0.0])).tolist(), [0.5, 0.5]
    ),
    "softmax of more axes": (lambda: minigrad.softmax(minigrad.ones(1, 2, 3)), ValueError),
    "cov of large halves": (
        lambda: round(minigrad.cov(minigrad.tensor([1000.0, 1001.0]).half().repeat(100)).item(), 3),
        0.251,
    ),
    "lu of a singular matrix": (
        lambda: [part.tolist() for part in minigrad.lu(minigrad.zeros(2, 2))],
        [[[0.0, 0.0], [0.0, 0.0]], [1, 2]],
    ),
    "a clone of the coefficient": (
        lambda: minigrad.triangular_solve(EYE, EYE).cloned_coefficient is EYE, False
    ),
    "tolerances of their own": (
        lambda: minigrad.isclose(EYE[0], EYE[1], np.zeros(2), minigrad.tensor([0, 1])).tolist(),
        [False, True],
    ),
    "sizes in an iterator": (
        lambda: minigrad.nn.Unflatten(0, iter((1, 2))).unflattened_size, (1, 2)
    ),
    "lists and numbers as indices": (
        lambda: (minigrad.zeros(2).put([1], [5.0]).tolist(), minigrad.zeros(2).put(0, 5).tolist()),
        ([0.0, 5.0], [5.0, 0.0]),
    ),
    "a shape in an array, a tensor or an iterator": (
        lambda: [
            tuple(minigrad.ones(3).broadcast_to(shape).shape)
            for shape in (np.array([2, 3]), minigrad.tensor([2, 3]), iter([2, 3]))
        ],
        [(2, 3)] * 3,
    ),
    "cross without dim, of two meanings": (
        lambda: minigrad.cross(minigrad.ones(3, 3), minigrad.ones(3, 3)), ValueError
    ),
    "NumPy's meaning under NumPy's names": (
        lambda: (
            np.max(minigrad.tensor(ROWS), axis=1).tolist(),
            np.std(minigrad.tensor([1.0, 3.0])).item(),
            np.transpose(minigrad.ones(2, 3, 4), (2, 0, 1)).shape == (4, 2, 3),
            np.sum(minigrad.tensor(ROWS), axis=()).tolist() == ROWS.tolist(),
        ),
        ([3.0, 4.0], 1.0, True, True),
    ),
}  # fmt: skip
"""What is not PyTorch's, as decided."""


@pytest.mark.parametrize(("call", "wanted"), OWN.values(), ids=OWN)
def test_as_decided(call: Callable[[], Any], wanted: Any) -> None:
    if isinstance(wanted, type):
        with pytest.raises(wanted):
            call()
    else:
        assert call() == wanted


@pytest.mark.parametrize("use", [
    lambda pair: pair * minigrad.ones(2), lambda pair: minigrad.ones(2) + pair, minigrad.exp,
    minigrad.tensor,
])  # fmt: skip
def test_a_pair_of_values_and_indices_is_no_tensor(use: Callable[[Any], Any]) -> None:
    """What `max` gave before was a tensor: its use as one is an error that says what to write."""
    with pytest.raises(TypeError, match=r"values, indices: choose one, such as \.values"):
        use(minigrad.ones(2, 2).max(0))
