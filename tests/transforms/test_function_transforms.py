"""Function transforms: values, structures, history, nesting, and what is refused."""

import gc
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose as close
from numpy.testing import assert_array_equal as equal
from printed import gist

import minigrad
from minigrad import Tensor, func, nn, no_grad, ops
from minigrad.autograd import Function, Node, functional, primitive
from minigrad.func import (  # fmt: skip
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
)
from minigrad.transforms import derivatives


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([13, seed, *shape]).standard_normal(shape)


def tensor(*shape: int, seed: int = 0) -> Tensor:
    return minigrad.tensor(draw(*shape, seed=seed))


def difference(
    function: Callable[[np.ndarray], Any], at: np.ndarray, along: np.ndarray, step: float = 1e-5
) -> np.ndarray:
    """The central difference of a function of one array."""
    up, down = (np.asarray(function(at + sign * step * along)) for sign in (1, -1))
    return (up - down) / (2 * step)


def numeric_jacobian(function: Callable[[np.ndarray], Any], at: np.ndarray) -> np.ndarray:
    """The Jacobian by central differences, of shape (*output shape, *input shape)."""
    units = np.eye(at.size).reshape(at.size, *at.shape)
    columns = [difference(function, at, unit) for unit in units]
    return np.stack(columns, axis=-1).reshape(columns[0].shape + at.shape)


def mixed(x: Any) -> Any:
    """Three outputs that depend on all of three inputs."""
    return np.stack([x[0] * x[1] ** 2, np.exp(x[1] * x[2]), np.tanh(x[0] - x[2])])


def curved(x: Any) -> Any:
    """A number, with third derivatives that are not 0."""
    return (mixed(x) ** 2).sum() * x[0]


# Values ------------------------------------------------------------------------------------


def test_linearize_is_jvp_for_many_directions() -> None:
    point = {"x": tensor(3), "s": Tensor(1.5, dtype="float32")}
    calls = []

    def f(p: Any) -> Any:
        calls.append(1)
        return {"y": ops.tanh(p["x"]) * p["s"], "z": (p["x"] ** 2,)}, "told"

    value, push, told = linearize(f, point, has_aux=True)
    assert told == "told"
    assert value["y"].shape == (3,)
    for seed in range(2):
        along = {"x": tensor(3, seed=seed), "s": 2.0}
        found = push(along)
        _, expected, _ = jvp(f, (point,), (along,), has_aux=True)
        equal(found["y"], expected["y"])
        equal(found["z"][0], expected["z"][0])
    assert len(calls) == 3  # once for all directions


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_a_jacobian_by_rows_and_by_columns(transform: Any) -> None:
    x = tensor(3)
    close(transform(mixed)(x), numeric_jacobian(mixed, x.numpy()), rtol=1e-7, atol=1e-9)
    tall, told = transform(lambda x: (ops.tile(x**2, (4, 1)), "told"), has_aux=True)(x)
    close(tall, np.tile(np.diag(2 * x.numpy()), (4, 1, 1)))
    assert told == "told"
    a, b = Tensor([1.0, 2.0]), Tensor(3.0, dtype="float64")
    found = transform(lambda a, b: {"p": a * b, "q": (b**2, a[:0])}, (0, 1))(a, b)
    assert [part.tolist() for part in found["p"]] == [[[3.0, 0.0], [0.0, 3.0]], [1.0, 2.0]]
    assert [part.tolist() for part in found["q"][0]] == [[0.0, 0.0], 6.0]
    assert found["q"][1][0].shape == (0, 2)
    assert [part.dtype for part in found["p"]] == ["float32", "float64"]
    w = Tensor(2.0, requires_grad=True)
    transform(lambda x: w * x**2)(Tensor(3.0)).backward()
    assert w.grad.item() == 6.0
    twice = jacfwd(transform(lambda x: ops.tile(x**3, 4)))(x)
    expected = np.einsum("i,ij,ik->ijk", 6 * x.numpy(), np.eye(3), np.eye(3))
    close(twice, np.tile(expected, (4, 1, 1)), rtol=1e-12)


def test_rows_need_no_second_derivative() -> None:
    class Triple(Function):  # whose derivative has no derivative
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return minigrad.tensor(g.detach().numpy() * 3)

    found = jacrev(lambda x: ops.tile(Triple.apply(x), 5))(Tensor([1.0]))
    assert found.tolist() == [[3.0]] * 5


# Structures --------------------------------------------------------------------------------


class Line(NamedTuple):
    slope: Any
    offset: Any


def shapes(value: Any) -> Any:
    """A structure with the shape of each tensor in its place."""
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, dict):
        return {key: shapes(part) for key, part in value.items()}
    if isinstance(value, Line):
        return Line(*map(shapes, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(shapes, value))
    return value


def every_leaf(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif value is not None:
        for part in value.values() if isinstance(value, dict) else value:
            yield from every_leaf(part)


def test_a_gradient_has_the_structure_of_its_argument() -> None:
    argument = {
        "layers": [{"weight": tensor(2, 3), "bias": None}, (tensor(2), tensor())],
        "line": Line(tensor(4), [tensor(1)]),
        7: tensor(0, 2),
        "nothing": (),
        "ordered": OrderedDict(z=tensor(2), a=tensor(1)),
    }
    loss = lambda a: sum(((leaf**3).sum() for leaf in every_leaf(a)), Tensor(0.0))
    found = grad(loss)(argument)
    assert shapes(found) == shapes(argument)
    assert type(found["line"]) is Line
    assert type(found["ordered"]) is OrderedDict
    for leaf, gradient in zip(every_leaf(argument), every_leaf(found), strict=True):
        close(gradient, 3 * leaf.numpy() ** 2)
    assert shapes(hvp(loss, (argument,), (argument,))[1]) == (shapes(argument),)
    assert shapes(vjp(loss, argument)[1](1.0)) == (shapes(argument),)


def affine(p: Any, x: Any) -> Any:
    return {"out": x @ p["w"] + p["b"], "parts": (p["w"].sum(), [p["b"] * 2])}


def test_a_vector_may_have_its_keys_in_any_order() -> None:
    p, x = {"w": tensor(3, 2), "b": tensor(2)}, tensor(4, 3)
    loss = lambda p: (affine(p, x)["out"] ** 3).sum()
    found = hessian(loss)(p)
    vectors = {"b": tensor(2, seed=4), "w": tensor(3, 2, seed=4)}
    _, (product,) = hvp(loss, (p,), (vectors,))
    assert list(product) == ["w", "b"]
    for key in p:
        by_w, by_b = found[key]["w"], found[key]["b"]
        wanted = (by_w * vectors["w"]).sum(axis=(-2, -1)) + by_b @ vectors["b"]
        close(product[key], wanted, rtol=1e-10)


def test_arguments_that_are_no_tensors_or_one_tensor_twice() -> None:
    x = tensor(3)
    first, second = grad(lambda pair: (pair[0] * pair[1] ** 2).sum())((x, x))
    close(first, x.numpy() ** 2)
    close(second, 2 * x.numpy() ** 2)

    def loss(x: Tensor, how: str, ids: np.ndarray, *, power: int) -> Tensor:
        return (getattr(minigrad, how)(x[ids]) ** power).sum()

    found = grad(loss)(x, "tanh", np.array([0, 0]), power=2)
    assert (found.numpy() != 0).tolist() == [True, False, False]
    assert grad(loss).__name__ == "loss"
    assert grad(lambda x: x**3)(np.float64(2.0)).dtype == np.float64
    assert grad(lambda x: x**3)(2.0).dtype == np.float32
    given = np.ones(3)
    _, pull = vjp(lambda x: x * x, given)
    given[:] = 9.0  # the caller's own business: the transform has a copy
    assert pull(np.ones(3))[0].tolist() == [2.0, 2.0, 2.0]
    _, tangent = jvp(lambda x: x * x, (minigrad.tensor(np.float64(3.0)),), (1,))
    assert (tangent.item(), tangent.dtype) == (6.0, np.float64)


def test_dtypes_are_kept() -> None:
    x, y = minigrad.tensor(draw(3), dtype=np.float32), minigrad.tensor(draw(3, seed=1))
    f = lambda x, y: x * x * y
    for transform in (grad(lambda x, y: f(x, y).sum(), (0, 1)), jacrev(f, (0, 1))):
        assert [g.dtype for g in transform(x, y)] == ["f4", "f8"]
    assert jvp(f, (x, y), (x, y))[1].dtype == np.float64
    assert hessian(lambda x: (x**3).sum())(x).dtype == np.float32
    for one in (x, x.astype(np.float16)):
        assert jvp(lambda x: x.tanh().mean(), (one,), (one,))[1].dtype == one.dtype


def test_an_auxiliary_result_keeps_a_history_of_its_own() -> None:
    w = minigrad.tensor(np.array(3.0), requires_grad=True)
    function = grad(lambda x: ((x * x).sum(), (w * 2, x * w, x * 2)), has_aux=True)
    _, aux = function(tensor(2))
    aux[0].backward()
    assert w.grad.item() == 2.0
    assert [part.requires_grad for part in aux] == [True, True, False]
    with no_grad():
        _, aux = function(tensor(2))
    assert not any(part.requires_grad for part in aux)


# Zeros -------------------------------------------------------------------------------------


def test_what_does_not_depend_on_an_input_has_zeros() -> None:
    x, y = tensor(2), tensor(3)
    constant = minigrad.tensor(np.array(4.0))
    for function in (lambda x, y: (x * x).sum(), lambda x, y: constant * 1.0):
        for found in (
            grad(function, 1)(x, y),
            vjp(function, x, y)[1](1.0)[1],
            jacrev(function, 1)(x, y),
            hvp(function, (x, y), (x, y))[1][1],
        ):
            assert found.shape == (3,)
            assert found.dtype == np.float64
            assert not found.numpy().any()
        assert jvp(function, (x, y), (x * 0, y))[1].tolist() == 0.0
        assert hessian(function, (0, 1))(x, y)[1][0].tolist() == [[0.0, 0.0]] * 3
    assert hessian(lambda x: (3 * x).sum())(x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    partly = jvp(lambda x: {"a": x.detach(), "b": 2 * x}, (x,), (x,))[1]
    assert partly["a"].tolist() == [0.0, 0.0]
    close(partly["b"], 2 * x.numpy())
    jvp(lambda x, _: x, (x, y), (x, y), strict=True)  # one argument is enough


def test_nothing_at_all() -> None:
    """Batch 0, and arguments without a tensor in them."""
    x = tensor(0, 3)
    linear = nn.Linear(3, 2).double()
    assert grad(lambda x: linear(x).sum())(x).shape == (0, 3)
    assert jacrev(linear)(x).shape == (0, 2, 0, 3)
    value, tangent = jvp(linear, (x,), (x,))
    assert value.shape == tangent.shape == (0, 2)
    assert vjp(linear, x)[1](value)[0].shape == (0, 3)
    assert hessian(lambda x: (linear(x) ** 2).sum())(x).shape == (0, 3, 0, 3)
    loss = lambda w: (x @ w).tanh().sum()
    assert hvp(loss, (tensor(3),), (tensor(3),))[1][0].tolist() == [0.0, 0.0, 0.0]
    assert jacrev(lambda w: x @ w)(tensor(3)).shape == (0, 3)
    assert grad(lambda p: Tensor(1.0))({}) == {}
    assert jvp(lambda: Tensor(1.0), (), ())[1].item() == 0.0


def test_zero_cotangents_meet_infinite_slopes() -> None:
    x, ones = Tensor([0.0, 4.0]), Tensor([1.0, 1.0])
    guarded = lambda x: ops.where(x > 0, x.sqrt(), 0.0)
    assert jvp(guarded, (x,), (ones,))[1].tolist() == [0.0, 0.25]
    assert jacrev(guarded)(x).tolist() == [[0.0, 0.0], [0.0, 0.25]]
    assert jvp(lambda x: x.sqrt(), (x,), (ones,))[1].tolist() == [np.inf, 0.25]
    for both in (lambda x: (x.sqrt(), -x.sqrt()), lambda x: ((root := x.sqrt()), -root)):
        assert [part.item() for part in jvp(both, (x[0],), (1.0,))[1]] == [np.inf, -np.inf]


# What is refused ---------------------------------------------------------------------------

ONE = Tensor([1.0, 2.0])
IDS = minigrad.tensor([1, 2])
TREE = {"a": ONE, "b": [ONE, ONE]}
SUM = lambda *xs: sum((x.sum() for x in every_leaf(xs)), Tensor(0.0))

REFUSED: dict[type[Exception], dict[str, Callable[[], Any]]] = {
    RuntimeError: {
        "grad: ... one number ... Tensor of shape (2,)": lambda: grad(lambda x: x)(ONE),
        "value_and_grad: ... one number ... dict":
            lambda: value_and_grad(lambda x: {"loss": x.sum()})(ONE),
        "jvp: output 1 ... not depend on any input":
            lambda: jvp(lambda x: (x, ONE), (ONE,), (ONE,), strict=True),
        "hvp: ... one number": lambda: hvp(lambda x: x * x, (ONE,), (ONE,)),
        "one number ... NoneType": lambda: grad(lambda x: None)(ONE),
    },
    ValueError: {
        "grad: argnums=1 ... 1 positional": lambda: grad(SUM, 1)(ONE),
        "(0, -2) ... each once": lambda: jacrev(SUM, (0, -2))(ONE, ONE),
        "tangents ... structure of primals: missing tangents[1]":
            lambda: jvp(SUM, (ONE, ONE), (ONE,)),
        'jvp: tangents ... missing tangents[0]["b"][0] ... unexpected tangents[0]["c"]':
            lambda: jvp(SUM, (TREE,), ({"a": ONE, "c": ONE},)),
        'jvp: tangents[1]["b"][1] ... (1,) ... primals[1]["b"][1] ... (2,)':
            lambda: jvp(SUM, (ONE, TREE), (ONE, {"a": ONE, "b": [ONE, Tensor([1.0])]})),
        "jvp: ... missing tangents[0], unexpected tangents": lambda: jvp(SUM, (ONE,), ONE),
        "hvp: ... unexpected tangents[0][0]": lambda: hvp(SUM, (ONE,), ([1.0, 0.0],)),
        'missing tangents[0]["a"]':
            lambda: jvp(SUM, (TREE,), ({"a": None, "b": [ONE, ONE]},)),
        "vjp: cotangents ... missing cotangents[0]": lambda: vjp(lambda x: (x, x), ONE)[1](ONE),
        'vjp: cotangents["y"] ... () ... output["y"] ... (2,)':
            lambda: vjp(lambda x: {"y": x}, ONE)[1]({"y": Tensor(1.0)}),
        "linearize: tangents[0] ... (1,) ... primals[0] ... (2,)":
            lambda: linearize(SUM, ONE)[1](Tensor([1.0])),
    },
    TypeError: {
        "jacrev: ... tensors ... float ... output[1]": lambda: jacrev(lambda x: [x, 1.0])(ONE),
        "ndarray ... output": lambda: vjp(lambda x: x.numpy(), ONE),
        'jvp: ... output["top"] ... int64':
            lambda: jvp(lambda x: {"top": x.argmax()}, (ONE,), (ONE,)),
        "grad: args[1] ... int64 ... argnums":
            lambda: grad(lambda x, i: x[i].sum(), (0, 1))(ONE, IDS),
        'vjp: primals[1]["ids"][0] ... int64 ... close over it':
            lambda: vjp(SUM, ONE, {"x": ONE, "ids": [IDS]}),
        "jacrev: args[0] ... bool": lambda: jacrev(lambda m: m)(minigrad.tensor([True])),
        "grad: args[0]: a tensor holds": lambda: grad(SUM)("x"),
        'hessian: args[0]["model"]: a tens': lambda: hessian(SUM)({"model": nn.ReLU()}),
        "hessian: argnums": lambda: hessian(SUM, None),
        "grad: argnums": lambda: grad(SUM, "x"),
        "jvp: primals ... tuple ... Tensor ... (x,)": lambda: jvp(SUM, ONE, ONE),
        "hvp: primals ... tuple": lambda: hvp(SUM, TREE, TREE),
        "jvp: tangents[0] ... float64 ... primals[0] ... float32":
            lambda: jvp(SUM, (ONE,), (minigrad.tensor(np.ones(2)),)),
        "hvp: tangents[0] ... int64 ... primals[0]": lambda: hvp(SUM, (ONE,), (IDS,)),
        "grad: ... has_aux ... pair (output, auxiliary) ... Tensor":
            lambda: grad(lambda x: x.sum(), has_aux=True)(ONE),
    },
}  # fmt: skip
"""What is refused, by the error and the gist of its message."""


@pytest.mark.parametrize(("kind", "message"), [(k, text) for k in REFUSED for text in REFUSED[k]])
def test_what_cannot_be_right_is_refused(kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=gist(message)):
        REFUSED[kind][message]()
    assert minigrad.is_grad_enabled()


def test_an_exception_leaves_no_state_behind() -> None:
    def broken(_x: Tensor) -> Tensor:
        raise KeyError("mine")

    with no_grad():
        for transform in (grad, hessian, jacrev, value_and_grad):
            with pytest.raises(KeyError, match="mine"):
                transform(broken)(ONE)
        assert not minigrad.is_grad_enabled()


def test_a_write_between_the_value_and_the_pull_is_refused() -> None:
    x, w = tensor(3), minigrad.tensor(draw(3, seed=1), requires_grad=True)
    for function, written in ((lambda x: x * w, w), (lambda x: x * x, x)):
        _, pull = vjp(function, x)
        with no_grad():
            written[0] = 5.0
        with pytest.raises(RuntimeError, match="written in place"):
            pull(tensor(3))


def test_a_function_may_not_write_to_its_argument() -> None:
    def write(x: Tensor) -> Tensor:
        x[0] = 0.0
        return x.sum()

    for x in (tensor(3), minigrad.tensor(draw(3), requires_grad=True) * 1.0):
        before = x.tolist()
        with pytest.raises(RuntimeError, match="setitem"):
            grad(write)(x)
        assert x.tolist() == before


# History -----------------------------------------------------------------------------------


def all_results(x: Any, function: Callable[[Any], Any] = curved) -> list[Tensor]:
    """What every transform returns for one argument."""
    x_like = minigrad.tensor(np.ones(x.shape, x.dtype))
    value, pull = vjp(function, x)
    return [
        grad(function)(x), *value_and_grad(function)(x), value,
        *pull(minigrad.tensor(np.array(2.0))),
        *jvp(function, (x,), (x_like,)), jacrev(function)(x), hessian(function)(x),
        *every_leaf(hvp(function, (x,), (x_like,))),
    ]  # fmt: skip


def test_without_a_history_outside_there_is_none_in_the_results() -> None:
    x, leaf = tensor(3), minigrad.tensor(draw(3), requires_grad=True)
    results = all_results(x)
    with no_grad():
        plain = all_results(leaf)
    assert not any(tensor.requires_grad for tensor in (x, *results, *plain))
    for one, other in zip(plain, results, strict=True):
        equal(one, other)
    assert leaf.grad is None


INPUT = tensor(3, seed=1)


@pytest.mark.parametrize(
    "results_of",
    [all_results, lambda x: all_results(x * x + 1.0),
     lambda w: all_results(INPUT, lambda x: curved(x * w))],
    ids=["a leaf", "an interior argument", "what is closed over"],
)  # fmt: skip
def test_results_belong_to_the_graph_of(results_of: Callable[[Tensor], list[Tensor]]) -> None:
    """The derivative of each result by the leaf, against differences of that result."""
    leaf = minigrad.tensor(draw(3), requires_grad=True)
    results = results_of(leaf)
    weights = [draw(*result.shape, seed=k) for k, result in enumerate(results)]

    def weighted(x: np.ndarray) -> Any:
        pairs = zip(results_of(minigrad.tensor(x)), weights, strict=True)
        return np.array([(result.numpy() * weight).sum() for result, weight in pairs])

    exact = numeric_jacobian(weighted, leaf.numpy())
    for k, result in enumerate(results):
        assert result.requires_grad, k
        (result * weights[k]).sum().backward(retain_graph=True)
        found, leaf.grad = leaf.grad, None
        close(found, exact[k], rtol=2e-6, atol=1e-6, err_msg=str(k))


def test_results_belong_to_the_graph_of_their_direction() -> None:
    x, v = tensor(3), minigrad.tensor(draw(3, seed=1), requires_grad=True)
    along = lambda: jvp(mixed, (x,), (v,))[1]
    pulled = lambda: vjp(mixed, x)[1](v)[0]
    product = lambda: hvp(curved, (x,), (v,))[1][0]
    matrix, symmetric = jacrev(mixed)(x).numpy(), hessian(curved)(x).numpy()
    for result, wanted in ((along, matrix), (pulled, matrix.T), (product, symmetric)):
        v.grad = None
        result().sum().backward()
        close(v.grad, wanted.sum(axis=0), rtol=1e-12)
        with no_grad():
            assert not result().requires_grad


def test_a_parameter_made_in_the_function_and_a_leaf_that_is_gone_stay_in_reach() -> None:
    """As a layer that draws its weight when it is first called; nobody holds the other leaf."""
    made: list[Tensor] = []

    def lazy(x: Tensor) -> Tensor:
        made.append(minigrad.tensor(np.float64(3.0), requires_grad=True))
        return (x * x * made[0]).sum()

    grad(lazy)(tensor(2)).sum().backward()
    close(made[0].grad, 2 * draw(2).sum())
    square = minigrad.tensor(draw(3), requires_grad=True) ** 2
    slope = grad(lambda x: (x**3).sum())(square)
    close(minigrad.autograd.grad(slope.sum(), square)[0], 6 * square.numpy())


def test_no_grad_within_the_function_makes_constants() -> None:
    def half_constant(x: Tensor) -> Tensor:
        with no_grad():
            factor = x * 2.0
        return (x * factor).sum()

    x = Tensor([3.0])
    assert grad(half_constant)(x).tolist() == [6.0]
    assert jvp(half_constant, (x,), (Tensor([1.0]),))[1].item() == 6.0
    assert hessian(half_constant)(x).tolist() == [[0.0]]


def test_no_grad_attribute_is_written_and_no_graph_grows() -> None:
    x, w = (
        minigrad.tensor(draw(3), requires_grad=True),
        minigrad.tensor(draw(3, seed=1), requires_grad=True),
    )
    inner: list[Tensor] = []
    all_results(x, lambda x: (inner.append(x), curved(x * w))[1])
    assert [t.grad for t in (x, w, *inner)] == [None] * (2 + len(inner))
    x = Tensor([3.0, -2.0])
    for _ in range(60):
        x = x - 0.1 * grad(lambda x: (x**2).sum())(x)
    assert x._node is None
    assert abs(x.numpy()).max() < 1e-4


@pytest.mark.slow
def test_graphs_are_freed_by_reference_counting() -> None:
    watched = primitive(lambda x: x * 1.0)
    watched.defvjp(x=lambda g: g * 1.0)
    nodes: list[weakref.ref[Node]] = []

    def function(x: Tensor) -> Tensor:
        out = watched(x)
        nodes.append(weakref.ref(out._node))
        return curved(out)

    gc.collect()
    gc.disable()
    try:
        all_results(tensor(3), function)
        _, pull = vjp(function, tensor(3))
        assert nodes[-1]() is not None
        del pull
        assert len(nodes) > 6
        assert all(node() is None for node in nodes)
    finally:
        gc.enable()


def test_plain_gradients_are_not_recorded() -> None:
    """Nothing outside: the fused rules run on arrays, and not the decomposition."""
    seen = []

    watched = primitive(lambda x: x * 2.0)
    watched.defvjp(x=lambda g: seen.append(type(g)) or g * 2.0)
    function = lambda x: watched(x).sum()
    grad(function)(ONE)
    jacrev(function)(ONE)
    vjp(function, ONE)[1](1.0)
    assert seen == [np.ndarray] * 3


# Nesting -----------------------------------------------------------------------------------


def test_perturbations_are_not_confused() -> None:
    one = Tensor(1.0)
    for slope in (
        lambda f: grad(f)(one),
        lambda f: jvp(f, (one,), (one,))[1],
        lambda f: vjp(f, one)[1](one)[0],
    ):
        outer = lambda x, slope=slope: x * slope(lambda y: x + y)
        assert grad(outer)(one).item() == 1.0
        assert jvp(outer, (one,), (one,))[1].item() == 1.0
    inner_jacobian = lambda x: jacrev(lambda y: x * y)(one)
    assert jacrev(lambda x: x * inner_jacobian(x))(one).item() == 2.0
    same = lambda x: jvp(lambda y: x * y * y, (x,), (one,))[1]  # 2 x^2 at y = x
    assert grad(same)(Tensor(3.0)).item() == 12.0


def test_transforms_within_no_grad_record_nonetheless() -> None:
    with no_grad():
        assert grad(grad(lambda x: x**3))(Tensor(2.0)).item() == 12.0
        slopes = jacrev(lambda x: grad(lambda y: (y * y * x).sum())(x))(ONE)
        assert slopes.tolist() == [[4.0, 0.0], [0.0, 8.0]]
        nested = lambda x: x * jvp(lambda y: x * y, (x,), (Tensor(1.0),))[1]
        assert grad(nested)(Tensor(3.0)).item() == 6.0
        assert not minigrad.is_grad_enabled()


def test_threads_have_nested_transforms_of_their_own() -> None:
    barrier = threading.Barrier(4)
    found: dict[int, Any] = {}

    def work(k: int) -> None:
        x = minigrad.tensor(float(k + 1))

        def outer(x: Tensor) -> Tensor:
            barrier.wait()  # every thread is inside of its transform
            return x * grad(lambda y: y * y * x)(x) + jvp(lambda y: x * y, (x,), (x,))[1]

        with no_grad() if k % 2 else minigrad.enable_grad():
            for _ in range(5):
                found[k] = hessian(outer)(x).item(), grad(outer)(x).item()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    # outer = 2 x^3 + x^2
    assert found == {k: (12.0 * (k + 1) + 2, 6.0 * (k + 1) ** 2 + 2 * (k + 1)) for k in range(4)}


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "jacrev", "jacfwd", "hessian"])
def test_the_point_in_the_place_of_argnums_is_refused_at_once(name: str) -> None:
    """The order of `autograd.functional`, which would give a function without a word."""
    transform: Any = getattr(func, name)
    x = minigrad.tensor([1.0, 2.0])
    for point in (x, (x, x), np.ones(2), 0.5, None, True, (0, 1.0)):
        with pytest.raises(TypeError, match=rf"^{name}: argnums .*{name}\(f\)\(x\)"):
            transform(lambda x: (x * x).sum(), point)


EVERY = [
    *((derivatives, name) for name in derivatives.__all__),
    *((functional, name) for name in functional.__all__), (func, "vmap"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "name"), EVERY)
def test_what_is_no_function_is_refused_at_once(module: Any, name: str) -> None:
    x = minigrad.tensor([1.0, 2.0])
    rest: tuple[Any, ...] = (x,) if module is functional or name in ("vjp", "linearize") else ()
    rest = ((x,), (x,)) if module is derivatives and name in ("jvp", "hvp") else rest
    for wrong in (x, None, 3):
        with pytest.raises(TypeError, match=rf"^{name}: .*function .*autograd[.]grad"):
            getattr(module, name)(wrong, *rest)
