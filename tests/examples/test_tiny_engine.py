"""The engine of 120 lines beside the real one: the same gradients, of first and second order."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_engine

import minigrad
from minigrad import autograd

ENGINE = Path(autograd.__file__).parent
PROGRAMS = 40


def program(engine: Any, leaves: list[Any], rng: np.random.Generator) -> Any:
    """A number that a random program makes of matrices of 3 by 3 and rows of 3."""
    values, number = list(leaves), leaves[0].sum() + leaves[1].sum() + leaves[2].sum()
    for _ in range(8):
        a, b = (values[rng.integers(len(values))] for _ in range(2))
        match rng.integers(6):
            case 0:
                made = a + b
            case 1:
                made = a * b
            case 2:
                made = engine.exp(a * 0.1)
            case 3:
                made = a.T + b
            case 4:
                made = leaves[0] @ (a + leaves[0])
            case _:
                made = 2.0 * a + number
        values.append(made * 0.5)
        number = number * 0.5 + values[-1].sum()
    return number


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_it_finds_the_gradients_of_the_real_engine(seed: int) -> None:
    arrays = [np.random.default_rng(seed).normal(size=shape) for shape in ((3, 3), (1, 3), (3,))]
    tiny = [tiny_engine.Variable(array, requires_grad=True) for array in arrays]
    real = [minigrad.tensor(array, requires_grad=True) for array in arrays]
    ours = program(tiny_engine, tiny, np.random.default_rng(seed))
    theirs = program(minigrad, real, np.random.default_rng(seed))
    np.testing.assert_allclose(ours._data, theirs.numpy(), rtol=1e-12)
    first = tiny_engine.run_backward(ours, create=True)
    expected = autograd.grad(theirs, real, create_graph=True)
    for leaf, gradient in zip(tiny, expected, strict=True):
        np.testing.assert_allclose(first[leaf._node]._data, gradient.numpy(), rtol=1e-10)
    if not expected[0].requires_grad:
        return
    tiny_engine.backward((first[tiny[0]._node] * first[tiny[0]._node]).sum())
    (expected[0] * expected[0]).sum().backward()
    for leaf, tensor in zip(tiny, real, strict=True):
        found = 0.0 if leaf.grad is None else leaf.grad._data
        wanted = 0.0 if tensor.grad is None else tensor.grad.numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_each_case_that_it_leaves_out_has_the_place_that_it_names() -> None:
    text = Path(tiny_engine.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    comments = "\n".join(re.findall(r"#.*|\"\"\".*", text))
    places = re.findall(r": (\w+)\.([\w.]+)", comments)
    assert len(places) > 15
    for file, name in places:
        source = (ENGINE / f"{file}.py").read_text(encoding="utf-8")
        assert re.search(rf"\b{name.split('.')[-1]}\b", source), f"{file}.{name}"


def test_it_has_the_names_of_the_real_engine() -> None:
    for name in ("run_backward", "accumulate", "unbroadcast"):
        assert hasattr(autograd.engine, name), name
    for name in ("Variable", "Leaf", "Node", "clock"):
        assert hasattr(autograd.node, name), name
