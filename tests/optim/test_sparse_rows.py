"""Gradients of few rows of a large table: how they are made, added up and used."""

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim
from minigrad.tensors.rows import SparseRows

IDS = np.array([[7, 3, 7], [1, 2, 3]])


def tables(**options: object) -> tuple[nn.Embedding, nn.Embedding]:
    """A table with sparse gradients, and the same one with dense ones."""
    sparse, dense = nn.Embedding(50, 4, sparse=True, **options), nn.Embedding(50, 4, **options)
    dense.load_state_dict(sparse.state_dict())
    return sparse, dense


def squares(table: nn.Embedding) -> minigrad.Tensor:
    return (table(IDS) ** 2).sum()


def after(loss: Any = lambda table: table(IDS).sum(), **options: object) -> Any:
    """Both tables after a backward pass."""
    both = tables(**options)
    for table in both:
        loss(table).backward()
    return both


def same(sparse: nn.Embedding, dense: nn.Embedding) -> None:
    a, b = np.asarray(sparse.weight.grad), np.asarray(dense.weight.grad)
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_it_has_the_rows_each_once_and_says_so() -> None:
    sparse, dense = after(squares)
    grad = sparse.weight.grad
    assert isinstance(grad, SparseRows)
    assert grad.indices.tolist() == [1, 2, 3, 7]
    assert (grad.values.shape, grad.shape, grad.ndim) == ((4, 4), (50, 4), 2)
    assert grad.dtype == np.float32
    assert repr(grad) == "SparseRows([1, 2, 3, 7] of 50, dtype=minigrad.float32)"
    assert isinstance(sparse.weight.grad, SparseRows)  # nothing so far has read the array
    same(sparse, dense)
    assert type(sparse.weight.grad) is minigrad.Tensor


@pytest.mark.parametrize("second", ["sparse", "dense", "part"])
@pytest.mark.parametrize("passes", [1, 2])
def test_contributions_are_added_up(second: str, passes: int) -> None:
    """In one pass and over several, sparse ones and dense ones, in both orders."""
    others = {
        "sparse": lambda table: (3 * table(IDS[:1])).sum(),
        "dense": lambda table: (table.weight**3).sum(),
        "part": lambda table: (table.weight[2:5] ** 3).sum(),
    }
    for first, then in itertools.permutations([squares, others[second]]):
        sparse, dense = tables()
        for table in (sparse, dense):
            losses = [first(table), then(table)]
            for loss in losses if passes == 2 else [losses[0] + losses[1]]:
                loss.backward()
        assert isinstance(sparse.weight.grad, SparseRows) == (second == "sparse")
        same(sparse, dense)


def test_a_row_of_padding_is_not_there() -> None:
    sparse, dense = after(lambda table: (table(IDS) + 1).sum(), padding_idx=-43)  # the row 7
    assert sparse.weight.grad.indices.tolist() == [1, 2, 3]
    same(sparse, dense)


def test_bags() -> None:
    bags = nn.EmbeddingBag(50, 4, sparse=True)
    bags(IDS).sum().backward()
    assert bags.weight.grad.indices.tolist() == [1, 2, 3, 7]


def test_no_row_at_all() -> None:
    sparse, dense = after(lambda table: table(np.zeros((0, 3), int)).sum())
    assert sparse.weight.grad.indices.size == 0
    optim.SparseAdam(sparse.parameters()).step()
    same(sparse, dense)


def test_a_table_that_an_op_made_has_a_dense_gradient() -> None:
    weight = minigrad.ones(50, 4, requires_grad=True)
    nn.functional.embedding(IDS, weight * 2, sparse=True).sum().backward()
    assert type(weight.grad) is minigrad.Tensor
    assert weight.grad.sum().item() == 48


def test_hooks_higher_orders_and_observers_see_tensors() -> None:
    sparse, dense = tables()
    seen = []
    handle = sparse.weight.register_hook(lambda g: seen.append(g) or 2 * g)
    sparse(IDS).sum().backward()
    handle.remove()
    assert seen[0].shape == (50, 4)
    assert sparse.weight.grad.sum().item() == 48

    for table in (sparse, dense):
        table.weight.grad = None
        (first,) = minigrad.autograd.grad(
            (table(IDS) ** 3).sum(), [table.weight], create_graph=True
        )
        (first**2).sum().backward()
    same(sparse, dense)

    sparse.weight.grad = None
    with minigrad.viz.Trace() as trace:
        sparse(IDS).sum().backward()
    assert type(sparse.weight.grad) is minigrad.Tensor
    assert trace.graph().to_text()


def test_gradients_that_are_returned() -> None:
    sparse, _ = tables()
    (grad,) = minigrad.autograd.grad(sparse(IDS).sum(), [sparse.weight])
    assert grad.indices.tolist() == [1, 2, 3, 7]
    assert (grad * 2).sum().item() == 48


def test_a_checkpoint_passes_them_on() -> None:
    same(*after(lambda table: minigrad.autograd.checkpoint(
        lambda x: table(IDS) * x, minigrad.ones(4)).sum()))  # fmt: skip


def test_copies_and_files() -> None:
    sparse, _ = after()
    twin = copy.deepcopy(sparse.weight.grad)
    assert twin.sum().item() == 24
    again = pickle.loads(pickle.dumps(sparse.weight.grad))
    assert type(again) is minigrad.Tensor or again.sum().item() == 24


def test_writing_to_it_makes_it_dense() -> None:
    sparse, _ = after()
    sparse.weight.grad[0] = 1.0
    assert type(sparse.weight.grad) is minigrad.Tensor
    assert sparse.weight.grad.sum().item() == 28
    sparse, _ = after()
    sparse.weight.zero_grad(set_to_none=False)
    assert np.asarray(sparse.weight.grad).sum() == 0


@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_clipping_keeps_the_rows(limit: float) -> None:
    sparse, dense = after(squares)
    norms = [nn.utils.clip_grad_norm(table.parameters(), limit) for table in (sparse, dense)]
    for table in (sparse, dense):
        nn.utils.clip_grad_value(table.parameters(), 0.1 * limit)
    assert norms[0] == pytest.approx(norms[1])
    assert isinstance(sparse.weight.grad, SparseRows)
    same(sparse, dense)


SAME = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "SGD with momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "SGD with weight decay": lambda p: optim.SGD(p, lr=0.1, weight_decay=0.1),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.1, initial_accumulator_value=0.1),
    "Adagrad with weight decay": lambda p: optim.Adagrad(p, lr=0.1, weight_decay=0.1),
    "AdamW": lambda p: optim.AdamW(p, lr=0.1),
}


@pytest.mark.parametrize("name", SAME)
def test_a_step_is_that_of_the_dense_gradient(name: str) -> None:
    sparse, dense = tables()
    optimizers = [SAME[name](table.parameters()) for table in (sparse, dense)]
    for step in range(4):
        for table, optimizer in zip((sparse, dense), optimizers, strict=True):
            optimizer.zero_grad()
            (table((IDS + step) % 50) ** 2).sum().backward()
            optimizer.step()
    np.testing.assert_allclose(sparse.weight.numpy(), dense.weight.numpy(), rtol=1e-6, atol=1e-6)
    kept = [optimizer.state_dict()["state"] for optimizer in optimizers]
    assert kept[0].keys() == kept[1].keys()
    for key, value in kept[1].get(0, {}).items():
        np.testing.assert_allclose(kept[0][0][key], value, rtol=1e-6)


def test_sparse_adam_leaves_other_rows_alone() -> None:
    sparse, _ = tables()
    optimizer = optim.SparseAdam(sparse.parameters(), lr=0.1)
    before = sparse.weight.numpy().copy()
    for ids in (IDS, IDS[:1], IDS[1:]):
        optimizer.zero_grad()
        (sparse(ids) ** 2).sum().backward()
        optimizer.step()
    moved = (sparse.weight.numpy() != before).any(axis=1)
    assert np.flatnonzero(moved).tolist() == [1, 2, 3, 7]
    saved = optimizer.state_dict()
    other = optim.SparseAdam(sparse.parameters(), lr=0.1)
    other.load_state_dict(saved)
    assert other.state_dict()["state"][0]["step"] == 3


def test_sparse_adam_refuses_a_dense_gradient_and_changes_nothing() -> None:
    """Nor those beside it."""
    sparse, dense = after()
    before = sparse.weight.numpy().copy()
    for given in ([dense.weight], [sparse.weight, dense.weight]):
        with pytest.raises(ValueError, match=r"shape \(50, 4\) is dense.*sparse=True"):
            optim.SparseAdam(given).step()
    for table in (sparse, dense):
        assert (table.weight.numpy() == before).all()


def test_a_captured_step_computes_with_dense_gradients() -> None:
    def stepper(table: nn.Embedding) -> Callable[[minigrad.Tensor], minigrad.Tensor]:
        optimizer = optim.SGD(table.parameters(), lr=0.1)

        def step(ids: minigrad.Tensor) -> minigrad.Tensor:
            optimizer.zero_grad()
            loss = (table(ids) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        return step

    sparse, dense = tables()
    captured, plain = minigrad.capture(stepper(sparse)), stepper(dense)
    for i in range(4):
        ids = minigrad.tensor((IDS + i) % 50)
        assert captured(ids).item() == pytest.approx(plain(ids).item())
    np.testing.assert_allclose(sparse.weight.numpy(), dense.weight.numpy(), rtol=1e-6)


def test_replaced_data_is_refused() -> None:
    sparse, _ = after()
    sparse.weight.data = np.ones((60, 4), np.float32)
    with pytest.raises(ValueError, match="grad has shape"):
        optim.SGD(sparse.parameters(), lr=0.1).step()
