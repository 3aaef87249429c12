"""Rules, kernels and layers never ask a tensor by a name that means two things.

On an array `x.max(0)`, `x.size` and twelve other names mean NumPy's, on a tensor PyTorch's. Code
that is given either uses ops and NumPy's functions. A lint cannot tell an array from a tensor, so
the calls are run with tensors on which these names fail.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS
from op_samples import CASES, OURS

import minigrad
from minigrad import Tensor, debugging, ops
from minigrad.autograd import grad

NAMES = [
    "max", "min", "median", "sort", "std", "var", "size", "split", "repeat", "transpose", "unique",
    "nonzero", "flip", "take",
]  # fmt: skip
REDUCTIONS = ["sum", "mean"]
"""Of these an empty tuple of axes means no axis, or all."""


class Refused:
    """An attribute of tensors that fails when it is read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        raise AssertionError(f"`.{self.name}` of a tensor: on an array it means something else")


def with_an_axis(method: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction that fails when it is told to reduce along no axis."""

    def reduced(*args: Any, **keywords: Any) -> Any:
        assert () not in [*args[1:2], keywords.get("axis"), keywords.get("dim")], (
            f"`.{method.__name__}(axis=())` of a tensor: on an array it means something else"
        )
        return method(*args, **keywords)

    return reduced


@pytest.fixture(autouse=True)
def names_fail(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        for name in NAMES:
            patched.setattr(Tensor, name, Refused(name))
        for name in REDUCTIONS:
            patched.setattr(Tensor, name, with_an_axis(getattr(Tensor, name)))
        yield


def slopes(outputs: list[Tensor], inputs: list[Tensor], again: bool) -> list[Tensor]:
    """The gradients of outputs that have a history; recorded, where they shall be derived again."""
    total = ops.sum(ops.stack([ops.sum(out * 1.5) for out in outputs]))
    found = grad(total, inputs, retain_graph=True, create_graph=again, allow_unused=True)
    return [g for g in found if g is not None and (g.requires_grad or not again)]


def differentiate_twice(outputs: list[Any], inputs: list[Tensor]) -> None:
    if recorded := [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]:
        slopes(recorded, inputs, again=False)
    if recorded and (first := slopes(recorded, inputs, again=True)):
        slopes(first, inputs, again=False)


@pytest.mark.parametrize("op", dict.fromkeys(case.op for case in CASES))
def test_of_ops(op: str) -> None:
    cases = [case for case in CASES if case.op == op]
    for case in cases[:: -(-len(cases) // 5)]:
        inputs = [minigrad.tensor(array, requires_grad=True) for array in case.inputs]
        result = case.on(OURS)(*inputs)
        differentiate_twice(list(result) if isinstance(result, (tuple, list)) else [result], inputs)


@pytest.mark.needs("einops")
@pytest.mark.parametrize("kind", dict.fromkeys(line.kind for line in LAYERS if line.is_called))
def test_of_layers(kind: str) -> None:
    rng = np.random.default_rng(3)
    for line in (line for line in LAYERS if line.kind == kind and line.is_called):
        inputs = [
            minigrad.tensor(rng.standard_normal(shape), requires_grad=True) for shape in line.shapes
        ]
        module = line.make().to(np.float64)
        minigrad.random.seed(0)
        with debugging.Profile():  # it reads the shapes of what ops are given
            outputs = line.run(module, *inputs)
        differentiate_twice(outputs, [*inputs, *module.parameters()])
