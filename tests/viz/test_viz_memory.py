"""The bytes that a page says are kept: those that `graph_memory` counts for the same run."""

from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path

import gallery
import numpy as np
import pytest
from custom_functions import Cube
from reading import data_of, explored, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import checkpoint, grad, graph_memory
from minigrad.debugging.memory import readable
from minigrad.nn import functional as F

X = minigrad.tensor(np.random.default_rng(0).standard_normal((4, 6, 16)), dtype="float32")
Y = np.arange(4)
ENCODER = nn.TransformerEncoderLayer(16, 2, 32)
NET = nn.Sequential(nn.Flatten(), nn.Linear(96, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 5))
LSTM = nn.LSTM(16, 8, batch_first=True)
CONVOLUTION = nn.Sequential(nn.Conv1d(6, 4, 3), nn.BatchNorm1d(4), nn.GELU(), nn.MaxPool1d(2))


LEAVES = [X.detach().clone().requires_grad_() for _ in range(3)]
ATTENTION = nn.MultiHeadAttention(16, 4)


def leaf(number: int = 0) -> Tensor:
    """A leaf that lives on, as a parameter does: its memory is not the graph's."""
    return LEAVES[number]


def with_ops_that_lead_to_no_loss() -> Tensor:
    logits = NET(X)
    with minigrad.no_grad():
        F.softmax(NET(X).exp())
    F.softmax(logits).log().sum(-1)  # it is recorded, and let go of
    return F.cross_entropy(logits, Y)


def written_in_place() -> Tensor:
    x = leaf()
    y = x * 2.0
    y[0] = x[1].exp()
    y += x.sin()
    return (y * y).sum()


PROGRAMS: dict[str, Callable[[], Tensor]] = {
    "a net": lambda: F.cross_entropy(NET(X), Y),
    "with ops that lead to no loss": with_ops_that_lead_to_no_loss,
    "an encoder layer": lambda: ENCODER(X).square().sum(),
    "attention": lambda: ATTENTION(X, X, X).sum(),
    "causal attention of leaves": lambda: F.scaled_dot_product_attention(
        leaf(), leaf(1), leaf(2), is_causal=True
    ).sum(),
    "a checkpoint": lambda: checkpoint(ENCODER, X).sum(),
    "a net after a checkpoint": lambda: F.cross_entropy(NET(checkpoint(ENCODER, X)), Y),
    "checkpoints in a checkpoint": lambda: checkpoint(
        lambda x: checkpoint(ENCODER, x).exp() * x, leaf()
    ).sum(),
    "a custom function": lambda: Cube.apply(leaf() * 2.0).sum(),
    "an lstm": lambda: LSTM(X)[0].sum(),
    "a convolution": lambda: CONVOLUTION(X).sum(),
    "views": lambda: (leaf().mT[0] * leaf()[1, :2].sum()).sum(),
    "writes in place": written_in_place,
    "norms": lambda: F.layer_norm(F.normalize(leaf()), (16,)).std(),
    "several outputs": lambda: sum(
        part.sum() for part in minigrad.linalg.svd(leaf(), full_matrices=False)
    ),
    "float16": lambda: F.gelu(leaf().astype("float16")).sum(),
    "a scalar": lambda: minigrad.tensor(2.0, requires_grad=True).exp() ** 3,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bytes_are_those_of_graph_memory(name: str) -> None:
    minigrad.random.seed(0)
    expected = graph_memory(PROGRAMS[name]()).nbytes
    minigrad.random.seed(0)
    opened = viz.trace(open=["attention"])
    graph = watched(lambda: PROGRAMS[name]().backward(), opened)
    assert graph.kept()[""] == expected
    if name == "a net":
        assert f"{readable(expected)} kept for it<" in graph.to_html()


def opened_attention(folder: Path) -> str:
    """The program of README."""
    attention, x = nn.MultiHeadAttention(8, 2), minigrad.randn(1, 3, 8, requires_grad=True)
    page = viz.explore(attention, x, x, x, path=folder / "README.html", open=["attention"])
    return page.path.read_text("utf-8")


def written(name: str, folder: Path) -> str:
    """A page of the gallery, or that of README."""
    if name == "README":
        return opened_attention(folder)
    gallery.run(name, folder)
    return (folder / f"{name}.html").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README", *sorted({*gallery.names()} - {*gallery.RANKS})])
def test_the_head_of_a_page_its_steps_and_its_boxes_count_one_list(
    name: str, tmp_path: Path
) -> None:
    page = written(name, tmp_path)
    data = data_of(page)
    saved = [one["kept"] for node in data["nodes"] for one in node.get("saved", ())]
    saved += [group["kept"] for group in data["groups"]]
    passes = [sum(sizes) for sizes in zip_longest(*saved, fillvalue=0)]
    assert f"{readable(max(passes))} kept for it<" in page
    if len(passes) == 1:
        assert sum(node["keeps"] for node in data["nodes"]) + sum(
            sum(group["kept"]) for group in data["groups"]
        ) == sum(passes)


def test_of_several_passes_it_is_the_largest() -> None:
    x, w, sizes = leaf(), leaf(1), list[int]()
    with viz.trace() as traced:
        for loss in ((x * w).exp().sum(), (x * w).sin().exp().sum(), (x * x).sum()):
            sizes.append(graph_memory(loss).nbytes)
            loss.backward(retain_graph=True)
            loss.backward()
    assert len({*sizes}) == 3
    assert traced.graph().kept()[""] == max(sizes)


def test_of_a_pass_through_a_gradient_it_is_what_both_keep() -> None:
    x = leaf()
    with viz.trace() as traced:
        (slope,) = grad(x.tanh().exp().sum(), [x], create_graph=True)
        penalty = slope.square().sum()
        size = graph_memory(penalty).nbytes
        penalty.backward()
    assert traced.graph().kept()[""] == size


def test_of_some_inputs_and_of_several_roots() -> None:
    x, w = leaf(), leaf(1)
    with viz.trace() as traced:
        y = (x * 2.0).exp()
        losses = (y * w).sin().sum(), (w * 3.0).cos().exp().sum(), y.sum()
        size = graph_memory(*losses).nbytes
        grad(losses, [w])
    assert traced.graph().kept()[""] == size


def test_without_a_pass_it_is_what_the_outputs_keep() -> None:
    x = leaf()
    with viz.trace() as traced:
        y = x.exp()
        y.sin().cos()
        loss = (y * 2.0).sum()
    assert traced.graph(loss).kept()[""] == graph_memory(loss).nbytes
    assert viz.graph(loss).kept()[""] == graph_memory(loss).nbytes


def test_an_opened_op_keeps_what_it_keeps_as_one() -> None:
    """The scores are worked out again in blocks: no op of its own keeps them."""
    q, k, v = (minigrad.randn(1, 1, 1024, 4, requires_grad=True) for _ in range(3))
    loss = F.scaled_dot_product_attention(q, k, v).sum()
    size = graph_memory(loss).nbytes
    data = explored(lambda q, k, v: F.scaled_dot_product_attention(q, k, v).sum(), q, k, v)
    [group] = [group for group in data["groups"] if group["fused"]]
    assert group["kept"] == [size]
    assert group["box"]["keeps"] == size < 1024 * 1024
    assert not any(node["keeps"] for node in data["nodes"])
