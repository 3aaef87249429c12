"""What a trace says is what happened: writes, updates, detached values, hooks, counts, steps."""

import contextlib

import numpy as np
import pytest
from reading import by_id, labels, parts_of, variable, watched

import minigrad
from minigrad import nn, viz
from minigrad.autograd import checkpoint, grad


def boxes(graph: viz.Graph, *labels: str) -> list[viz.Node]:
    return [node for node in graph.nodes if node.label in labels]


def sources(graph: viz.Graph, node: viz.Node) -> dict[str, str]:
    labels = by_id(graph)
    return {edge.name: labels[edge.source] for edge in graph.edges if edge.target == node.id}


def values(node: viz.Node) -> list[float]:
    return np.asarray(node.value.array()).ravel().tolist()


class TestHigherOrders:
    @pytest.mark.parametrize("order", [2, 3])
    def test_generated_code_is_not_the_users(self, order: int) -> None:
        x = variable(0.5)
        with viz.trace() as traced:
            y = (minigrad.tanh(x) / x).sum()
            for _ in range(order - 1):
                y = grad(y, x, create_graph=True)[0].sum()
            y.backward()
        assert not any(node.line.startswith("<") for node in traced.graph().nodes)


class TestWhatIsTaken:
    def test_outputs_in_a_tuple(self) -> None:
        x = variable(1.0)
        with viz.trace() as traced:
            a, b = x * 2.0, x * 3.0
        assert traced.graph((a, b), x=x) == traced.graph(a, b, x=x)
        assert len(boxes(traced.graph({"a": a}), "output")) == 1
        with pytest.raises(TypeError, match="an output should be a Tensor"):
            traced.graph(3)

    def test_a_class_of_any_name(self) -> None:
        class Layer(nn.Linear):
            pass

        Layer.__name__ = "../a/b c"
        page = viz.explore(Layer(2, 2), minigrad.ones(1, 2))
        assert page.path.name == ".._a_b_c.html"
        assert page.path.exists()


def test_a_tensor_that_is_known_is_called_by_what_made_it() -> None:
    """Not by the argument of the op that reads it."""
    w = variable(1.0, 2.0)
    (w * 3.0).sum().backward()
    with viz.trace() as traced:
        noise = minigrad.randn(2)
        _ = w.grad * noise
        _ = minigrad.where(np.array([True, False]), w, noise)
    constants = labels(traced.graph(w=w), "constant")
    assert sorted(constants) == ["condition", "grad", "randn"]


class TestSteps:
    def test_large_arrays_are_not_checked_and_say_so(self) -> None:
        x = minigrad.ones(400, 300, requires_grad=True)
        [part] = parts_of(watched(lambda: x.sum().backward()))
        assert (part.check, part.unchecked) == (None, "more than 100,000 elements")
        assert part.sent.values is None

    def test_a_graph_from_before_the_trace_and_a_checkpoint(self) -> None:
        x = variable(1.0, 2.0)
        loss = checkpoint(lambda x: minigrad.exp(x) * x, x * 2.0).sum()
        ops = [step.op for step in watched(lambda: loss.backward()).steps]
        assert (ops[0], ops[-1]) == ("sum", "multiply")
        assert {"checkpoint", "exp"} <= {*ops}


def test_tracing_changes_nothing() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3)
    x = minigrad.randn(2, 3, 8, requires_grad=True)
    leaves, state, results = [x, *layer.parameters()], minigrad.random.get_state(), []
    for context in (contextlib.nullcontext(), viz.trace()):
        minigrad.random.set_state(state)
        with context:
            gradients = grad(layer(x).sum(), leaves)
        results.append([*gradients, minigrad.rand(3)])
    for plain, seen in zip(*results, strict=True):
        np.testing.assert_array_equal(plain, seen)


def test_nothing_ran() -> None:
    with pytest.raises(RuntimeError, match="no op ran"):
        watched(lambda: None)


def test_shares_of_several_outputs_are_not_added_to_one_another() -> None:
    w = minigrad.tensor([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]], requires_grad=True)
    with viz.trace() as trace:
        u, s, _ = minigrad.linalg.svd(w, full_matrices=False)
        (s.sum() + s.sum() + (u * u).sum()).backward()
    steps = [step for step in trace.graph(w=w).steps if step.op in ("sum", "multiply")]
    shares = [(part.sent, part.total) for step in steps for part in step.parts]
    shapes = {(sent.shape, total and total.shape) for sent, total in shares}
    assert shapes == {((2,), None), ((2,), (2,)), ((3, 2), None), ((3, 2), (3, 2))}
