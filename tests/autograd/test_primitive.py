"""User-defined ops in every form that `primitive` takes, and the errors of bad ones."""

import gc
import itertools
import random
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from interrupts import opcode_trace

import minigrad
from minigrad import Tensor, no_grad, ops
from minigrad.autograd import Update, grad, gradcheck, gradgradcheck, primitive
from minigrad.autograd.primitives import registry
from minigrad.transforms.checkpointing import _CHECKPOINT as checkpoint_op


def variable(*shape: int, seed: int = 0) -> Tensor:
    return minigrad.tensor(np.random.default_rng(seed).uniform(0.5, 1.5, shape), requires_grad=True)


def check(function: Any, *inputs: Tensor) -> None:
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def own(name: str, forward: Any, options: dict[str, Any] | None = None, **rules: Any) -> Any:
    """An op of a program, with rules for its arguments."""
    forward.__name__ = name
    op = primitive(**options or {})(forward)
    if rules:
        op.defvjp(**rules)
    return op


def test_one_argument() -> None:
    @primitive
    def my_cube(x: Any) -> Any:
        """Cube."""
        assert type(x) is np.ndarray
        return x**3

    my_cube.defvjp(x=lambda g, x: 3 * g * x**2)
    check(my_cube, variable(2, 3))
    check(my_cube, variable())
    assert (my_cube.__name__, my_cube.__doc__) == ("my_cube", "Cube.")
    for given in (2, 2.0, [2.0], np.float64(2.0), np.array(2.0)):
        cube = my_cube(given)
        assert isinstance(cube, Tensor)
        assert not cube.requires_grad
        assert np.all(cube.numpy() == 8)


def test_two_arguments_broadcast_and_promote() -> None:
    my_hypot = own(
        "my_hypot", lambda a, b: np.sqrt(a * a + b * b),
        a=lambda g, a, out: g * a / out, b=lambda g, b, out: g * b / out,
    )  # fmt: skip
    check(my_hypot, variable(2, 3), variable(3, seed=1))
    check(my_hypot, variable(), variable(2, 1, seed=1))
    check(lambda x: my_hypot(x, 2.0), variable(3))
    check(lambda x: my_hypot(np.ones((2, 1)), x), variable(3))
    x = Tensor([3.0], requires_grad=True)
    my_hypot(x, np.array([4])).sum().backward()
    assert my_hypot(x, np.array([4])).dtype == np.float32
    np.testing.assert_allclose(x.grad.numpy(), [0.6], rtol=1e-6)


def test_one_rule_of_two() -> None:
    my_ratio = own("my_ratio", lambda a, b: a / b, a=lambda g, b: g / b)
    check(lambda x: my_ratio(x, 2.0), variable(3))
    for first in (1.0, variable(3)):
        with pytest.raises(TypeError, match=r"my_ratio: .*derivative .*'b'.*detach"):
            my_ratio(first, variable(3))
    with no_grad():
        assert my_ratio(1.0, variable(3)).shape == (3,)
    assert my_ratio(variable(3), variable(3).detach()).requires_grad


def test_options() -> None:
    @primitive
    def my_scale(x: Any, factor: float = 2.0, *, shift: float = 0.0) -> Any:
        return x * factor + shift

    my_scale.defvjp(x=lambda g, factor: g * factor)
    for given, options in (
        ((), {}), ((3.0,), {}), ((), {"shift": 1.0}), ((), {"factor": -1.0, "shift": 1.0}),
    ):  # fmt: skip
        check(
            lambda x, given=given, options=options: my_scale(x, *given, **options), variable(2, 2)
        )
    check(lambda x: my_scale(x=x, factor=0.5), variable(2, 2))
    for given, wrong in (
        ((1,), {"unknown": 1}), ((1,), {"shift": 1, "factr": 2}), ((), {}), ((1, 1.0, 2.0), {}),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="my_scale|unknown|factr"):
            my_scale(*given, **wrong)
    my_roll = own("my_roll", lambda x, shift, axis=0: np.roll(x, shift, axis), {"arrays": 1})
    my_roll.defvjp(x=lambda g, shift, axis: my_roll(g, -shift, axis)
                   if isinstance(g, Tensor) else np.roll(g, -shift, axis))  # fmt: skip
    check(lambda x: my_roll(x, 1) * x, variable(3, 2))
    check(lambda x: my_roll(x, shift=-2, axis=1) * x, variable(2, 3))


def test_three_arguments() -> None:
    my_fma = own(
        "my_fma", lambda a, b, c: a * b + c, {"promote": ("a", "b", "c")},
        a=lambda g, b: g * b, b=lambda g, a: g * a, c=lambda g: g,
    )  # fmt: skip
    check(my_fma, variable(2, 3), variable(3, seed=1), variable(2, 1, seed=2))
    check(lambda a: my_fma(a, 2.0, a), variable(2))
    assert my_fma(Tensor([1.0]), 2, np.array([1])).dtype == np.float32


def test_variadic() -> None:
    @primitive
    def my_total(*tensors: Any, power: int = 1) -> Any:
        return sum(t**power for t in tensors)

    @my_total.defjoint("tensors")
    def _(g: Any, needed: tuple[bool, ...], tensors: Any, power: int) -> list[Any]:
        pairs = zip(needed, tensors, strict=True)
        return [g * power * t ** (power - 1) if want else None for want, t in pairs]

    check(my_total, variable(3))
    check(lambda a, b: my_total(a, b, a, power=3), variable(3), variable(3, seed=1))
    check(lambda a, b: my_total(np.ones(3), a, 2.0, b, power=2), variable(3), variable(1, seed=1))
    with pytest.raises(TypeError):
        my_total(variable(3), powr=2)


VARIADIC = [*(op for op in registry.values() if op.variadic), checkpoint_op]


@pytest.mark.parametrize("op", VARIADIC, ids=lambda op: op.name)
def test_a_plan_of_n_tensors_costs_n_steps(op: Any) -> None:
    """Counted: comparisons of slots, and instructions of the interpreter."""

    class Slot(int):
        compared = 0

        def __eq__(self, other: object) -> bool:
            Slot.compared += 1
            return int(self) == other

        __hash__ = int.__hash__

    def steps(n: int) -> int:
        slots, done = tuple(map(Slot, range(0, 3 * n, 3))), itertools.count()
        before = sys.gettrace()
        sys.settrace(opcode_trace(done.__next__, lambda frame: True))
        try:
            op.plan(slots).narrow((True, False) * (n // 2)).slot_names
        finally:
            sys.settrace(before)
        return next(done)

    few, many = steps(100), steps(400)
    assert 100 < few < many < 4.4 * few
    assert Slot.compared < 2000


@pytest.mark.parametrize("op", VARIADIC, ids=lambda op: op.name)
def test_plans_of_variadic_ops_are_bounded(op: Any) -> None:
    """However many tensors there are, and whichever of them require a gradient."""
    draw = random.Random(0)

    def use(times: int) -> None:
        for _ in range(times):
            n = draw.randint(1, 60)
            slots = tuple(sorted(draw.sample(range(60), n)))
            op.plan(slots).narrow(tuple(draw.choices((True, False), k=n)))

    traced: list[int] = []
    tracemalloc.start()
    try:
        for times in (300, 600):
            use(times)
            gc.collect()
            traced.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert traced[1] - traced[0] < 100_000


@pytest.mark.parametrize("join", [minigrad.concatenate, minigrad.stack])
def test_some_of_many_tensors_get_gradients(join: Any) -> None:
    """Among constants, all of them or some, recorded or not."""
    tensors = [variable(2, seed=i) if i % 3 else np.ones(2) for i in range(20)]
    inputs = [t for t in tensors if isinstance(t, Tensor)]
    scale = np.arange(1.0, 41.0).reshape((40,) if join is minigrad.concatenate else (20, 2))
    expected = {id(t): scale.reshape(20, 2)[i] for i, t in enumerate(tensors)}
    for chosen in (inputs, inputs[::3], inputs[-1:], inputs[:1]):
        for create in (False, True):
            found = grad((join(tensors) * scale).sum(), chosen, create_graph=create)
            for tensor, gradient in zip(chosen, found, strict=True):
                np.testing.assert_array_equal(gradient.numpy(), expected[id(tensor)])

    assert join(tensors)._node.plan.slot_names == tuple(f"tensors[{i}]" for i in range(20) if i % 3)


def test_joint_rule_is_told_what_is_needed() -> None:
    asked: list[tuple[bool, ...]] = []

    my_product = own("my_product", lambda a, b: a * b)

    @my_product.defjoint("a", "b")
    def _(g: Any, needed: tuple[bool, ...], a: Any, b: Any) -> Any:
        asked.append(needed)
        return (g * b if needed[0] else None), (g * a if needed[1] else None)

    a, b = variable(3), variable(3, seed=1)
    check(my_product, a, b)
    asked.clear()
    my_product(a, 2.0).sum().backward()
    my_product(2.0, b).sum().backward()
    grad(my_product(a, b).sum(), b)
    my_product(a, b).sum().backward()
    assert asked == [(True, False), (False, True), (False, True), (True, True)]


def test_residuals_and_decomposition() -> None:
    def my_unit(x: Any) -> Any:
        norm = np.sqrt((x * x).sum())
        return x / norm, norm

    def rule(g: np.ndarray, out: np.ndarray, norm: np.ndarray) -> np.ndarray:
        assert type(g) is np.ndarray  # a fused op's own rule only ever meets arrays
        return (g - out * (g * out).sum()) / norm

    my_unit = own("my_unit", my_unit, {"residuals": ("norm",)}, x=rule)
    my_unit.defdecomposition(lambda x: x / x.norm())
    check(my_unit, variable(4))
    assert my_unit(np.array([3.0, 4.0])).tolist() == [0.6, 0.8]
    x = variable(2)
    assert set(my_unit(x)._node.plan.saved_names) >= {"norm", "out"}


def test_fused_op_with_equal_arguments_and_a_long_history() -> None:
    """The decomposition is differentiated by itself: neither twice, nor on into older nodes."""
    runs: list[int] = []

    my_fused = own(
        "my_fused", lambda a, b: (a * b * b, 0), {"residuals": ("unused",)},
        a=lambda g, b: g * b * b, b=lambda g, a, b: 2 * g * a * b,
    )  # fmt: skip

    @my_fused.defdecomposition
    def _(a: Any, b: Any) -> Any:
        runs.append(1)
        return a * b * b

    x = minigrad.tensor(np.array(1.1), requires_grad=True)
    h = x
    for _ in range(4):
        h = my_fused(h, h)
    (first,) = grad(h, x, create_graph=True)
    assert len(runs) == 4
    np.testing.assert_allclose(first.item(), 81 * 1.1**80, rtol=1e-12)
    np.testing.assert_allclose(grad(first, x)[0].item(), 81 * 80 * 1.1**79, rtol=1e-12)
    check(lambda x: my_fused(my_fused(x, x), x), variable(3))


def test_rules_may_name_shapes_and_return_updates() -> None:
    class First(Update):
        def __init__(self, g: Any, shape: tuple[int, ...]) -> None:
            self.g, self.shape = g, shape

        def add_to(self, buffer: np.ndarray) -> None:
            buffer[0] += self.g

        def dense(self) -> Any:
            return ops.indexing.scatter_index(self.g, 0, self.shape)

    my_first = own("my_first", lambda x: x[0], x=lambda g, x_shape: First(g, x_shape))
    check(lambda x: my_first(x) * x.sum(axis=0), variable(3, 2))
    x = variable(3)
    total = my_first(x) + my_first(x) + (x * 2).sum()
    total.backward()
    assert x.grad.tolist() == [4.0, 2.0, 2.0]


def test_an_op_without_rules_or_with_a_rule_that_returns_none_gives_no_gradient() -> None:
    x, my_rounding = variable(3), own("my_rounding", lambda x: np.rint(x))
    assert not my_rounding(x).requires_grad
    (my_rounding(x) * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), np.rint(x.numpy()))
    x, my_stop = variable(2), own("my_stop", lambda x: x * 1, x=lambda g: None)
    (my_stop(x) + x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_rules_may_be_replaced_and_an_op_is_a_method() -> None:
    my_identity, x = own("my_identity", lambda x: x.copy(), x=lambda g: g), variable(2)
    assert grad(my_identity(x).sum(), x)[0].tolist() == [1.0, 1.0]
    my_identity.defvjp(x=lambda g: 5 * g)
    assert grad(my_identity(x).sum(), x)[0].tolist() == [5.0, 5.0]

    class Own(Tensor):
        identity = my_identity

    assert Own([1.0]).identity().tolist() == [1.0]


@pytest.mark.parametrize("several", [False, True])
def test_the_error_that_follows_an_op_without_rules_speaks_of_one(several: bool) -> None:
    forward = lambda a, b, c=1: (a * b, a) if several else a * b
    my_forgotten = own("my_forgotten", forward, {"multiple_outputs": several})

    x = variable(3)
    parts = lambda x: my_forgotten(x, 2.0)[0] if several else my_forgotten(x, 2.0)
    y = (parts(x) * 2).sum()
    used = (x * 2).sum()
    for differentiate, told in (
        (y.backward, "backward: .*an op without a derivative"),
        (lambda: grad(y, x), "grad: .*an op without a derivative"),
        (lambda: grad(used, variable(3)), "grad: .*input 0 .*an op without a derivative"),
    ):
        with pytest.raises(RuntimeError, match=told):
            differentiate()
    assert "an op without a derivative" in minigrad.autograd.why_no_grad(x, y)
    assert "my_forgotten" in minigrad.autograd.why_no_grad(x, lambda: parts(x).sum())
    with pytest.raises((RuntimeError, ValueError), match="an op without a derivative"):
        minigrad.viz.graph(y)


def test_a_forward_that_returns_its_input_returns_a_view() -> None:
    my_pass = own("my_pass", lambda x: x, x=lambda g: g)
    x = variable(2)
    h = x * 1.0
    y, v = my_pass(h), minigrad.tensor(np.array(3.0), requires_grad=True)
    y[0] = v * v
    assert h.tolist() == y.tolist() == [9.0, x.numpy()[1]]
    (h * h * y).sum().backward()
    assert v.grad.item() == 3 * 9.0**2 * 6
    np.testing.assert_allclose(x.grad.numpy(), [0.0, 3 * x.numpy()[1] ** 2])
    check(lambda x: my_pass(my_pass(x)) * x, x)


def test_a_forward_of_two_arrays_that_returns_one_returns_a_view_of_that_one() -> None:
    @primitive
    def my_first(a: Any, b: Any) -> Any:  # noqa: ARG001
        return a

    my_first.defvjp(a=lambda g: g, b=lambda g: 0 * g)
    x, v = variable(2), minigrad.tensor(np.array(3.0), requires_grad=True)
    h, other = x * 1.0, x * 2.0
    y = my_first(h, other)
    y[0] = v * v
    assert h.tolist() == [9.0, x.numpy()[1]]
    h.sum().backward()
    assert v.grad.item() == 6.0
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 1.0])


def test_cotangents_are_cast_and_unbroadcast_for_the_rule() -> None:
    """A rule may return any dtype and any broadcast shape."""
    wide = lambda g, b: (g * b).astype(np.float64)
    my_wide = own("my_wide", lambda a, b: a * b, a=wide, b=lambda g, a: g * a)
    x = minigrad.tensor(np.ones((3, 1), np.float32), requires_grad=True)
    my_wide(x, minigrad.tensor(np.full((2, 1, 4), 2.0, np.float32))).sum().backward()
    assert x.grad.dtype == np.float32
    assert x.grad.tolist() == [[16.0]] * 3


# Names ---------------------------------------------------------------------------------------


NAMES = ["a", "args", "call", "frame", "op", "saved", "self", "tuple", "vjp_a", "vjp_x_", "x_shape"]
"""Names in the code that calls an op, or that is written for one, and others."""


def defined(signature: str, result: str, **options: Any) -> Any:
    names: dict[str, Any] = {"primitive": primitive, "options": options}
    exec(f"@primitive(**options)\ndef f({signature}): return {result}", names)
    return names["f"]


def rule(names: str, result: str) -> Any:
    return eval(f"lambda g, {names}: {result}")


OTHERS = ("x", "vjp_x")
FORMS: dict[str, Any] = {
    "one": lambda n, o: (f := defined(n, f"{n} * 2"), f.defvjp(**{n: rule(n, f"g * 2 + 0 * {n}")})),
    "static": lambda n, o: (f := defined(f"{o}, {n}=3", f"{o} * {n}"),
                            f.defvjp(**{o: rule(n, f"g * {n}")})),
    "two": lambda n, o: (f := defined(f"{o}, {n}", f"{o} * {n}"),
                         f.defvjp(**{n: rule(o, f"g * {o}"), o: rule(n, f"g * {n}")})),
    "joint": lambda n, o: (f := defined(f"{o}, {n}", f"{o} * {n}"),
                           f.defjoint(o, n)(rule(f"needed, {o}, {n}", f"(g * {n}, g * {o})"))),
    "variadic": lambda n, o: (f := defined(f"*{n}, {o}=1", f"{n}[0] * {o}"), f.defjoint(n)(
        rule(f"needed, {n}, {n}_shape, {o}", f"[g * {o} for _ in {n}]"))),
    "residual": lambda n, o: (f := defined(o, f"({o} * 2, 2)", residuals=(n,)),
                              f.defvjp(**{o: rule(n, f"g * {n}")})),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_an_argument_may_have_any_name(form: str) -> None:
    """Whatever the library's own code is called: arguments, static ones, tensors, residuals."""
    x = Tensor([1.0, 2.0], requires_grad=True)
    for name in ["x", "vjp_x", *NAMES]:
        for other in OTHERS if form in ("two", "joint", "residual") else OTHERS[:1]:
            if name == other:
                continue
            f, _ = FORMS[form](name, other)
            given = {"one": {name: x}, "static": {other: x, name: 2}, "variadic": {other: 2},
                     "residual": {other: x}}.get(form, {name: x, other: 2.0})  # fmt: skip
            out = f(x, **given) if form == "variadic" else f(**given)
            (wanted,) = grad(out.sum(), x, retain_graph=True)
            assert wanted.tolist() == [2.0, 2.0], (name, other)
            (again,) = grad(out.sum(), x, create_graph=True)
            assert again.tolist() == [2.0, 2.0], (name, other)


def test_names_that_are_handed_on_may_be_any() -> None:
    """A function's own parameters are not names that it takes for another."""
    x = Tensor([1.0, 2.0], requires_grad=True)
    double = defined("self", "self * 2")
    double.defvjp(self=lambda g: g * 2)
    y = minigrad.autograd.checkpoint(lambda function: double(self=function), function=x)
    assert grad(y.sum(), x)[0].tolist() == [2.0, 2.0]
    assert "gradient of target" in minigrad.viz.explain(double(x).sum(), target=x)
    with minigrad.viz.trace() as traced:
        double(x)
    assert "self" in {node.label for node in traced.graph(self=x).nodes}


def test_names_that_would_stand_for_two_things_are_refused() -> None:
    for argument, *residuals in map(str.split, ("x x", "g", "out", "x needed", "x out", "x g")):
        with pytest.raises(TypeError, match="f: .*names"):
            defined(argument, argument, residuals=tuple(residuals))


def test_a_variadic_op_takes_one_rule_for_all() -> None:
    op = defined("*tensors", "sum(tensors)")
    with pytest.raises(TypeError, match="f: .*variadic.*defjoint"):
        op.defvjp(tensors=lambda g: g)


def test_an_op_of_a_program_replaces_none_of_the_library() -> None:
    before = dict(registry)
    for name in before:
        first, again = (own(name, lambda x: x * 7) for _ in range(2))  # a cell that is run twice
        assert first.op.name == again.op.name == f"{__name__}.{name}"
        assert first.__name__ == name
    assert own("my_own", lambda x: x * 7).op.name == "my_own"
    assert registry == before
    assert all(op.name == name for name, op in registry.items())


def test_the_library_has_one_op_of_each_name() -> None:
    forward = lambda x: x
    forward.__module__ = "minigrad.ops.elsewhere"
    with pytest.raises(TypeError, match="tanh: minigrad.* has an op of that name"):
        own("tanh", forward)


# Errors ---------------------------------------------------------------------------------------


def fresh() -> Any:
    return own("my_op", lambda x, axis=0: (x, 0), {"residuals": ("left",)})


BAD_RULES: dict[str, Callable[[Any], Any]] = {
    r"my_op .*argument 'y'.*'x'": lambda op: op.defvjp(y=lambda g: g),
    r"my_op: a rule asks for 'z'.*x, axis.*x_shape.*out.*left": lambda op: op.defvjp(
        x=lambda g, z: g
    ),
    r"my_op: .*begin with g$": lambda op: op.defvjp(x=lambda x, g: g),
    r"my_op: .*begin with g": lambda op: op.defvjp(x=lambda: 1),
    r"my_op: .*begin with g, needed": lambda op: op.defjoint("x")(lambda g, x: g),
    r"my_op|y": lambda op: op.defjoint("y")(lambda g, needed: g),
}


@pytest.mark.parametrize("message", BAD_RULES)
def test_bad_rules_are_refused_at_once(message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        BAD_RULES[message](fresh())


@pytest.mark.parametrize(
    ("forward", "rule", "shape"),
    [(lambda x: x.sum(axis=0), lambda g: g[:1], r".*\(2, 3\)"),
     (lambda x: x * 2, lambda g: 2 * g.T, r": .*shape \(3, 2\) .*shape \(2, 3\)")],
    ids=["another shape", "transposed: the right number of elements"],
)  # fmt: skip
def test_a_rule_of_the_wrong_shape_is_an_error_that_names_the_op(
    forward: Any, rule: Any, shape: str
) -> None:
    my_bad_shape = own("my_bad_shape", forward, x=rule)
    with pytest.raises((ValueError, RuntimeError), match="my_bad_shape" + shape):
        my_bad_shape(variable(2, 3)).sum().backward()


def test_errors_of_the_forward_name_the_op() -> None:
    @primitive
    def my_strict(x: Any) -> Any:
        if x.ndim != 2:
            raise ValueError(f"two axes expected, got shape {x.shape}")
        return x

    my_strict.defvjp(x=lambda g: g)
    with pytest.raises(ValueError, match=r"^my_strict: .*\(3,\)$"):
        my_strict(variable(3))

    explain = {"explain_error": lambda a, b: f"cannot pair {a.shape} with {b.shape}"}
    my_pairing = own("my_pairing", lambda a, b: a @ b, explain, a=lambda g: g)
    with pytest.raises(ValueError, match=r"^my_pairing: cannot pair \(3,\) with \(2,\)"):
        my_pairing(variable(3), variable(2))


def test_a_gradient_that_nobody_else_holds_is_handed_over_without_a_copy() -> None:
    made: list[int] = []

    def rule(g: Any) -> Any:
        made.append((out := 2 * g).ctypes.data)
        return out

    my_double = own("my_double", lambda x: 2 * x, x=rule)
    x, y = variable(3), variable(3)
    (my_double(x) + my_double(my_double(y))).backward(np.ones(3))
    assert {x.grad.numpy().ctypes.data, y.grad.numpy().ctypes.data} <= {*made}


def test_an_op_says_in_which_dtype_float16_is_computed() -> None:
    """Forward and backward see that dtype; other dtypes are computed as they are."""
    seen: list[Any] = []

    def forward(x: Any) -> Any:
        seen.append(x.dtype)
        return x / 7

    def rule(g: Any, x: Any) -> Any:
        seen.append(x.dtype)
        return g / 7

    seventh = own("seventh", forward, {"float16_in": np.float64}, x=rule)
    for dtype, wide in ((np.float16, np.float64), (np.float32, np.float32), (np.int64, np.int64)):
        x = minigrad.tensor([1, 2], dtype=dtype, requires_grad=dtype is not np.int64)
        y = seventh(x)
        assert y.dtype == (np.float64 if dtype is np.int64 else dtype)
        if y.requires_grad:
            y.backward([1.0, 1.0])
            assert x.grad.dtype == dtype
        assert {*seen} == {np.dtype(wide)}
        seen.clear()
