"""`Graph.to_text`: what a terminal shows of a graph."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad
from minigrad import Tensor, nn, viz


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
