"""The finite difference of each step, and sums that are zero on paper."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reading import came, data_of, labels, watched

import minigrad
from minigrad import Tensor, nn, tensor, viz
from minigrad.autograd import Function
from minigrad.nn import functional as F


def parts_by_op(function: Callable[[Tensor], Any], x: Tensor) -> dict[str, viz.Part]:
    with viz.trace() as traced:
        out = function(x)
        weights = np.linspace(0.5, 2.0, out.numel(), dtype=out.dtype.name).reshape(out.shape)
        out.backward(weights)
    return {step.op: part for step in traced.graph().steps for part in step.parts}


def test_a_kink_is_that_of_an_argument_by_itself() -> None:
    x = tensor(np.zeros(1), requires_grad=True)
    assert parts_by_op(lambda x: minigrad.maximum(x, 0.25 * x), x)["maximum"].kink is None


def test_a_kink_is_said_in_the_report() -> None:
    x = tensor(np.zeros(3), requires_grad=True)
    text = viz.explain(watched(lambda: F.relu(x).sum().backward()))
    assert "not measurable here: its slope is" in text
    assert "beside it, " in text


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        ctx.square = x.numpy() ** 2
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        assert np.array_equal(ctx.square, x.numpy() ** 2)
        return tensor(ctx.square) * g * 3.0


def test_tracing_leaves_the_context_of_a_custom_function_as_it_is() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with viz.trace() as traced:
        y = Cube.apply(x)
        for _ in range(2):
            y.sum().backward(retain_graph=True)
            viz.explain(traced)
            traced.graph().to_html()
    assert x.grad.tolist() == [6.0, 24.0]


def test_a_custom_function_stands_for_what_runs_in_it() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    graph = watched(lambda: Cube.apply(x * 2.0).sum(), x=x)
    assert labels(graph) == ["x", "multiply", "Cube", "sum", "output"]
    assert [edge.target for edge in graph.edges] == [node.id for node in graph.nodes[1:]]


def test_ops_that_exchange_messages_are_not_run_again() -> None:
    from minigrad.distributed import all_reduce

    x = Tensor([1.0, 2.0], requires_grad=True)
    part = parts_by_op(lambda x: all_reduce(x * 1.0), x)["all_reduce"]
    assert (part.check, part.unchecked) == (None, "an op with side effects is not run again")


def test_values_that_a_custom_function_read_can_be_read_again() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)
    with viz.trace() as traced:
        (Cube.apply(x).sum() + (Cube.apply(x) * x.detach()).sum()).backward()
        _ = x.detach() + tensor(x.numpy())
    assert {"detach", "x"} <= {*labels(traced.graph(x=x))}


EVERY = ("float16", "float32", "float64")


def passed(model: Callable[[Tensor], Tensor], x: np.ndarray, dtype: str) -> viz.Graph:
    if isinstance(model, nn.Module):
        for parameter in model.parameters():
            parameter.data = parameter.numpy().astype(dtype)
    leaf = minigrad.tensor(x.astype(dtype), requires_grad=True)
    return watched(lambda: model(leaf).sum().backward(), x=leaf)


CONSTANT_SUMS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda x: F.softmax(F.tanh(x)),
    "layer_norm": lambda x: F.layer_norm(F.tanh(x), (8,)),
    "squares of layer_norm": lambda x: F.layer_norm(10.0 * F.tanh(x), (8,), eps=0.0) ** 2,
    "group_norm": lambda x: F.group_norm(F.tanh(x), 2),
    "batch_norm": lambda x: F.batch_norm(F.tanh(x), None, None, training=True),
    "centred": lambda x: F.tanh(x) - F.tanh(x).mean(),
}


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("name", CONSTANT_SUMS)
def test_what_cancels_is_zero_up_to_rounding(name: str, dtype: str) -> None:
    x = np.random.default_rng(0).standard_normal((6, 8))
    graph = passed(CONSTANT_SUMS[name], x, dtype)
    found = came(graph)["x"]
    assert found.norm == 0.0 or found.cancelled
    assert not graph.steps[0].cotangent.cancelled


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_behind_a_norm_every_gradient_is_rounding_and_the_norm_s_own_are_not(dtype: str) -> None:
    x, right = np.random.default_rng(0).standard_normal((2, 5, 16)), 0
    for seed in range(12):
        minigrad.random.seed(seed)
        layer = nn.TransformerEncoderLayer(16, 2, dim_feedforward=32)
        found = came(passed(layer, x, dtype), "parameter", "input")
        told = {name: numbers.cancelled for name, numbers in found.items()}
        assert len(told) == 17
        right += told == {name: not name.startswith("norm2") for name in told}
    # With the three digits of float16, rounding is sometimes as large as a gradient.
    assert right >= (8 if dtype == "float16" else 12)


def chain(x: Tensor) -> Tensor:
    for _ in range(12):
        x = F.sigmoid(x)
    return x


NOTHING_CANCELS: dict[str, Callable[[Tensor], Tensor]] = {
    "a vanishing gradient": chain,
    "a tiny slope": lambda x: F.tanh(x) * 1e-30,
    "a difference": lambda x: x * 1.001 - x,
    "pre-norm": nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, norm_first=True),
    "squares": lambda x: (F.softmax(x, -1) ** 2).sum(),
}


@pytest.mark.parametrize("name", NOTHING_CANCELS)
def test_what_is_not_marked_has_a_digit_that_is_right(name: str) -> None:
    """In float32, against float64: a small gradient is not rounding."""
    x = np.random.default_rng(0).standard_normal((2, 3, 8))
    exact, found = (
        came(passed(NOTHING_CANCELS[name], x, dtype), "parameter", "input")
        for dtype in ("float64", "float32")
    )
    for leaf, numbers in found.items():
        if leaf.endswith("k_proj.bias"):
            assert numbers.cancelled
        else:
            assert not numbers.cancelled
            assert math.isclose(numbers.norm, exact[leaf].norm, rel_tol=0.05), leaf


def test_several_passes_and_several_outputs() -> None:
    w = minigrad.tensor(np.random.default_rng(0).standard_normal((4, 3)), requires_grad=True)
    with viz.trace() as trace:
        u, s, _ = minigrad.linalg.svd(w, full_matrices=False)
        (s.sum() + (u * u).sum()).backward(retain_graph=True)
        ((u * u).sum() - 1.0).backward()  # the columns of u have length 1
    steps = [step for step in trace.graph(w=w).steps if step.op == "svd"]
    *_, first, last = [part.total or part.sent for step in steps for part in step.parts]
    assert not first.cancelled
    assert last.cancelled or last.norm == 0.0


def test_a_sum_of_zero_is_said_in_words_in_the_table_of_a_page_and_in_json() -> None:
    graph = passed(CONSTANT_SUMS["softmax"], np.random.default_rng(4).standard_normal(9), "f4")
    text = str(viz.explain(graph))
    assert len(re.findall("zero up to rounding", text)) == 3  # sent, came, and sent again
    assert "e-" in text
    table = graph.to_html().partition("<table>")[2].partition("</table>")[0]
    assert ", zero up to rounding" in table
    assert viz.Graph.from_json(graph.to_json()) == graph
    old = re.sub(r',\s*"cancelled": (true|false)', "", graph.to_json())
    assert "cancelled" not in old
    assert not came(viz.Graph.from_json(old))["x"].cancelled


class Ending(nn.Module):
    def __init__(self, end: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.linear, self.end = nn.Linear(8, 8), end

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.linear(x))


POST_NORM = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
ENDINGS = {name: Ending(end) for name, end in CONSTANT_SUMS.items()} | {"post-norm": POST_NORM}


@pytest.mark.parametrize("name", ENDINGS)
def test_no_page_begins_with_a_constant(name: str) -> None:
    """Behind a normalization or a softmax the gradients are real, and the page says of what."""
    x = minigrad.randn(*(2, 4, 8) if name == "post-norm" else (6, 8))
    page, again = (viz.explore(ENDINGS[name], x).path.read_text("utf-8") for _ in range(2))
    start = data_of(page)["start"]
    assert start.startswith("the output, with fixed pseudo-random numbers")
    assert f"It begins at {start}." in page
    assert again == page  # the numbers are the same again
    rows = re.findall(r"<tr data-id=.*?</tr>", page)
    noise = [row for row in rows if "zero up to rounding" in row]
    assert noise == [row for row in rows if '"row">self_attn.k_proj.bias' in row] != rows
