"""`Graph.to_text`: what a terminal shows of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, no_grad, viz


def row(text: str, start: str) -> str:
    """The line that begins with `start`, its columns run together."""
    (found,) = [line for line in text.splitlines() if line.strip().startswith(start)]
    return " ".join(found.split())


def test_ops_in_order_with_arguments_by_name() -> None:
    x = minigrad.ones(2, 3, requires_grad=True)
    b = minigrad.ones(3, requires_grad=True)
    text = viz.graph((x - b) * (x - b).sum(axis=-1, keepdims=True), x=x, b=b).to_text()
    assert [" ".join(line.split()) for line in text.splitlines()] == [
        "x → 2×3 · input",
        "b → 3 · input",
        "%0 = subtract(a = x, b) → 2×3",
        "%1 = subtract(a = x, b) → 2×3",
        "%2 = sum(%1, axis = -1) → 2×1",
        "%3 = multiply(%0, %2) → 2×3",
        "output = %3 → 2×3",
    ]


def test_modules_indent_and_say_their_size() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2)))
    text = viz.graph(model, minigrad.ones(5, 3)).to_text(depth=3)
    lines = [line.split(" →")[0].rstrip() for line in text.splitlines()]
    assert lines == [
        "input",
        "Sequential  · 26 parameters",
        "  0: Linear  · 16 parameters",
        "    %0 = linear(x = input, weight 4×3, bias 4)",
        "  1: Sequential  · 10 parameters",
        "    0: ReLU",
        "      %1 = relu(%0)",
        "    1: Linear  · 10 parameters",
        "      %2 = linear(x = %1, weight 2×4, bias 2)",
        "output = %2",
    ]
    closed = viz.graph(model, minigrad.ones(5, 3)).to_text(depth=1)
    assert row(closed, "%1") == "%1 = 1: Sequential(%0) → 5×2 · 1.weight 2×4 · 1.bias 2"


def test_a_module_called_twice_and_a_shared_weight() -> None:
    layer = nn.Linear(4, 4)
    text = viz.graph(layer(layer(minigrad.ones(2, 4)))).to_text(depth=2)
    assert "Linear: call 1/2  · 20 parameters" in text
    assert "Linear: call 2/2" in text
    assert text.count("weight 4×4") == 2


def test_layers_that_repeat_are_one_line() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    text = viz.graph(nn.TransformerEncoder(layer, 6), minigrad.ones(2, 3, 8)).to_text()
    assert "layers.1 … layers.5: TransformerEncoderLayer ×5" in text
    assert len(text.splitlines()) <= 40


def test_residuals_constants_notes_and_what_is_not_recorded() -> None:
    x = minigrad.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with viz.trace() as traced:
        h = minigrad.exp(x)
        with no_grad():
            cut = h * 2.0
        kept = minigrad.where(np.array([True, False, True]), h, cut)
        _ = (x + kept).sum(axis=0).astype("float64")
    text = traced.graph(x=x).to_text()
    assert row(text, "%0") == "%0 = exp(x) → 3"
    assert row(text, "%1") == "%1 = multiply(%0, b = 2.0) → 3 · not recorded"
    assert row(text, "%2") == "%2 = where(condition = const0 3, a = %0, b = %1) → 3"
    assert row(text, "%3") == "%3 = add(x, %2) → 3 · residual x"
    assert row(text, "%4") == "%4 = sum(%3, axis = 0) → scalar"
    assert row(text, "%5").endswith("→ scalar float64")


def test_equal_constants_have_names_of_their_own() -> None:
    x = minigrad.ones(3, requires_grad=True)
    one, other = np.ones(3, np.float32), np.ones(3, np.float32)
    with viz.trace() as traced:
        _ = x * one + x * other + one
    text = traced.graph(x=x).to_text()
    assert row(text, "%0") == "%0 = multiply(x, const0 3) → 3"
    assert row(text, "%1") == "%1 = multiply(x, const1 3) → 3"
    assert "const0 3" in row(text, "%3")


def test_an_error_is_on_its_line() -> None:
    x = minigrad.ones(3, requires_grad=True)
    with pytest.raises(ValueError, match="matmul"), viz.trace() as traced:
        _ = minigrad.exp(x) @ minigrad.ones(4)
    assert "✕ matmul" in row(traced.graph(x=x).to_text(), "%1")


def test_names_with_line_breaks_stay_on_their_line() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleDict({"a\nb<&\x1b[31m": nn.Linear(2, 2)})

        def forward(self, x: minigrad.Tensor) -> minigrad.Tensor:
            return next(iter(self.layers.values()))(x)

    text = viz.graph(Model(), minigrad.ones(1, 2)).to_text(depth=5)
    assert "a\\nb<&\\x1b[31m" in text
    assert "\x1b" not in text


def test_it_shows_itself_as_it_prints() -> None:
    text = viz.graph(nn.Linear(2, 2), minigrad.ones(1, 2)).to_text()
    assert repr(text) == str(text)
    assert "\n" in repr(text)


def test_a_depth_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="depth"):
        viz.graph(nn.Linear(2, 2), minigrad.ones(1, 2)).to_text(depth=-1)


class Several(nn.Module):
    """What comes out is not what was computed last, and there is more than one thing."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.loss = nn.Linear(3, 4), minigrad.zeros(())

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        main = self.linear(x)
        part = main[:, :2]
        self.loss = (main * main).mean()
        return main, part


class Outer(nn.Module):
    def __init__(self, model: nn.Module, use: Any) -> None:
        super().__init__()
        self.model, self.use = model, use

    def forward(self, *inputs: Tensor) -> Any:
        return self.use(self.model, *inputs)


X, SEQUENCE = minigrad.ones(5, 3), minigrad.ones(2, 5, 8)
OUTPUTS: dict[str, tuple[nn.Module, Any, tuple[Tensor, ...], set[str]]] = {
    "two": (Several(), lambda m, x: m(x), (X,), {"5×4", "5×2"}),
    "one of two": (Several(), lambda m, x: m(x)[0].sum(), (X,), {"5×4"}),
    "an auxiliary loss": (
        Several(), lambda m, x: m(x)[1].sum() + m.loss, (X,), {"5×2", "scalar"},
    ),
    "lstm": (
        nn.LSTM(8, 4, batch_first=True), lambda m, x: m(x), (SEQUENCE,),
        {"2×5×4", "1×2×4", "1×2×4 "},
    ),
    "attention with weights": (
        nn.MultiHeadAttention(8, 2), lambda m, x: m(x, x, x, need_weights=True), (SEQUENCE,),
        {"2×5×8", "2×2×5×5"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_of_a_closed_module_has_its_name_and_its_shape(name: str) -> None:
    model, use, inputs, shapes = OUTPUTS[name]
    graph = viz.graph(Outer(model, use), *inputs)
    text = graph.to_text(depth=1)
    line = next(line for line in text.splitlines() if "model:" in line)
    numbers = [word.strip() for word in line.partition(" = ")[0].split(",")]
    told = [shape.strip() for shape in line.split("→")[1].split("·")[0].split(",")]
    assert len(set(numbers)) == len(numbers) == len(told) == len(shapes)
    assert {*told} == {shape.strip() for shape in shapes}
    named = dict(zip(numbers, told, strict=True))
    for output in (line for line in text.splitlines() if line.startswith("output")):
        source, shape = (part.strip() for part in output.partition(" = ")[2].split("→"))
        assert named.get(source, shape) == shape
    # A box in a picture shows one of them, never what stays inside.
    [box] = [node for node in graph.collapse(1).nodes if node.kind == "module"]
    assert ("×".join(map(str, box.shape)) or "scalar") in told
    twice, once = (g.to_text(0).splitlines() for g in (graph.collapse(1), graph))
    assert [line.split(" · ")[0].split() for line in twice] == [
        line.split(" · ")[0].split() for line in once
    ]
