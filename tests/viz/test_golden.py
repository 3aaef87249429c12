"""Pictures and texts of small programs as they are, in files: `__snapshots__` beside this one.

Read the difference in review. `pytest tests/viz/test_golden.py --snapshot-update` writes the files.
"""

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import _plots
import golden_programs as programs
import numpy as np
import pytest
from golden_programs import CLOSED, GRAPHS, VIEWS, Outer, boxes
from reading import data_of, explored

import minigrad
from minigrad import nn, viz
from minigrad.autograd.primitives import Primitive
from minigrad.debugging import profiler
from minigrad.viz import Graph
from minigrad.viz.drawing import curves
from minigrad.viz.drawing.colour_scale import dark, diverging, sequential
from minigrad.viz.drawing.style import STYLE
from minigrad.viz.page.notebook import mimebundle

pytest.importorskip("syrupy")
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode


class Golden(SingleFileSnapshotExtension):
    """A text in a file of its own."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def golden(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(Golden)


def steady(text: str) -> str:
    """A text without what differs between machines, or as soon as a file gets a line more."""
    text = re.sub(r"<style>.*?</style>|<!DOCTYPE.*?</head>", "", text, flags=re.DOTALL)
    text = re.sub(r"data:image/png;base64,([\w+/=]+)", lambda found: pixels(found[1]), text)
    text = re.sub(r"(\w+\.py):\d+", r"\1", text)
    text = re.sub(r"object at 0x\w+", "object", text)
    text = re.sub(r"\S+ from a finite difference", "# from a finite difference", text)
    return re.sub(r"(?<![\w.#])[-−]?\d+\.\d+(e-?\d+)?\b", rounded, text)


def rounded(found: re.Match[str]) -> str:
    number = float(found[0].replace("−", "-"))
    text = f"{number if abs(number) > 1e-9 else 0:.4g}"
    return text.replace("-", "−", found[0].startswith("−"))


def pixels(written: str) -> str:
    """The numbers of the colours of a PNG, row by row: zlib's versions compress differently."""
    data = base64.b64decode(written)
    width = int.from_bytes(data[16:20])
    place = data.index(b"IDAT") + 4
    rows = zlib.decompressobj().decompress(data[place:])
    return " | ".join(
        " ".join(map(str, rows[at + 1 : at + 1 + width])) for at in range(0, len(rows), width + 1)
    )


def lines(text: str) -> str:
    """Markup with a line for each element that opens."""
    return re.sub(r"(?<=>)\s*(?=<[^/])", "\n", text).strip() + "\n"


def page(graph: Graph) -> str:
    """What the page gets, but for what the picture and the report say as well."""
    data: Any = data_of(graph.to_html())
    for name in ("skeleton", "scale", "dark", "heatmaps"):
        del data[name]
    for row in (*data["nodes"], *(group["box"] for group in data["groups"])):
        del row["drawn"], row["around"], row["line"]
    for step in data["steps"]:
        for part in step["parts"]:
            del part["formula"], part["check"]
    return "\n".join(outline(told(data))) + "\n"


def outline(value: Any, indent: str = "") -> Iterator[str]:
    """Data as JSON has it, in lines that can be read."""
    for name, one in value.items() if isinstance(value, dict) else (("-", one) for one in value):
        short = json.dumps(one, ensure_ascii=False)
        if len(short) <= 100 or not isinstance(one, dict | list):
            yield f"{indent}{name} {short}"
        else:
            yield f"{indent}{name}"
            yield from outline(one, f"{indent}  ")


def told(value: Any) -> Any:
    """Data without what is empty, or zero up to rounding."""
    if isinstance(value, dict):
        return {name: found for name, one in value.items() if (found := told(one))}
    if isinstance(value, float) and abs(value) < 1e-9:
        return 0
    return [*map(told, value)] if isinstance(value, list) else value


OUTPUTS: dict[str, tuple[Callable[[Graph], str], str]] = {
    "svg": (
        lambda graph: lines(graph.to_svg()),
        "scalars island several_outputs in_place stopped residual attention lstm matrices finished "
        "perceptron",
    ),
    "dot": (lambda graph: graph.to_dot(), "several_outputs custom_function stopped residual"),
    "text": (lambda graph: graph.to_text(), " ".join(GRAPHS)),
    "page": (
        page,
        "scalars island custom_function stopped perceptron detached trained reasons asked "
        "recomputed in_place classifier penalty born ops_of_one_name contributions",
    ),
    "report": (
        lambda graph: str(viz.explain(graph)),
        " ".join(
            GRAPHS.keys()
            - {"several_outputs", "repeated", "second_derivative", "lstm", "born", "finished"}
        ),
    ),
    "latex": (
        lambda graph: viz.explain(graph).to_latex(),
        "broadcasting custom_function residual matrices",
    ),
}
"""For each output how it is made, and the programs of which it is kept."""


@pytest.mark.parametrize(
    ("program", "output"),
    [
        pytest.param(program, output, id=f"{program}-{output}")
        for output, (_, programs) in OUTPUTS.items()
        for program in sorted(programs.split())
    ],
)
def test_a_graph(program: str, output: str, golden: SnapshotAssertion) -> None:
    make, _ = OUTPUTS[output]
    assert steady(make(GRAPHS[program]())) == golden


def every_formula() -> str:
    """Of each op of minigrad's, the formulas as text and as LaTeX."""
    told = []
    for name in sorted(minigrad.ops.__all__):
        for argument, formula in formulas_of(getattr(minigrad.ops, name)).items():
            told += [f"{name}, {argument}: {formula.text}", f"    {formula.latex}"]
            told += [f"    {note}" for note in formula.notes]
    return "\n".join(told) + "\n"


def formulas_of(op: Any) -> Mapping[str, viz.Formula]:
    return viz.formulas(op) if isinstance(getattr(op, "op", None), Primitive) else {}


def some_mathml() -> str:
    """One op for each kind of notation."""
    names = "arctan2 clip erf getitem hypot linear max maximum norm power prod rms_norm softmax"
    return "".join(
        lines(f"{name}, {argument}: {formula.mathml}")
        for name in [*names.split(), "sqrt", "where"]
        for argument, formula in formulas_of(getattr(minigrad.ops, name)).items()
    )


def body(page: viz.Page) -> str:
    """A page but for its head, its scripts and its data."""
    text = page.path.read_text(encoding="utf-8")
    return lines(re.sub(r"<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL))


def memory(monkeypatch: pytest.MonkeyPatch) -> str:
    """The memory of a step, by a clock that adds a millisecond whenever it is read."""
    clock = count()
    monkeypatch.setattr(profiler, "perf_counter", lambda: next(clock) / 1000)
    profile = programs.profiled()
    profile._changes.sort(key=lambda one: (one[0], -one[2], one[1].nbytes))  # of one moment
    return body(viz.charts(profile))


def live() -> str:
    """The curves of many layers, live and on a page; and of weights of zero: no share."""
    return lines(
        "".join(
            chart
            for statistics in programs.first_steps()
            for whole in (False, True)
            for chart in curves.draw(statistics, whole)
        )
    )


def heatmaps() -> str:
    [heatmap] = GRAPHS["attention"]().heatmaps
    return lines(heatmap.to_svg()) + lines(heatmap.to_svg(gradients=True))


def walks() -> Iterator[str]:
    """The stops that pages of attention and of an encoder layer offer, and where they are."""
    x, layer = minigrad.ones(2, 4, 8), nn.TransformerEncoderLayer
    numbers, padding = minigrad.zeros(4, 4), minigrad.arange(8).reshape(2, 4) > 5
    for options, named in (
        ({"dropout": 0.5}, {}), ({"dropout": 0.5}, {"attn_mask": MASK}),
        ({"dropout": 0.5, "bias": False}, {"attn_mask": numbers}),
        ({"dropout": 0.5}, {"attn_mask": numbers, "is_causal": True}),
        ({"num_kv_heads": 1}, {"is_causal": True}), ({}, {"key_padding_mask": padding}),
        ({"add_bias_kv": True, "add_zero_attn": True}, {"attn_mask": MASK}),
    ):  # fmt: skip
        yield from stops(explored(nn.MultiHeadAttention(8, 2, **options), x, x, x, **named))
    yield from stops(explored(layer(8, 2, 16), x))
    yield from stops(explored(layer(8, 2, 16, norm_first=True, activation="gelu"), x))


def stops(data: Any) -> Iterator[str]:
    """The stops of a walk: what it leads to, what that reads and says, and its question."""
    boxes = {node["id"]: node for node in data["nodes"]}
    names = {group["id"]: group["path"] for group in data["groups"]}
    for stop in data["walk"]:
        at = data["steps"][stop["at"] - 1]["node"] if stop["tab"] == "step" else stop["at"]
        reads = [boxes[edge["source"]]["label"] for edge in data["edges"] if edge["target"] == at]
        told = boxes[at]["label"] if at in boxes else names[at]
        yield f"{stop['tab']} {stop['at']} {told}({', '.join(reads)}): {stop['title']}"
    yield ""


MASK = minigrad.ones(4, 4).tril().astype(bool)


def views() -> str:
    """A picture with a title, and one that is closed, with some opened."""
    opened = GRAPHS["residual"]().to_svg(0, open=["layer"])
    return lines(GRAPHS["shared"]().to_svg(title="Twice & wide")) + lines(opened)


def closed_modules() -> str:
    """Every output of a closed module has its name and its shape, in the text and in a box."""
    graphs = [viz.graph(Outer(model, use), x).collapse(1) for model, use, x in CLOSED]
    return "\n\n".join("\n".join([str(graph.to_text()), *boxes(graph)]) for graph in graphs)


def plan() -> str:
    """What would run."""
    x, w = (minigrad.ones(*shape, requires_grad=True) for shape in ((2, 3), (3,)))
    return f"{viz.explain(minigrad.maximum(x * w, x @ w[:, None]).mean(), x=x, w=w)}\n"


CHANCES = np.arange(64).reshape(8, 8) / 64
STROKE = np.zeros((8, 8))
STROKE[2:4, 5] = 1.0
FIGURES: dict[str, tuple[Any, ...]] = {
    "training": (np.array([[2.0, 0.25, 1.0, 0.5], [1.0, 0.5, 0.0, 0.875]]),),
    "bits_per_character": (
        np.array([[100, 3.0, 4.0], [200, 1.0, 2.0]]), {"1-gram": 4.0, "5-gram": 2.5, "2-gram": 3.0}
    ),
    "confusion": (np.stack([CHANCES] * 35), np.arange(35) % 10, np.arange(1, 36) % 10 // 2),
    "attention": (
        np.stack([STROKE, 0 * STROKE]), np.array([1, 7]), np.array([1, 2]),
        np.arange(96).reshape(2, 3, 4, 4) / 192,
    ),
    "cross_attention": ("40", "four", np.arange(80).reshape(2, 4, 5, 2) / 160),
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_an_example(name: str, golden: SnapshotAssertion, tmp_path: Path) -> None:
    getattr(_plots, name)(tmp_path / "figure.svg", *FIGURES[name])
    assert steady(lines((tmp_path / "figure.svg").read_text(encoding="utf-8"))) == golden


SCALES = sequential(9), diverging(9), [*map(dark, diverging(9))]
OTHERS: dict[str, Callable[[], str]] = {
    made.__name__: made
    for made in (
        every_formula, some_mathml, live, heatmaps, views, closed_modules, plan,
    )
} | {
    "page_without_script": lambda: lines(
        re.sub(
            r"<svg.*?</svg>|<script.*?</script>", "", GRAPHS["perceptron"]().to_html(), flags=re.S
        )
    ),
    "training_page": lambda: body(viz.charts(programs.training())),
    "maps": lambda: lines(programs.attention_maps().to_svg()),
    "colours": lambda: "\n".join([STYLE.replace("}", "}\n"), *map(str, SCALES)]),
    "notebook": lambda: lines(mimebundle(minigrad.ones(2, requires_grad=True) * 2)["text/html"]),
    "walks": lambda: "\n".join(walks()),
    "json": lambda: "\n".join(outline(told(json.loads(GRAPHS["custom_function"]().to_json())))),
}  # fmt: skip


@pytest.mark.parametrize("name", [*OTHERS])
def test_another_output(name: str, golden: SnapshotAssertion) -> None:
    assert steady(OTHERS[name]()) == golden


def test_memory(golden: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> None:
    assert steady(memory(monkeypatch)) == golden


@pytest.mark.parametrize("name", [*VIEWS])
def test_a_view(name: str, golden: SnapshotAssertion) -> None:
    view = VIEWS[name]()
    assert "\n".join([*boxes(view), ""]) == golden
