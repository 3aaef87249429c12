"""Small parameters are joined, large ones cut: nothing but the time may tell."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from optimizer_kinds import arrays_of, assert_same, kinds, leaf

import minigrad
from minigrad import Tensor, nn, optim, tensor
from minigrad.autograd import views
from minigrad.optim import blocks

BLOCK, SMALL = 16, 8
SHAPES = [(), (3,), (0,), (2, 3), (7,), (5,), (2, 4), (4, 4), (17,), (5, 7), (48,)]


@pytest.fixture
def tiny_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a size that parameters of a test have less of, as much, and more."""
    monkeypatch.setattr(blocks, "BLOCK", BLOCK)
    monkeypatch.setattr(blocks, "SMALL", SMALL)


def parameters(dtype: Any = np.float64) -> list[Tensor]:
    rng = np.random.default_rng(0)
    return [leaf(rng.standard_normal(shape), dtype) for shape in SHAPES]


def give_gradients(params: list[Tensor], step: int) -> None:
    """Gradients for one step; now and then a parameter has none."""
    for i, param in enumerate(params):
        gradient = np.random.default_rng([step, i]).standard_normal(param.shape)
        param.grad = None if (step + i) % 5 == 0 else tensor(gradient, dtype=param.dtype)


def give_ones(params: list[Tensor]) -> None:
    for param in params:
        param.grad = minigrad.ones_like(param)


def run(params: list[Tensor], optimizers: list[optim.Optimizer], steps: range) -> None:
    for step in steps:
        give_gradients(params, step)
        for optimizer in optimizers:
            optimizer.step()


def assert_equal(ours: list[Tensor], others: list[Tensor]) -> None:
    for a, b in zip(ours, others, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@kinds
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_if_each_were_alone(make: Any, dtype: Any, request: pytest.FixtureRequest) -> None:
    alone, together = parameters(dtype), parameters(dtype)
    single = [make([param]) for param in alone]
    run(alone, single, range(12))  # each is one block
    request.getfixturevalue("tiny_blocks")
    optimizer = make(together)
    run(together, [optimizer], range(12))
    assert_equal(together, alone)
    for other, a, b in zip(single, alone, together, strict=True):
        assert_same(optimizer.state.get(b, {}), other.state.get(a, {}))
    assert all(array.dtype == dtype for array in arrays_of(optimizer))


@kinds
@pytest.mark.usefixtures("tiny_blocks")
def test_what_is_kept_belongs_to_one_parameter(make: Any) -> None:
    params = parameters()
    optimizer = make(params)
    for _ in range(3):
        give_ones(params)
        optimizer.step()
    arrays = [*arrays_of(optimizer), *(param.numpy() for param in params)]
    for i, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[:i])
    held = sum(array.nbytes for array in arrays)
    owners = {id(owner): owner.nbytes for owner in map(views.owner, arrays)}
    assert sum(owners.values()) == held, "arrays keep more memory alive than their own"


@kinds
@pytest.mark.usefixtures("tiny_blocks")
def test_saved_copied_and_changed_in_the_middle(make: Any) -> None:
    """Going on from a state, in a copy, and with values that were put in other arrays."""
    params = parameters()
    optimizer = make(params)
    run(params, [optimizer], range(4))
    twins, twin = copy.deepcopy((params, optimizer))
    others = parameters()
    other = make(others)
    run(others, [other], range(1))  # a state of its own, to be replaced
    other.load_state_dict(pickle.loads(pickle.dumps(optimizer.state_dict())))
    for param, values in zip(others, params, strict=True):
        param.data[...] = values.numpy()
    for param in params:
        param.data = param.numpy().copy()
    for state in optimizer.state.values():
        state.update(copy.deepcopy(state))
    for some, one in ((params, optimizer), (twins, twin), (others, other)):
        run(some, [one], range(4, 8))
        assert_equal(some, params)
    assert_same(other.state_dict(), optimizer.state_dict())


@kinds
@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("shape", [(2, 3), (5, 7)])
def test_other_layouts_of_memory(make: Any, shape: tuple[int, int]) -> None:
    """Values, gradients, and saved arrays in Fortran's order; gradients with strides of 0."""
    values = np.random.default_rng(0).standard_normal(shape)
    plain, other = leaf(values), leaf(values)
    other.data = np.asfortranarray(values)
    pair = [leaf([1.0]), leaf([1.0])]  # something to be joined with
    makes = [make([plain, pair[0]]), make([other, pair[1]])]
    for step in range(6):
        column = np.random.default_rng(step).standard_normal((shape[0], 1))
        gradient = np.broadcast_to(column, shape)
        for x, y in zip((plain, other), pair, strict=True):
            x.grad, y.grad = tensor(gradient), Tensor([0.5])
        other.grad.data = np.asfortranarray(gradient) if step % 2 else gradient
        for optimizer in makes:
            optimizer.step()
        if step == 2:
            saved = makes[1].state_dict()
            for state in saved["state"].values():
                for name, value in state.items():
                    state[name] = np.asfortranarray(value) if np.ndim(value) == 2 else value
            makes[1].load_state_dict(saved)
        np.testing.assert_array_equal(other.numpy(), plain.numpy())


def sizes_of_updates(optimizer: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list to which each update adds how many elements it has."""
    sizes: list[int] = []
    update = optimizer._update

    def counted(data: np.ndarray, *rest: Any, **named: Any) -> None:
        sizes.append(data.size)
        update(data, *rest, **named)

    monkeypatch.setattr(optimizer, "_update", counted)
    return sizes


def test_one_update_for_many_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transformer's small parameters take one call, those that did not move another."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2)
    params = list(model.parameters())
    optimizer = optim.AdamW(params)
    sizes = sizes_of_updates(optimizer, monkeypatch)
    for step in range(3):
        give_ones(params)
        if step == 1:
            params[0].grad = params[1].grad = None
        optimizer.step()
    total = sum(param.numel() for param in params)
    still = params[0].numel() + params[1].numel()
    assert sizes == [total, total - still, still, total - still]
    steps = [state["step"] for state in optimizer.state.values()]
    assert steps == [2, 2] + [3] * (len(params) - 2)


def test_a_large_parameter_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    x = leaf(np.ones(2 * blocks.BLOCK + 3), np.float32)
    optimizer = optim.Adam([x])
    give_ones([x])
    sizes = sizes_of_updates(optimizer, monkeypatch)
    optimizer.step()
    assert sizes == [blocks.BLOCK, blocks.BLOCK, 3]
    assert optimizer.state[x]["step"] == 1
    assert optimizer.state[x]["exp_avg"].shape == x.shape


@pytest.mark.usefixtures("tiny_blocks")
def test_an_option_that_needs_more_state_later() -> None:
    for n in (3, 40):
        xs = [leaf(np.ones(n)), leaf(np.ones(n))]
        optimizer = optim.Adam(xs, lr=0.1)
        for step in range(4):
            optimizer.param_groups[0]["amsgrad"] = step >= 2
            for x in xs:
                x.grad = tensor(np.full(n, 1.0 + step))
            optimizer.step()
        for x in xs:
            state = optimizer.state[x]
            np.testing.assert_array_equal(state["max_exp_avg_sq"], state["exp_avg_sq"])


@pytest.mark.usefixtures("tiny_blocks")
def test_dtypes_are_not_mixed() -> None:
    params = [leaf(np.ones(3), dtype) for dtype in (np.float32, np.float64, np.float16)]
    optimizer = optim.AdamW(params, lr=0.1)
    give_ones(params)
    optimizer.step()
    for param in params:
        assert optimizer.state[param]["exp_avg"].dtype == param.dtype
        expected = 0.999 - 0.1 / (1 + 1e-8)
        np.testing.assert_allclose(param.numpy(), expected, rtol=4 * np.finfo(param.dtype).eps)


@pytest.mark.usefixtures("tiny_blocks")
def test_a_rule_of_ones_own_sees_whole_parameters() -> None:
    """Which needs the norm of the whole."""

    class Normed(optim.Optimizer):
        def _update(self, data: np.ndarray, grad: np.ndarray, state: Any, group: Any) -> None:
            data -= group["lr"] * grad / np.linalg.norm(grad)

    params = [leaf(np.zeros((2, 2))), leaf(np.zeros(2)), leaf(np.zeros((5, 5)))]
    give_ones(params)
    Normed(params, {"lr": 1.0}).step()
    for param in params:
        assert np.linalg.norm(param.numpy()) == pytest.approx(1.0)


@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("shape", [(2, 3), (5, 7)])
def test_parameters_that_share_their_values(shape: tuple[int, int]) -> None:
    """Tied by their data: both gradients count, whether the arrays are one or overlap."""
    for overlap in (lambda a: a, lambda a: a[:]):
        a, b, c = leaf(np.zeros(shape)), leaf(np.zeros(shape)), leaf(np.zeros(3))
        b.data = overlap(a._data)
        for param, slope in ((a, 1.0), (b, 2.0), (c, 1.0)):
            param.grad = tensor(np.full(param.shape, slope))
        optim.SGD([a, b, c], lr=1.0).step()
        np.testing.assert_array_equal([a.numpy(), b.numpy()], -3.0)


@kinds
@pytest.mark.usefixtures("tiny_blocks")
@pytest.mark.parametrize("shapes", [((2, 3), (3, 2)), ((5, 7), (7, 5))])
def test_data_of_another_shape(make: Any, shapes: Any) -> None:
    """As many elements, in another shape: it could be read flat, and would be wrong."""
    before, after = shapes
    params = [leaf(np.ones(before)), leaf(np.ones(before))]
    optimizer = make(params)
    give_ones(params)
    optimizer.step()
    params[0].data = np.ones(after)
    with pytest.raises(ValueError, match=r"has shape .*, its parameter .*; after replacing"):
        optimizer.step()
    give_ones(params[:1])
    if optimizer.state[params[0]]:
        with pytest.raises(ValueError, match="new gradient.*new optimizer"):
            optimizer.step()
    assert (params[0].numpy() == 1.0).all()
