"""Right rules at awkward points, none accused; rules with one small wrong entry, all found.

The check of a step on a page and `gradcheck` share the comparison with differences.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from custom_functions import Cube, StraightThrough

import minigrad
from minigrad import Tensor, linalg, nn, tensor, viz
from minigrad.autograd import Function, grad, gradcheck, primitive
from minigrad.checking import GradientError, NotMeasurableError
from minigrad.nn import functional as F

RNG = np.random.default_rng(0)
ZEROS, ONES = np.zeros((4, 3)), np.ones((4, 3))
TIED = np.array([[1.0, 1.0, 0.0, 0.0, 2.0], [0.0, 2.0, 2.0, 2.0, 1.0]])
LARGE_AND_SMALL = np.array([1e4, 1.0, 1e-4, 0.0, -1e-4, -1.0])
MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
SKEWED = MATRIX + np.triu(np.ones((3, 3)), 1)
IDS = np.array([[0, 2, 1], [2, 2, 0]])

NET = nn.Sequential(
    nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2, 3)
).double()
for _parameter in NET.parameters():
    nn.init.normal_(_parameter, generator=RNG)

AWKWARD: dict[str, tuple[Callable[[Tensor], Any], Any]] = {
    "relu at 0, one number": (F.relu, 0.0),
    "relu beside 0": (F.relu, [1e-8, -1e-8, 1e-6, 3.0]),
    "relu of large and small": (F.relu, LARGE_AND_SMALL),
    "relu6": (F.relu6, [0.0, 6.0, 3.0]),
    "leaky relu": (F.leaky_relu, ZEROS),
    "hardtanh": (F.hardtanh, [-1.0, 1.0, 0.0]),
    "hardsigmoid": (F.hardsigmoid, [-3.0, 3.0, 0.0]),
    "hardswish": (F.hardswish, [-3.0, 3.0, 0.0]),
    "softshrink": (F.softshrink, [-0.5, 0.5, 0.0]),
    "hardshrink": (F.hardshrink, [-0.5, 0.5, 0.0]),
    "threshold": (lambda x: F.threshold(x, 1.0, 20.0), [1.0, 2.0, 0.0]),
    "elu": (F.elu, ZEROS),
    "selu": (F.selu, ZEROS),
    "prelu": (lambda x: F.prelu(x, minigrad.tensor([0.25], dtype="float64")), [0.0, 1.0, -1.0]),
    "abs": (abs, [0.0]),
    "abs of large and small": (abs, LARGE_AND_SMALL),
    "clip": (lambda x: x.clip(0.0, 1.0), [0.0, 1.0, 0.5]),
    "clamp of one side": (lambda x: x.clamp(min=0.0), ZEROS),
    "maximum": (lambda x: minigrad.maximum(x, 0.0 * x), ZEROS),
    "minimum of itself": (lambda x: minigrad.minimum(x, x), ONES),
    "fmax": (lambda x: minigrad.fmax(x, x * 1.0), ONES),
    "sign": (lambda x: minigrad.sign(x) * x, [0.0, 1.0]),
    "floor": (lambda x: minigrad.floor(x) + x, [0.0, 1.0, 0.5]),
    "round": (lambda x: minigrad.round(x) + x, [0.5, 1.5, 0.2]),
    "remainder": (lambda x: x % 1.0, [0.0, 1.0, 0.5]),
    "heaviside": (lambda x: (x > 0.0) * x, [0.0, 1.0]),
    "max of ties": (lambda x: x.amax(1), TIED),
    "min of equal ones": (lambda x: x.amin(), ONES),
    "max with indices": (lambda x: x.max(1).values, TIED),
    "sort of ties": (lambda x: x.sort(1).values, TIED),
    "sort of zeros": (lambda x: x.sort(0).values, ZEROS),
    "topk of ties": (lambda x: x.topk(2, 1).values, TIED),
    "median of ties": (lambda x: x.median(1).values, TIED),
    "quantile of ties": (lambda x: minigrad.quantile(x, 0.3, 1), TIED),
    "cummax of ties": (lambda x: x.cummax(1).values, TIED),
    "max_pool1d": (lambda x: F.max_pool1d(x[None], 2), TIED),
    "max_pool2d": (lambda x: F.max_pool2d(x.reshape(1, 1, 4, 3), 2), ZEROS),
    "adaptive max_pool": (lambda x: F.adaptive_max_pool1d(x[None], 2), TIED),
    "embedding with padding": (lambda w: F.embedding(IDS, w, padding_idx=2), RNG.random((4, 3))),
    "embedding, padding from the end": (
        lambda w: F.embedding(IDS, w, padding_idx=-2), RNG.random((4, 3)),
    ),
    "cholesky": (linalg.cholesky, MATRIX),
    "cholesky of another triangle": (linalg.cholesky, SKEWED),
    "eigh": (lambda x: linalg.eigh(x).eigenvalues, MATRIX),
    "vectors of eigh": (lambda x: linalg.eigh(x).eigenvectors ** 2, MATRIX),
    "eigvalsh, not symmetric": (linalg.eigvalsh, SKEWED),
    "svd": (lambda x: linalg.svdvals(x), RNG.standard_normal((3, 4))),
    "det of a singular matrix": (linalg.det, [[1.0, 2.0], [2.0, 4.0]]),
    "inv": (linalg.inv, MATRIX),
    "norm of zeros": (lambda x: linalg.vector_norm(x), [0.0, 0.0]),
    "1-norm": (lambda x: linalg.vector_norm(x, 1), [0.0, 1.0]),
    "std of equal ones": (lambda x: x.std(), ONES),
    "sqrt at 0": (lambda x: x.sqrt(), [0.0, 1.0]),
    "cbrt at 0": (lambda x: minigrad.cbrt(x), [0.0, 1.0]),
    "log at its border": (lambda x: x.log(), [1e-9, 1.0]),
    "log of small ones": (lambda x: x.log(), [1e-5, 2e-5]),
    "power at 0": (lambda x: x**0.5, [0.0, 1.0]),
    "square at 0": (lambda x: x**2, [0.0]),
    "0 to the 0": (lambda x: x**0.0, [0.0]),
    "arccos at its border": (lambda x: minigrad.acos(x), [1.0, -1.0, 0.5]),
    "arcsin beside its border": (lambda x: minigrad.asin(x), [1.0 - 1e-7, 0.5]),
    "arctanh at its border": (lambda x: minigrad.atanh(x), [1.0, 0.5]),
    "reciprocal of small ones": (lambda x: 1.0 / x, [1e-6, 1e3]),
    "reciprocal at 0": (lambda x: 1.0 / x, [0.0, 1.0]),
    "atan2 at 0": (lambda x: minigrad.atan2(x, 0.0 * x), [0.0, 1.0]),
    "hypot at 0": (lambda x: minigrad.hypot(x, 0.0 * x), [0.0, 1.0]),
    "xlogy at 0": (lambda x: minigrad.xlogy(x, x), [0.0, 1.0]),
    "softmax, saturated": (lambda x: F.softmax(x, -1), [0.0, 40.0, 800.0]),
    "log_softmax, saturated": (lambda x: F.log_softmax(x, -1), [0.0, 40.0, 800.0]),
    "logsumexp": (lambda x: x.logsumexp(-1), [0.0, 1000.0]),
    "sigmoid, saturated": (F.sigmoid, [-800.0, 0.0, 800.0]),
    "tanh, steep": (lambda x: F.tanh(x * 3e4), [1e-5, 2e-5]),
    "exp of large ones": (lambda x: x.exp(), [700.0, 0.0]),
    "an overflow": (lambda x: x.exp(), [800.0, 0.0]),
    "a product of zeros": (lambda x: x.prod(), [0.0, 0.0, 2.0]),
    "cumprod of zeros": (lambda x: x.cumprod(0), [2.0, 0.0, 3.0]),
    "a difference of large ones": (lambda x: (x + 1e9) - 1e9, [1.0, 2.0]),
    "masked scores": (
        lambda x: F.softmax(x.masked_fill(np.arange(3) == 2, -np.inf), -1), [1.0, 2.0, 3.0],
    ),
    "layer_norm of equal ones": (lambda x: F.layer_norm(x, (3,)), ONES),
    "batch_norm of equal ones": (lambda x: F.batch_norm(x, None, None, training=True), ONES),
    "normalize zeros": (lambda x: F.normalize(x), ZEROS),
    "cosine_similarity of zeros": (lambda x: F.cosine_similarity(x, x + 1.0), ZEROS),
    "cross_entropy": (lambda x: F.cross_entropy(x * 100.0, np.arange(4) % 3), RNG.random((4, 3))),
    "l1_loss": (lambda x: F.l1_loss(x, ONES), ONES),
    "smooth_l1_loss": (lambda x: F.smooth_l1_loss(x, ZEROS), ONES),
    "huber_loss": (lambda x: F.huber_loss(x, ZEROS), ONES),
    "hinge_embedding_loss": (lambda x: F.hinge_embedding_loss(x, -np.ones((4, 3))), ONES),
    "margin_ranking_loss": (
        lambda x: F.margin_ranking_loss(x[:, 0], x[:, 1], np.ones(4)), ONES,
    ),
    "dropout": (lambda x: F.dropout(x, 0.5), ONES),
    "where": (lambda x: minigrad.where(x > 0.0, x, -x), [0.0, 1.0]),
    "nan_to_num": (lambda x: minigrad.nan_to_num(x), [np.nan, 1.0]),
    "a NaN": (lambda x: x * x, [np.nan, 1.0]),
    "interpolate": (lambda x: F.interpolate(x[None], scale_factor=2), TIED),
    "attention of equal ones": (
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]), ONES,
    ),
    "a gru": (lambda x: nn.GRU(3, 2).double()(x)[0], ZEROS),
    "nothing": (lambda x: x * 2.0, np.zeros((0, 3))),
    "a net of zeros": (lambda x: F.cross_entropy(NET(x), np.array([0, 1])), np.zeros((2, 1, 4, 4))),
    "maximum of a multiple": (lambda x: minigrad.maximum(x, 0.25 * x), [0.0]),
    "zero weights": (lambda x: (x * 0.0).sum() + x.sum(), ONES),
}  # fmt: skip


UNMEASURED = {f"not measurable here: {x} is not finite" for x in ("the gradient", "its value")}


def parts_of_a_run(function: Callable[[Tensor], Any], x: Any, dtype: str) -> dict[str, viz.Part]:
    """The parts of the steps of a backward pass from weights of many sizes, by op and argument."""
    leaf = minigrad.tensor(np.asarray(x, dtype), requires_grad=True)
    with viz.trace() as traced, np.errstate(all="ignore"):
        out = function(leaf)
        weights = np.linspace(0.5, 2.0, out.numel()).reshape(out.shape)
        out.backward(weights.astype(out.dtype))
    steps = traced.graph().steps
    return {f"{step.op}, {part.name}": part for step in steps for part in step.parts}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", AWKWARD)
def test_no_right_rule_is_accused(name: str, dtype: str) -> None:
    function, x = AWKWARD[name]
    for place, part in parts_of_a_run(function, x, dtype).items():
        assert part.check is None or part.check < 1e-3, (place, part.check, part.kink)
        if part.check is None:
            assert part.unchecked in UNMEASURED, place


@pytest.mark.parametrize("name", AWKWARD)
def test_nor_does_gradcheck_accuse_one(name: str) -> None:
    """It names a kink, or a border, but not a rule as wrong."""
    function, x = AWKWARD[name]
    leaf = minigrad.tensor(np.asarray(x, "float64"), requires_grad=True)
    for directions in (None, 2):
        try:
            with np.errstate(all="ignore"):
                gradcheck(function, leaf, directions=directions)
        except NotMeasurableError:
            pass
        except GradientError as error:
            assert "wrong by itself" not in str(error)
            assert "reads one triangle" in str(error) or "no gradient (padding_idx)" in str(error)


# Wrong rules -------------------------------------------------------------------------------------

SIZES = np.array([1.0, 0.5, 30.0, 1e-2, 2.0, 1e-3, 100.0, 1e-4, 0.7, 3.0, 1e-5, 5.0])
SMOOTH: dict[str, Callable[[Tensor], Tensor]] = {
    "exp": lambda x: (-x).exp(),
    "sin": lambda x: x.sin(),
    "tanh": lambda x: x.tanh(),
    "square": lambda x: x * x,
    "cube": lambda x: x**3,
    "log": lambda x: (1.0 + x).log(),
    "sqrt": lambda x: (1.0 + x).sqrt(),
    "sigmoid": lambda x: F.sigmoid(x),
    "gelu": lambda x: F.gelu(x),
    "softplus": lambda x: F.softplus(x),
    "silu": lambda x: F.silu(x),
    "reciprocal": lambda x: 1.0 / (1.0 + x),
    "softmax": lambda x: F.softmax(x / 30.0, -1),
    "log_softmax": lambda x: F.log_softmax(x / 30.0, -1),
    "layer_norm": lambda x: F.layer_norm(x, (12,)),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: (1.0 + x / 100.0).cumprod(0),
    "a product of matrices": lambda x: x.reshape(3, 4) @ x.reshape(4, 3),
    "norm": lambda x: linalg.vector_norm(x),
    "var": lambda x: x.var(),
    "convolution": lambda x: F.conv1d(x.reshape(1, 1, 12), x[:3].reshape(1, 1, 3) ** 2),
    "relu at a kink elsewhere": lambda x: F.relu(x - 1.0) + x * 0.01,
    "abs at a kink elsewhere": lambda x: abs(x - 0.5) * x,
    "sort": lambda x: x.sort().values * SIZES,
}
ERRORS: dict[str, Callable[[float], float]] = {
    "twice as large": lambda one: 2.0 * one,
    "of the other sign": lambda one: -one,
    "gone": lambda one: 0.0,
    "one percent off": lambda one: 1.01 * one,
}


def planted(function: Callable[[Tensor], Tensor], error: Callable[[float], float]) -> Any:
    """An op with the right gradient, but for one of its smallest entries."""

    @primitive
    def planted_op(x: Any) -> Any:
        return function(tensor(x)).numpy()

    def rule(g: Any, x: Any) -> Any:
        leaf = tensor(np.asarray(x), requires_grad=True)
        with minigrad.enable_grad():
            (found,) = grad(function(leaf), [leaf], [tensor(np.asarray(g))])
        gradient = found.numpy().copy()
        sizes = np.where(np.abs(gradient) > 1e-4 * np.abs(gradient).max(), np.abs(gradient), np.inf)
        small = int(sizes.argmin())
        gradient[small] = error(gradient[small])
        return gradient

    planted_op.defvjp(x=rule)
    return planted_op


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", SMOOTH)
def test_a_small_wrong_entry_is_found(name: str, error: str) -> None:
    op = planted(SMOOTH[name], ERRORS[error])
    part = parts_of_a_run(op, SIZES, "float64")["planted_op, x"]
    assert part.check is not None
    assert part.check >= 1e-3


@pytest.mark.parametrize("name", [name for name in SMOOTH if "kink" not in name])
def test_gradcheck_finds_it_too(name: str) -> None:
    op = planted(SMOOTH[name], ERRORS["twice as large"])
    x = tensor(SIZES.clip(1e-2, 10.0), requires_grad=True)
    for directions in (None, 1):
        with pytest.raises(GradientError, match="the rule of planted_op for x is wrong by itself"):
            gradcheck(op, x, directions=directions)


def test_so_is_one_in_a_large_array_in_float32() -> None:
    x = np.random.default_rng(1).uniform(0.1, 1.0, 3000) * np.logspace(0, -4, 3000)
    op = planted(lambda x: x * x * 1.5, ERRORS["twice as large"])
    assert parts_of_a_run(op, x, "float32")["planted_op, x"].check > 0.1


@pytest.mark.parametrize("function", [StraightThrough, Cube])
def test_a_custom_function_is_checked(function: type[Function]) -> None:
    parts = parts_of_a_run(function.apply, [0.2, 1.3], "float64")
    [check] = [part.check for name, part in parts.items() if function.__name__ in name]
    assert (check >= 1e-3) == (function is StraightThrough)


def test_the_row_that_gets_no_gradient_is_named() -> None:
    weight = tensor(RNG.random((4, 3)), requires_grad=True)
    with pytest.raises(GradientError, match=r"embedding gives row 2 of weight no gradient \(pad"):
        gradcheck(lambda w: F.embedding(IDS, w, padding_idx=2), weight)
    assert gradcheck(lambda w: F.embedding(IDS, w), weight)


def test_the_sides_of_a_kink_have_the_size_of_the_cotangent() -> None:
    for size in (1e-12, 1.0, 1e12):
        x = tensor(np.zeros(1), requires_grad=True)
        with viz.trace() as traced:
            F.relu(x).backward([size])
        [part] = traced.graph().steps[0].parts
        assert part.kink == (0.0, pytest.approx(size))
        assert part.check < 1e-3


@pytest.mark.parametrize(
    ("function", "x", "told"),
    [
        (lambda x: x.sqrt(), [0.0], "the gradient is not finite"),
        (lambda x: x.log(), [1e-9], "at the border of its domain"),
        (F.relu, [0.0], "its slope is 0 from the left and 0.5 from the right"),
        (lambda x: x.round(), [0.5], "it jumps"),
    ],
)
def test_why_nothing_can_be_measured(function: Any, x: Any, told: str) -> None:
    [part] = parts_of_a_run(function, x, "float64").values()
    assert part.unchecked.startswith("not measurable here: ")
    assert told in part.unchecked
