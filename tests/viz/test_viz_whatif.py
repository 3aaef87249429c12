"""What the page computes when a number is moved: as the program does, or it is refused."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import node_js
import numpy as np
import pytest
from op_samples import CASES, Case
from reading import differentiated, variable, watched
from test_viz_page_script import ARITHMETIC, payload_of, script, source

import minigrad
from minigrad import Tensor, func, nn, tensor, viz
from minigrad.nn import functional as F


def moved(given: Sequence[tuple[viz.Graph, Sequence[Sequence[Any]]]]) -> list[list[Any]]:
    """What the page says of each move (leaf, place, value) in each graph."""
    program = "\n".join(map(source, [*ARITHMETIC, "whatif"])) + script("moves")
    return node_js.node(program, [(payload_of(graph), moves) for graph, moves in given])


def id_of(graph: viz.Graph, label: str) -> str:
    return next(box.id for box in graph.nodes if box.label == label)


def close(said: list[str], right: np.ndarray) -> bool:
    mine = np.array([float(one) for one in said])
    right = right.astype(float)
    finite = right[np.isfinite(right)]
    room = 2e-4 * float(np.abs(finite).max(initial=0)) + 5e-6
    return mine.shape == right.shape and np.allclose(mine, right, 1e-3, room, equal_nan=True)


def agrees(found: Any, expected: viz.Graph) -> bool:
    """Whether each value and each gradient of the page is that of the program."""
    values = [box.value for box in expected.nodes]
    sent = [part.sent for step in expected.steps for part in step.parts]
    said = [*found["values"], *(one for step in found["sent"] for one in step)]
    if len(said) != len(values) + len(sent):
        return False
    pairs = zip(said, [*values, *sent], strict=True)
    return all(
        close(mine, one.entries()) for mine, one in pairs if one is not None and mine is not None
    )


def hold(
    function: Callable[[Tensor], Any], x: Any, moves: Sequence[tuple[int, float]]
) -> list[str]:
    """Check moves of entries of x: why each is refused, empty where it is right."""

    def run(values: Any) -> viz.Graph:
        leaf = tensor(values, requires_grad=True)
        minigrad.random.seed(0)
        return watched(lambda: function(leaf).backward(), moved=leaf)

    start = np.array(x, np.float32)
    graph = run(start)
    [told] = moved([(graph, [(id_of(graph, "moved"), at, value) for at, value in moves])])
    for (at, value), found in zip(moves, told, strict=True):
        assert found["back"]
        assert not found["half"]
        if found["why"]:
            continue
        assert not found["thrown"]
        other = start.copy()
        other.flat[at] = value
        assert agrees(found, run(other)), (at, value)
    return [found["why"] for found in told]


POINT = [0.2, -0.3, 0.5, 0.1]
CHOICES: dict[str, Callable[[Tensor], Tensor]] = {
    "clip": lambda x: (x.clip(-1.0, 1.0) * x).sum(),
    "clip of ints": lambda x: x.clip(-1, 1).sum(),
    "clip of one side": lambda x: minigrad.clip(x, -1.0, None).sum(),
    "clip between tensors": lambda x: x.clip(tensor([-1.0] * 4), tensor([1.0] * 4)).sum(),
    "hardtanh": lambda x: F.hardtanh(x).sum(),
    "hardtanh of other bounds": lambda x: F.hardtanh(x, -2.0, 1.0).sum(),
    "relu6": lambda x: F.relu6(x).sum(),
    "fmax": lambda x: minigrad.fmax(x, 0.15 * x + 0.1).sum(),
    "fmin": lambda x: minigrad.fmin(x, tensor([0.3] * 4)).sum(),
    "maximum": lambda x: minigrad.maximum(x, tensor(0.0)).sum(),
    "leaky_relu": lambda x: F.leaky_relu(x).sum(),
    "threshold": lambda x: F.threshold(x, -1.0, 5.0).sum(),
    "hardswish": lambda x: F.hardswish(x).sum(),
    "softshrink": lambda x: F.softshrink(x).sum(),
    "where": lambda x: minigrad.where(x > 0.0, x, 2.0 * x).sum(),
    "a mask": lambda x: x[x > 0.0].sum(),
    "amax": lambda x: x.amax(),
    "median": lambda x: x.median(),
    "sort": lambda x: (x.sort().values * tensor([1.0, 2.0, 3.0, 4.0])).sum(),
    "topk": lambda x: x.topk(2).values.sum(),
    "round": lambda x: (x.round() * x).sum(),
    "nan_to_num": lambda x: minigrad.nan_to_num(x).sum(),
    "copysign": lambda x: minigrad.copysign(x, x * 2.0).sum(),
    "remainder": lambda x: (x % 0.7).sum(),
}


@pytest.mark.parametrize("name", CHOICES)
def test_ops_that_choose_are_right_or_refused(name: str) -> None:
    """Beyond each bound and each order of the run: no op is taken for what it was at the point."""
    why = hold(CHOICES[name], POINT, [(0, 3.0), (0, -3.0), (3, 0.45), (1, 30.0)])
    refused = {"a mask", "median", "round", "nan_to_num", "copysign"}
    if name not in refused:
        assert why == [""] * 4


LEFT: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "an array": (lambda x: (x / x.detach().numpy().max()).sum(), ".numpy()"),
    "a number": (lambda x: (x * float(x[0])).sum(), ".item()"),
    "an item": (lambda x: (x * x.sum().item()).sum(), ".item()"),
    "a branch": (lambda x: (x * 2.0 if x.sum() > 0.0 else x).sum(), "bool()"),
    "a list": (lambda x: (x * max(x.tolist())).sum(), ".tolist()"),
    "an int": (lambda x: (x * int(x.argmax())).sum(), ".item()"),
    "what was computed": (lambda x: (x * (x * x).sum().item()).sum(), ".item()"),
    "NumPy": (lambda x: (x * np.asarray(x.detach()).max()).sum(), "array"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_left_the_graph_is_said_with_its_line(name: str) -> None:
    function, door = LEFT[name]
    (why,) = hold(function, POINT, [(0, 3.0)])
    assert why.startswith("a value left the graph, and what was made of it is not known: ")
    assert "test_viz_whatif.py:" in why
    assert door in why


def test_a_value_that_is_only_printed_changes_nothing() -> None:
    def run(x: Tensor) -> Tensor:
        loss = (x * x).sum()
        assert loss.item() > 0.0
        return loss

    assert hold(run, POINT, [(0, 3.0)]) == [""]


def classified(y: Tensor) -> Tensor:
    return F.cross_entropy(y, tensor([0, 2, 1]))


MODELS: dict[str, tuple[nn.Module, tuple[int, ...], Callable[[Tensor], Tensor]]] = {
    "perceptron": (
        nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Dropout(0.3), nn.Linear(5, 3)),
        (3, 4), classified,
    ),
    "convolution": (
        nn.Sequential(
            nn.Conv2d(1, 2, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
            nn.Linear(8, 3),
        ),
        (3, 1, 4, 4), classified,
    ),
    "encoder": (nn.TransformerEncoderLayer(4, 2, 6), (2, 3, 4), lambda y: (y**3).sum()),
    "RMS norm": (nn.Sequential(nn.RMSNorm(4), nn.SiLU()), (3, 4), lambda y: y.std()),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_number_of_the_input_or_of_a_parameter_of_a_model(name: str) -> None:
    model, shape, loss = MODELS[name]
    x = minigrad.randn(*shape)
    label, weight = next(model.named_parameters())
    with_weight = lambda w: loss(func.functional_call(model, {label: w}, x))
    for function, leaf in ((lambda x: loss(model(x)), x), (with_weight, weight)):
        numbers = leaf.detach().numpy()
        assert hold(function, numbers, [(1, float(numbers.flat[1]) + 0.7)]) == [""]


def test_what_the_page_cannot_compute_is_said() -> None:
    inverse = lambda x: minigrad.linalg.inv(x).sum()
    [why] = hold(inverse, np.eye(3) + 0.5, [(0, 2.0)])
    assert why.startswith("the page does not know what inv at ")
    assert "test_viz_whatif.py:" in why


def test_ops_beside_the_loss_hold_up_only_the_leaves_that_they_read() -> None:
    x, w = variable(0.5, -1.0, 2.0), variable(1.0, 2.0, 3.0)
    graph = watched(lambda: ((w * w).sum() + (x + x.detach().median()).sum()).backward(), x=x, w=w)
    of_x, of_w = moved([(graph, [(id_of(graph, "x"), 0, 3.0), (id_of(graph, "w"), 0, 3.0)])])[0]
    assert of_x["why"].startswith("the page does not know what quantile at ")
    assert of_x["thrown"]
    assert not of_x["half"]
    assert not of_w["why"]


def test_a_recurrence_of_many_steps_moves_as_it_does_in_python() -> None:
    """Its arrays are written with few digits, but the page computes from all of those of leaves."""
    u, w, start = minigrad.randn(6, 16), minigrad.randn(16, 16) / 3.0, minigrad.randn(5, 16)
    steps = minigrad.randn(12, 5, 6)

    def run(x: Tensor) -> Tensor:
        h = start
        for step in range(12):
            h = F.tanh((steps[step] + x) @ u + h @ w)
        return (h * h).mean() - 0.5

    def loss_at(value: float) -> float:
        x = np.zeros((5, 6), np.float32)
        x[0, 0] = value
        return run(tensor(x)).item()

    leaf = tensor(np.zeros((5, 6)), dtype="float32", requires_grad=True)
    graph = watched(lambda: run(leaf).backward(), moved=leaf)
    end = [i for i, box in enumerate(graph.nodes) if box.kind == "output"][-1]
    moves = [0.0, 1e-3, -1e-3, 0.01, 0.5]
    [told] = moved([(graph, [(id_of(graph, "moved"), 0, one) for one in moves])])
    losses = [float(found["values"][end][0]) for found in told]
    assert [found["why"] for found in told] == [""] * 5
    for value, loss in zip(moves[1:], losses[1:], strict=True):
        change, right = loss - losses[0], loss_at(value) - loss_at(0.0)
        assert math.copysign(1.0, change) == math.copysign(1.0, right)
        assert change == pytest.approx(right, rel=0.02, abs=2e-7)


def run_of(case: Case, arrays: Sequence[np.ndarray]) -> viz.Graph:
    with viz.trace() as traced, np.errstate(all="ignore"):
        minigrad.random.seed(0)
        inputs = differentiated(case, arrays)
    return traced.graph(**{f"t{i}": one for i, one in enumerate(inputs)})


@pytest.mark.slow
def test_every_op_that_is_offered_moves_as_it_does_in_python() -> None:
    given: list[tuple[viz.Graph, list[Any]]] = []
    expected: list[tuple[str, list[viz.Graph]]] = []
    seen = Counter[str]()
    for case in CASES:
        name = str(case).partition("-")[0]
        seen[name] += 1
        if seen[name] > 1 or not any(array.size for array in case.inputs):
            continue
        try:
            graph = run_of(case, case.inputs)
        except RuntimeError:  # nothing ran that a trace sees
            continue
        labels = {box.label for box in graph.nodes}
        moves, runs = list[Any](), list[viz.Graph]()
        for i, array in enumerate(case.inputs):
            if array.dtype.kind != "f" or not array.size or f"t{i}" not in labels:
                continue
            for change in (0.37, 30.0):
                other = [np.array(one) for one in case.inputs]
                other[i].flat[array.size - 1] += change
                try:
                    runs.append(run_of(case, other))
                except (ValueError, np.linalg.LinAlgError):  # outside of its domain
                    continue
                value = float(other[i].flat[array.size - 1])
                moves.append((id_of(graph, f"t{i}"), array.size - 1, value))
        given.append((graph, moves))
        expected.append((str(case), runs))
    right, wrong = 0, list[Any]()
    for (case, runs), (_, moves), told in zip(expected, given, moved(given), strict=True):
        for move, run, found in zip(moves, runs, told, strict=True):
            assert found["back"], case
            assert not found["half"], case
            if found["why"]:
                continue
            if found["thrown"] or not agrees(found, run):
                wrong.append((case, move, found["thrown"]))
            right += 1
    assert not wrong
    assert right > 200
