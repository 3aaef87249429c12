"""In-place writes: the right gradient or a clear refusal, never a silently wrong number.

Programs that write are run beside PyTorch in tests/parity/test_inplace_torch.py, and random ones in
tests/properties/test_random_views.py.
"""

import copy
import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, distributed, nn, no_grad, ops, tensor
from minigrad.autograd import grad, mutation
from minigrad.autograd.lending import lent
from minigrad.autograd.mutation import mark_written
from minigrad.autograd.views import Place, owner
from minigrad.optim import SGD


def variable(*values: float) -> Tensor:
    return tensor(np.array(values, float), requires_grad=True)


# The caller's own arrays ----------------------------------------------------------------------

CONSTANTS: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "x * c": lambda x, c: x * c,
    "c * x": lambda x, c: c * x,
    "x / c": lambda x, c: x / c,
    "c / x": lambda x, c: c / x,
    "x ** c": lambda x, c: x**c,
    "c ** x": lambda x, c: c**x,
    "maximum": lambda x, c: ops.maximum(x, c),
    "where": lambda x, c: ops.where(c > 1.5, x, 2 * x),
    "where, condition": lambda x, c: ops.where(c, x, 2 * x),
    "clip": lambda x, c: ops.clip(x, c - 1, c) if isinstance(c, Tensor) else ops.clip(x, None, c),
    "matmul": lambda x, c: x @ c,
    "matmul, left": lambda x, c: c @ x,
    "einsum": lambda x, c: ops.einsum("i,i->", x, c),
    "linear, weight": lambda x, c: ops.linear(x, c[None] if isinstance(c, Tensor) else [c]),
    "stack": lambda x, c: ops.stack([x, c]) * ops.stack([c, x]),
    "attention, keys": lambda x, c: ops.attention(x[None], c[:, None] * np.ones(3), np.eye(3)),
    "layer_norm, weight": lambda x, c: ops.layer_norm(x, c),
    "masked_fill": lambda x, c: ops.masked_fill(x, np.asarray(c) > 1.5, 0.0),
    "x * c - c": lambda x, c: (x - c) * (x - c),
}


@pytest.mark.parametrize("as_tensor", [False, True])
@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_mutated_between_forward_and_backward(name: str, as_tensor: bool) -> None:
    """An ndarray is the caller's: it stays writable, and the gradient stays right.

    A tensor's write is seen: the gradient is right, or refused.
    """
    call = CONSTANTS[name]
    values = np.array([1.0, 2.0, 3.0])
    x = variable(0.5, 1.5, 2.5)
    wanted = grad(call(x, tensor(values) if as_tensor else values).sum(), x)[0].tolist()
    c: Any = tensor(values) if as_tensor else values
    out = call(x, c).sum()
    c[...] = -7.0
    assert np.asarray(c).tolist() == [-7.0] * 3
    try:
        out.backward()
    except RuntimeError as error:
        assert as_tensor, "an ndarray must have been copied"
        assert "written in place" in str(error)
    else:
        assert x.grad.tolist() == wanted


def test_lists_and_index_arrays_mutated_between_forward_and_backward() -> None:
    x = tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    index, mask = np.array([0, 0]), np.array([True, False, True])
    target, labels = np.array([2, 0]), [2, 0]
    weight, keep, ids = np.array([1.0, 2.0, 3.0]), np.tri(2, dtype=bool), np.array([1, 1])

    def losses() -> list[Tensor]:
        return [
            x[index].sum(), x[:, mask].sum(), x[index, [1, 1]].sum(), ops.embedding(ids, x).sum(),
            ops.cross_entropy(x, target), ops.cross_entropy(x, labels),
            ops.cross_entropy(x, target, weight), (ops.attention(x, x, x, keep=keep) * x).sum(),
        ]  # fmt: skip

    wanted = [grad(loss, x)[0].tolist() for loss in losses()]
    made = losses()
    index[...], mask[...], target[...], ids[...] = 1, False, 1, 0
    labels[:], weight[...], keep[...] = [0, 0], 100.0, True
    assert [grad(loss, x)[0].tolist() for loss in made] == wanted


def test_constructing_and_plain_functions_of_arrays_copy() -> None:
    for make in (Tensor, minigrad.tensor):
        values = np.array([1.0, 2.0])
        x = make(values, requires_grad=True)
        y = (x * x).sum()
        values[...] = 9.0
        assert x.tolist() == [1.0, 2.0]
        y.backward()
        assert x.grad.tolist() == [2.0, 4.0]
    other = tensor(x)
    other[0] = 5.0
    assert x.tolist() == [1.0, 2.0]
    values = np.arange(4.0)
    for result in (
        ops.reshape(values, (2, 2)), ops.getitem(values, slice(1, None)), ops.clone(values),
        ops.transpose(values), ops.expand_dims(values, 0), ops.split(values, 2)[0],
        ops.astype(values, np.float64), ops.add(values, 0), ops.squeeze(values),
        ops.swapaxes(values[None], 0, 1),
    ):  # fmt: skip
        assert not np.shares_memory(result.numpy(), values)


# Leaves ---------------------------------------------------------------------------------------

WRITES: dict[str, Callable[[Tensor], Any]] = {
    "x[0] = v": lambda x: x.__setitem__(0, 5.0),
    "x[...] = v": lambda x: x.__setitem__(..., 5.0),
    "x[mask] = v": lambda x: x.__setitem__(x > 0, 5.0),
    "x += y": lambda x: x.__iadd__(1.0),
    "x -= y": lambda x: x.__isub__(1.0),
    "x *= y": lambda x: x.__imul__(2.0),
    "x /= y": lambda x: x.__itruediv__(2.0),
    "add_": lambda x: x.add_(1.0),
    "exp_": lambda x: x.exp_(),
    "neg_": lambda x: x.neg_(),
    "clip_": lambda x: x.clip_(0.0, 1.0),
    "a view": lambda x: x[1:].__setitem__(0, 5.0),
    "a transposed view": lambda x: x.T.__iadd__(1.0),
    "a reshaped view": lambda x: x.reshape(3, 1).__imul__(2.0),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_leaf_that_requires_grad_is_not_written(name: str) -> None:
    x = variable(1.0, 2.0, 3.0)
    with pytest.raises(RuntimeError, match=r"no_grad|\.clone\(\)"):
        WRITES[name](x)
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert x.is_leaf
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("needs_the_value", [True, False])
def test_writing_between_forward_and_backward(name: str, needs_the_value: bool) -> None:
    x = variable(1.0, 2.0, 3.0)
    y = (x * x).sum() if needs_the_value else (x + x).sum()
    with no_grad():
        WRITES[name](x)
    if needs_the_value:
        with pytest.raises(RuntimeError, match=r"multiply: its input [ab] was written in place"):
            y.backward()
        assert x.grad is None
    else:
        y.backward()
        assert x.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("name", WRITES)
def test_saved_outputs_are_watched_too(name: str) -> None:
    x = variable(0.1, 0.2, 0.3)
    e = x.exp()
    y = e.sum()
    with no_grad():
        WRITES[name](e)
    with pytest.raises(RuntimeError, match="exp: its output was written in place"):
        y.backward()


def squares(x: Tensor) -> Tensor:
    return (x * x).sum()


def step_of_an_optimizer(x: Tensor) -> None:
    x.grad = Tensor([1.0, 2.0]).astype(float)
    SGD([x], lr=0.1).step()


def announced_write(x: Tensor) -> None:
    x.data[0] = 9.0
    mark_written(x.numpy()[:1])  # a view of it says as much


FACTOR = tensor(np.array(3.0), requires_grad=True)


def factor_times(view: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    return lambda x: (view(x) * FACTOR).sum()


SEEN: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Any]]] = {
    "the step of an optimizer": (squares, step_of_an_optimizer),
    "to the live array, announced": (squares, announced_write),
    "to a detached tensor": (squares, lambda x: x.detach().add_(1.0)),
    "to a part": (lambda x: squares(x[::2]), lambda x: x.data.__setitem__((Ellipsis, 0), 9.0)),
    "to many parts": (squares, lambda x: [x.data.__setitem__(1, i) for i in range(99)]),
    "to what the graph has detached": (lambda x: (x * x.detach()).sum(), lambda x: x.add_(1.0)),
    "to the memory of a tied weight": (lambda x: squares(x.reshape(1, 2)), lambda x: x.mul_(2.0)),
    "to what was broadcast": (
        factor_times(lambda x: ops.broadcast_to(x, (3, 2))), lambda x: x.add_(1.0)),
    "to what was broadcast, transposed, cut": (
        factor_times(lambda x: ops.broadcast_to(x, (3, 2)).T[1:]), lambda x: x.add_(1.0)),
    "to what was reshaped, transposed, cut": (
        factor_times(lambda x: x.reshape(1, 2).T[::-1]), lambda x: x.add_(1.0)),
    "to what was detached, broadcast": (
        factor_times(lambda x: ops.broadcast_to(x.detach(), (3, 2))), lambda x: x.add_(1.0)),
}  # fmt: skip


@pytest.mark.parametrize(("loss", "change"), SEEN.values(), ids=SEEN)
def test_a_write_to_memory_that_was_saved_is_seen(loss: Any, change: Any) -> None:
    x = variable(1.0, 2.0)
    y = loss(x)
    with no_grad():
        change(x)
    with pytest.raises(RuntimeError, match="multiply: its input . was written in place"):
        y.backward()
    assert FACTOR.grad is None


@pytest.mark.parametrize("written", [1, slice(1, None, 2), (..., -1), slice(0, 0)])
def test_a_write_beside_what_was_saved_changes_nothing(written: Any) -> None:
    x = variable(1.0, 2.0, 3.0, 4.0)
    y = squares(x[:3:2])
    x.data[written] = 9.0
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 0.0, 6.0, 0.0]


def test_places_meet_where_arrays_share_memory() -> None:
    base = np.zeros((4, 6))
    pieces = [base, base.T, base[1], base[:, 1], base[:, ::2], base[:, 1::2], base[::-1, 3:4]]
    pieces += [base[2:, :2], base[1:1], base[3, 5, ...], base.ravel()[::-7], base[:2, -1:]]
    for one, other in itertools.product(pieces, repeat=2):
        shared = np.shares_memory(one, other)
        assert Place.of_array(one).meets(Place.of_array(other)) == shared


def test_an_update_under_no_grad_between_two_backward_passes() -> None:
    w, x = variable(1.0, 2.0), tensor(np.array([3.0, 4.0]))
    first, second, needs_it_not = (w * x).sum(), (w * w).sum(), (w * x).sum()
    first.backward()
    with no_grad():
        w -= 0.1 * w.grad
    assert isinstance(w, Tensor)
    assert w.is_leaf
    with pytest.raises(RuntimeError, match="written in place"):
        second.backward()
    w.zero_grad()
    needs_it_not.backward()  # graphs that have not saved the memory are not refused
    assert w.grad.tolist() == [3.0, 4.0]
    w.zero_grad()
    (w * w).sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 2 * w.numpy())


# Interior tensors -----------------------------------------------------------------------------


def write(y: Tensor, index: Any, value: Any) -> Any:
    y[index] = value
    return y


def added(y: Tensor, value: Any) -> Tensor:
    y += value
    return y


def test_a_refused_write_changes_nothing() -> None:
    x = variable(1.0, 2.0, 3.0)
    for y in (x, x[1:], x[::-1][:2], ops.broadcast_to(x[0].detach(), (3,)), x[1]):
        before, node = y.numpy().copy(), y._node
        attempts = (lambda y: write(y, ..., x[1]), lambda y: added(y, 1.0), lambda y: y.exp_())
        for attempt in attempts:
            with pytest.raises(RuntimeError, match="clone"):
                attempt(y)
            np.testing.assert_array_equal(y.numpy(), before)
            assert y._node is node
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_a_failed_write_changes_nothing() -> None:
    x = variable(1.0, 2.0, 3.0)
    for y in (Tensor([1.0, 2.0, 3.0]), x * 1):
        before, node, memory = y.numpy().copy(), y._node, id(y._data)
        for kind, function, *given in (
            (IndexError, write, 7, 1.0), (IndexError, write, [0, 9], 1.0),
            (IndexError, write, 0.5, 1.0), (ValueError, write, slice(None), [1.0, 2.0]),
            (ValueError, write, slice(None), variable(1.0, 2.0)),
            (ValueError, added, np.ones((2, 3))), (ValueError, added, np.ones(2)),
            (TypeError, write, 0, "text"), (TypeError, added, "text"),
        ):  # fmt: skip
            with pytest.raises(kind):
                function(y, *given)
            np.testing.assert_array_equal(y.numpy(), before)
            assert y._node is node
            assert id(y._data) == memory
    whole = tensor([1, 2, 3])
    for bad in (lambda: added(whole, 1.5), lambda: whole.mul_(0.5), lambda: write(whole, 0, x[0])):
        with pytest.raises(TypeError):
            bad()
        assert whole.tolist() == [1, 2, 3]


def test_arrays_that_are_handed_out_share_memory() -> None:
    """They can be written to, unless a gradient is required."""
    x = variable(1.0, 2.0)
    for t in (x, x * 2):
        assert not t.numpy().flags.writeable
        for array in (t.detach().numpy(), np.asarray(t.detach())):
            array[0] = 7.0
            assert t.tolist()[0] == 7.0
        copy = np.array(t.detach())
        copy[0] = 5.0
        assert t.tolist()[0] == 7.0
    broadcast = minigrad.broadcast_to(tensor(1.0), (3,)).numpy()
    assert not broadcast.flags.writeable


def lent_late(x: Tensor) -> np.ndarray:
    return x.numpy()[1:]


def test_named_tuples_are_saved_as_such_while_memory_is_lent() -> None:
    x, other = variable(1.0, 2.0), tensor([1.0])
    array = other.numpy()
    assert id(owner(other._data)) in lent, array
    distributed.all_reduce(x * 3).sum().backward()
    np.testing.assert_array_equal(x.grad, [3.0, 3.0])


@pytest.mark.parametrize("look", [Tensor.numpy, np.asarray, lent_late, lambda x: x[1:].numpy()])
@pytest.mark.parametrize("made", [tensor, minigrad.from_numpy])
def test_what_numpy_writes_is_noticed(look: Callable[[Any], Any], made: Any) -> None:
    """Values that were saved before are refused; values that are saved while it may write, held."""
    w, numbers = variable(1.0, 1.0), np.array([3.0, 4.0])
    x = made(numbers)
    product = (w * x).sum()
    look(x)[...] = 9.0
    if made is tensor:
        with pytest.raises(RuntimeError, match="written in place"):
            product.backward()
    x = made(np.array([3.0, 4.0]))
    array = look(x)
    product = (w * x).sum()
    array[...] = 9.0
    product.backward()
    assert w.grad.tolist() == [3.0, 4.0]
    assert x.tolist()[1] == 9.0
    array, x = None, made(np.array([3.0, 4.0]))
    product = (w * x).sum()
    look(x)  # only read
    product.backward()


def test_memory_is_lent_for_as_long_as_an_array_lives() -> None:
    x = tensor([1.0, 2.0])
    first, second = x.numpy(), x.numpy()[1:]
    del first
    assert id(owner(x._data)) in lent
    del second
    assert id(owner(x._data)) not in lent
    numbers = np.zeros(3)
    x = minigrad.from_numpy(numbers[1:])
    key = id(numbers)
    assert key in lent
    del x, numbers
    assert key not in lent


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x * 1, lambda x: (x * 1)[:]])
def test_a_detached_tensor_is_written_like_any_other(make: Callable[[Any], Any]) -> None:
    """The memory is shared, the history is not."""
    t = make(variable(1.0, 2.0))
    node, array = t._node, t.numpy()
    detached = t.detach()
    write(detached, 0, 5.0)
    added(detached[1], 1.0)
    detached.detach().mul_(2.0)
    assert t.tolist() == detached.tolist() == array.tolist() == [10.0, 6.0]
    assert t._node is node
    assert not detached.requires_grad
    with no_grad():
        t[0] = 9.0
    assert detached.tolist() == array.tolist() == [9.0, 6.0]


def test_a_recorded_write_to_a_detached_tensor_is_in_its_history_alone() -> None:
    x, w = variable(1.0, 2.0), variable(3.0, 4.0)
    h = x * 1
    detached = h.detach()
    detached *= w
    assert h.tolist() == detached.tolist() == [3.0, 8.0]
    (h.sum() + detached.sum()).backward()
    assert [t.grad.tolist() for t in (x, w)] == [[1.0, 1.0], [1.0, 2.0]]


def test_a_leaf_of_memory_that_cannot_be_written_gets_its_own() -> None:
    source = Tensor([1.0])
    for wide in (source.broadcast_to(3), source.broadcast_to(3).detach(), source.expand(3)):
        leaf = wide.requires_grad_()
        with no_grad():
            leaf += 1.0
        assert leaf.tolist() == [2.0, 2.0, 2.0]
    frozen = np.ones(2)
    frozen.flags.writeable = False
    leaf = variable(1.0, 2.0)
    leaf.data = frozen
    leaf.grad = Tensor([3.0]).broadcast_to(2)
    SGD([leaf], lr=1.0).step()
    nn.utils.clip_grad_value([leaf], 1.0)
    assert leaf.tolist() == [-2.0, -2.0]
    assert leaf.grad.tolist() == [1.0, 1.0]
    assert source.tolist() == [1.0]


def test_a_write_to_a_shallow_copy_is_a_write_to_its_original() -> None:
    x, constant = variable(1.0, 2.0), tensor(np.zeros(2))
    twin = copy.copy(constant)
    twin[0] = x[1]
    assert constant.tolist() == [2.0, 0.0]
    (constant * twin).sum().backward()
    assert x.grad.tolist() == [0.0, 4.0]
    apart = copy.deepcopy(Tensor([1.0, 2.0])[1:])
    apart[0] = 7.0 * x[0]
    assert apart.tolist() == [7.0]


def test_writes_through_views_leave_nothing_behind() -> None:
    """Without the garbage collector too: graph, memory and the notes of writes go."""
    x = variable(1.0, 2.0, 3.0)
    gc.disable()
    try:
        h = x * 2.0
        view = h[1:]
        view *= x[:2]
        h += 1.0
        (view.sum() + h.sum()).backward()
        gone = [weakref.ref(t) for t in (h, view, h._node, view._node)]
        assert mutation.rewritten
        del h, view
        assert [reference() for reference in gone] == [None] * 4
        assert not mutation.rewritten
    finally:
        gc.enable()


def test_views_of_a_number_and_of_nothing() -> None:
    x = variable(3.0)
    number = x[0] * 2.0
    view = number.reshape(1, 1)
    view += x
    view[view < 0] = 100.0
    assert number.item() == 9.0
    assert view.tolist() == [[9.0]]
    (number * view).sum().backward()
    assert x.grad.tolist() == [2 * 9.0 * 3.0]
    view[0] = x * 5.0
    assert number.item() == 15.0
    empty = (x * 2.0)[1:]
    none = empty.reshape(0, 2)
    none += x
    assert (none.sum() + empty.sum()).item() == 0.0


def test_a_recorded_write_gives_history_to_a_constant_and_casts() -> None:
    x = variable(1.0, 2.0)
    buffer = minigrad.zeros(4)
    buffer[1:3] = x * x
    buffer[0] = 3.0
    assert buffer.requires_grad
    assert not buffer.is_leaf
    assert buffer.dtype == np.float32
    (buffer * buffer).sum().backward()
    assert x.grad.dtype == np.float64
    assert x.grad.tolist() == [4.0, 32.0]


def test_a_list_given_as_an_argument_may_change() -> None:
    x = tensor(np.arange(24.0).reshape(2, 3, 4), requires_grad=True)
    for op, given in (
        (lambda x, axes: x.permute(axes), [2, 0, 1]),
        (lambda x, axes: ops.moveaxis(x, axes, [1, 2]), [0, 1]),
        (lambda x, axes: ops.roll(x, [1, 2], axes), [0, 2]),
        (lambda x, rows: x[rows], [1, 1, 0]),
    ):
        y = op(x, given)
        weights = np.arange(float(y.numel())).reshape(y.shape)
        expected = grad((op(x, list(given)) * weights).sum(), x)[0].numpy()
        given.reverse()
        np.testing.assert_array_equal(grad((y * weights).sum(), x)[0].numpy(), expected)
