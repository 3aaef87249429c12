"""Values at the edge of arithmetic: infinite cotangents, NaN, infinities, zeros, the ends of range.

Every op takes part, by the calls of `op_samples`.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from op_samples import CASES, OURS, Case

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad
from minigrad.nn import functional as F
from minigrad.ops._numerics import zeroed

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

INF, NAN = float("inf"), float("nan")
OPS = list(dict.fromkeys(case.op for case in CASES))


def cases_of(op: str) -> list[Case]:
    return [case for case in CASES if case.op == op]


def run(case: Case, inputs: list[np.ndarray]) -> tuple[list[Any], list[Tensor]]:
    """The outputs that have a history, and the inputs as variables."""
    variables = [tensor(array, requires_grad=True) for array in inputs]
    result = case.on(OURS)(*variables)
    outputs = list(result) if isinstance(result, (tuple, list)) else [result]
    return [out for out in outputs if out.requires_grad], variables


def patterned(array: np.ndarray, value: Any, start: int) -> np.ndarray:
    """The array with `value` in every third place."""
    flat = array.reshape(-1).copy()
    flat[start::3] = value
    return flat.reshape(array.shape)


# Slopes of exactly 0 --------------------------------------------------------------------------

BRANCH = "a branch not taken: exactly 0 goes back, whatever the cotangent is"
NUMBER = "a computed number that happens to be 0: IEEE's product, NaN of an infinite cotangent"

POWER = "constant where the exponent is 0, or the base is 0 and the exponent above: a branch"
ORIGIN = "at the origin there is no direction, 0 is chosen: a branch; x / r beside it is a number"
EXTREME = "by the order: of the extremes and of 1, a branch; of the others, where x is 0, a number"
MASKED = "what may not be attended is a branch; what reaches it through products is a number"
WINDOWS = "what no window reaches is a branch; a weight is a number"
SKIPPED = "the branches of ReLU; else numbers, of which a matrix product may skip those that are 0"
READ = "what is not read or counted is a branch; what is, a number"
TRACED = "beside a diagonal a branch; a product is a number"

# For each op what its zero slopes are, argument by argument; None where it has none.
ZERO_SLOPES: dict[str, tuple[str | None, ...]] = {
    op: verdicts
    for verdicts, names in (
        ((BRANCH,),
         "abs ceil cross_entropy cummax cummin diag diagonal dropout embedding floor gather "
         "getitem hardtanh histogram index_fill logit masked_fill masked_select max max_pool "
         "median min nan_to_num nanmean nansum quantile relu repeat round sign std sum_pool take "
         "take_along_axis topk trace tril triu trunc unfold unique"),
        ((ORIGIN, BRANCH), "arctan2"),
        ((MASKED, MASKED, MASKED, MASKED), "attention"),
        ((MASKED, MASKED, MASKED), "attention_weights"),
        ((None, NUMBER), "batch_norm xlogy"),
        ((EXTREME, EXTREME), "cdist"),
        ((BRANCH, BRANCH, BRANCH), "clip"),
        ((WINDOWS, NUMBER), "convolution convolution_weight"),
        ((NUMBER, NUMBER),
         "convolution_transpose cross dot fmod inner kron group_norm layer_norm linalg.lstsq "
         "linear matmul multiply outer remainder rms_norm tensordot vdot "
         "vecdot xlog1py"),
        ((BRANCH, BRANCH),
         "copysign floor_divide fmax fmin maximum minimum nextafter scatter "
         "setitem where"),
        ((NUMBER,),
         "cos cosh cumprod divide linalg.cond linalg.det linalg.eigh linalg.eigvalsh "
         "linalg.lu_solve linalg.slogdet linalg.solve linalg.svd linalg.svdvals prod sinc square "
         "subtract var"),
        ((TRACED, TRACED), "einsum"),
        ((NUMBER, SKIPPED, NUMBER), "gru lstm"),
        ((READ,), "linalg.solve_triangular"),
        ((ORIGIN, ORIGIN), "hypot"),
        ((EXTREME,), "linalg.matrix_norm linalg.norm linalg.vector_norm norm"),
        ((POWER,), "linalg.matrix_power"),
        ((NUMBER, NUMBER, NUMBER, NUMBER, NUMBER), "linalg.multi_dot"),
        ((POWER, BRANCH), "power"),
        ((BRANCH, SKIPPED, SKIPPED), "rnn"),
        ((None, BRANCH), "scatter_add"),
        ((READ, READ), "scatter_reduce"),
    )
    for op in names.split()
}  # fmt: skip


def zero_slopes(op: str) -> Iterator[tuple[str, int, np.ndarray]]:
    """For each argument, what an infinite cotangent becomes where the slope is 0."""
    for number, case in enumerate(cases_of(op)):
        kinds = [list(case.inputs)]
        if number < 6:
            kinds.append([patterned(a, 0.0, 1) for a in case.inputs])
            kinds.append([np.zeros_like(a) for a in case.inputs])
        for inputs in kinds:
            try:
                outputs, variables = run(case, inputs)
            except np.linalg.LinAlgError:  # such a matrix has no derivative
                continue
            if not all(out.numel() for out in outputs):
                continue
            rng = np.random.default_rng(1)
            weights = [rng.standard_normal(out.shape) for out in outputs]
            finite = grad(outputs, variables, weights, retain_graph=True)
            for value, create_graph in ((np.inf, False), (-np.inf, True), (np.nan, False)):
                weights = [np.full(out.shape, value) for out in outputs]
                found = grad(
                    outputs, variables, weights, retain_graph=True, create_graph=create_graph
                )
                for k, (one, other) in enumerate(zip(finite, found, strict=True)):
                    yield str(case), k, other.numpy()[one.numpy() == 0]


@pytest.mark.parametrize("op", OPS)
def test_a_slope_of_zero_meets_an_infinite_cotangent(op: str) -> None:
    """It is a choice or a number, as the table has it; in both passes."""
    seen: dict[int, set[str]] = defaultdict(set)
    stated = ZERO_SLOPES.get(op, ())
    for case, k, values in zero_slopes(op):
        verdict = stated[k] if k < len(stated) else None
        assert not values.size or verdict, f"{case}: argument {k} has slopes of 0: {values}"
        zeros = values == 0
        if verdict == BRANCH:
            assert zeros.all(), f"{case}: argument {k}: {values}"
        elif verdict == NUMBER:
            assert np.isnan(values).all(), f"{case}: argument {k}: {values}"
        else:
            assert (zeros | np.isnan(values)).all(), f"{case}: argument {k}: {values}"
        seen[k] |= {BRANCH} if zeros.any() else set()
        seen[k] |= {NUMBER} if np.isnan(values).any() else set()
    for k, verdict in enumerate(stated):
        expected = {verdict} & {BRANCH, NUMBER} or {BRANCH, NUMBER}
        assert seen[k] == (expected if verdict else set()), f"argument {k}: {verdict}"


def slopes(call: Any, *values: Any, g: float, create_graph: bool) -> list[Any]:
    variables = [tensor(np.array(v, float), requires_grad=True) for v in values]
    out = call(*variables)
    found = grad(out, variables, np.full(out.shape, g), create_graph=create_graph)
    return [part.tolist() for part in found]


CHOSEN: list[tuple[Any, tuple[Any, ...], list[Any]]] = [
    # a function, its arguments, and 1 where the whole cotangent goes back
    (F.relu, ([-1.0, 0.0, -0.0, -INF, 2.0, INF, NAN],), [[0, 0, 0, 0, 1, 1, 1]]),
    (F.relu6, ([-1.0, 0.0, 6.0, 7.0, 2.0, INF, NAN],), [[0, 0, 0, 0, 1, 0, 1]]),
    (F.hardswish, ([-4.0, -3.0, -INF, 4.0, INF],), [[0, 0, 0, 1, 1]]),
    (lambda x: 6 * F.hardsigmoid(x), ([-4.0, -3.0, 3.0, INF, 1.0, NAN],), [[0, 0, 0, 0, 1, 1]]),
    (ops.abs, ([0.0, -0.0, 3.0, NAN],), [[0, 0, 1, 0]]),
    (lambda x: x**0, ([0.0, 2.0, NAN],), [[0, 0, 0]]),
    (ops.power, ([0.0, 2.0, NAN], [0.0, 0.0, 0.0]), [[0, 0, 0], None]),
    (lambda b: 0.0**b, ([0.0, 2.0],), [[0, 0]]),
    (ops.hypot, ([0.0, 3.0], [0.0, 0.0]), [[0, 1], None]),
    (ops.arctan2, ([0.0, 0.0], [0.0, 1.0]), [[0, 1], None]),
    (ops.norm, ([0.0, 0.0],), [[0, 0]]),
    (lambda x: ops.norm(x, 1), ([0.0, 2.0],), [[0, 1]]),
    (lambda x: ops.norm(x, INF), ([1.0, 2.0, 0.0],), [[0, 1, 0]]),
    (lambda x: ops.norm(x, INF), ([0.0, 0.0],), [[0, 0]]),
    (lambda x: ops.norm(x, 3, axis=1), ([[0.0, 0.0], [2.0, 2.0]],), [[[0, 0], [1, 1]]]),
    (ops.std, ([2.0, 2.0],), [[0, 0]]),
    (lambda x: ops.sqrt(ops.relu(x)) / INF, ([-1.0],), [[0]]),
]


@pytest.mark.parametrize("g", [INF, NAN])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("number", range(len(CHOSEN)))
def test_a_branch_not_taken_sends_zero(number: int, g: float, create_graph: bool) -> None:
    call, values, wanted = CHOSEN[number]
    for found, kept in zip(
        slopes(call, *values, g=g, create_graph=create_graph), wanted, strict=True
    ):
        if kept is not None:
            np.testing.assert_array_equal(np.array(found) == 0, np.array(kept) == 0)


def test_a_root_of_what_a_branch_cut_off_has_gradient_zero() -> None:
    for call in (
        lambda x: ops.sqrt(ops.relu(x)), lambda x: ops.maximum(x, 0.0) ** 0.5,
        lambda x: ops.sqrt(ops.minimum(x, 0.0)),
        lambda x: ops.sqrt(ops.max(ops.stack([x, np.zeros(1)]), axis=0)),
        lambda x: ops.log(F.relu6(x)), lambda x: ops.sqrt(ops.where(x > 5.0, x, 0.0)),
    ):  # fmt: skip
        at = -1.0 if call(Tensor([-1.0])).item() in (0.0, -INF) else 1.0
        for create_graph in (False, True):
            assert slopes(call, [at], g=1.0, create_graph=create_graph) == [[0.0]]


@pytest.mark.parametrize("size", [5, 2000])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_mask_keeps_every_bit_or_none(size: int, dtype: type) -> None:
    """The fast way and the plain one are the same, in any layout."""
    rng = np.random.default_rng(0)
    g = rng.standard_normal((3, size)).astype(dtype)
    g[0, :5] = NAN, INF, -INF, -0.0, np.finfo(dtype).smallest_subnormal
    for array in (g, g.T, g[:, ::-1], np.broadcast_to(g[:1], g.shape)):
        for mask in (rng.random(array.shape) < 0.5, rng.random(array.shape[1:]) < 0.5, np.True_):
            found = zeroed(array, mask)
            assert found.dtype == dtype
            expected = np.where(mask, dtype(0), array)
            assert found.tobytes() == expected.tobytes()


# With and without create_graph ----------------------------------------------------------------

# How many units of the last place of its largest element a gradient may differ in; else none.
ULPS = {
    # sums in another order
    "softmax": 4, "log_softmax": 4, "broadcast_to": 4, "expand": 4, "matmul": 4, "dot": 4,
    "vecdot": 8, "attention_weights": 8, "cdist": 4, "index_fill": 4,
    # a kernel beside its decomposition
    "cross_entropy": 8, "batch_norm": 8, "rnn": 8, "gru": 16, "lstm": 16, "convolution": 16,
    "attention": 64,
    # the kernel rounds to float16 in between, also where that is subnormal
    "layer_norm": 256, "rms_norm": 256,
    # the same, and in groups of two the parts of a gradient cancel
    "group_norm": 16384,
}  # fmt: skip

EXEMPT = {
    ("attention", "huge"): "the log-sum-exp is rounded, and with it the weights of huge scores",
    ("lstm", "-inf"): "a product of 0 and an infinity within a matrix product: BLAS may skip it",
}

AWKWARD: dict[str, Any] = {
    "NaN": lambda _: NAN,
    "inf": lambda _: INF,
    "-inf": lambda _: -INF,
    "0": lambda _: 0.0,
    "-0": lambda _: -0.0,
    "subnormal": lambda info: 3 * info.smallest_subnormal,
    # Squares overflow; sums of some do not.
    "huge": lambda info: info.max / 2.0 ** (2 * info.nexp - 6),
}


def gradients(case: Case, inputs: list[np.ndarray], create_graph: bool) -> list[np.ndarray]:
    outputs, variables = run(case, inputs)
    weights = [np.cos(np.arange(o.numel())).reshape(o.shape).astype(o.dtype) for o in outputs]
    found = grad(outputs, variables, weights, create_graph=create_graph)
    return [g.numpy() for g in found]


def ulps(one: np.ndarray, other: np.ndarray) -> float:
    """How far two gradients are apart, in units of the last place of the largest element."""
    finite = np.isfinite(one)
    np.testing.assert_array_equal(one[~finite], other[~finite])
    assert np.isfinite(other[finite]).all()
    if one[finite].tobytes() == other[finite].tobytes():
        return 0.0
    apart = np.abs(one[finite].astype(np.float64) - other[finite].astype(np.float64)).max()
    return float(apart / np.spacing(np.abs(one[finite]).max()))


def awkward(op: str) -> Iterator[tuple[Case, str, list[np.ndarray]]]:
    """Every third element, and all of them, of each such value; of the first sample in all floats,
    of another in float64.
    """
    floats = (np.float64, np.float32, np.float16)
    for case, dtypes in zip(cases_of(op), (floats, floats[:1]), strict=False):
        for dtype in dtypes:
            plain = [a.astype(dtype) for a in case.inputs]
            for name, value in AWKWARD.items():
                if (op, name) in EXEMPT:
                    continue
                number = dtype(value(np.finfo(dtype)))
                yield case, name, [patterned(a, number, k) for k, a in enumerate(plain)]
                yield case, name, [np.full_like(a, number) for a in plain]


# LAPACK promises nothing of matrices that hold NaN: their decompositions are left out.
@pytest.mark.parametrize("op", [op for op in OPS if not op.startswith("linalg.")])
def test_the_recorded_gradient_is_the_plain_one(op: str) -> None:
    """NaN and the infinities are in the same places, finite numbers are as close as stated.

    Bit for bit where one rule serves both passes, element by element.
    """
    for case, name, inputs in awkward(op):
        plain, recorded = gradients(case, inputs, False), gradients(case, inputs, True)
        for k, (one, other) in enumerate(zip(plain, recorded, strict=True)):
            where = f"{case}: {name}, {inputs[0].dtype}, input {k}"
            np.testing.assert_array_equal(np.isnan(one), np.isnan(other), err_msg=where)
            assert ulps(one, other) <= ULPS.get(op, 0), where


def test_probabilities_are_right_far_from_zero() -> None:
    """The logarithm of a sum and the largest score are not rounded together."""
    for dtype in (np.float16, np.float32, np.float64):
        top = np.finfo(dtype).max / 4
        logits = tensor(np.array([[top, top, 0.0, top]], dtype), requires_grad=True)
        for create_graph in (False, True):
            loss = ops.cross_entropy(logits, np.array([1]))
            np.testing.assert_allclose(loss.item(), np.log(3), rtol=1e-3)
            found = grad(loss, logits, create_graph=create_graph)[0].numpy()
            np.testing.assert_allclose(found, [[1 / 3, -2 / 3, 0.0, 1 / 3]], atol=1e-3)


# What a rule computes where a shortcut is left ------------------------------------------------


def both_passes(function: Any, arrays: list[Any], g: Any) -> list[list[np.ndarray]]:
    """The gradients of a function for a cotangent, plain and recorded."""
    found = []
    for create_graph in (False, True):
        variables = [tensor(np.array(array), requires_grad=True) for array in arrays]
        given = tensor(np.array(g))
        gradients = grad(function(*variables), variables, given, create_graph=create_graph)
        found.append([gradient.numpy() for gradient in gradients])
    return found


def test_signs_beside_an_infinite_cotangent() -> None:
    for (slope,) in both_passes(ops.abs, [[-2.0, 0.0, 3.0, -1.0]], [INF, INF, -INF, 5.0]):
        assert slope.tolist() == [-INF, 0.0, -INF, -5.0]


def test_ties_beside_elements_that_differ() -> None:
    arrays = [[1.0, 2.0, 3.0], [1.0, 5.0, 0.0]]
    for a, b in both_passes(ops.maximum, arrays, [2.0, 4.0, 8.0]):
        assert (a.tolist(), b.tolist()) == ([1.0, 0.0, 8.0], [1.0, 4.0, 0.0])


def test_exponents_beside_an_infinite_cotangent() -> None:
    for _, b in both_passes(ops.power, [[2.0, 0.0, 0.0], [1.0, -1.0, 1.0]], [INF, INF, INF]):
        assert b.tolist() == [INF, -INF, 0.0]


def test_angles_on_the_axes_beside_an_infinite_cotangent() -> None:
    for a, b in both_passes(ops.arctan2, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [INF, INF, INF]):
        np.testing.assert_array_equal(a, [NAN, INF, 0.0])
        np.testing.assert_array_equal(b, [-INF, NAN, 0.0])


def test_decompositions_keep_float16() -> None:
    x = tensor(np.ones((2, 3), np.float16))
    for op in (ops.attention, ops.layer_norm, ops.rms_norm):
        given = [x] * (3 if op is ops.attention else 1)
        assert op.op.decomposition(*given).dtype == np.float16


def test_batch_norm_recorded_far_from_zero_of_one_row_and_of_none() -> None:
    rng = np.random.default_rng(0)
    rows = (1000 + 0.01 * rng.standard_normal((64, 3))).astype(np.float32)
    ones, g = np.ones(3, np.float32), rng.standard_normal((64, 3)).astype(np.float32)

    def normalized(x: Any, weight: Any) -> Any:
        return ops.batch_norm(x, weight, eps=1e-12)[0]

    plain, recorded = both_passes(normalized, [rows, ones], g)
    for one, other in zip(plain, recorded, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3 * np.abs(one).max())
    for count in (1, 0):
        plain, recorded = both_passes(
            lambda x, weight: ops.batch_norm(x, weight, eps=1.0)[0],
            [3 + rng.standard_normal((count, 3)), np.ones(3)], np.ones((count, 3)),
        )  # fmt: skip
        for one, other in zip(plain, recorded, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
