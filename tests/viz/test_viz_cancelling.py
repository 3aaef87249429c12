"""A gradient that is zero on paper is told from a small one, and no page begins with such a one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reading import data_of, parts_of, watched

import minigrad
from minigrad import Tensor, nn, viz

F = nn.functional
EVERY = ("float16", "float32", "float64")


def gradients(graph: viz.Graph) -> dict[str, viz.Summary]:
    """What came to each leaf in the end."""
    names = {n.id: n.label for n in graph.nodes if n.kind in ("parameter", "input")}
    parts = parts_of(graph)
    found = {part.target: part.total or part.sent for part in parts}
    return {names[box]: numbers for box, numbers in found.items() if box in names}


def traced(model: Callable[[Tensor], Tensor], x: np.ndarray, dtype: str) -> viz.Graph:
    if isinstance(model, nn.Module):
        for parameter in model.parameters():
            parameter.data = parameter.data.astype(dtype)
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
    graph = traced(CONSTANT_SUMS[name], x, dtype)
    found = gradients(graph)["x"]
    assert found.norm == 0.0 or found.cancelled
    assert not graph.steps[0].cotangent.cancelled


@pytest.mark.parametrize("dtype", EVERY)
def test_behind_a_norm_every_gradient_is_rounding_and_the_norm_s_own_are_not(dtype: str) -> None:
    x, right = np.random.default_rng(0).standard_normal((2, 5, 16)), 0
    for seed in range(12):
        minigrad.random.seed(seed)
        layer = nn.TransformerEncoderLayer(16, 2, dim_feedforward=32)
        found = gradients(traced(layer, x, dtype))
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
    "squares": lambda x: (F.softmax(x) ** 2).sum(),
}


@pytest.mark.parametrize("name", NOTHING_CANCELS)
def test_what_is_not_marked_has_a_digit_that_is_right(name: str) -> None:
    """In float32, against float64: a small gradient is not rounding."""
    x = np.random.default_rng(0).standard_normal((2, 3, 8))
    exact, found = (
        gradients(traced(NOTHING_CANCELS[name], x, dtype)) for dtype in ("float64", "float32")
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
    *_, first, last = [
        part.total or part.sent
        for step in trace.graph(w=w).steps
        if step.op == "svd"
        for part in step.parts
    ]
    assert not first.cancelled
    assert last.cancelled or last.norm == 0.0


class TestWhereItIsSaid:
    def graph(self) -> viz.Graph:
        return traced(CONSTANT_SUMS["softmax"], np.random.default_rng(4).standard_normal(9), "f4")

    def test_in_words(self) -> None:
        text = str(viz.explain(self.graph()))
        assert len(re.findall("zero up to rounding", text)) == 3  # sent, came, and sent again
        assert "e-" in text

    def test_in_the_table_of_a_page(self) -> None:
        page = self.graph().to_html()
        assert ", zero up to rounding" in page.partition("<table>")[2].partition("</table>")[0]

    def test_in_json_old_and_new(self) -> None:
        graph = self.graph()
        assert viz.Graph.from_json(graph.to_json()) == graph
        old = re.sub(r',\s*"cancelled": (true|false)', "", graph.to_json())
        assert "cancelled" not in old
        assert not gradients(viz.Graph.from_json(old))["x"].cancelled

    def test_noise_is_no_difference(self) -> None:
        x = np.random.default_rng(1).standard_normal(9)
        one, other = (traced(CONSTANT_SUMS["softmax"], x + shift, "f4") for shift in (0.0, 0.5))
        facts = [fact for change in viz.diff(one, other).changed for fact in change.facts]
        assert not [fact for fact in facts if fact.startswith("gradient norm")]


def explored(model: nn.Module, *inputs: Any) -> tuple[dict[str, Any], str]:
    page = viz.explore(model, *inputs).path.read_text(encoding="utf-8")
    return data_of(page), page


class Ending(nn.Module):
    def __init__(self, end: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.linear, self.end = nn.Linear(8, 8), end

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.linear(x))


@pytest.mark.parametrize(
    "model",
    [nn.TransformerEncoderLayer(8, 2, dim_feedforward=16), *map(Ending, CONSTANT_SUMS.values())],
    ids=["post-norm", *CONSTANT_SUMS],
)
def test_no_page_begins_with_a_constant(model: nn.Module) -> None:
    """Behind a normalization or a softmax the gradients are real, and the page says of what."""
    x = minigrad.randn(2, 4, 8) if isinstance(model, nn.TransformerEncoderLayer) else (
        minigrad.randn(6, 8)
    )  # fmt: skip
    data, page = explored(model, x)
    assert data["start"].startswith("the output, with fixed pseudo-random numbers")
    assert f"It begins at {data['start']}." in page
    assert explored(model, x)[1] == page  # the numbers are the same again
    rows = re.findall(r"<tr data-id=.*?</tr>", page)
    noise = [row for row in rows if "zero up to rounding" in row]
    expected = [row for row in rows if '"row">self_attn.k_proj.bias' in row]
    assert noise == expected
    assert len(rows) > 3
