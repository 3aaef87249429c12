"""A page says only what the record says: every claim, with the events that refute it.

A witness watches ordinary programs beside the trace: which values and which requirements of a
gradient each op read, and which gradients the rules of each node sent. Then each sentence of the
page is a claim that the witness may refute; `.grad` and a second run without a trace are asked too.
"""

import re
import runpy
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from claim_programs import PROGRAMS, Program
from gallery import names as example_names
from reading import explored

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import Observer
from minigrad.viz.explanation.gradients import held, missing_gradients
from minigrad.viz.page import explorer
from minigrad.viz.page.html import _facts
from minigrad.viz.record.model import Diagram, Node
from minigrad.viz.record.steps import final_gradients

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"


class Read(NamedTuple):
    """What an op read for an argument: the tensor or array, a copy of its numbers."""

    thing: Any
    numbers: np.ndarray
    required: bool


class Ran(NamedTuple):
    """A call of an op, as the witness saw it."""

    op: Any
    reads: dict[str, Read]
    output: np.ndarray
    node: Any
    grad_mode: bool


class Witness(Observer):
    """Sees what runs."""

    def __init__(self) -> None:
        self.calls: list[Ran] = []
        self.sent: dict[int, set[str]] = {}  # by node: the arguments that got a gradient

    def ran(self, call: Any) -> None:
        op = call.op
        named = zip(op.params, call.arguments, strict=True)
        if op.variadic:
            named = ((f"{op.params[0]}[{i}]", one) for i, one in enumerate(call.arguments[0]))
        reads = {
            name: Read(one, _numbers(one).copy(), getattr(one, "requires_grad", False))
            for name, one in named
            if isinstance(one, Tensor | np.ndarray)
        }
        recording = minigrad.is_grad_enabled()
        self.calls.append(Ran(op, reads, _numbers(call.outputs[0]).copy(), call.node, recording))

    def pulled(self, pull: Any) -> None:
        names = self.sent.setdefault(id(pull.node), set())
        names |= {
            name
            for name, one in zip(pull.node.plan.slot_names, pull.contributions, strict=True)
            if one is not None
        }


def size(array: np.ndarray) -> float:
    """The norm of the finite elements."""
    return float(np.linalg.norm(array[np.isfinite(array)]))


def _numbers(thing: Any) -> np.ndarray:
    return thing._data if isinstance(thing, Tensor) else np.asarray(thing)


@dataclass
class Evidence:
    """A drawn run, what the witness saw of it, and the tensors by name."""

    graph: Diagram
    witness: Witness
    names: dict[int, set[str]]  # of tensors by id
    tensors: dict[int, Tensor]
    calls: dict[str, Ran] = field(default_factory=dict)  # of op boxes
    uses: dict[str, list[Read]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        self.nodes = {node.id: node for node in self.graph.nodes}
        self.readers: dict[str, list[str]] = defaultdict(list)
        self.stepped = {step.node for step in self.graph.steps}
        ran, at = self.witness.calls, 0
        for node in self.graph.nodes:
            if node.kind != "op" or node.primitive is None or node.value is None:
                continue
            for place in range(at, len(ran)):
                same = ran[place].op is node.primitive and alike(node, ran[place].output)
                if same:
                    self.calls[node.id], at = ran[place], place + 1
                    break
        for edge in self.graph.edges:
            self.readers[edge.source].append(edge.target)
            call = self.calls.get(edge.target)
            if call is not None and edge.name in call.reads:
                self.uses[edge.source].append(call.reads[edge.name])

    def reached(self, box: str, through: Callable[[str], bool] = lambda box: True) -> Iterator[str]:
        """The boxes that paths of such boxes lead to."""
        stack, seen = [box], set[str]()
        while stack:
            new = [one for one in self.readers[stack.pop()] if one not in seen and through(one)]
            seen.update(new)
            stack += new
            yield from new

    def leads(self, box: str, through: Callable[[str], bool] = lambda box: True) -> bool:
        """Whether a path of such boxes leads from a box to one whose rules ran."""
        return any(one in self.stepped for one in self.reached(box, through))


def alike(node: Node, numbers: np.ndarray) -> bool:
    """Whether a box shows these numbers."""
    value = node.value
    if value is None or value.shape != numbers.shape or value.dtype != numbers.dtype.name:
        return False
    kept = value.entries()
    return bool(
        np.array_equal(kept, numbers.ravel()[: kept.size], equal_nan=kept.dtype.kind == "f")
    )


# The claims -----------------------------------------------------------------------------------

Claim = Callable[[Evidence], Iterator[tuple[str, bool]]]
"""Each sentence of a kind, and whether the run refutes it."""


def reads(run: Evidence) -> Iterator[tuple[str, bool]]:
    """An op is drawn to read a box: refuted by other numbers, or by another tensor's name."""
    for edge in run.graph.edges:
        call, source = run.calls.get(edge.target), run.nodes[edge.source]
        if call is None or edge.name not in call.reads or source.value is None:
            continue
        read = call.reads[edge.name]
        several = source.primitive is not None and source.value.shape != read.numbers.shape
        told = f"{edge.target} {call.op.name} reads {edge.name} of {source.label}"
        if not several and source.kind in ("op", "parameter", "input", "buffer", "constant"):
            cast = read.numbers.astype(source.value.dtype)
            other = source.primitive is not None and source.primitive.multiple_outputs
            yield told, not alike(source, cast) and not other
        if source.kind == "parameter":
            known = [
                names
                for key, names in run.names.items()
                if np.shares_memory(run.tensors[key]._data, _numbers(read.thing))
                or run.tensors[key] is read.thing
            ]
            called = [f".{name}" for one in known for name in one]  # an outer module knows more
            right = any(name.endswith(f".{source.label}") for name in called)
            yield f"{told} (name)", bool(known) and not right


def counts(run: Evidence) -> Iterator[tuple[str, bool]]:
    """The header counts parameters and values: refuted by the parameters that ops read."""
    found: dict[int, Tensor] = {}
    for box, uses in run.uses.items():
        for read in uses if run.nodes[box].kind == "parameter" else ():
            for key, tensor in run.tensors.items():
                shared = np.shares_memory(tensor._data, _numbers(read.thing))
                if isinstance(tensor, nn.Parameter) and (shared or tensor is read.thing):
                    found[key] = tensor
    size, facts = sum(one.numel() for one in found.values()), _facts(run.graph)
    if run.tensors:
        match = re.search(r"([\d,]+) parameters? of ([\d,]+) values?", facts)
        told = [0, 0] if match is None else [int(text.replace(",", "")) for text in match.groups()]
        yield f"{facts}; truth {len(found)} of {size}", told != [len(found), size]


def frozen(run: Evidence) -> Iterator[tuple[str, bool]]:
    """It is frozen, requires no gradient: refuted by an op that read it while it required one."""
    for box, why in missing_gradients(run.graph).items():
        if re.search("frozen|equires? no gradient: |given from outside", why):
            asked = any(read.required for read in run.uses[box])
            yield f"{run.nodes[box].label}: {why}", asked


def cut(run: Evidence) -> Iterator[tuple[str, bool]]:
    """Its path to the loss is cut at a box: refuted if that box leads to no loss, or keeps a graph.

    Also by what required no gradient, which there is nothing to cut of.
    """
    for box, why in missing_gradients(run.graph).items():
        if match := re.match(r"Its path to the loss is cut at (\S+?)(?: \((.*?)\))?\. ", why):
            label, line = match[1], match[2] or ""
            places = [
                other.id
                for other in run.graph.nodes
                if other.label == label and (not line or other.line == line) and not other.recorded
            ]
            required = all(read.required for read in run.uses[box])
            reached = {box, *run.reached(box)}
            passes = any(run.leads(place) and place in reached for place in places)
            yield f"{run.nodes[box].label}: {why}", not (passes and required)


def caused(run: Evidence) -> Iterator[tuple[str, bool]]:
    """Why an op has no history: refuted by grad mode, by its rules, or by what it read."""
    for box, why in missing_gradients(run.graph).items():
        call = run.calls.get(box)
        if call is None:
            continue
        told = f"{run.nodes[box].label}: {why}"
        if why.startswith("It ran under no_grad"):
            yield told, call.grad_mode
        elif "has no derivative" in why and not why.startswith("Its path"):
            yield told, call.op.differentiable
        elif why.startswith("Nothing that it reads"):
            yield told, any(read.required for read in call.reads.values())
        elif why.startswith("Its values were read without"):
            yield told, any(read.required for read in run.uses[box])


def unreached(run: Evidence) -> Iterator[tuple[str, bool]]:
    """The pass did not depend on it, or was not asked: refuted by a path, or by what was sent."""
    got = {part.target for step in run.graph.steps for part in step.parts} | run.stepped
    for box, why in missing_gradients(run.graph).items():
        told = f"{run.nodes[box].label}: {why}"
        if "tensors that do not depend on it" in why:
            yield told, run.leads(box)
        elif "not asked for" in why or "was asked for" in why:
            yield told, not run.leads(box, lambda one: run.nodes[one].recorded)
        elif why.startswith("No backward pass has run"):
            yield told, bool(run.witness.sent)
        yield told, box in got


def complete(run: Evidence) -> Iterator[tuple[str, bool]]:
    """Every box has a gradient or a reason: refuted by one that has neither, or both."""
    missing = missing_gradients(run.graph)
    got = {part.target for step in run.graph.steps for part in step.parts} | run.stepped
    for node in run.graph.nodes:
        if node.kind != "output":
            yield f"{node.label}: gradient or reason", (node.id in got) == (node.id in missing)


def holds(run: Evidence) -> Iterator[tuple[str, bool]]:
    """What `.grad` holds: refuted by `.grad`."""
    sums, told = final_gradients(run.graph.steps), held(run.graph)
    for box, text in told.items():
        tensors = [
            one for key, one in run.tensors.items() if run.nodes[box].label in run.names[key]
        ]
        known = [read.thing for read in run.uses[box]]
        tensors = [one for one in tensors if any(one is other for other in known)]
        if len(tensors) != 1:
            continue
        grad, label = tensors[0].grad, run.nodes[box].label
        own = None if grad is None else grad._data
        numbers = re.findall(r"norm ([\d.e+-]*\d)|(None) after", text)
        if text == ".grad holds this sum.":
            same = own is not None and np.isclose(size(own), sums[box].norm, rtol=1e-4)
            yield f"{label}: {text} {own}", not same
        elif text.startswith("No .grad was written"):
            yield f"{label}: {text}", own is not None
        elif match := re.search(r"this sum was added: now (\S+)\.$", text):
            norm = np.nan if own is None else size(own)
            yield f"{label}: {text} {norm}", not np.isclose(norm, float(match[1]), rtol=2e-3)
        elif numbers:
            last = numbers[-1][0]
            norm = None if own is None else size(own)
            same = norm is None if not last else norm is not None
            close = not last or (norm is not None and np.isclose(norm, float(last), rtol=2e-3))
            yield f"{label}: {text} {norm}", not (same and close)


CLAIMS: dict[str, Claim] = {
    one.__name__: one for one in (reads, counts, frozen, cut, caused, unreached, complete, holds)
}


# The sweep ------------------------------------------------------------------------------------


def watched(program: Program) -> Evidence:
    """Run a program under a trace, with a witness."""
    minigrad.random.seed(0)
    (act, named), witness = program(), Witness()
    with viz.trace() as traced, witness:
        act(**named)
    tensors = {name: one for name, one in named.items() if isinstance(one, Tensor)}
    found, names = by_name(named)
    return Evidence(traced.graph(**tensors), witness, names, found)


def by_name(named: dict[str, Any]) -> tuple[dict[int, Tensor], dict[int, set[str]]]:
    """The tensors, and those of the modules, by id; and their names."""
    names: dict[int, set[str]] = defaultdict(set)
    found: dict[int, Tensor] = {}
    for name, one in named.items():
        owned = one.state_dict(keep_vars=True) if isinstance(one, nn.Module) else {name: one}
        for label, tensor in owned.items():
            if isinstance(tensor, Tensor):
                names[id(tensor)].add(label)
                found[id(tensor)] = tensor
    return found, names


def refuted(run: Evidence) -> dict[str, list[str]]:
    """The refuted sentences of each kind."""
    return {
        name: bad
        for name, claim in CLAIMS.items()
        if (bad := [told for told, false in claim(run) if false])
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_sentence_is_refuted(name: str) -> None:
    run = watched(PROGRAMS[name])
    assert len(run.calls) > 1
    assert not refuted(run)


def gallery(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Evidence]:
    """Run a program of the gallery; what it explores, and the models and tensors that it has."""
    graphs: list[Diagram] = []
    monkeypatch.setattr(explorer, "write_page", lambda graph, *_: graphs.append(graph) or "")
    with Witness() as witness:
        known = runpy.run_path(str(GALLERY / f"{name}.py"))
    tensors, names = by_name(known)
    return [Evidence(graph, witness, names, tensors) for graph in graphs]


def example(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.slow if name == "gpt2" else ())


@pytest.mark.parametrize("name", [example(n) for n in example_names() if n != "several_ranks"])
def test_no_sentence_of_the_gallery_is_refuted(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = gallery(name, monkeypatch)
    assert runs
    for run in runs:
        assert run.calls
        assert not refuted(run)


SEVERAL: dict[str, Callable[[Tensor], Tensor]] = {
    "slogdet": lambda x: minigrad.linalg.slogdet(x)[1] + 1.0,
    "qr": lambda x: minigrad.linalg.qr(x)[1] + 1.0,
    "eigh": lambda x: minigrad.linalg.eigh(x @ x.T)[1] + 1.0,
    "svd": lambda x: minigrad.linalg.svd(x)[1] + 1.0,
}


@pytest.mark.parametrize("name", SEVERAL)
def test_what_reads_one_of_several_outputs_has_its_numbers(name: str) -> None:
    x = minigrad.tensor([[2.0, 0.5], [0.25, 1.0]])
    data = explored(SEVERAL[name], x)
    step, own = (next(s for s in data["steps"] if s["op"] == op) for op in ("add", name))
    [edge] = [one for one in data["edges"] if one["target"] == step["node"]]
    assert edge["place"] == 1
    nodes = {one["id"]: one for one in data["nodes"]}
    given, wanted = nodes[step["node"]]["given"]["a"], (SEVERAL[name](x) - 1.0).numpy()
    given = given["values"] if isinstance(given, dict) else given
    np.testing.assert_allclose(np.ravel(given), wanted.ravel(), rtol=1e-5)
    own = [(one["several"], one["terms"]) for one in nodes.values() if one["label"] == name]
    assert own == [(True, {})]
