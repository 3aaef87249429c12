"""Making graphs and pages, and reading them: pictures as XML, boxes, the data of a page."""

import base64
import json
import xml.etree.ElementTree as ElementTree
import zlib
from collections.abc import Callable, Sequence
from html.parser import HTMLParser
from typing import Any

import numpy as np
from op_samples import OURS, Case

import minigrad
from minigrad import Tensor, nn, tensor, viz
from minigrad.autograd import grad
from minigrad.viz import Graph

Box = tuple[int, int, int, int]
"""Left, top, width and height."""

SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> ElementTree.Element:
    """The picture as XML; it must be well-formed."""
    return ElementTree.fromstring(svg)


def classed(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [item for item in root.iter() if name in item.get("class", "").split()]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(item.itertext()) for item in root.iter(f"{SVG}text")]


def overlap(one: Box, two: Box) -> bool:
    (x, y, w, h), (a, b, c, d) = one, two
    return x < a + c and a < x + w and y < b + d and b < y + h


def holds(outer: Box, inner: Box) -> bool:
    (x, y, w, h), (a, b, c, d) = outer, inner
    return x <= a and a + c <= x + w and y <= b and b + d <= y + h


def watched(run: Callable[[], Any], trace: viz.Trace | None = None, /, **names: Any) -> Graph:
    """The graph of what runs, which may have a backward pass."""
    trace = trace or viz.trace()
    with trace:
        run()
    return trace.graph(**names)


class Document(HTMLParser):
    """The elements of a page, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.rows: list[list[str]] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside in ("td", "th"):
            self.rows[-1][-1] += data


def data_of(page: str) -> dict[str, Any]:
    """What the page makes of its data: the same as `unpack` in page/data.js."""
    packed = base64.b64decode(Document(page).scripts[0])
    data: dict[str, Any] = json.loads(zlib.decompress(packed, wbits=-15))
    _fill_in(data, data["arrays"])
    shared = data.pop("shared")
    for node in data["nodes"]:
        node["terms"] = shared[node["terms"]] if "terms" in node else {}
    for step in data["steps"]:
        for part in step["parts"]:
            part |= {name: shared[part[name]] for name in ("answers", "formula", "term")}
    return data


def _fill_in(value: Any, arrays: list[Any]) -> None:
    """Put the elements of each array in the place of its number."""
    if isinstance(value, dict) and isinstance(value.get("values"), int):
        value["values"] = arrays[value["values"]]
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list):
            _fill_in(one, arrays)


def entries_of(summary: dict[str, Any]) -> Any:
    """The elements of an array: the same as `entriesOf` in page/values.js."""
    return np.array([float(value) for value in summary["values"]])


def explored(*arguments: Any, **options: Any) -> dict[str, Any]:
    """The data of a page."""
    page = viz.explore(*arguments, **options)
    return data_of(page.path.read_text(encoding="utf-8"))


def variable(*values: float, dtype: str = "float32") -> Tensor:
    return minigrad.tensor(list(values), dtype=dtype, requires_grad=True)


def encoder_layer(**options: Any) -> Graph:
    layer = nn.TransformerEncoderLayer(16, 4, 32, **options)
    return viz.graph(layer, minigrad.ones(2, 5, 16))


def labels(graph: Graph, *kinds: str) -> list[str]:
    """What the boxes are called, of some kinds or of all."""
    return [node.label for node in graph.nodes if not kinds or node.kind in kinds]


def by_id(graph: Graph) -> dict[str, str]:
    """What each box is called."""
    return {node.id: node.label for node in graph.nodes}


def links(graph: Graph) -> list[tuple[str, str, int | None]]:
    """The edges by label."""
    names = by_id(graph)
    return [(names[edge.source], names[edge.target], edge.slot) for edge in graph.edges]


def parts_of(graph: Graph) -> list[viz.Part]:
    """What the steps of the backward pass sent."""
    return [part for step in graph.steps for part in step.parts]


def came(graph: Graph, *kinds: str) -> dict[str, viz.Summary]:
    """What came in the end to each box, of some kinds or of all."""
    names = {node.id: node.label for node in graph.nodes if not kinds or node.kind in kinds}
    parts = [part for part in parts_of(graph) if part.target in names]
    return {names[part.target]: part.total or part.sent for part in parts}


def differentiated(case: Case, arrays: Sequence[np.ndarray] | None = None) -> list[Tensor]:
    """Run the gradient of a sample with weights that differ from place to place; its inputs."""
    inputs = [tensor(array, requires_grad=True) for array in arrays or case.inputs]
    result = case.on(OURS)(*inputs)
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    weights = [np.cos(np.arange(y.numel()) + i).reshape(y.shape) for i, y in enumerate(outputs)]
    grad(outputs, inputs, weights, allow_unused=True)
    return inputs
