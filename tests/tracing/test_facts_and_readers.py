"""Who reads the record of a run: each reader is right about each fact, or refuses with the line.

The facts are in `run_facts.py`. A reader is what works on the record of a run. Each cell compares
what the reader says with a plain run of the same function, or with a value that is measured in
another way. None is ignored.
"""

from __future__ import annotations

import base64
import functools
import json
import tempfile
import tracemalloc
import warnings
import zlib
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import node_js
import numpy as np
import pytest
from run_facts import FACTS, Fact, inputs, parameter

import minigrad
from minigrad import Tensor, nn, no_grad, tensor, viz
from minigrad.autograd import checkpoint, graph_memory, why_no_grad
from minigrad.compiler import CaptureError
from minigrad.debugging import Profile
from minigrad.func import vmap
from minigrad.onnx import export
from minigrad.transforms.batching import CannotMap
from minigrad.viz.page.payload import RAW, payload
from minigrad.viz.record.steps import final_gradients

HERE = "run_facts.py:"
CALL = "test_facts_and_readers.py:"
WEIGHTS = np.cos(np.arange(4.0))


class Truth(NamedTuple):
    """What a plain run gives: the result, gradients of its weighted sum, and what ``.grad`` has."""

    result: Any
    of_x: Any
    of_w: Any
    written: Any


def gradients_of(result: Tensor, *leaves: Tensor) -> list[Any]:
    """What a backward pass adds to the ``.grad`` of leaves."""
    for leaf in leaves:
        leaf.grad = None
    if result.requires_grad:
        (result * WEIGHTS).sum().backward()
    return [leaf.grad for leaf in leaves]


def run(function: Callable[[Tensor, Tensor], Tensor], x: Tensor, w: Tensor) -> Truth:
    result = function(x, w)
    written = None if w.grad is None else w.grad.clone()
    of_x, of_w = gradients_of(result, x, w)
    return Truth(result.detach().numpy().copy(), of_x, of_w, written)


def plain(fact: Fact, x: np.ndarray, requires_grad: bool = True) -> Truth:
    return run(fact.function, tensor(x, requires_grad=requires_grad), parameter(fact))


def same(found: Any, wanted: Any) -> None:
    assert (found is None) == (wanted is None)
    if wanted is not None:
        one, other = (x.detach().numpy() if isinstance(x, Tensor) else x for x in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


class Refused(Exception):
    """A reader says that it cannot."""


def refuse(error: object) -> NoReturn:
    """A refusal names the line of the fact or of the call, or the module."""
    assert any(place in str(error) for place in (HERE, CALL, " [in ", "of Owner")), error
    raise Refused from None


# Readers --------------------------------------------------------------------------------------


def of_vmap(fact: Fact) -> None:
    rows = [inputs(seed) for seed in (0, 2, 4)]

    def differentiated(result: Tensor, w: Tensor, *xs: Tensor) -> list[Any]:
        written = None if w.grad is None else w.grad.clone()
        return [result.detach(), written, *gradients_of(result, w, *xs)]

    for requires_grad in (False, True):
        xs, w = [tensor(row, requires_grad=requires_grad) for row in rows], parameter(fact)
        x, v = tensor(np.stack(rows), requires_grad=requires_grad), parameter(fact)
        try:
            found = differentiated(vmap(fact.function, in_dims=(0, None))(x, w), w, x)
        except CannotMap as error:
            refuse(error)
        wanted = differentiated(minigrad.stack([fact.function(x, v) for x in xs]), v, *xs)
        of_each = wanted[3:]
        wanted[3:] = [None if of_each[0] is None else minigrad.stack(of_each)]
        for one, other in zip(found, wanted, strict=True):
            same(one, other)


def of_capture(fact: Fact) -> None:
    def step(w: Tensor) -> Callable[[Tensor], Tensor]:
        def run_it(x: Tensor) -> Tensor:
            result = fact.function(x, w)
            if result.requires_grad:
                (result * WEIGHTS).sum().backward()
            return result

        return run_it

    once, again = parameter(fact), parameter(fact)
    captured, usual = minigrad.capture(step(again), verify=False), step(once)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for seed in range(6):
            x = tensor(inputs(seed))
            wanted = usual(x)
            try:
                found = captured(x)
            except CaptureError as error:
                refuse(error)
            same(found, wanted)
            same(again.grad, once.grad)
            same(again, once)
            assert again.requires_grad == once.requires_grad
            again.grad = once.grad = None
    for warning in told:
        refuse(warning.message)
    assert captured.program is not None


class Owner(nn.Module):
    def __init__(self, fact: Fact) -> None:
        super().__init__()
        self.function, self.w = fact.function, parameter(fact)

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, self.w)


def of_onnx(fact: Fact) -> None:
    runtime = pytest.importorskip("onnxruntime")
    model = Owner(fact).float()
    path = Path(tempfile.mkdtemp(), "model.onnx")
    try:
        export(model, tensor(inputs().astype("f4")), path, verify=False)
    except (NotImplementedError, RuntimeError) as error:
        refuse(error)
    file = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for seed in range(4):
        x = inputs(seed).astype("f4")
        with no_grad():
            wanted = Owner(fact).float()(tensor(x))
        np.testing.assert_allclose(file.run(None, {"x": x})[0], wanted.numpy(), rtol=1e-5)


def reaches(graph: viz.Graph, label: str) -> bool:
    """Whether recorded ops lead from a leaf to the output."""
    leaves = [node for node in graph.nodes if node.kind != "op" and node.recorded]
    reached = {node.id for node in leaves if node.label == label}
    for node in graph.nodes:
        goes = node.recorded if node.kind == "op" else node.kind == "output"
        sources = {edge.source for edge in graph.edges if edge.target == node.id}
        if goes and not sources.isdisjoint(reached):
            reached.add(node.id)
    return any(node.kind == "output" and node.id in reached for node in graph.nodes)


def of_graph(fact: Fact) -> None:
    truth = plain(fact, inputs())
    try:
        graph = viz.graph(Owner(fact), tensor(inputs(), requires_grad=True))
    except RuntimeError as error:
        assert truth.of_x is truth.of_w is None
        refuse(error)
    assert reaches(graph, "w") == (truth.of_w is not None)
    assert reaches(graph, "x") == (truth.of_x is not None)


def recorded(fact: Fact, x: np.ndarray) -> viz.Graph:
    """The record of a page: the run, and the backward pass from its end."""
    given, w = tensor(x, requires_grad=True), parameter(fact)
    with viz.trace() as trace:
        result = fact.function(given, w)
        gradients_of(result, given, w)
    return trace.graph(result, x=given, w=w)


def of_explore(fact: Fact) -> None:
    page = viz.explore(Owner(fact), tensor(inputs(), requires_grad=True))
    assert page.path.stat().st_size > 0
    truth, graph = plain(fact, inputs()), recorded(fact, inputs())
    (output,) = [node for node in graph.nodes if node.kind == "output"]
    [into] = [edge.source for edge in graph.edges if edge.target == output.id]
    [value] = [node.value for node in graph.nodes if node.id == into]
    assert value is not None
    same(value.entries(), truth.result)
    last = [step for step in graph.steps if step.run == graph.steps[-1].run]
    found = final_gradients(last if truth.of_x is not None or truth.of_w is not None else [])
    for label, wanted in (("x", truth.of_x), ("w", truth.of_w)):
        names = (label, "parameter") if label == "w" else (label,)  # frozen, it is not named
        boxes = [node for node in graph.nodes if node.label in names and node.recorded]
        sent = [found[node.id].entries() for node in boxes if node.id in found]
        if wanted is None:
            assert not sent
        elif any(node.grads for node in boxes):
            same([node.grads[-1].value.entries() for node in boxes if node.grads][-1], wanted)
        else:
            same(sent[-1], wanted)


class Traced:
    """The bytes of NumPy's arrays, as `tracemalloc` counts them."""

    def __enter__(self) -> Traced:
        tracemalloc.start()
        self.start = self.now()
        return self

    def __exit__(self, *exc: object) -> None:
        tracemalloc.stop()

    def now(self) -> int:
        domain = tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)
        return sum(t.size for t in tracemalloc.take_snapshot().filter_traces([domain]).traces)


ARRAY = WEIGHTS.nbytes
"""Fewer bytes than those of an array are no array: the state of the random numbers, say."""


def of_profile(fact: Fact) -> None:
    truth, x, w = plain(fact, inputs()), tensor(inputs(), requires_grad=True), parameter(fact)
    with Traced() as memory:
        with Profile() as profile:
            result = fact.function(x, w)
        held = memory.now() - memory.start
        _, curves = profile.memory()
        alive = sum(int(curve[-1]) for curve in curves.values() if len(curve))
        assert abs(alive - held) < ARRAY
        with profile:
            found = gradients_of(result, x, w)
    same(result, truth.result)
    same(found[0], truth.of_x)
    same(found[1], truth.of_w)


def of_graph_memory(fact: Fact) -> None:
    x, w = tensor(inputs(), requires_grad=True), parameter(fact)
    with Traced() as memory:
        result = fact.function(x, w)
        told = graph_memory(result).nbytes if result.requires_grad else 0
        before, array = memory.now(), result._data
        del result
        without_the_result = before - memory.now()
        del array
        with_it = before - memory.now()
    assert min(abs(told - freed) for freed in (without_the_result, with_it)) < ARRAY


def of_why_no_grad(fact: Fact) -> None:
    truth = plain(fact, inputs())
    for place, gradient in enumerate((truth.of_x, truth.of_w)):
        both = tensor(inputs(), requires_grad=True), parameter(fact)
        told = why_no_grad(both[place], partial(fact.function, *both))
        assert told.startswith("connected: ") == (gradient is not None), told
        if gradient is None:
            assert HERE in told or told.startswith("unused") or "frozen" in told, told


def of_checkpoint(fact: Fact) -> None:
    truth = plain(fact, inputs())
    x, w = tensor(inputs(), requires_grad=True), parameter(fact)
    try:
        found = run(lambda x, w: checkpoint(lambda x: fact.function(x, w), x), x, w)
    except RuntimeError as error:
        refuse(error)
    for one, other in zip(found, truth, strict=True):
        same(one, other)


SCRIPTS = [
    "pack", "data", "player", "elements", "gradients", "arrays", "step", "numbers", "worked",
    "whatif",
]  # fmt: skip
WHAT_IF = """
const data = connect(one), total = data.steps.length, state = { step: 0 };
let why = inability();
try {
  if (!why) changes.set("one", { id, place: 1, value });
  if (!why) computeAgain();
} catch (error) {
  if (!(error instanceof Unable)) throw error;
  why = error.message;
}
const output = data.nodes.find(({ kind }) => kind === "output");
return { why, values: data.arrays[output.value.values] };
"""


@functools.cache
def pages() -> dict[tuple[str, str], Any]:
    """For each fact and leaf what a page computes when its second number is another."""
    given, keys = [], []
    for name, fact in FACTS.items():
        graph = recorded(fact, inputs())
        text = payload(graph, [], residuals=[], start="", heatmaps=[], scale=[], dark=[], broken="")
        page = json.loads(zlib.decompress(base64.b64decode(text), wbits=RAW))
        named = [box for box in graph.nodes if box.kind in ("input", "parameter")]
        boxes = {box.label: box.id for box in reversed(named)}  # as it was before any write
        boxes.setdefault("w", boxes.get("parameter", ""))  # frozen, it is not named
        for label in boxes.keys() & {"x", "w"}:
            keys.append((name, label))
            given.append([page, boxes[label], MOVED])
    static = files("minigrad.viz.page").joinpath("static")
    script = "\n".join(static.joinpath(f"{one}.js").read_text("utf-8") for one in SCRIPTS)
    program = f"""
function answer(one, id, value) {{ {script}\n{WHAT_IF} }}
console.log(JSON.stringify(given.map((one) => answer(...one))));
"""
    return dict(zip(keys, node_js.node(program, given), strict=True))


MOVED = -1.9


def of_what_if(fact: Fact) -> None:
    (name,) = [name for name, one in FACTS.items() if one is fact]
    refusals = []
    for label in ("x", "w"):
        x, w = tensor(inputs()), parameter(fact)
        {"x": x, "w": w}[label].data[1] = MOVED
        found = pages().get((name, label), {"why": f"no box has its values, {HERE}"})
        if not found["why"]:
            wanted = fact.function(x, w).detach().numpy()
            np.testing.assert_allclose(np.array(found["values"], float), wanted, rtol=1e-3)
        refusals.append(found["why"])
    for why in filter(None, refusals):
        refuse(why)


READERS = {
    "vmap": of_vmap, "capture": of_capture, "ONNX": of_onnx, "viz.graph": of_graph,
    "viz.explore": of_explore, "what-if": of_what_if, "Profile": of_profile,
    "graph_memory": of_graph_memory, "why_no_grad": of_why_no_grad, "checkpoint": of_checkpoint,
}  # fmt: skip
LEFT = {"item", "numpy", "array again a tensor", "tolist", "branch"}
PASSES = {
    "retained gradient", "hook after .grad", ".grad written", ".grad replaced",
    ".grad only added to", "several passes",
}  # fmt: skip
WRITES = {
    "data of a parameter", "data, between two uses", ".data replaced", "part of a parameter",
    "updated by hand", "updated by an optimizer",
}  # fmt: skip
HOOK = "hook of a leaf, from within"
LEAVES = {"frozen for a while", "thawed after", "thawed before", "frozen after", HOOK}
REFUSED: dict[str, set[str]] = {
    "vmap": {*LEFT, *PASSES, *WRITES, *LEAVES, "backward hook", "backward pre-hook"},
    "capture": {*LEFT, "float of a parameter", "updated by an optimizer", HOOK},
    "ONNX": {
        *LEFT, *WRITES - {"data of a parameter"}, "gradient, not recorded", "retained gradient",
        "leaf made within",
        ".grad written", "several passes", "gradient of a function",
    },
    "viz.graph": {"all under no_grad"},
    "checkpoint": {*PASSES, *WRITES, *LEAVES},
}  # fmt: skip
"""The facts that a reader refuses; all others it honours. What-if may say so of any."""


def outcome(reader: str, fact: str) -> str:
    try:
        READERS[reader](FACTS[fact])
    except Refused:
        return "refused"
    except AssertionError as error:
        return f"wrong: {error}"
    return "right"


SLOW = {"what-if", "viz.explore"}


@pytest.mark.parametrize(
    "reader", [pytest.param(r, marks=[pytest.mark.slow] * (r in SLOW)) for r in READERS]
)
def test_a_reader_is_right_or_refuses(reader: str) -> None:
    found = {fact: outcome(reader, fact) for fact in FACTS}
    refused = {fact for fact, said in found.items() if said == "refused"}
    assert not {fact: said for fact, said in found.items() if said.startswith("wrong")}
    assert reader == "what-if" or refused == REFUSED.get(reader, set())
