"""The gradient of a broadcast input has its sum, in each formula: ops x broadcasts, evaluated."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reading import explored
from test_viz_formula_values import value_of

import minigrad
from minigrad import Tensor, viz
from minigrad.nn import functional as F
from minigrad.viz.explanation.explanations import summed_axes
from minigrad.viz.formula import reading_of
from minigrad.viz.formula.signs import shrunk

BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "maximum": minigrad.maximum,
    "minimum": minigrad.minimum,
    "atan2": minigrad.atan2,
    "hypot": minigrad.hypot,
    "logaddexp": minigrad.logaddexp,
    "xlogy": minigrad.xlogy,
    "where": lambda a, b: minigrad.where(np.arange(3) > 0, a, b),
    "remainder": lambda a, b: a % b,
    "lerp": lambda a, b: minigrad.lerp(a, b, 0.25),
}
SHAPES = {
    "a row": ((2, 3), (3,)),
    "a column": ((2, 3), (2, 1)),
    "one number": ((2, 3), ()),
    "one of each": ((2, 1), (1, 3)),
    "leading axes": ((4, 2, 3), (2, 3)),
    "leading and inner axes": ((4, 2, 3), (2, 1)),
    "axes of one": ((2, 3), (1, 1, 3)),
    "alike": ((2, 3), (2, 3)),
}
X = (4, 2, 3)
LAYERS: dict[str, tuple[Callable[..., Tensor], tuple[tuple[int, ...], ...]]] = {
    "linear": (lambda x, w, b: F.linear(x, w, b), (X, (5, 3), (5,))),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (3,), w, b), (X, (3,), (3,))),
    "layer_norm of two axes": (lambda x, w, b: F.layer_norm(x, (2, 3), w, b), (X, (2, 3), (2, 3))),
    "layer_norm of all": (lambda x, w, b: F.layer_norm(x, X, w, b), (X, X, X)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (3,), w), (X, (3,))),
    "batch_norm": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (X, (2,), (2,)),
    ),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), (X, (2,), (2,))),
    "prelu": (lambda x, w: F.prelu(x, w), (X, (2,))),
    "a stack of matrices": (lambda a, b: a @ b, (X, (3, 5))),
    "a stack and a vector": (lambda a, b: a @ b, (X, (3,))),
    "a matrix and a stack": (lambda a, b: a @ b, ((5, 2), X)),
    "stacks": (lambda a, b: a @ b, (X, (1, 3, 5))),
    "a stack of stacks": (lambda a, b: a @ b, ((2, *X), (4, 3, 5))),
    "clip between tensors": (minigrad.clip, (X, (3,), (2, 1))),
    "baddbmm": (minigrad.baddbmm, ((5,), X, (4, 3, 5))),
    "addcmul": (minigrad.addcmul, (X, (3,), (2, 1))),
}  # fmt: skip


def drawn(shapes: tuple[tuple[int, ...], ...]) -> list[Tensor]:
    rng = np.random.default_rng(0)
    return [minigrad.tensor(rng.uniform(0.5, 2.0, one), requires_grad=True) for one in shapes]


CASES = {
    f"{name}, {shape}": (function, SHAPES[shape]) for name, function in BINARY.items()
    for shape in SHAPES
} | LAYERS  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_formula_of_a_broadcast_input_has_its_sum(name: str) -> None:
    function, shapes = CASES[name]
    inputs = drawn(shapes)
    names = {f"t{i}": one for i, one in enumerate(inputs)}
    weights = np.cos(np.arange(function(*inputs).numel())).reshape(function(*inputs).shape)
    plan = viz.explain((function(*inputs) * weights).sum(), **names)
    with viz.trace() as traced:
        (function(*inputs) * weights).sum().backward()
    graph = traced.graph(**names)
    boxes = {node.id: node for node in graph.nodes}
    sums: list[bool] = []
    for step in graph.steps:
        op = boxes[step.node].primitive
        for part in step.parts:
            axes = tuple(summed_axes(part.raw_shape, part.sent.shape))
            reading = reading_of(op, part.name.partition("[")[0], step.given)
            found = np.asarray(shrunk(value_of(reading, dict(step.given)), axes))
            zero = not found.ndim and not found.any()  # a gradient that is zero everywhere
            assert zero or found.size == np.prod(part.sent.shape, dtype=int), (op.name, part.name)
            right = part.sent.array()
            np.testing.assert_allclose(
                np.broadcast_to(found.ravel(), right.size), right.ravel(), 1e-9, 1e-12
            )
            sums.append(bool(axes) and not zero)
    latex = viz.explain(graph).to_latex()
    assert len(re.findall(r"\\sum_{\\text{ax(?:is|es) [\d, ]+}}", latex)) == sum(sums)
    assert _shapes(plan) == _shapes(viz.explain(graph))


def _shapes(text: Any) -> list[str]:
    """What is summed, line by line."""
    return re.findall(r"summed over .*? to [\d×]+|summed over .*? to scalar", str(text))


def test_the_formula_on_the_page_has_it_too() -> None:
    data = explored(lambda x, b: x + b, *drawn(((2, 3), (3,))))
    shown = {part["name"]: part["formula"]["mathml"] for part in data["steps"][-1]["parts"]}
    assert "axis\u00a00" in shown["b"]
    assert "axis" not in shown["a"]
