"""gradcheck and gradgradcheck: they pass what is right, and fail every kind of wrong rule."""

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, linalg, nn, ops, tensor
from minigrad.autograd import (
    GradientError,
    NotDifferentiableError,
    NotMeasurableError,
    gradcheck,
    gradgradcheck,
    primitive,
)
from minigrad.checking import directional_derivatives

EITHER_WAY = pytest.mark.parametrize("directions", [None, 3])
BOTH_ORDERS = pytest.mark.parametrize("check", [gradcheck, gradgradcheck])


def variable(*shape: int, seed: int = 0) -> Tensor:
    values = np.random.default_rng(seed).uniform(0.5, 1.5, shape)
    return tensor(values, requires_grad=True)


def planted(rule: Any, forward: Any = lambda x: x * x * x) -> Any:
    """An op of one argument with a rule of our choice."""

    @primitive
    def planted_unary(x: Any) -> Any:
        return forward(x)

    planted_unary.defvjp(x=rule)
    return planted_unary


def planted_product(a: Any, b: Any) -> Any:
    @primitive
    def planted_binary(a: Any, b: Any) -> Any:
        return a @ b

    planted_binary.defvjp(a=a, b=b)
    return planted_binary


@EITHER_WAY
@BOTH_ORDERS
def test_right_rules_pass(check: Any, directions: int | None) -> None:
    cube = planted(lambda g, x: g * 3 * x * x)
    product = planted_product(lambda g, b: g @ b.T, lambda g, a: a.T @ g)
    assert check(cube, variable(2, 3), directions=directions) is True
    assert check(product, (variable(2, 3), variable(3, 2)), directions=directions) is True


WRONG = {
    "sign": planted(lambda g, x: -g * 3 * x * x),
    "missing factor": planted(lambda g, x: g * x * x),
    "wrong power": planted(lambda g, x: g * 3 * x),
    "one element": planted(lambda g, x: g * 3 * x * x * (1 + (np.arange(6) == 4).reshape(2, 3))),
    "slightly off": planted(lambda g, x: g * 3.001 * x * x),
    "zero": planted(lambda g, x: g * 0),
    "missing transpose": planted(lambda g, x: g, lambda x: x[::-1]),
    "NaN": planted(lambda g, x: g * np.where(x > 1, np.nan, 3 * x * x)),
}


@EITHER_WAY
@pytest.mark.parametrize("name", WRONG)
def test_wrong_first_derivatives_fail(name: str, directions: int | None) -> None:
    with pytest.raises(GradientError):
        gradcheck(WRONG[name], variable(2, 3), directions=directions)


@EITHER_WAY
def test_swapped_and_untransposed_operands_fail(directions: int | None) -> None:
    inputs = (variable(3, 3), variable(3, 3, seed=1))
    swapped = planted_product(lambda g, b: b @ g, lambda g, a: a @ g)
    untransposed = planted_product(lambda g, b: g @ b, lambda g, a: a.T @ g)
    for op in (swapped, untransposed):
        with pytest.raises(GradientError):
            gradcheck(op, inputs, directions=directions)


def constant(x: Any) -> np.ndarray:
    """The values alone: what a rule must not use, for its derivative is lost."""
    return np.array(x.detach() if isinstance(x, Tensor) else x)


WRONG_SECOND = {
    "forgets that it depends on x": planted(lambda g, x: g * (3 * constant(x) ** 2)),
    "forgets that it depends on g": planted(lambda g, x: constant(g) * 3 * x * x),
    "forgets half of it": planted(lambda g, x: g * 3 * x * constant(x)),
    "forgets everything": planted(lambda g, x: constant(g) * (3 * constant(x) ** 2)),
}


@EITHER_WAY
@pytest.mark.parametrize("name", WRONG_SECOND)
def test_wrong_second_derivatives_fail(name: str, directions: int | None) -> None:
    """The first derivative is right, which is what makes these hard to see."""
    assert gradcheck(WRONG_SECOND[name], variable(2, 3))
    with pytest.raises(GradientError):
        gradgradcheck(WRONG_SECOND[name], variable(2, 3), directions=directions)


def test_a_wrong_decomposition_fails_in_the_second_derivative() -> None:
    @primitive(residuals=("twice",))
    def planted_fused(x: Any) -> Any:
        return x * x, 2 * x

    planted_fused.defvjp(x=lambda g, twice: g * twice)
    planted_fused.defdecomposition(lambda x: x * x * x)
    assert gradcheck(planted_fused, variable(3))
    with pytest.raises(GradientError, match="input 0 .*index .*create_graph"):
        gradgradcheck(planted_fused, variable(3))


def test_the_message_says_where_and_what() -> None:
    with pytest.raises(GradientError) as caught:
        gradcheck(lambda a, x: a.sum() + WRONG["one element"](x), (variable(2), variable(2, 3)))
    pattern = r"input 1 of shape \(2, 3\) at index \(1, 1\): analytic (\S+), numeric (\S+)"
    found = re.search(pattern, str(caught.value))
    assert found
    analytic, numeric = map(float, found.groups())
    np.testing.assert_allclose(analytic / numeric, 2.0, rtol=1e-5)
    with pytest.raises(GradientError, match=r"at index .*: analytic \S+, numeric \S+"):
        gradcheck(WRONG["sign"], variable(2, 3), directions=1)
    assert issubclass(GradientError, AssertionError)


@EITHER_WAY
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_step_suits_the_dtype(dtype: Any, directions: int | None) -> None:
    x = Tensor([0.5, 1.0, 2.0], requires_grad=True, dtype=dtype)
    cube = planted(lambda g, x: g * 3 * x * x)
    assert gradcheck(cube, x, directions=directions)
    assert gradcheck(lambda a: ops.tanh(a) * variable(3).detach(), x, directions=directions)
    assert gradgradcheck(ops.tanh, x, directions=directions)
    with pytest.raises(GradientError):
        gradcheck(planted(lambda g, x: g * 2 * x * x), x, directions=directions)
    with pytest.raises(GradientError):
        gradcheck(cube, x, eps=1e-5, rtol=1e-6, atol=1e-9, directions=directions)


@pytest.mark.parametrize("make", [lambda x: x.detach(), lambda x: x[:1].broadcast_to(3)])
def test_inputs_that_share_memory_with_others(make: Any) -> None:
    source = tensor(np.arange(1.0, 4.0))
    x = make(source).requires_grad_()
    assert gradcheck(lambda x: x * x * x, (x,))
    assert source.tolist() == [1.0, 2.0, 3.0]


class Scaled(nn.Module):
    def __init__(self, op: Any) -> None:
        super().__init__()
        self.inner, self.drop, self.op = nn.Linear(3, 2).double(), nn.Dropout(0.5), op

    def forward(self, x: Tensor) -> dict[str, Any]:
        h = self.drop(self.inner(x))
        return {"result": self.op(h), "parts": [h, h * 2]}


def test_modules_are_checked_with_their_parameters_and_structures_of_inputs() -> None:
    x = variable(4, 3)
    assert gradcheck(Scaled(ops.tanh), x)
    assert gradcheck(Scaled(ops.tanh), x.detach(), directions=3)
    assert gradgradcheck(Scaled(ops.tanh), x, directions=2)
    with pytest.raises(GradientError, match=r"inner\.(weight|bias) of shape .* at index"):
        gradcheck(Scaled(WRONG["sign"]), x.detach())
    with pytest.raises(ValueError, match="no input .*no parameter"):
        gradcheck(Scaled(ops.tanh).requires_grad_(False), x.detach())
    weights = {"w": variable(2, 3), "b": [variable(3, seed=1)]}
    assert gradcheck(lambda x, p: x @ p["w"] + p["b"][0], (variable(4, 2), weights))
    with pytest.raises(GradientError, match=r'input 1\["w"\] of shape'):
        gradcheck(lambda x, p: WRONG["sign"](p["w"]).sum() + x.sum(), (variable(2), weights))


def test_the_op_at_fault_is_named_with_its_place() -> None:
    wrong = planted_product(lambda g, b: g @ b.T, lambda g, a: g)

    class Wrong(nn.Module):
        def forward(self, a: Tensor, b: Tensor) -> Tensor:
            return ops.tanh(0.1 * wrong(ops.exp(a), ops.exp(b)))

    model = Wrong()
    with pytest.raises(GradientError) as caught:
        gradcheck(lambda a, b: model(a, b), (variable(3, 3), variable(3, 3, seed=1)))
    message = str(caught.value)
    assert re.match(r"gradcheck: input 1 of shape \(3, 3\) at index .*: analytic", message)
    assert re.search(r"\(the worst of [89] of 18\); the rule of planted_binary for b is", message)
    assert "ops.tanh(0.1 * wrong(ops.exp(a), ops.exp(b)))" in message
    assert "[in Wrong]" in message
    with pytest.raises(GradientError, match="planted_unary for x .*wrong"):
        gradgradcheck(lambda x: ops.exp(WRONG_SECOND["forgets half of it"](x)), variable(3))


def test_the_worst_entry_is_reported_and_no_op_is_blamed_where_none_is_wrong() -> None:
    factors = np.array([1.01, 1.5, 1.001])
    with pytest.raises(GradientError, match=r"at index \(1,\).*the worst of 3 of 3"):
        gradcheck(planted(lambda g, x: g * 3 * x * x * factors), variable(3))
    with pytest.raises(GradientError) as caught:  # it is the function that cuts the gradient off
        gradcheck(lambda x: x * x.detach(), variable(3))
    assert "wrong by itself" not in str(caught.value)


def test_a_steep_bend_is_looked_at_with_a_finer_step() -> None:
    x = tensor(np.array([1e-3]), requires_grad=True)
    assert gradcheck(lambda x: ops.tanh(x * 3e4), x)
    with pytest.raises(GradientError):  # and a wrong rule is not excused by it
        gradcheck(lambda x: WRONG["slightly off"](ops.tanh(x * 3e3 - 2.9)), x)


KINKS: dict[str, tuple[Any, str]] = {
    "relu": (ops.relu, r"its slope is \S+ from the left and \S+"),
    "clip": (lambda x: x.clip(0.0, 5.0), r"its slope is \S+ from the left and \S+"),
    "a jump": (planted(lambda g, x: g * 0, lambda x: (x > 0.0) * 1.0), "it jumps"),
}


@pytest.mark.parametrize(("function", "told"), KINKS.values(), ids=KINKS)
def test_kinks_and_jumps_are_recognised_and_named(function: Any, told: str) -> None:
    x = tensor(np.array([1.0, 0.0, -1.0]), requires_grad=True)
    told = r"not differentiable here.*at index \(1,\): " + told
    with pytest.raises(NotDifferentiableError, match=told):
        gradcheck(function, x)
    assert gradcheck(function, tensor(np.array([1.0, -1.0]), requires_grad=True))


def refused_below_zero(x: Tensor) -> Tensor:
    if x.numpy().min() < 0:
        raise ValueError("a root of a negative number")
    return x**0.5


def of_probabilities(function: Any, *values: float) -> Any:
    return lambda x: function(x, tensor(values, dtype=minigrad.float64))


F = nn.functional
BORDER = r"border of its domain: a step away it is not finite"
RAISED = r"border of its domain: a step away the function raises ValueError: \S+"
UNMEASURED: dict[str, tuple[Any, float, str]] = {  # a function, where, and what is said
    "sqrt": (ops.sqrt, 1e-6, BORDER),
    "sqrt at 0": (ops.sqrt, 0.0, BORDER),
    "a power of itself": (lambda x: x**x, 1e-6, BORDER),
    "log": (ops.log, 1e-6, BORDER),
    "log at 0": (ops.log, 0.0, "its value is not finite"),
    "arccos": (ops.arccos, 1 - 1e-6, BORDER),
    "erfinv": (ops.erfinv, 1 - 1e-6, BORDER),
    "overflow": (ops.exp, 709.78271, BORDER),
    "poisson_nll_loss": (
        lambda x: F.poisson_nll_loss(x, minigrad.ones_like(x), log_input=False), 1e-9, BORDER
    ),
    "binary_cross_entropy": (of_probabilities(F.binary_cross_entropy, 1.0), 1e-6, RAISED),
    "binary_cross_entropy at 1": (of_probabilities(F.binary_cross_entropy, 1.0), 1.0, RAISED),
    "kl_div": (lambda x: F.kl_div(minigrad.log(x.detach()), x), 1e-6, RAISED),
    "cholesky": (lambda x: linalg.cholesky(x.reshape(1, 1)), 1e-7, r"LinAlgError: \S+"),
    "a function of one's own": (refused_below_zero, 1e-8, RAISED),
    "a pole nearby": (lambda x: 1 / x, 1e-6, "its differences do not settle"),
    "lgamma": (ops.lgamma, 1e-6, "its differences do not settle"),
}  # fmt: skip


@EITHER_WAY
@pytest.mark.parametrize("name", UNMEASURED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_nothing_can_be_measured_no_rule_is_blamed(name: str, directions: int | None) -> None:
    function, at, told = UNMEASURED[name]
    x = tensor(np.array([at]), requires_grad=True)
    with pytest.raises(NotMeasurableError, match=f"not measurable here, move the input.*{told}"):
        gradcheck(function, x, directions=directions)
    with pytest.raises(NotMeasurableError) as caught:  # as one op of several
        gradcheck(lambda x: 0.1 * function(x * 1.0) + x, x, directions=directions)
    assert not isinstance(caught.value, NotDifferentiableError)
    np.testing.assert_array_equal(x.numpy(), [at])


@pytest.mark.parametrize(("function", "at"), [(refused_below_zero, 1e-8), (ops.relu, 0.0)])
def test_what_is_wrong_is_said_before_what_cannot_be_measured(function: Any, at: float) -> None:
    x, y = tensor(np.array([at]), requires_grad=True), variable(1)
    with pytest.raises(GradientError, match="input 1 of shape.*wrong by itself"):
        gradcheck(lambda x, y: function(x) + WRONG["sign"](y), (x, y))


def test_a_function_that_is_not_repeatable_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(RuntimeError, match="gave different outputs"):
        gradcheck(lambda x: x * rng.normal(), variable(2))
    assert gradcheck(lambda x: nn.functional.dropout(x, 0.5), variable(20))
    with pytest.raises(TypeError, match="the output must be a tensor, got 3.0"):
        gradcheck(lambda x: 3.0, variable(2))


def either(x: Tensor, one: Any, other: Any) -> Any:
    """One output where the first element is positive, another where it is not."""
    return one if x.numpy().ravel()[0] > 0 else other


CHANGING: dict[str, Any] = {
    "a mask": lambda x: x[x > 0.0],
    "a mask of nothing": lambda x: x[(x > 0.0) & (np.arange(2) == 0)],
    "nothing that broadcasts": lambda x: either(x, x, x[:0]),
    "one that broadcasts": lambda x: either(x, x, x.sum(keepdims=True)),
    "no axes": lambda x: either(x, x, x.sum()),
    "another number": lambda x: either(x, [x, x], [x]),
    "none": lambda x: either(x, [x], []),
    "other names": lambda x: either(x, {"a": x}, {"b": x}),
    "other axes": lambda x: either(x, x.reshape(1, 2), x.reshape(2, 1)),
    "unique": lambda x: ops.unique(x * [1.0, 0.0]),
}


@EITHER_WAY
@BOTH_ORDERS
@pytest.mark.parametrize("name", CHANGING)
def test_a_shape_that_depends_on_the_values_is_named(
    name: str, check: Any, directions: int | None
) -> None:
    x = tensor(np.array([0.0, 1.0]), requires_grad=True)
    with pytest.raises(NotDifferentiableError, match="shapes of the outputs depend on the values"):
        check(CHANGING[name], x, directions=directions)
    np.testing.assert_array_equal(x.numpy(), [0.0, 1.0])
    away = tensor(np.array([0.7, 0.5]), requires_grad=True)
    assert check(CHANGING[name], away, directions=directions)


OF_TRIANGLES: dict[str, Any] = {
    "eigh": lambda x: linalg.eigh(x).eigenvalues,
    "eigvalsh": linalg.eigvalsh,
    "upper": lambda x: linalg.eigvalsh(x, UPLO="U"),
    "cholesky": linalg.cholesky,
    "upper cholesky": lambda x: linalg.cholesky(x, upper=True),
    "within": lambda x: ops.exp(linalg.cholesky(x * 1.0).sum(axis=0)),
}


@pytest.mark.parametrize(("check", "symmetric"), [(gradcheck, False), (gradgradcheck, True)])
@pytest.mark.parametrize("name", OF_TRIANGLES)
def test_an_op_that_reads_one_triangle_is_not_blamed(
    name: str, symmetric: bool, check: Any
) -> None:
    """Moving one element of a matrix makes it asymmetric, whether it was symmetric or not."""
    function = OF_TRIANGLES[name]
    matrix = variable(2, 3, 3).numpy() + np.diag([4.0, 6.0, 9.0])
    x = tensor(matrix + matrix.mT if symmetric else matrix, requires_grad=True)
    with pytest.raises(GradientError, match=r"reads one triangle of x.*called at") as caught:
        check(function, x)
    assert "wrong" not in str(caught.value)
    advice = re.search(r"(lambda x: function\(.*\))", str(caught.value))
    assert advice
    assert check(eval(advice[1], {"function": function}), x)


TRANSPOSED: dict[str, tuple[Any, Any]] = {
    "the whole is read": (lambda g, b: g @ b, lambda g, a: a.T @ g),
    "right if symmetric": (lambda g, b: (g @ b.T).T, lambda g, a: a.T @ g),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_a_wrong_rule_of_matrices_is_blamed(name: str) -> None:
    product, b = planted_product(*TRANSPOSED[name]), variable(3, 3, seed=1).detach()
    with pytest.raises(GradientError, match="planted_binary for a is wrong by itself"):
        gradcheck(lambda x: product(x, b), variable(3, 3))
    lower = planted(lambda g: np.triu(g), lambda x: np.tril(x))
    with pytest.raises(GradientError, match="planted_unary for x is wrong by itself"):
        gradcheck(lower, variable(3, 3))


def test_inputs_that_do_not_require_grad_are_left_out() -> None:
    for inputs in (Tensor([1.0]), [Tensor([1.0])], []):
        with pytest.raises(ValueError, match="no input requires grad"):
            gradcheck(lambda *x: x[0], inputs)
    constant = tensor(np.array([1.0, 2.0]))
    halves = planted_product(lambda g, b: g @ b.T, lambda g, a: 100 * a.T @ g)
    assert gradcheck(halves, (variable(2, 2), tensor(np.ones((2, 2)))))
    assert gradcheck(lambda x, c, array: x * c * array, (variable(2), constant, np.ones(2)))


def test_inputs_come_back_as_they_were() -> None:
    x = variable(2, 3)
    before = x.numpy().copy()
    gradcheck(ops.exp, x)
    gradcheck(ops.exp, x, directions=2)
    gradgradcheck(ops.exp, x)
    with pytest.raises(GradientError):
        gradcheck(WRONG["sign"], x)

    def fails_later(x: Tensor, calls: list[int] = []) -> Tensor:  # noqa: B006
        calls.append(1)
        if len(calls) > 3:
            raise LookupError
        return x * 1

    with pytest.raises(LookupError):
        gradcheck(fails_later, x)
    np.testing.assert_array_equal(x.numpy(), before)
    assert x.grad is None


def test_several_outputs_scalars_and_closures() -> None:
    x = variable(2, 2)
    assert gradcheck(lambda x: ops.split(x, 2), x)
    assert gradcheck(lambda x: [x.sum(), x * 2, Tensor(3.0)], x)
    assert gradcheck(lambda _: x * x, [x])
    assert gradgradcheck(lambda _: x * x, [x])
    with pytest.raises(GradientError):
        gradcheck(lambda x: (x * 2, WRONG["sign"](x.reshape(2, 2))), x)


def test_zero_gradients_of_unused_inputs_and_linear_functions() -> None:
    x, unused = variable(2), variable(3, seed=1)
    for check in (gradcheck, gradgradcheck):
        assert check(lambda x, unused: x * x, (x, unused))
    assert gradcheck(lambda x: Tensor([1.0, 2.0]), x)
    assert gradgradcheck(lambda x: 3 * x + 1, variable(2))
    assert gradgradcheck(lambda x: x.sum(axis=0), variable(2, 3))


@EITHER_WAY
@pytest.mark.parametrize("scale", [0.1, 1e3, 1e6])
def test_large_and_small_inputs(scale: float, directions: int | None) -> None:
    x = tensor(np.array([0.3, -0.7, 1.1]) * scale, requires_grad=True)
    assert gradcheck(lambda x: (x / scale) ** 3 + x / scale, x, directions=directions)


def test_directional_derivatives_are_the_gradient_s_along_directions_of_a_seed() -> None:
    pairs = directional_derivatives(lambda x: x**3, variable(4), directions=5)
    assert len(pairs) == 5
    for analytic, numeric in pairs:
        assert abs(analytic - numeric) < 1e-8
    wrong = directional_derivatives(WRONG["missing factor"], variable(2, 3), directions=2)
    for analytic, numeric in wrong:
        np.testing.assert_allclose(3 * analytic, numeric, rtol=1e-6)
    along = lambda seed: directional_derivatives(lambda x: x**3, variable(4), seed=seed)
    assert along(0) == along(0) != along(1)
