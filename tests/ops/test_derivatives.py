"""Every op, every argument: three derivatives, and the first in every layout and dtype."""

from collections import Counter, defaultdict
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from numpy_reference import NAIVE
from op_samples import CASES, FAMILIES, OURS, Case

import minigrad
from minigrad import Tensor, ops
from minigrad.autograd import Node, grad, gradcheck, gradgradcheck
from minigrad.autograd.node import nodes_behind
from minigrad.autograd.primitives import registry
from minigrad.ops import linalg

OF_OP: dict[str, list[Case]] = defaultdict(list)
for _case in CASES:
    OF_OP[_case.op].append(_case)

SOME = 6


def spread(cases: list[Case]) -> list[Case]:
    """At most `SOME` of them, evenly spread: cases that are alike stand side by side."""
    return cases[:: -(-len(cases) // SOME)]


SPREAD = {id(case) for cases in OF_OP.values() for case in spread(cases)}


def every_case(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test on every case, as one item per op; a failure names the cases that fail.

    (Thousands of items would cost more time than the mathematics.) With pytest's ``-x``, the first
    case that fails is the last.
    """
    return on_cases(test, [pytest.param(cases, id=op) for op, cases in OF_OP.items()])


def some_cases(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test on `SOME` cases of each op, and on every case in `make test-all`."""
    items = [pytest.param(spread(cases), id=op) for op, cases in OF_OP.items()]
    many = [
        pytest.param(cases, id=f"{op}, every case", marks=pytest.mark.long)
        for op, cases in OF_OP.items()
        if len(cases) > SOME
    ]
    return on_cases(test, items + many)


def on_cases(test: Callable[..., None], items: list[Any]) -> Callable[..., None]:
    @pytest.mark.parametrize("cases", items)
    def run(cases: list[Case], pytestconfig: pytest.Config, *args: Any) -> None:
        errors = []
        for case in cases:
            try:
                test(case, *args)
            except Exception as error:  # noqa: BLE001  # raised below
                error.add_note(f"the case is {case}")
                errors.append(error)
                if pytestconfig.getoption("maxfail") == 1:
                    break
        if errors:
            raise ExceptionGroup(f"{len(errors)} of {len(cases)} cases of {cases[0].op}", errors)

    run.__doc__ = test.__doc__
    return run


def variables(case: Case, dtype: Any = None) -> list[Tensor]:
    return [minigrad.tensor(array, requires_grad=True, dtype=dtype) for array in case.inputs]


def outputs_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def cotangents(outputs: list[Any]) -> list[np.ndarray]:
    return [np.cos(np.arange(out.numel()) + i).reshape(out.shape) for i, out in enumerate(outputs)]


def value_and_gradients(
    call: Any, inputs: list[Any], create_graph: bool = False
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    outputs = outputs_of(call(*inputs))
    weights = [w.astype(out.dtype) for w, out in zip(cotangents(outputs), outputs, strict=True)]
    found = grad(outputs, inputs, weights, create_graph=create_graph)
    return [out.numpy() for out in outputs], [g.numpy() for g in found]


@every_case
def test_value(case: Case) -> None:
    """The op computes what the plainest NumPy spelling computes."""
    ours = outputs_of(case.on(OURS)(*[minigrad.tensor(array) for array in case.inputs]))
    naive = outputs_of(case.on(NAIVE)(*case.inputs))
    assert len(ours) == len(naive)
    for ours_part, naive_part in zip(ours, naive, strict=True):
        assert ours_part.dtype == np.float64
        assert ours_part.shape == np.shape(naive_part)
        np.testing.assert_allclose(ours_part.numpy(), naive_part, rtol=1e-11, atol=1e-13)


@every_case
def test_first_derivative(case: Case) -> None:
    """Element by element: a wrong one is named. Where an op has many cases, of `SOME`; of the
    others along a random direction, in which a wrong element shows too.
    """
    directions = None if id(case) in SPREAD else 1
    assert gradcheck(case.on(OURS), variables(case), directions=directions)


@some_cases
def test_second_derivative(case: Case) -> None:
    """By itself, and where the op's cotangent depends on its output.

    Along random directions: a wrong element shows in each, and one by one they cost four times as
    much as all other tests of the ops.
    """
    assert gradgradcheck(case.on(OURS), variables(case), directions=1)

    def bent(*inputs: Tensor) -> list[Tensor]:
        return [ops.tanh(0.4 * out) for out in outputs_of(case.on(OURS)(*inputs))]

    assert gradgradcheck(bent, variables(case), directions=1)


@some_cases
def test_third_derivative(case: Case) -> None:
    """The Hessian times a fixed vector, and its own derivative along a random direction."""
    along = [np.sin(1.0 + np.arange(array.size)).reshape(array.shape) for array in case.inputs]

    def bend(*inputs: Tensor) -> list[Tensor]:
        outputs = [ops.tanh(0.4 * out) for out in outputs_of(case.on(OURS)(*inputs))]
        slopes = grad(outputs, inputs, cotangents(outputs), create_graph=True)
        curvature = grad(slopes, inputs, along, create_graph=True, allow_unused=True)
        return [part for part in curvature if part is not None]

    assert bend(*variables(case))
    assert gradcheck(bend, variables(case), directions=1)


@every_case
def test_recorded_gradients_are_the_plain_ones(case: Case) -> None:
    """And where an op has several arguments, those of each alone, the others constant or just not
    asked for.
    """
    _, together = value_and_gradients(case.on(OURS), variables(case))
    _, recorded = value_and_gradients(case.on(OURS), variables(case), create_graph=True)
    for k, (one, other) in enumerate(zip(together, recorded, strict=True)):
        assert one.shape == other.shape == case.inputs[k].shape
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13, err_msg=f"input {k}")
    several = len(case.inputs) > 1 and id(case) in SPREAD
    for k in range(len(case.inputs)) if several else ():
        inputs: list[Any] = list(case.inputs)
        inputs[k] = minigrad.tensor(inputs[k], requires_grad=True)
        for create_graph in (False, True):
            outputs = outputs_of(case.on(OURS)(*inputs))
            weights = cotangents(outputs)
            (alone,) = grad(outputs, inputs[k], weights, create_graph=create_graph)
            np.testing.assert_allclose(alone.numpy(), together[k], rtol=1e-10, atol=1e-13)
        asked = variables(case)
        outputs = outputs_of(case.on(OURS)(*asked))
        (found,) = grad(outputs, asked[k], cotangents(outputs))
        np.testing.assert_array_equal(found.numpy(), together[k])
        assert all(tensor.grad is None for tensor in asked)


def reversed_view(x: Tensor) -> Tensor:
    return x[(slice(None, None, -1),) * x.ndim]


def transposed_view(x: Tensor) -> Tensor:
    return x.T


def gapped_view(x: Tensor) -> Tensor:
    """Every other element of a larger tensor, and none beside them."""
    return ops.stack([x, x], axis=x.ndim)[..., 0]


def repeated_view(x: Tensor) -> Tensor:
    """Stride 0 along every axis: one number, seen everywhere."""
    first = x[(slice(0, 1),) * x.ndim]
    return ops.broadcast_to(first, x.shape) if np.size(x) else x


@some_cases
def test_memory_layout_does_not_matter(case: Case) -> None:
    """Negative strides, Fortran order, gaps and stride 0 give what a contiguous copy gives."""
    for view in (reversed_view, transposed_view, gapped_view, repeated_view):
        shaped = [array.T.copy() if view is transposed_view else array for array in case.inputs]

        def through_view(*inputs: Tensor, view: Any = view) -> Any:
            return case.on(OURS)(*[view(x) for x in inputs])

        def through_copy(*inputs: Tensor, view: Any = view) -> Any:
            return case.on(OURS)(*[as_new(view(x)) for x in inputs])

        inputs = [minigrad.tensor(array, requires_grad=True) for array in shaped]
        values, gradients = value_and_gradients(through_view, inputs)
        expected, wanted = value_and_gradients(through_copy, inputs)
        for one, other in zip(values + gradients, expected + wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=view.__name__)


def as_new(x: Tensor) -> Tensor:
    """The same values in fresh memory in C order, tied to the history of `x`."""
    fresh = x * 1.0
    fresh._data = np.ascontiguousarray(fresh._data).reshape(x.shape)
    return fresh


@some_cases
def test_dtype_is_kept(case: Case) -> None:
    """Values and gradients come in the dtype of the inputs, and near the float64 ones."""
    precise, slopes = value_and_gradients(case.on(OURS), variables(case))
    for dtype, tolerance in ((np.float32, 2e-5), (np.float16, 2e-2)):
        inputs = variables(case, dtype)
        if any(out.dtype == np.float64 for out in outputs_of(case.on(OURS)(*inputs))):
            assert case.name in WITH_A_FLOAT64_ARRAY
            continue
        values, gradients = value_and_gradients(case.on(OURS), inputs)
        for one, other in zip(values + gradients, precise + slopes, strict=True):
            assert one.dtype == dtype
            scale = max(1.0, float(np.abs(other).max(initial=0)))
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * scale)


WITH_A_FLOAT64_ARRAY = {
    "to float64", "of any sign to an array", "with a constant", "only the value", "weight only",
    "many, padding None", "many, padding 0", "many, padding 3", "many, padding -1",
}  # fmt: skip


WITHOUT_DERIVATIVE = {
    "all", "allclose", "any", "argmax", "argmin", "argsort", "argwhere", "bitwise_and",
    "bitwise_or", "bitwise_xor", "count_nonzero", "equal", "flatnonzero", "gcd", "greater",
    "greater_equal", "invert", "isclose", "isfinite", "isin", "isinf", "isnan", "lcm", "left_shift",
    "less", "less_equal", "linalg.matrix_rank", "logical_and", "logical_not", "logical_or",
    "logical_xor", "max_pool_places", "nonzero",
    "not_equal", "right_shift", "searchsorted", "signbit",
}  # fmt: skip
"""Functions that return booleans or integers."""


def home(module: str) -> str:
    """The file of the table with most cases of the ops that a module defines."""
    counts: Counter[str] = Counter()
    for family in FAMILIES:
        for case in family.CASES:
            function = attrgetter(case.op)(OURS)
            if (function.op.module if hasattr(function, "op") else function.__module__) == module:
                counts[f"tests/{family.__name__.replace('.', '/')}.py"] += 1
    return max(counts, key=lambda file: counts[file], default="a file of tests/op_samples")


def test_every_rule_has_a_case() -> None:
    """Each differentiable argument of each registered op is differentiated by some case."""
    wanted = {
        (op, "" if op.variadic else name)
        for op in registry.values()
        for name in [*op.rules, *(op.params[slot] for slot in op.joint_slots)]
        if op.module.startswith("minigrad.")
    }
    seen: set[tuple[Any, str]] = set()
    for case in CASES:
        outputs = outputs_of(case.on(OURS)(*variables(case)))
        for node in nodes_behind(*[out._node for out in outputs]):
            if isinstance(node, Node):
                op = node.plan.op
                names = [""] if op.variadic else node.plan.slot_names
                seen.update((op, name) for name in names)
    missing = [
        f"add a Case for `{op.name}` that differentiates {name or 'its arrays'} to "
        f"{home(op.module)}"
        for op, name in wanted - seen
    ]
    assert not missing, "\n".join(missing)


def test_every_function_has_a_case() -> None:
    tested = {case.op for case in CASES}
    public = {name: getattr(ops, name) for name in ops.__all__}
    public |= {f"linalg.{name}": getattr(linalg, name) for name in linalg.__all__}
    missing = [
        f"add a Case for `{name}` to {home(function.__module__)}"
        for name, function in public.items()
        if name not in tested and name not in WITHOUT_DERIVATIVE
    ]
    assert not missing, "\n".join(missing)
    for name in WITHOUT_DERIVATIVE - {"allclose"}:  # which gives a bool
        assert not registry[name.removeprefix("linalg.")].differentiable, name
