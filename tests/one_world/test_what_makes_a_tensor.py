"""What makes a tensor: kinds of input and constructors, here and in PyTorch.

Where PyTorch has a result, it is ours: shape, dtype, values, whether it requires a gradient, and
whose memory it has. Where PyTorch refuses, an answer is free.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad.torch as door

torch = pytest.importorskip("torch")

INPUTS: dict[str, Callable[[Any], Any]] = {
    "a number": lambda m: 5,
    "a float": lambda m: 2.5,
    "a bool": lambda m: True,
    "nothing": lambda m: None,
    "a size": lambda m: m.ones(2, 3).size(),
    "a length": lambda m: m.ones(2, 3).size(0),
    "a list": lambda m: [1, 2],
    "a tuple": lambda m: (2, 3),
    "a nested list": lambda m: [[1.5, 2.0], [3, 4]],
    "an empty list": lambda m: [],
    "bools": lambda m: [True, False],
    "a range": lambda m: range(3),
    "a number of NumPy's": lambda m: np.float64(2.5),
    "a length of NumPy's": lambda m: np.int64(3),
    "an array of float32": lambda m: np.ones(2, np.float32),
    "an array of float64": lambda m: np.ones((2, 1)),
    "an array of integers": lambda m: np.array([1, 2]),
    "an array without axes": lambda m: np.array(3),
    "a list of arrays": lambda m: [np.ones(1, np.float32), np.zeros(1, np.float32)],
    "numbers of NumPy's and Python's": lambda m: [2.0, np.float64(3), np.float32(1)],
    "float32 and Python's": lambda m: [np.float32(1), 2.0],
    "a tensor": lambda m: m.tensor([1.0, 2.0]),
    "integers in a tensor": lambda m: m.tensor([1, 2]),
    "a 0-d tensor": lambda m: m.tensor(3),
    "a 0-d tensor of float64": lambda m: m.tensor(3.5, dtype=m.float64),
    "a tensor that requires a gradient": lambda m: m.ones(2, requires_grad=True),
    "0-d tensors": lambda m: [m.tensor(1.0), m.tensor(2.0)],
    "tensors of one element": lambda m: [m.tensor([1.0]), m.tensor([[2.0]])],
    "tensors of two dtypes": lambda m: [m.tensor(1), m.tensor(2.5), 3],
    "nested tensors": lambda m: [[m.tensor(1), m.tensor(2)]],
    "rows": lambda m: [m.tensor([1.0, 2.0]), m.tensor([3.0, 4.0])],
    "text": lambda m: "abc",
}

CONSTRUCTORS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: lambda m, x, name=name: getattr(m, name)(x)
        for name in (
            "tensor", "as_tensor", "asarray", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor",
            "ByteTensor", "BoolTensor", "zeros", "ones", "empty", "scalar_tensor", "ones_like",
        )
    },
    "tensor of float": lambda m, x: m.tensor(x, dtype=float),
    "tensor of float32": lambda m, x: m.tensor(x, dtype=m.float32),
    "tensor of int64": lambda m, x: m.tensor(x, dtype=m.int64),
    "new": lambda m, x: m.ones(1).new(x),
    "new of integers": lambda m, x: m.ones(1).long().new(x),
    "new_tensor": lambda m, x: m.ones(1).new_tensor(x),
    "new_zeros": lambda m, x: m.ones(1).long().new_zeros(x),
    "full": lambda m, x: m.full((2,), x),
    "full of a size": lambda m, x: m.full(x, 2.0),
    "Variable": lambda m, x: m.autograd.Variable(x),
    "Variable with a gradient": lambda m, x: m.autograd.Variable(x, requires_grad=True),
    "volatile Variable": lambda m, x: m.autograd.Variable(x, volatile=True),
    "Parameter": lambda m, x: m.nn.Parameter(x),
    "Parameter without a gradient": lambda m, x: m.nn.Parameter(x, requires_grad=False),
    "type of a class": lambda m, x: x.type(m.LongTensor),
    "type of all tensors": lambda m, x: x.type(m.Tensor),
    "type by name": lambda m, x: x.type("torch.DoubleTensor"),
    "type of a dtype": lambda m, x: x.type(m.float32),
    "to float": lambda m, x: x.to(float),
    "type_as": lambda m, x: x.type_as(m.ones(1).long()),
}  # fmt: skip

COPIES = {"Tensor", "FloatTensor", "DoubleTensor", "LongTensor", "ByteTensor", "BoolTensor", "new"}
"""They copy an array, of which PyTorch's share the memory."""

NO_DATA = {("Variable", "nothing"), ("Variable with a gradient", "nothing"),
           ("volatile Variable", "nothing")}  # fmt: skip
"""Errors here; in PyTorch an empty tensor."""


def outcome(m: Any, constructor: str, kind: str) -> Any:
    """What a constructor makes of an input; None if it refuses."""
    x = INPUTS[kind](m)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = CONSTRUCTORS[constructor](m, x)
    except Exception:  # noqa: BLE001 - PyTorch's are of all kinds
        return None
    old_class = constructor.endswith("Tensor") or constructor.split()[0] == "new"
    sized = old_class and isinstance(x, (int, np.integer, type(m.ones(1).size())))
    unset = sized or constructor == "empty" or (old_class and kind == "an array without axes")
    memory = None
    copies = old_class or "Parameter" in constructor
    if isinstance(x, np.ndarray) and x.ndim and not copies:
        memory = np.shares_memory(made.detach().numpy(), x)
    if isinstance(x, m.Tensor):
        memory = np.shares_memory(made.detach().numpy(), x.detach().numpy())
        assert x.requires_grad is ("requires" in kind)
    values = None if unset else made.detach().tolist()
    dtype = str(made.dtype).rpartition(".")[2]
    return tuple(made.shape), dtype, values, made.requires_grad, memory, made is x


@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_a_constructor_is_pytorchs(constructor: str) -> None:
    answered = 0
    for kind in INPUTS:
        theirs = outcome(torch, constructor, kind)
        if theirs is None:
            continue
        ours = outcome(door, constructor, kind)
        if (constructor, kind) in NO_DATA:
            assert ours is None
        else:
            assert ours == theirs, kind
            answered += 1
    assert answered >= 3


def test_an_old_class_copies_an_array() -> None:
    array = np.ones(2, np.float32)
    for name in COPIES - {"new"}:
        assert not np.shares_memory(getattr(door, name)(array).numpy(), array)
    assert not np.shares_memory(door.ones(1).new(array).numpy(), array)


def test_a_list_refuses_what_would_lose_gradients_or_rows() -> None:
    x = door.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="tensor: .*lose the gradient"):
        door.tensor([x, x])
    with door.no_grad():
        assert door.tensor([x, x]).tolist() == [1.0, 1.0]
    with pytest.raises(
        RuntimeError,
        match=r"tensor: a tensor in a list must have one element, got shape \(2,\); .*stack",
    ):
        door.tensor([door.ones(2), door.ones(2)])


def test_a_tensor_of_a_tensor_has_its_history() -> None:
    for m in (door, torch):
        x = m.ones(2, requires_grad=True)
        (m.Tensor(x) * m.FloatTensor(x)).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]


def test_volatile_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="no_grad"):
        door.autograd.Variable(door.ones(1), volatile=True)


def test_the_type_of_a_model() -> None:
    for m in (door, torch):
        model = m.nn.Linear(2, 2)
        for kind, dtype in [
            (m.DoubleTensor, m.float64), (m.Tensor, m.float32), ("torch.DoubleTensor", m.float64),
            (m.float32, m.float32), (m.FloatTensor, m.float32),
        ]:  # fmt: skip
            assert model.type(kind).weight.dtype == dtype
    with pytest.raises(TypeError, match="floating dtype expected"):
        door.nn.Linear(2, 2).type(door.LongTensor)
    with pytest.raises(ValueError, match="type: the class must be"):
        door.nn.Linear(2, 2).type("torch.Double")
    assert not isinstance(door.ones(1), door.cuda.FloatTensor)
