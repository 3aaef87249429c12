"""Tensor as a Python object: numbers, truth, iteration, copies, pickles, repr."""

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops, tensor
from minigrad.tensors import functions
from minigrad.tensors.methods import Methods


def variable(*values: Any) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


def test_hash_and_membership() -> None:
    x, y = variable(1.0, 2.0), variable(1.0, 2.0)
    assert x in [x]
    assert x in [None, "text", x]
    assert [y, x].index(y) == 0
    assert {x: 1, y: 2}[x] == 1
    assert len({x, y, x}) == 2
    assert hash(x) == hash(x)
    assert x != None  # noqa: E711
    assert (x == "text") is False
    assert (x == y).tolist() == [True, True]
    assert 2.0 in x
    assert 3.0 not in x


@pytest.mark.parametrize(("name", "theirs"), [
    *[(name, f"r{name}") for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
        "lshift", "rshift",
    )],
    ("lt", "gt"), ("gt", "lt"), ("le", "ge"), ("ge", "le"), ("eq", "eq"), ("ne", "ne"),
])  # fmt: skip
def test_an_operator_asks_an_object_that_it_does_not_know(name: str, theirs: str) -> None:
    x, theirs = tensor([1]), f"__{theirs.rstrip('_')}__"
    answering = type("Answering", (), {theirs: lambda self, other: ("answer", other)})()
    assert getattr(operator, name)(x, answering) == ("answer", x)
    assert {getattr(x, theirs)(wrong) for wrong in (object(), None, "a")} == {NotImplemented}
    own = getattr(Tensor, f"__{name.rstrip('_')}__")
    assert pickle.loads(pickle.dumps(own)) is own
    with pytest.raises(TypeError, match=r"^\w+: a tensor holds") as raised:
        own(x, np.array(None))
    assert raised.type is TypeError
    if theirs[2] == "r":
        assert getattr(operator, f"i{name.rstrip('_')}")(x, answering) == ("answer", x)
        for wrong in (None, object(), {}):
            with pytest.raises(TypeError, match="and 'Tensor'$"):
                getattr(operator, name)(wrong, x)


def test_length_and_iteration() -> None:
    x = variable([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert [a.item() for a in reversed(x[0])] == [2.0, 1.0]
    assert len(list(tensor(np.zeros((0, 2))))) == 0
    assert [k for k, _ in zip(range(9), x)] == [0, 1, 2]  # noqa: B905
    for call in (len, iter):
        with pytest.raises(TypeError, match="unsized"):
            call(Tensor(1.0))


def test_numbers() -> None:
    for value in (2.5, [2.5], [[2.5]]):
        assert float(tensor(value)) == 2.5
        assert tensor(value).item() == 2.5
        assert int(tensor(value)) == 2
        assert f"{tensor(value):.2f}" == "2.50"
    assert type(tensor(3).item()) is int
    assert type(tensor(True).item()) is bool
    assert type(Tensor(1.0).item()) is float
    assert list(range(5))[tensor(2)] == 2
    assert range(tensor(3)) == range(3)
    many = Tensor([1.0, 2.0])
    for call in (float, int, Tensor.item):
        with pytest.raises(ValueError, match=r"one element .*\(2,\)"):
            call(many)
    for wrong in (Tensor(1.0), tensor([1, 2])):
        with pytest.raises(TypeError, match="index"):
            range(wrong)
    assert complex(Tensor(1.5)) == 1.5
    assert variable(1.0).item() == 1.0


def test_truth() -> None:
    values = [1.0, 0.0, [[2]], [False]]
    assert [*map(bool, map(minigrad.tensor, values))] == [True, False, True, False]
    for many in ([1.0, 2.0], np.zeros((0,)), [True, True], Tensor([1.0]) == Tensor([1.0, 1.0])):
        with pytest.raises(ValueError, match="ambiguous"):
            bool(tensor(many))


def test_shape_methods_take_tuples_and_numbers() -> None:
    x, cube, one = tensor(np.zeros((2, 3))), tensor(np.zeros((2, 3, 4))), Tensor(1.0)
    for spelled in ((3, 2), ((3, 2),), ([3, 2],)):
        assert x.reshape(*spelled).shape == one.broadcast_to(*spelled).shape == (3, 2)
    for spelled in ((2, 0, 1), ((2, 0, 1),), ([2, 0, 1],)):
        assert cube.permute(*spelled).shape == (4, 2, 3)
    assert x.reshape(-1).shape == (6,)
    assert cube.transpose(0, -1).shape == (4, 3, 2)
    assert one.reshape(()).shape == one.reshape().shape == one.T.shape == ()


def test_every_method_is_its_function() -> None:
    """A method that has the name of a function is that function."""
    names = [name for name in functions.__all__ if name in vars(Methods)]
    assert len(names) > 250
    assert all(vars(Methods)[name] is getattr(functions, name) for name in names)
    x = variable([0.5, 1.5], [2.5, 0.7])
    calls: list[tuple[str, Any]] = [
        ("clip", (0.6, 2.0)), ("sum", (0,)), ("reshape", ((4,),)), ("broadcast_to", ((3, 2, 2),)),
    ]  # fmt: skip
    for name, args in calls:
        method, function = getattr(x, name)(*args), getattr(minigrad, name)(x, *args)
        np.testing.assert_array_equal(method.detach(), function.detach())
        assert method.requires_grad


def test_what_is_seldom_asked() -> None:
    x = variable(0.5, 1.5)
    assert Tensor([1.0], True).requires_grad  # as in Lucid 2
    assert x.polygamma(1).tolist() == minigrad.polygamma(1, x).tolist()
    assert x[1:].data_ptr() - x.data_ptr() == x.element_size()
    assert x.is_pinned() is x.is_shared() is False
    found = minigrad.unique_consecutive(tensor([4, 4, 3]), True, True)
    assert [part.tolist() for part in found] == [[4, 3], [0, 0, 1], [2, 1]]
    for turned, wanted in (
        (np.arange(5.0)[::-1], [4, 3]), (np.arange(4.0).reshape(2, 2)[:, ::-1], [1, 0]),
    ):  # fmt: skip
        assert minigrad.from_numpy(turned).resize_(2).tolist() == wanted


@pytest.mark.parametrize(("call", "told"), [
    (lambda x: x.detach()[0].detach_(), "detach_: a view"), (lambda x: x.cuda(), "cuda: minigrad"),
    (lambda x: x.view(minigrad.int32), "view: bytes"),
    (lambda x: x.repeat(2), "repeat: a size for each of 2 axes expected"),
    (lambda x: x[None].t(), "t: at most 2 axes"), (lambda x: x.squeeze(5), "squeeze: dim 5"),
    (lambda x: x[:1].expand(2, 2).as_strided((2,), (1,)), r"as_strided: .*call \.contiguous"),
])  # fmt: skip
def test_what_a_method_refuses(call: Any, told: str) -> None:
    with pytest.raises((IndexError, NotImplementedError, RuntimeError), match=told):
        call(variable([1.0, 2.0], [3.0, 4.0]))


# Copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("requires_grad", [True, False])
def test_leaves_are_copied_and_pickled(twin: Any, requires_grad: bool) -> None:
    x = tensor(np.array([[1.0, 2.0]]), requires_grad=requires_grad)
    y = twin(x)
    assert type(y) is Tensor
    assert (y.tolist(), y.dtype, y.requires_grad) == (x.tolist(), x.dtype, requires_grad)
    assert y.is_leaf
    assert not np.shares_memory(x.numpy(), y.numpy())
    if requires_grad:
        (y * y).sum().backward()
        assert y.grad.tolist() == [[2.0, 4.0]]
        assert x.grad is None
        with minigrad.no_grad():
            y += 1.0
        assert x.tolist() == [[1.0, 2.0]]


def test_a_deepcopy_copies_the_gradient_and_keeps_identity_within() -> None:
    x = variable(1.0, 2.0)
    (x * x).sum().backward()
    pair = [x, x, {"again": x}]
    twins = copy.deepcopy(pair)
    assert twins[0] is twins[1] is twins[2]["again"]
    assert twins[0].grad.tolist() == [2.0, 4.0]
    twins[0].grad.data[...] = 0.0
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_shallow_copy_shares_the_memory_and_the_history() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    for source in (x, tensor([1, 2]), x.detach(), x * 3):
        twin = copy.copy(source)
        assert type(twin) is Tensor
        assert twin is not source
        assert twin.requires_grad == source.requires_grad
        assert twin.is_leaf == source.is_leaf
        assert np.shares_memory(twin, source)
    copy.copy(x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_deepcopy_of_a_view_owns_its_memory() -> None:
    base = tensor(np.arange(6.0).reshape(2, 3))
    for view in (base[0], base.T, base.detach(), ops.broadcast_to(base[0], (4, 3))):
        twin = copy.deepcopy(view)
        assert twin.tolist() == view.tolist()
        twin[...] = 9.0
        assert base.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_parameters_stay_parameters() -> None:
    p = nn.Parameter(np.array([1.0, 2.0], np.float32))
    for twin in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(twin) is nn.Parameter
        assert twin.requires_grad


def test_results_are_not_copied() -> None:
    y = variable(1.0) * 2
    for call in (copy.deepcopy, pickle.dumps):
        with pytest.raises(RuntimeError, match=r"multiply.*detach"):
            call(y)
    assert copy.deepcopy(y.detach()).item() == 2.0


# .data and .grad ------------------------------------------------------------------------------


def test_gradients_can_be_set_and_reset() -> None:
    x = variable(1.0, 2.0)
    x.grad = np.array([3.0, 4.0])
    assert isinstance(x.grad, Tensor)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [5.0, 6.0]
    x.grad = None
    assert x.grad is None
    x.grad = Tensor([1.0, 1.0])
    x.zero_grad()
    assert x.grad is None
    with pytest.raises(ValueError, match=r"grad: .*\(2,\).*\(3,\)"):
        x.grad = np.ones(3)


def test_data_can_be_replaced_on_leaves() -> None:
    x = variable(1.0, 2.0)
    x.data = np.array([3.0, 4.0, 5.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [6.0, 8.0, 10.0]
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2).data = np.ones(3)
