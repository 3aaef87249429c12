"""Gradients and derivatives of functions: each row on minigrad and on PyTorch."""

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
import minigrad.autograd.functional
import minigrad.autograd.graph
from minigrad import func, nn
from minigrad.autograd import checkpoint, checkpoint_sequential
from minigrad.checking import gradient_checks

torch = pytest.importorskip("torch")

Row = Callable[[Any], Any]


def leaf(m: Any, *numbers: float) -> Any:
    return m.tensor(list(numbers), requires_grad=True)


def shown(result: Any) -> Any:
    """A result in plain Python: the kind of each structure, the numbers, who has a history."""
    if isinstance(result, (tuple, list)):
        return type(result).__name__, [shown(part) for part in result]
    if isinstance(result, dict):
        return {key: shown(part) for key, part in result.items()}
    if hasattr(result, "requires_grad"):
        values = np.round(np.asarray(result.detach().numpy(), np.float64), 4)
        return tuple(result.shape), values.tolist(), result.requires_grad
    return result


def outcome(row: Row, m: Any) -> Any:
    try:
        return shown(row(m))
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__


def both(m: Any) -> tuple[Any, Any]:
    return m.tensor([1.0, 2.0]), m.tensor([3.0, 5.0])


def of_two(use: Callable[[Any, Any, Any], Any]) -> Row:
    return lambda m: use(m, leaf(m, 1.0, 2.0), leaf(m, 3.0, 5.0))


def third_of_linear(m: Any) -> Any:
    """The third derivative where the first does not depend on the input any more."""
    x, slope = leaf(m, 2.0), leaf(m, 3.0)
    (first,) = m.autograd.grad(x * slope, x, create_graph=True)
    (second,) = m.autograd.grad(first, x, create_graph=True, materialize_grads=True)
    return second, m.autograd.grad(second, x, materialize_grads=True)


def backward(m: Any, *args: Any, **options: Any) -> Any:
    x = leaf(m, 1.0, 2.0)
    m.autograd.backward([(x * x).sum(), x * 3], *args, **options)
    return x.grad


ENGINE: dict[str, Row] = {
    "one input": of_two(lambda m, x, y: m.autograd.grad((x * y).sum(), x)),
    "two inputs": of_two(lambda m, x, y: m.autograd.grad((x * y).sum(), [x, y])),
    "a dict": of_two(lambda m, x, y: m.autograd.grad((x * y).sum(), {"x": x, "y": y})),
    "unused": of_two(lambda m, x, y: m.autograd.grad(x.sum(), [x, y])),
    "allow_unused": of_two(lambda m, x, y: m.autograd.grad(x.sum(), y, allow_unused=True)),
    "materialized": of_two(lambda m, x, y: m.autograd.grad(x.sum(), y, materialize_grads=True)),
    "materialized, not allowed": of_two(lambda m, x, y: m.autograd.grad(
        x.sum(), y, allow_unused=False, materialize_grads=True)),
    "sixth is only_inputs": of_two(
        lambda m, x, y: m.autograd.grad(x.sum(), y, None, None, False, True)),
    "seventh is allow_unused": of_two(
        lambda m, x, y: m.autograd.grad(x.sum(), y, None, None, False, True, True)),
    "batched": of_two(lambda m, x, y: m.autograd.grad(
        x * y, [x, y], m.eye(2), is_grads_batched=True)),
    "batched, recorded": of_two(lambda m, x, y: m.autograd.grad(
        x * x, [x, y], m.eye(2), create_graph=True, allow_unused=True, is_grads_batched=True)),
    "two outputs": of_two(lambda m, x, y: m.autograd.grad(
        [x * x, y.sum()], [x, y], [m.ones(2), None])),
    "not one number": of_two(lambda m, x, y: m.autograd.grad(x * y, x)),
    "without history": of_two(lambda m, x, y: m.autograd.grad(x.sum(), x.detach())),
    "backward of two": lambda m: backward(m, [None, m.ones(2)]),
    "backward, grad_variables": lambda m: backward(m, grad_variables=[None, m.ones(2)]),
    "backward, both": lambda m: backward(m, [None], grad_variables=[None]),
    "backward, one missing": lambda m: backward(m),
    "backward, no inputs": lambda m: backward(m, inputs=[]),
    "grad, no inputs": lambda m: m.autograd.grad(leaf(m, 1.0), []),
    "grad, materialized": lambda m: third_of_linear(m),
}  # fmt: skip


PASSED_TWICE = """
x[0] ; x[0, 1] ; x[:, 1:] ; x[..., 0] ; x[None] ; x[[0, 1]] ; x[x > 0] ; x[m.tensor([0])] ; x * x
x.diagonal() ; x.tril() ; x.triu(1) ; x.T ; x + 1 ; x * 2 ; x.exp() ; x.sum(0) ; x.unfold(1, 2, 1)
x.flip(0) ; x.rot90() ; m.cat([x, x]) ; x.view(9) ; x.expand(2, 3, 3) ; x.select(0, 1) ; x.clone()
x.chunk(2)[0] ; x.split(1)[0] ; x.unbind()[0] ; x.diag() ; x.trace() ; m.block_diag(x, x) ; x.max()
x.index_select(0, m.tensor([0])) ; x.masked_fill(x > 0, 0.0) ; m.nn.functional.pad(x, (1, 1))
m.nn.functional.dropout(x, 0.5)
"""


def second_pass(m: Any, expression: str) -> Any:
    x = m.tensor([[0.5, -2.0, 1.0], [3.0, 0.25, 2.5], [1.5, 4.0, -1.0]], requires_grad=True)
    y = eval(expression, {"m": m, "x": x})
    for _ in range(2):
        y.backward(m.ones_like(y))
    return None if "dropout" in expression else x.grad


@pytest.mark.parametrize("expression", re.split(r" ; |\n", PASSED_TWICE.strip()))
def test_a_second_pass_needs_what_is_kept(expression: str) -> None:
    """Where an op keeps arrays, the first pass frees them."""
    row = lambda m: second_pass(m, expression)
    assert outcome(row, minigrad) == outcome(row, torch)


def structures(m: Any) -> tuple[Any, Any]:
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
    return {"w": m.tensor(rows), "b": m.tensor([3.0, -1.0])}, m.tensor(rows).T


def affine(p: Any, x: Any) -> Any:
    return {"out": x @ p["w"] + p["b"], "parts": (p["w"].sum(), [p["b"] * 2])}


def constant(m: Any) -> Any:
    """A Function of one's own whose result does not depend on its input, for many samples."""

    class Zeros(m.autograd.Function):  # type: ignore[misc, name-defined]
        generate_vmap_rule = True
        forward = staticmethod(lambda x: m.zeros(x.shape))
        setup_context = staticmethod(lambda ctx, inputs, output: None)
        backward = staticmethod(lambda ctx, g: g)

    return m.vmap(Zeros.apply)(m.ones(2, 3))


def counted(m: Any) -> Any:
    """What the dict has after a call in which a buffer is assigned."""

    class Counter(m.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", m.zeros(1))

        def forward(self, x: Any) -> Any:
            self.n = self.n + x
            return self.n

    given = {"n": m.ones(1)}
    counter = Counter()
    return m.func.functional_call(counter, given, m.ones(1)), given, counter.n


FUNC: dict[str, Row] = {
    "jacrev of structures": lambda m: m.func.jacrev(affine, (1, 0))(*structures(m)),
    "jvp of structures": lambda m: m.func.jvp(affine, structures(m), structures(m)),
    "vjp of structures": lambda m: m.func.vjp(affine, *structures(m))[1](affine(*structures(m))),
    "grad": lambda m: m.func.grad(lambda x, y: (x * y).sum(), (0, 1))(*both(m)),
    "grad, aux": lambda m: m.func.grad(
        lambda x: ((x * x).sum(), x + 1), has_aux=True)(leaf(m, 1.0)),
    "grad, third": lambda m: m.func.grad(lambda x: ((x * x).sum(), x + 1), 0, True)(leaf(m, 1.0)),
    "grad_and_value": lambda m: m.func.grad_and_value(lambda x: (x * x).sum())(leaf(m, 3.0)),
    "grad_and_value, aux": lambda m: m.func.grad_and_value(
        lambda x: ((x * x).sum(), x + 1), has_aux=True)(leaf(m, 3.0)),
    "vjp": lambda m: m.func.vjp(lambda x, y: x * y, *both(m))[1](m.ones(2)),
    "vjp of one": lambda m: m.func.vjp(lambda x: x * x, leaf(m, 3.0))[1](m.ones(1)),
    "vjp of a tuple": lambda m: m.func.vjp(
        lambda x: (x * x, x.sum()), leaf(m, 3.0, 1.0))[1]((m.ones(2), m.tensor(1.0))),
    "vjp, aux": lambda m: m.func.vjp(lambda x: (x * x, x + 1), leaf(m, 3.0), has_aux=True)[::2],
    "jvp": lambda m: m.func.jvp(lambda x, y: x * y, both(m), (m.ones(2), m.ones(2))),
    "jvp, aux": lambda m: m.func.jvp(
        lambda x: (x * x, x + 1), (leaf(m, 3.0),), (m.ones(1),), has_aux=True),
    "jvp, strict": lambda m: m.func.jvp(
        lambda x: m.ones(1), (m.ones(1),), (m.ones(1),), strict=True),
    "jvp of a constant": lambda m: m.func.jvp(lambda x: m.ones(1), (m.ones(1),), (m.ones(1),)),
    "jacrev": lambda m: m.func.jacrev(lambda x, y: (x * y, x.sum()), (0, 1))(*both(m)),
    "jacrev, chunks": lambda m: m.func.jacrev(lambda x: x * x, chunk_size=1)(leaf(m, 3.0, 1.0)),
    "jacfwd": lambda m: m.func.jacfwd(lambda x: (x * x, x.sum()))(m.tensor([3.0, 1.0])),
    "jacfwd, aux": lambda m: m.func.jacfwd(
        lambda x: (x * x, x + 1), 0, True, randomness="same")(m.tensor([3.0, 1.0])),
    "hessian": lambda m: m.func.hessian(lambda x: (x**3).sum())(m.tensor([3.0, 1.0])),
    "hessian of two numbers": lambda m: m.func.hessian(lambda x: x**3)(m.tensor([3.0, 1.0])),
    "hessian by both": lambda m: m.func.hessian(
        lambda x, y: (x * y).sum(), (0, 1))(m.tensor([3.0]), m.tensor([1.0])),
    "linearize": lambda m: m.func.linearize(lambda x: x**3, m.tensor([3.0]))[1](m.ones(1)),
    "vmap": lambda m: m.vmap(m.dot, in_dims=(0, None))(m.ones(2, 3), m.ones(3)),
    "vmap, a tuple of one out_dim": lambda m: m.vmap(lambda x: x * 2, out_dims=(1,))(m.ones(2, 3)),
    "vmap, too few dims": lambda m: m.vmap(lambda x: x[0], ([0],))([m.ones(2), m.ones(2)]),
    "vmap, out_dims": lambda m: m.func.vmap(lambda x: x * 2, 1, out_dims=1)(m.ones(2, 3)),
    "vmap, chunks": lambda m: m.vmap(lambda x, y: (x * y, x.sum()), (0, 1), (1, 0), chunk_size=2)(
        m.ones(5, 3), m.ones(3, 5)),
    "vmap, chunk_size 0": lambda m: m.vmap(lambda x: x, chunk_size=0)(m.ones(2)),
    **{
        f"vmap of vmap, {name}": lambda m, f=f: m.vmap(
            lambda x, i, d: m.vmap(lambda d: f(x, i, d))(d)
        )(m.arange(6.0).reshape(2, 3), m.tensor([0, 1]), m.ones(2, 2))
        for name, f in {
            "an index": lambda x, i, d: x[i] * d,
            "an index of samples": lambda x, i, d: (x * d)[i],
            "index_fill": lambda x, i, d: (x * d).index_fill(0, i, 5.0),
            "where": lambda x, i, d: (i > 0) * x + d,
        }.items()
    },
    "functional_call": lambda m: m.func.functional_call(
        m.nn.Linear(2, 1), {"weight": m.ones(1, 2), "bias": m.ones(1)}, (m.ones(2),)),
    "vmap of a constant": lambda m: constant(m),
    "functional_call, assigned": lambda m: counted(m),
    "functional_call, dicts": lambda m: m.func.functional_call(
        m.nn.Linear(2, 1), ({"weight": m.ones(1, 2)}, {"bias": m.ones(1)}), m.ones(2)),
    "functional_call, twice": lambda m: m.func.functional_call(
        m.nn.Linear(2, 1), ({"bias": m.ones(1)}, {"bias": m.ones(1)}), m.ones(2)),
    "functional_call, strict": lambda m: m.func.functional_call(
        m.nn.Linear(2, 1), {"bias": m.ones(1)}, (m.ones(2),), strict=True),
}  # fmt: skip


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "square": lambda x, y: x * x * y,
    "linear": lambda x, y: 2 * x + 3 * y,
    "only x": lambda x, y: x * x,
    "a pair": lambda x, y: (x * x * y, x.sum() * 2 + y.sum() ** 2),
    "one each": lambda x, y: (x * x, y * y),
    "number": lambda x, y: (x**3 * y**2).sum(),
    "linear number": lambda x, y: (x * 2 + y).sum(),
    "number of x": lambda x, y: (x**3).sum(),
    "quadratic": lambda x, y: (x * x + y * y).sum(),
    "half constant": lambda x, y: (x * y, (x * 0).detach()),
}
SWITCHES = list(itertools.product((False, True), repeat=3))


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"])
def test_derivatives_at_inputs(name: str, call: str) -> None:
    """With and without a vector, a graph and `strict`: the same results, and the same refusals."""

    def row(m: Any, create_graph: bool, strict: bool, vector: bool) -> Any:
        inputs = (leaf(m, 1.0, 2.0), leaf(m, 3.0, 5.0))
        v: Any = (m.tensor([1.0, 1.0]), m.tensor([1.0, 2.0]))
        if name == "vjp":
            value = CALLS[call](*inputs)
            ones = [
                m.ones(tuple(part.shape))
                for part in (value if isinstance(value, tuple) else [value])
            ]
            v = tuple(ones) if isinstance(value, tuple) else ones[0]
        given = [v] if vector and name not in ("jacobian", "hessian") else []
        derivative = getattr(m.autograd.functional, name)
        return derivative(CALLS[call], inputs, *given, create_graph=create_graph, strict=strict)

    for switches in SWITCHES:
        found = [outcome(lambda m: row(m, *switches), m) for m in (minigrad, torch)]  # noqa: B023
        assert found[0] == found[1], switches


AT_INPUTS: dict[str, Row] = {
    "jacobian of one": lambda m: m.autograd.functional.jacobian(lambda x: x**2, m.ones(2)),
    "jacobian by columns": lambda m: m.autograd.functional.jacobian(
        lambda x: (x**2, x.sum()), m.ones(2), strategy="forward-mode", vectorize=True),
    "strict and vectorized": lambda m: m.autograd.functional.jacobian(
        lambda x: x**2, m.ones(2), strict=True, vectorize=True),
    "hessian of one": lambda m: m.autograd.functional.hessian(lambda x: (x**3).sum(), m.ones(2)),
    "hessian by columns": lambda m: m.autograd.functional.hessian(
        lambda x: (x**3).sum(), m.ones(2), False, False, True, "forward-mode").detach(),
    "vjp of one number": lambda m: m.autograd.functional.vjp(lambda x: (x**3).sum(), m.ones(2)),
    "jvp at one number": lambda m: m.autograd.functional.jvp(lambda x: x**3, m.ones(1)),
    "jvp without v": lambda m: m.autograd.functional.jvp(lambda x: x**3, m.ones(2)),
    "recorded, at a plain tensor": lambda m: [
        m.autograd.functional.hvp(lambda x: (x**3).sum(), m.ones(2), m.ones(2), create_graph=True),
        m.autograd.functional.jvp(lambda x: 2 * x, m.ones(2), m.ones(2), create_graph=True),
        m.autograd.functional.vjp(lambda x, y: x * y, (m.ones(1), m.ones(1)), create_graph=True),
        m.autograd.functional.jacobian(lambda x: x**2, m.ones(2), create_graph=True)],
    "hvp at one number": lambda m: m.autograd.functional.hvp(lambda x: x**3, m.tensor(2.0)),
    "vhp of one": lambda m: m.autograd.functional.vhp(lambda x: (x**3).sum(), m.ones(2), m.ones(2)),
}  # fmt: skip


ROWS = [*ENGINE.items(), *FUNC.items(), *AT_INPUTS.items()]


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=[name for name, _ in ROWS])
def test_a_row_gives_what_pytorchs_gives(row: Row) -> None:
    assert outcome(row, minigrad) == outcome(row, torch)


def test_the_strategy_is_checked() -> None:
    with pytest.raises(ValueError, match="reverse-mode"):
        minigrad.autograd.functional.jacobian(minigrad.sin, minigrad.ones(2), strategy="forward")  # type: ignore[arg-type]


def test_an_ensemble() -> None:
    models = [nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).eval() for _ in range(4)]
    models[0][0].bias.requires_grad = False
    with pytest.raises(RuntimeError, match=r"0\.bias is frozen in some models"):
        func.stack_module_state(models)
    for model in models:
        model[0].bias.requires_grad = False
    parameters, buffers = func.stack_module_state(models)
    assert parameters["0.weight"].requires_grad
    assert not parameters["0.bias"].requires_grad
    assert "1.running_mean" in buffers
    x = minigrad.randn(5, 3)

    def call(parameters: Any, buffers: Any) -> Any:
        return func.functional_call(models[0], (parameters, buffers), x)

    found = func.vmap(call)(parameters, buffers)
    for one, model in zip(found, models, strict=True):
        np.testing.assert_allclose(one.numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)
    for wrong in ([], [nn.Linear(2, 2), nn.ReLU()], [nn.ReLU(), nn.ReLU().eval()]):
        with pytest.raises(RuntimeError, match="one class"):
            func.stack_module_state(wrong)


def test_a_shared_tensor_is_replaced_at_each_place_or_at_one() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Parameter(minigrad.ones(1))
            self.second = self.first

        def forward(self) -> Any:
            return self.first + 10 * self.second

    tied = Tied()
    given = {"first": minigrad.tensor([2.0])}
    assert func.functional_call(tied, given).tolist() == [22.0]
    assert func.functional_call(tied, given, tie_weights=False).tolist() == [12.0]
    assert func.functional_call(tied, given, strict=True).tolist() == [22.0]
    with pytest.raises(RuntimeError, match="'second'"):
        func.functional_call(tied, given, tie_weights=False, strict=True)


def test_batch_normalization_without_statistics() -> None:
    model = func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(2)))
    assert list(model.buffers()) == []
    xs = minigrad.randn(3, 4, 2)
    found = func.vmap(model)(xs)
    np.testing.assert_allclose(found.numpy()[1], model(xs[1]).detach().numpy(), atol=1e-5)


# Switches, names and functions of one's own ------------------------------------------------------


def test_inference_mode() -> None:
    x = minigrad.ones(2, requires_grad=True)
    never = minigrad.inference_mode()  # only within a block
    assert (2 * x).requires_grad
    with never:
        assert not (2 * x).requires_grad
        with minigrad.inference_mode(False):
            assert (2 * x).requires_grad
    for decorate in (minigrad.inference_mode, minigrad.inference_mode()):
        assert not decorate(lambda: 2 * x)().requires_grad
    assert (2 * x).requires_grad


def test_variable() -> None:
    x = minigrad.ones(2, requires_grad=True)
    same = minigrad.autograd.Variable(x)
    assert not same.requires_grad
    assert np.shares_memory(same.numpy(), x.detach().numpy())
    assert minigrad.autograd.Variable(x, requires_grad=True).requires_grad
    assert isinstance(x, minigrad.autograd.Variable)
    assert not isinstance(np.ones(2), minigrad.autograd.Variable)
    with pytest.raises(TypeError, match="Variable: a tensor expected, got list"):
        minigrad.autograd.Variable([1.0])


@pytest.mark.filterwarnings("ignore")
def test_anomalies_are_found_from_here_on() -> None:
    negative = minigrad.tensor([-1.0])
    minigrad.autograd.set_detect_anomaly(True)
    try:
        with pytest.raises(FloatingPointError, match="log"):
            minigrad.log(negative)
    finally:
        minigrad.autograd.set_detect_anomaly(False)
    with minigrad.autograd.detect_anomaly(check_nan=False):
        minigrad.log(negative)
    with minigrad.autograd.set_detect_anomaly(True), pytest.raises(FloatingPointError):
        minigrad.log(negative)
    minigrad.log(negative)


def test_the_graph_module() -> None:
    graph = minigrad.autograd.graph
    x = minigrad.ones(2, requires_grad=True)
    saved: list[Any] = []
    with (
        graph.save_on_cpu(),
        graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t),
    ):
        y = x.exp()
    assert isinstance(y.grad_fn, graph.Node)
    assert len(saved) == 1


@pytest.mark.parametrize("m", [minigrad, torch], ids=["minigrad", "torch"])
def test_a_function_with_a_context_of_its_own(m: Any) -> None:
    class Square(m.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any, power: int) -> Any:
            return x**power

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.power = inputs
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x, output)

        @staticmethod
        @m.autograd.function.once_differentiable if m is torch else m.autograd.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            x, out = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return g * ctx.power * out / x, None

    x = leaf(m, 2.0)
    weight = leaf(m, 1.0)
    (slope,) = m.autograd.grad(Square.apply(x, 3), x, weight, create_graph=True)
    assert slope.tolist() == [12.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.backward()


def test_checks_take_pytorchs_switches() -> None:
    x = minigrad.randn(3, dtype="float64", requires_grad=True)

    class Wrong(minigrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return 2 * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * g

    check = minigrad.autograd.gradcheck
    assert check(minigrad.sin, (x,), eps=1e-6, atol=1e-4, nondet_tol=0.1, fast_mode=True)
    assert minigrad.autograd.gradgradcheck(minigrad.sin, x, None, check_batched_grad=True)
    assert not check(Wrong.apply, x, raise_exception=False)
    with pytest.raises(minigrad.autograd.GradientError):
        check(Wrong.apply, x)
    for wrong in (check, minigrad.autograd.gradgradcheck):
        with pytest.raises(TypeError, match=f"{wrong.__name__}: unknown argument 'step'"):
            wrong(minigrad.sin, x, step=1.0)
    assert gradient_checks._SWITCHES.isdisjoint({"eps", "fast_mode"})


# Checkpoints -------------------------------------------------------------------------------------


def test_a_checkpoint_takes_pytorchs_options() -> None:
    x = leaf(minigrad, 2.0)
    seen: list[str] = []

    class Block:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            seen.append(f"{self.name} begins")

        def __exit__(self, *_: object) -> None:
            seen.append(f"{self.name} ends")

    def cubed(x: Any, *, scale: float) -> Any:
        seen.append("runs")
        return scale * x**3

    y = checkpoint(
        cubed, x, use_reentrant=False, context_fn=lambda: (Block("first"), Block("second")),
        determinism_check="none", debug=False, early_stop=True, preserve_rng_state=False, scale=2.0,
    )  # fmt: skip
    y.sum().backward()
    assert x.grad.tolist() == [24.0]
    assert seen == [
        "first begins", "runs", "first ends", "second begins", "runs", "second ends"
    ]  # fmt: skip


def test_a_sequence_in_segments() -> None:
    x = leaf(minigrad, 2.0, 3.0)
    runs: list[int] = []

    def layer(i: int) -> Callable[[Any], Any]:
        return lambda x: runs.append(i) or x * x  # type: ignore[func-returns-value]

    for segments, again in ((1, []), (2, [0]), (3, [1, 0])):
        runs.clear()
        x.grad = None
        checkpoint_sequential([layer(0), layer(1), layer(2)], segments, x).sum().backward()
        assert runs == [0, 1, 2, *again]
        assert x.grad.tolist() == [8 * 2.0**7, 8 * 3.0**7]
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    found = checkpoint_sequential(model, 2, x, use_reentrant=False)
    assert found.tolist() == model(x).tolist()
    for wrong in (0, 4):
        with pytest.raises(ValueError, match=f"{wrong} segments of 3"):
            checkpoint_sequential(model, wrong, x)
