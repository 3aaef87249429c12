"""Integers and bools as inputs: a function gives the default float, an integer or a bool.

NumPy makes float64 of them, and float16 of a bool. A result in floats is computed with floats from
the start: a difference of unsigned integers would wrap around.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from op_samples import CASES, OURS

import minigrad
from minigrad import Tensor, tensor
from minigrad.autograd import primitive
from minigrad.nn import functional
from minigrad.transforms.structure import flatten

INTEGERS = (np.int64, np.int8, np.uint8, np.bool_)


@pytest.fixture(params=[np.float32, np.float64, np.float16])
def default(request: pytest.FixtureRequest) -> Iterator[Any]:
    before = minigrad.get_default_dtype()
    minigrad.set_default_dtype(request.param)
    yield request.param
    minigrad.set_default_dtype(before)


def outputs(function: Callable[..., Any], arrays: list[np.ndarray]) -> list[Tensor]:
    """The tensors that a function returns; none where it refuses the arrays."""
    with np.errstate(all="ignore"):
        try:
            found = function(*map(minigrad.tensor, arrays))
        except (ArithmeticError, IndexError, TypeError, ValueError):
            return []
    return [value for _, value in flatten(found, "") if isinstance(value, Tensor)]


def wrong(function: Callable[..., Any], arrays: list[np.ndarray], default: Any) -> str:
    """What is wrong with the results for integers, beside those for the same numbers as floats."""
    as_floats = outputs(function, [array.astype(default) for array in arrays])
    for result, expected in zip(outputs(function, arrays), as_floats, strict=False):
        if result.dtype.kind != "f":
            continue
        if result.dtype != expected.dtype:
            return f"{result.dtype}, expected {expected.dtype}"
        one, other = result.numpy(), expected.numpy()
        if default == np.float32 and not np.allclose(one, other, 1e-3, 1e-4, equal_nan=True):
            return f"{one.ravel()[:4]}, expected {other.ravel()[:4]}"
    return ""


def offenders(
    named: list[tuple[str, Callable[..., Any], list[np.ndarray]]], default: Any
) -> dict[str, str]:
    return {
        f"{name} of {dtype.__name__}": found
        for name, function, arrays in named
        for dtype in (INTEGERS if default == np.float32 else INTEGERS[:1])
        if (found := wrong(function, [array.astype(dtype) for array in arrays], default))
    }


def test_every_sample_call(default: Any) -> None:
    """A case with a float64 constant gives float64 for floats too. A product of bools is not a sum,
    so the cases that make symmetric matrices of their inputs are other matrices.
    """
    symmetric = ("linalg.cholesky", "linalg.eigh", "linalg.eigvalsh")
    named = [
        (str(case), case.on(OURS), [np.abs(np.round(3 * array)) for array in case.inputs])
        for case in CASES
        if case.op not in symmetric
    ]
    assert not offenders(named, default)
    assert sum(bool(outputs(call, arrays)) for _, call, arrays in named) > 0.95 * len(named)


def test_solutions_of_integer_systems_are_no_integers() -> None:
    a, b = np.array([[2, 1], [0, 4]]), np.array([[1], [1]])
    found = minigrad.linalg.solve_triangular(tensor(a), tensor(b), upper=True)
    np.testing.assert_array_equal(found.numpy(), np.array([[0.375], [0.25]], np.float32))


SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((3,),), ((4, 3),), ((2, 3, 4),), ((2, 3, 4, 4),), ((3,), (3,)), ((4, 3), (4, 3)),
    ((2, 3, 3), (2, 3, 3)), ((4, 3), (4,)), ((4, 3), (4, 3), (4, 3)), ((4, 3), (4, 3), (4,)),
]  # fmt: skip
# One draws at random; the other takes its products of bools as they are.
LEFT_OUT = ("gumbel_softmax", "compute_attention_scores")


def test_functions_of_layers(default: Any) -> None:
    rng = np.random.default_rng(0)
    named = [
        (f"{name}{shapes}", getattr(functional, name), [rng.integers(0, 5, s) for s in shapes])
        for name in functional.__all__
        if inspect.isfunction(getattr(functional, name))
        and "drop" not in name
        and name not in LEFT_OUT
        for shapes in SHAPES
    ]
    assert not offenders(named, default)


FORMS: dict[str, dict[str, Any]] = {
    "one": {}, "static": {"arrays": 1}, "residual": {"residuals": ("kept",)},
    "outputs": {"multiple_outputs": True}, "two": {}, "two and static": {"arrays": 2},
    "three": {"arrays": 3}, "variadic": {},
}  # fmt: skip
SIGNATURES = {"one": "x", "static": "x, n", "residual": "x", "outputs": "x", "two": "x, y",
              "two and static": "x, y, n", "three": "x, y, z", "variadic": "*x"}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_an_op_of_a_program_with_float_inputs(form: str, default: Any) -> None:
    """Whatever its signature: its forward never sees an integer."""
    seen: list[Any] = []

    def out(*arrays: Any) -> Any:
        seen.extend(array.dtype for array in arrays)
        result = np.sqrt(arrays[0])
        return (result, 0) if form in ("residual", "outputs") else result

    given = SIGNATURES[form].replace(", n", "")
    forward = eval(f"lambda {SIGNATURES[form]}: out({given})", {"out": out})
    op = primitive(float_inputs=True, **FORMS[form])(forward)
    count = 2 if form == "variadic" else given.count(",") + 1
    for dtype in INTEGERS:
        arguments = [tensor(np.ones(3, dtype))] * count + [1] * ("n" in SIGNATURES[form])
        found = op(*arguments)
        assert (found[0] if form == "outputs" else found).dtype == default
    assert {*seen} == {np.dtype(default)}
