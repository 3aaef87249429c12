"""`viz.graph`: running a module without leaving a trace, and saying why there is no graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reading import labels

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Graph


def inputs(graph: Graph) -> list[str]:
    return labels(graph, "input")


def outputs(graph: Graph) -> list[str]:
    return labels(graph, "output")


def test_an_input_shows_though_it_requires_no_gradient() -> None:
    for x in (minigrad.ones(5, 3), np.ones((5, 3), np.float32)):
        graph = viz.graph(nn.Linear(3, 2), x)
        assert inputs(graph) == ["input"]
        assert next(node for node in graph.nodes if node.kind == "input").shape == (5, 3)


def test_running_a_module_leaves_no_trace() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))
    x = minigrad.ones((5, 3), requires_grad=True)
    before = x.numpy().copy()
    minigrad.random.seed(3)
    expected = minigrad.randn(4).numpy()
    minigrad.random.seed(3)
    viz.graph(model, x)
    np.testing.assert_array_equal(minigrad.randn(4).numpy(), expected)
    np.testing.assert_array_equal(x.numpy(), before)
    assert x.grad is None
    assert x.is_leaf
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_module_runs_in_the_mode_that_it_is_in() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))
    x = minigrad.ones(5, 3)
    assert "dropout" in {node.label for node in viz.graph(model, x).nodes}
    assert "dropout" not in {node.label for node in viz.graph(model.eval(), x).nodes}


def test_a_module_is_drawn_under_no_grad_too() -> None:
    with minigrad.no_grad():
        graph = viz.graph(nn.Linear(3, 2), minigrad.ones(5, 3))
        assert not minigrad.is_grad_enabled()
    assert len(graph.nodes) == 5


def test_integers_go_in_as_they_are() -> None:
    ids = np.array([[1, 2], [3, 4]])
    graph = viz.graph(nn.Embedding(10, 4), ids)
    assert labels(graph) == [
        "weight", "input", "embedding", "output",
    ]  # fmt: skip
    assert outputs(viz.graph(nn.Embedding(10, 4), minigrad.tensor(ids))) == ["output"]


def test_leaves_can_be_named() -> None:
    x, w = minigrad.ones(3, requires_grad=True), minigrad.ones(3, requires_grad=True)
    assert inputs(viz.graph(x * w)) == ["input 0", "input 1"]
    assert inputs(viz.graph(x * w, w=w)) == ["input", "w"]
    assert inputs(viz.graph(x * w, x=x, w=w)) == ["x", "w"]
    with pytest.raises(ValueError, match="other is not a leaf"):
        viz.graph(x * w, other=minigrad.ones(3, requires_grad=True))
    with pytest.raises(ValueError, match="product is not a leaf"):
        viz.graph((x * w).sum(), product=x * w)
    with pytest.raises(TypeError, match="x .*Tensor.*float"):
        viz.graph(x * w, x=3.0)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda x: x, "is a leaf"),
        (lambda x: (x * x).detach(), "detach"),
        (lambda x: minigrad.ones(3) * 2, "do not require a gradient"),
        (lambda x: (x > 0).astype(minigrad.float32).argmax(), "floating-point"),
    ],
)
def test_no_graph_is_an_error_that_says_why(make: Any, why: str) -> None:
    with pytest.raises(RuntimeError, match=why):
        viz.graph(make(minigrad.ones(3, requires_grad=True)))


def test_no_graph_under_no_grad() -> None:
    x = minigrad.ones(3, requires_grad=True)
    with minigrad.no_grad():
        y = x * x
    with pytest.raises(RuntimeError, match="no_grad"):
        viz.graph(y)


class Detached(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.detach() * 2


class Silent(nn.Module):
    def forward(self, x: Tensor) -> str:
        return "nothing"


def test_a_module_without_a_graph_is_an_error_that_names_it() -> None:
    with pytest.raises(RuntimeError, match="Detached"):
        viz.graph(Detached(), minigrad.ones(3))
    with pytest.raises(TypeError, match="Silent .*str"):
        viz.graph(Silent(), minigrad.ones(3))


def test_what_cannot_be_drawn_is_refused() -> None:
    x = minigrad.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match="of type ndarray"):
        viz.graph(np.ones(3))
    with pytest.raises(TypeError, match="of type list"):
        viz.graph([])
    with pytest.raises(TypeError, match="are not run on inputs"):
        viz.graph(x * x, x)
    with pytest.raises(TypeError, match=r"Linear.forward: missing"):
        viz.graph(nn.Linear(3, 2))


def test_an_error_of_the_module_comes_through_and_random_state_is_kept() -> None:
    model = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 2))
    state = minigrad.random.get_state()
    with pytest.raises(ValueError, match="linear"):
        viz.graph(model, minigrad.ones(5, 4))
    assert minigrad.random.get_state() == state
