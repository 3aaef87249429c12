"""`vmap` gives what a loop over the samples gives: values, gradients and second derivatives."""

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from op_samples import CASES, OURS, Case

import minigrad
import minigrad.nn.functional as F
from minigrad import nn, ops, viz, vmap
from minigrad.autograd import Observer, checkpoint
from minigrad.autograd import grad as gradient_of
from minigrad.autograd.primitives import registry
from minigrad.func import functional_call, grad, hessian, hvp, jacrev, jvp, stack_module_state, vjp
from minigrad.ops._numerics import within_rule
from minigrad.transforms.batching import CannotMap

SAMPLES = 3
NOT_MAPPED = {
    "all_gather", "all_reduce", "all_to_all", "broadcast", "copy_to_parts", "ppermute",
    "reduce_scatter", "reduce_to_root", "sum_of_parts",
    "bincount", "histogram", "unique", "linalg.lstsq", "linalg.cond",
    "linalg.matrix_exp",
}  # fmt: skip
"""What exchanges data, has results of a shape that depends on values, or decides by values."""
NOT_DIFFERENTIATED = {"scatter_reduce"}
"""What has rules that decide by values; some cases of it are differentiated."""
DRAWN = {"dropout"}


def arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays(part)]
    return [np.asarray(value.detach().numpy() if hasattr(value, "detach") else value)]


def batch_of(array: np.ndarray, case: Case) -> np.ndarray:
    """Samples of one case: those of a matrix are near to it, others hold the elements shuffled."""
    rng = np.random.default_rng(0)
    if case.op.startswith("linalg"):
        other = lambda: array + 0.01 * rng.standard_normal(array.shape)
    else:
        other = lambda: rng.permutation(array.reshape(-1)).reshape(array.shape)
    return np.stack([array, *(other() for _ in range(SAMPLES - 1))])


def ways_to_map(batches: list[np.ndarray]) -> Iterator[tuple[tuple[Any, ...], list[np.ndarray]]]:
    """Every choice of arguments that are mapped, but of none; and the arguments for it."""
    for axes in itertools.product([0, None], repeat=len(batches)):
        if any(axis == 0 for axis in axes):
            yield axes, [b if axis == 0 else b[0] for b, axis in zip(batches, axes, strict=True)]


def weighed(function: Callable[..., Any]) -> Callable[..., Any]:
    """A sum of the results with weights, so that a gradient depends on each."""

    def loss(*given: Any) -> Any:
        out = function(*given)
        total = minigrad.tensor(0.0, dtype="float64")
        for part in out if isinstance(out, (tuple, list)) else [out]:
            if part.dtype.kind == "f":
                weights = np.cos(np.arange(part._data.size) + 1.0).reshape(part.shape)
                total = total + (part * weights).sum()
        return total

    return loss


def agree(function: Callable[..., Any], args: list[np.ndarray], axes: tuple[Any, ...]) -> bool:
    """Whether the mapped function gives what the loop gives; False if the loop gives an error."""

    def sample(i: int) -> list[Any]:
        return [
            minigrad.tensor(a if axis is None else a[i]) for a, axis in zip(args, axes, strict=True)
        ]

    try:
        loop = [arrays(function(*sample(i))) for i in range(SAMPLES)]
    except Exception:  # noqa: BLE001  # whether the loop fails is the answer
        return False
    found = arrays(vmap(function, axes)(*map(minigrad.tensor, args)))
    for one, parts in zip(found, zip(*loop, strict=True), strict=True):
        np.testing.assert_allclose(one, np.stack(parts), 1e-9, 1e-9)
    return True


def cases_of(op: str, most: int) -> list[Case]:
    """At most so many cases of an op, evenly spread: cases that are alike stand side by side."""
    cases = [case for case in CASES if case.op == op and case.inputs]
    return cases[:: -(-len(cases) // most) or 1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("most", [4, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("op", sorted({case.op for case in CASES} - NOT_MAPPED - DRAWN))
def test_every_op_is_what_the_loop_is(op: str, most: int) -> None:
    compared = 0
    for case in cases_of(op, most):
        batches = [batch_of(array, case) for array in case.inputs]
        function = case.on(OURS)
        for mapped, args in ways_to_map(batches):
            if len(mapped) > 3 and mapped.count(None) > 1:
                continue
            try:
                compared += agree(function, args, mapped)
                every = tuple(range(len(args)))
                agree(grad(weighed(function), every), args, mapped)
            except CannotMap:
                assert op in NOT_DIFFERENTIATED, op
    assert compared or op in {"dot"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", sorted({case.op for case in CASES} - NOT_MAPPED - DRAWN))
def test_second_derivatives(op: str) -> None:
    case = next((c for c in CASES if c.op == op and c.inputs and c.inputs[0].size), None)
    if case is not None:
        batches = [batch_of(array, case) for array in case.inputs]
        agree(grad(weighed(grad(weighed(case.on(OURS))))), batches, (0,) * len(batches))


@minigrad.autograd.primitive(residuals=("slope",))
def of_ones_own(x: Any) -> Any:
    return x**3, 3 * x**2


of_ones_own.defvjp(x=lambda g, slope: g * slope)


def test_an_op_without_a_rule_is_a_loop_over_the_samples() -> None:
    args = [draws(3, 4)]
    assert agree(of_ones_own, args, (0,))
    assert agree(grad(lambda x: of_ones_own(x).sum()), args, (0,))
    told = r"unique: the shape of its result depends on the values: \(1,\) .* \(2,\) for sample 1"
    with pytest.raises(CannotMap, match=told):
        vmap(minigrad.unique)(minigrad.tensor([[1, 1], [1, 2]]))
    with pytest.raises(CannotMap, match="all_reduce does more than give a result"):
        vmap(minigrad.distributed.all_reduce)(minigrad.ones(2, 3))


def test_matrices_without_a_derivative_give_nan_where_a_loop_gives_an_error() -> None:
    for function, bad, some in (
        (lambda x: minigrad.linalg.eigh(x).eigenvectors[0].sum(), np.eye(2), np.all),
        (lambda x: minigrad.linalg.svd(x)[0][0].sum(), np.eye(2), np.all),
        (lambda x: minigrad.linalg.slogdet(x)[1], np.ones((2, 2)), np.any),
        (lambda x: minigrad.linalg.qr(x)[0].sum(), np.ones((2, 2)), np.any),
    ):
        good, refused = vmap(grad(function))(np.stack([np.diag([1.0, 2.0]), bad])).numpy()
        assert np.isfinite(good).all()
        assert some(np.isnan(refused))


def draws(*shape: int) -> np.ndarray:
    return np.random.default_rng([*shape]).standard_normal(shape)


def below(most: int, *shape: int) -> np.ndarray:
    return np.random.default_rng([most, *shape]).integers(0, most, shape)


X = draws(3, 4, 5)
PLACES, WIDE, CLASSES, IDS = below(4, 3, 2), below(4, 3, 4, 5), below(5, 3, 4), below(7, 3, 6)
PAIRS, TABLE = np.stack([[0, 3], [2, 1], [1, 0]]), minigrad.tensor(draws(7, 2))
COUNT = np.array([1, 2, 3])
MASK = X > 0
WORKS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "getitem": (lambda x, i: x[i], [X, PLACES]),
    "getitem, second axis": (lambda x, i: x[:, i], [X, PLACES]),
    "getitem, new axis": (lambda x, i: x[i, :, None], [X, PLACES]),
    "getitem, number and slice": (lambda x, i: x[i[0], 1:], [X, PLACES]),
    "getitem, ellipsis": (lambda x, i: x[..., i], [X, PLACES]),
    "getitem, list": (lambda x, i: x[[0, 1], i], [X, PLACES]),
    "getitem, of an argument": (lambda x: x[minigrad.argsort(x[:, 0])], [X]),
    "getitem of a table": (lambda ids: TABLE[ids], [IDS]),
    "getitem of a table's columns": (lambda ids: TABLE[:, ids[:2] % 2], [IDS]),
    "take": (lambda x, i: ops.take(x, i, 0), [X, PLACES]),
    "take_along_axis": (lambda x, w: minigrad.take_along_axis(x, w, 0), [X, WIDE]),
    "take_along_axis None": (lambda x: minigrad.take_along_axis(x, [0, 3, 3], None), [X]),
    "gather": (lambda x, w: minigrad.gather(x, 0, w), [X, WIDE]),
    "scatter_add": (lambda x, w: minigrad.scatter_add(x, 0, w, x * 2), [X, WIDE]),
    "setitem": (lambda x, i, v: minigrad.ops.setitem(x, i, v), [X, PAIRS, draws(3, 2, 5)]),
    "embedding": (lambda ids: F.embedding(ids, TABLE), [IDS]),
    "embedding in a table of its own": (lambda x: F.embedding(IDS[0] % 4, x[:, :2]), [X]),
    "cross_entropy": (
        lambda x, i: F.cross_entropy(x, minigrad.concatenate([i, i])), [X, PLACES]),
    "cross_entropy none": (
        lambda x, i: F.cross_entropy(x[:2], i, reduction="none", label_smoothing=0.1), [X, PLACES]),
    "one_hot": (lambda i: F.one_hot(i, 4), [PLACES]),
    "nll_loss": (lambda x, i: F.nll_loss(x, i), [X, CLASSES]),
    "nll_loss none": (lambda x, i: F.nll_loss(x, i, reduction="none"), [X, CLASSES]),
    "weight": (lambda x, i: F.cross_entropy(x, i, minigrad.arange(5) * 0.1), [X, CLASSES]),
    "scatter": (lambda x, i: minigrad.scatter(x, 0, i, 1.5), [X, WIDE]),
    "index_add": (lambda x, i: minigrad.index_add(x, 0, i, x[:2]), [X, PLACES]),
    "where": (lambda x, m: minigrad.where(m, x, 0.0), [X, MASK]),
    "masked_fill": (lambda x, m: minigrad.masked_fill(x, m, 0.0), [X, MASK]),
    "attention": (lambda x, m: F.scaled_dot_product_attention(
        x[None], x[None], x[None], m[None, :, :4]), [X, MASK]),
    "an integer": (lambda x, n: x[n], [X, COUNT]),
    "power": (lambda x, n: x**n, [X, COUNT]),
    "sum": (lambda x, i: minigrad.scatter_reduce(x, 0, i, x * 2, "sum"), [X, WIDE]),
    "mean": (lambda x, i: minigrad.scatter_reduce(x, 0, i, x * 2, "mean"), [X, WIDE]),
    "put": (lambda x, i, v: x.put(i, v, True), [X, PAIRS, draws(3, 2)]),
    "index_put": (lambda x, i: x.index_put((i,), x[1], True), [X, PLACES]),
    "mode": (lambda x, i: x[minigrad.mode(i).indices], [X, CLASSES % 2]),
    "heaviside": (lambda x, m: minigrad.heaviside(minigrad.where(m, x, 0.0), x), [X, MASK]),
    "gcd, lcm": (lambda x, i: minigrad.gcd(i, 6) * minigrad.lcm(i, 4) * x[:, 0], [X, CLASSES]),
}  # fmt: skip
WITHOUT_DERIVATIVE: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "amax": (lambda x, i: minigrad.scatter_reduce(x, 0, i, x * 2, "amax"), [X, WIDE]),
    "isin": (lambda x, i: minigrad.isin(i, x[0, :3] * 0 + minigrad.arange(3)), [X, PLACES]),
    "isin, inverted": (
        lambda x, i: minigrad.isin(i, [0, 2], invert=True) & (x[0, 0] > 0), [X, PLACES]),
    "matrix_rank": (lambda x: minigrad.linalg.matrix_rank(x), [X]),
    "qr": (lambda x: minigrad.linalg.qr(x[:, :3], "complete"), [X]),
    "svd": (lambda x: minigrad.linalg.svd(x[:3]), [X]),
}  # fmt: skip
MAY_BE_REFUSED: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "prod": (lambda x, i: minigrad.scatter_reduce(x, 0, i, x * 2, "prod"), [X, WIDE]),
    "wrap": (lambda x, i: minigrad.take(x, i + 5, 0, "wrap"), [X, PLACES]),
    "clip": (lambda x, i: minigrad.take(x, i + 5, 0, "clip"), [X, PLACES]),
    "bag": (lambda i: F.embedding_bag(i[None], minigrad.tensor(X[0])), [PLACES]),
    "roll": (lambda x, n: minigrad.roll(x, n, 0), [X, COUNT]),
    "mask as an index": (lambda x, m: x[m], [X, MASK]),
    "topk": (lambda x, n: minigrad.topk(x, n)[0], [X, COUNT]),
    "slice": (lambda x, n: x[:n], [X, COUNT]),
    "axis": (lambda x, n: x.sum(n - 1), [X[:, :, :, None], COUNT]),
    "diagonal": (lambda x, n: minigrad.diagonal(x, n), [X, COUNT]),
    "quantile": (lambda x, q: minigrad.quantile(x, abs(q) % 1), [X, draws(3)]),
    "full": (lambda q: minigrad.full((2,), q), [draws(3)]),
    "linspace": (lambda q: minigrad.linspace(0.0, q, 3), [draws(3)]),
    "bincount": (lambda i: minigrad.bincount(i, minlength=4), [PLACES]),
    "runs": (lambda i: minigrad.unique_consecutive(i, True, True), [IDS % 2]),
    "masked_scatter": (lambda x, m: x.masked_scatter(m, x * 2), [X, MASK]),
}


@pytest.mark.parametrize("name", WORKS)
def test_what_is_no_float_is_what_the_loop_gives(name: str) -> None:
    function, args = WORKS[name]
    for mapped, given in ways_to_map(args):
        assert agree(function, given, mapped)
        if args[0].dtype.kind == "f":
            assert agree(grad(weighed(function)), given, mapped)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*WITHOUT_DERIVATIVE, *MAY_BE_REFUSED])
def test_what_is_no_float_is_what_the_loop_gives_or_refused(name: str) -> None:
    function, args = {**WITHOUT_DERIVATIVE, **MAY_BE_REFUSED}[name]
    for mapped, given in ways_to_map(args):
        if name in WITHOUT_DERIVATIVE:
            assert agree(function, given, mapped)
        for call in (function, grad(weighed(function)))[: 1 + (given[0].dtype.kind == "f")]:
            with contextlib.suppress(CannotMap):
                agree(call, given, mapped)


def test_a_target_that_is_no_class_in_a_later_sample_is_refused() -> None:
    x, wrong = minigrad.ones(2, 1, 3), minigrad.tensor([[1], [7]])
    for loss in (F.cross_entropy, F.nll_loss):
        for call in (loss, grad(loss)):
            with pytest.raises(IndexError, match="target 7 is outside of 0 to 2"):
                vmap(call)(x, wrong)
    with pytest.raises(IndexError, match="target 7 is outside"):  # in the last of both
        vmap(vmap(F.cross_entropy))(x[:, None], wrong[:, None])
    with pytest.raises(ValueError, match="classes from 0 to 2"):
        vmap(lambda i: F.one_hot(i, 3))(wrong)


def test_gradients_of_each_sample() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0).double()
    weights = {name: value.detach() for name, value in layer.named_parameters()}
    x = minigrad.tensor(draws(4, 5, 8))
    loss = lambda weights, x: (functional_call(layer, weights, (x[None],)) ** 2).sum()
    found = vmap(grad(loss), (None, 0))(weights, x)
    for i, one in enumerate(x):
        for name, slope in grad(loss)(weights, one).items():
            np.testing.assert_allclose(found[name].numpy()[i], slope.numpy(), 1e-8, 1e-10)


def test_an_ensemble_of_convolution_nets_runs_without_a_loop() -> None:
    def net() -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1, groups=2), nn.BatchNorm2d(4, track_running_stats=False),
            nn.ReLU(), nn.MaxPool2d(2), nn.ConvTranspose2d(4, 3, 2, stride=2),
            nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(27, 3),
        ).double()  # fmt: skip

    nets = [net() for _ in range(SAMPLES)]
    weights, buffers = stack_module_state(nets)
    targets = minigrad.tensor([0, 2])

    def loss(weights: Any, buffers: Any, x: Any) -> Any:
        x = minigrad.tile(minigrad.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (1, 2, 1, 1))
        return F.cross_entropy(functional_call(nets[0], (weights, buffers), (x,)), targets)

    for axis, x in ((None, draws(2, 1, 2, 2)), (0, draws(SAMPLES, 2, 1, 2, 2))):
        with minigrad.debugging.Profile() as profile:
            found = vmap(grad(loss), (0, 0, axis))(weights, buffers, minigrad.tensor(x))
        assert not [event.op for event in profile.events if "loop" in event.op]
        for i, one in enumerate(nets):
            given = minigrad.tensor(x if axis is None else x[i])
            for name, slope in grad(loss)(dict(one.named_parameters()), {}, given).items():
                np.testing.assert_allclose(found[name].numpy()[i], slope.numpy(), 1e-8, 1e-10)


def test_it_nests_and_composes() -> None:
    w, xs, ys = (minigrad.tensor(draws(n, 3)) for n in (3, 4, 5))
    f = lambda x: minigrad.tanh(w @ x)
    energy = lambda x: (f(x) ** 2).sum()
    pairs = vmap(vmap(lambda a, b: (a * b).sum(), (None, 0)), (0, None))(xs, ys)
    np.testing.assert_allclose(pairs.numpy(), xs.numpy() @ ys.numpy().T)
    tangent = minigrad.ones(3, dtype="float64")
    for call in (
        jacrev(f),
        hessian(energy),
        grad(energy),
        grad(lambda x: grad(energy)(x).sum()),
        lambda x: jvp(f, (x,), (tangent,))[1],
        lambda x: vjp(f, x)[1](tangent)[0],
        lambda x: hvp(energy, (x,), (tangent,))[1][0],
        lambda x: gradient_of(energy(x), x, allow_unused=True)[0] if x.requires_grad else f(x),
    ):
        expected = [call(x).numpy() for x in xs]
        np.testing.assert_allclose(vmap(call)(xs).numpy(), expected, 1e-9, 1e-12)
    outside = jacrev(vmap(f))(xs).numpy()[1, :, 1]
    np.testing.assert_allclose(outside, jacrev(f)(xs[1]).numpy(), 1e-9, 1e-12)


def test_the_result_is_an_ordinary_graph() -> None:
    w = minigrad.tensor([1.0, 2.0], requires_grad=True)
    x = minigrad.tensor([[1.0, 3.0], [2.0, 5.0]], requires_grad=True)
    out = vmap(lambda x: (w * x).sum() ** 2)(x)
    out.sum().backward()
    sums = np.array([7.0, 12.0])
    np.testing.assert_allclose(w.grad.numpy(), (2 * sums) @ np.array([[1.0, 3.0], [2.0, 5.0]]))
    np.testing.assert_allclose(x.grad.numpy(), np.outer(2 * sums, [1.0, 2.0]))
    assert {node.label for node in viz.graph(out).nodes} >= {"multiply", "sum"}
    plain = vmap(grad(lambda w, x: (w * x).sum()), (None, 0))(w.detach(), x.detach())
    assert not plain.requires_grad

    step = minigrad.capture(lambda x: vmap(grad(lambda x: (w.detach() * x).sum() ** 2))(x))

    for scale in (1.0, 2.0, 3.0):
        given = minigrad.tensor([[1.0, 3.0], [2.0, 5.0]]) * scale
        expected = scale * np.outer([14.0, 24.0], [1.0, 2.0])
        np.testing.assert_allclose(step(given).numpy(), expected)


def test_a_drawing_shows_the_axis_of_the_samples() -> None:
    layer = nn.Linear(3, 2)
    xs = minigrad.ones(5, 3, requires_grad=True)
    drawn = viz.graph(vmap(lambda x: minigrad.tanh(layer(x)).sum())(xs), xs=xs)
    found = [(group.name or group.module, group.samples) for group in drawn.groups]
    assert found == [("vmap", 5), ("Linear", 0)]
    assert viz.Graph.from_json(drawn.to_json()) == drawn
    lines = [line.split("→") for line in str(drawn.to_text()).splitlines()]
    shapes = [right.strip() for _, right in (line for line in lines if len(line) == 2)]
    assert shapes == ["5×3  · input", "5 × (2)", "5 × (2)", "5 × (scalar)", "5 × (scalar)"]

    ys, w = minigrad.ones(4, 3), minigrad.ones(3, requires_grad=True)
    pairs = vmap(vmap(lambda x, y: (x * y * minigrad.exp(w)).sum(), (None, 0)), (0, None))(xs, ys)
    found = {node.label: node for node in viz.graph(pairs).nodes if node.kind == "op"}
    assert (found["sum"].shape, found["sum"].samples) == ((5, 4), 2)
    assert (found["exp"].shape, found["exp"].samples, found["exp"].group) == ((3,), 0, None)
    with viz.trace() as trace:
        vmap(grad(lambda w, x: (w * x).sum() ** 2), (None, 0))(w, xs).sum().backward()
    [group] = trace.graph().groups
    assert (group.name, group.samples) == ("vmap", 5)


def test_axes_and_structures() -> None:
    x = minigrad.tensor(np.arange(24.0).reshape(2, 3, 4))
    assert vmap(lambda x: x * 2, in_dims=2, out_dims=1)(x).shape == (2, 4, 3)
    assert vmap(lambda x: x.sum(), in_dims=-1)(x).shape == (4,)
    named = lambda d, k: {"a": d["w"] + k, "b": (d["x"],)}
    found = vmap(named, in_dims=({"w": None, "x": 1}, None))({"w": x[0, 0], "x": x}, 1.0)
    assert found["a"].shape == (3, 4)
    assert found["b"][0].shape == (3, 2, 4)
    assert vmap(lambda x, *, whole: x.sum() + whole)(x, whole=x[0]).shape == (2, 3, 4)
    assert vmap(lambda x: x.sum())(np.ones((3, 2))).tolist() == [2.0] * 3  # not the sum of all
    assert vmap(lambda x: 3.0)(x).tolist() == [3.0, 3.0]
    assert vmap(lambda x: (x, None))(x)[1] is None
    assert vmap(lambda x: x @ x)(minigrad.zeros(0, 2, 2)).shape == (0, 2, 2)


ONES = minigrad.ones(2)


def kept(keep: Callable[[Any, list[Any]], None]) -> Any:
    """A tensor that a mapped function has put aside."""
    aside: list[Any] = []
    vmap(lambda a: keep(a, aside) or a.exp())(ONES)
    return aside[0]


MISTAKES: dict[str, tuple[Callable[..., Any], str]] = {
    "no function": (lambda: vmap(3), "a function expected, got int"),
    "lengths": (lambda: vmap(lambda a, b: a)(ONES, minigrad.ones(3)),
                r"args\[1\] must have 2 samples, as args\[0\], got 3"),
    "nothing": (lambda: vmap(lambda a: a, None)(ONES), "no argument is mapped"),
    "axis": (lambda: vmap(lambda a: a, 1)(ONES), r"args\[0\] of shape \(2,\) has no dim 1"),
    "count": (lambda: vmap(lambda a: a, (0, 0))(ONES), "in_dims has 2 entries for 1"),
    "structure": (lambda: vmap(lambda a: a, ({"a": 0},))([ONES]), "do not have the structure"),
    "result": (lambda: vmap(lambda a: "x")(ONES), "must be a tensor, got str"),
    "out": (lambda: vmap(lambda a: a, out_dims=None)(ONES), "differs between samples"),
    "item": (lambda: vmap(lambda a: a * a.item())(ONES),
             r"\.item\(\) reads what differs .*test_vmap.py:\d+"),
    "branch": (lambda: vmap(lambda a: a if a > 0 else -a)(ONES), r"bool\(\) reads what differs"),
    "NumPy": (lambda: vmap(lambda a: minigrad.tensor(a.numpy()))(ONES),
              r"\.numpy\(\) reads what differs"),
    "mask": (lambda: vmap(lambda a: a[a > 0])(minigrad.ones(2, 3)),
             "a mask that differs from sample to sample"),
    "derivative": (lambda: vmap(grad(lambda a: minigrad.scatter_reduce(
        a, 0, minigrad.tensor([0]), a, "amax").sum()))(minigrad.ones(2, 3)),
        "the derivative of scatter_extreme decides by values that differ"),
    "random": (lambda: vmap(lambda a: a + minigrad.rand(1))(ONES),
               r"random numbers are drawn, at .*test_vmap.py:\d+.*: say whether they are"),
    "dropout": (lambda: vmap(lambda a: F.dropout(a))(ONES), r"drawn, at .*F\.dropout\(a\)"),
    "channels": (lambda: vmap(F.dropout1d)(minigrad.ones(2, 3, 4)), r"drawn, at .*F\.dropout1d"),
    "in a layer": (lambda: vmap(nn.Sequential(nn.Dropout()))(ONES), r"drawn.*n\.Dropout.*\[in 0\]"),
    "generator": (lambda: vmap(lambda a: a + minigrad.random.generator().random(),
                               randomness="same")(ONES),
                  "takes the generator itself, at .*: use minigrad.rand"),
    "branch on a draw": (lambda: vmap(lambda a: a if bool(minigrad.rand(()) > 2) else -a,
                                      randomness="different")(ONES),
                         r"bool\(\) reads what differs"),
    "randomness": (lambda: vmap(abs, randomness="some"), "randomness must be"),
    "kept": (lambda: kept(lambda a, aside: aside.append(a * 2)) + 1, "its first sample alone"),
    "kept argument": (lambda: kept(lambda a, aside: aside.append(a)).sum(), "at .*sum.*return it"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cannot_be_mapped_is_refused(name: str) -> None:
    call, message = MISTAKES[name]
    with pytest.raises((CannotMap, TypeError, ValueError), match=message):
        call()


def test_writes() -> None:
    def running(x: Any) -> Any:
        total = minigrad.zeros(3, dtype="float64")
        total[0] = x[0]
        total += x
        total[1:] = x[:2] * 2
        counts = minigrad.empty(3)  # of another dtype
        counts.zero()
        return total * counts.add_(x[0])

    x = np.random.default_rng(0).standard_normal((4, 3))
    expected = [running(minigrad.tensor(row)).numpy() for row in x]
    np.testing.assert_allclose(vmap(running)(x).numpy(), expected)
    kept, w = minigrad.zeros(3), minigrad.ones(3, requires_grad=True)
    with pytest.raises(CannotMap, match="writes to a tensor from outside"):
        vmap(lambda x: kept.add_(x))(minigrad.ones(2, 3))
    with pytest.raises(CannotMap, match="add_to_grad changes what lives longer"):
        vmap(lambda x: ((x * w).sum().backward(), x)[1])(minigrad.ones(2, 3))


EQUAL = minigrad.tensor(np.broadcast_to(np.float32(draws(16, 20)), (64, 16, 20)))
LAYER = nn.TransformerEncoderLayer(20, 2, 8, dropout=0.5)
RANDOM: dict[str, Callable[[Any], Any]] = {
    "dropout": lambda x: F.dropout(x),
    "alpha_dropout": lambda x: F.alpha_dropout(x, training=True),
    "dropout1d": lambda x: F.dropout1d(x),
    "dropout2d": lambda x: F.dropout2d(x[:, :, None, None]),
    "drop_path": lambda x: F.drop_path(x, 0.5),
    "gumbel_softmax": lambda x: x * F.gumbel_softmax(x),
    "gumbel_softmax hard": lambda x: x * F.gumbel_softmax(x, hard=True, dim=0),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
    "attention to the same": lambda x: F.scaled_dot_product_attention(
        x, EQUAL[0] * 0.5, EQUAL[0], dropout_p=0.5),
    "attention of the same": lambda x: F.scaled_dot_product_attention(
        EQUAL[0], EQUAL[0], x[None], dropout_p=0.5),
    "attention with weights": lambda x: F.scaled_dot_product_attention(
        x, x, x, dropout_p=0.5, output_weight=True)[0],
    "a layer": lambda x: LAYER(x[None]),
    "checkpoint": lambda x: checkpoint(lambda x: F.dropout(x) * x, x),
    "key": lambda x: of_keys(x, minigrad.random.key()),
    "vmap": lambda x: vmap(lambda row: F.dropout(row), randomness="different")(x),
    "vmap in parts": lambda x: vmap(
        lambda row: F.dropout(row), randomness="same", chunk_size=3)(x),
    "rand": lambda x: x * minigrad.rand_like(x),
    "normal": lambda x: x * minigrad.normal(x, 1.0),
    "bernoulli": lambda x: x * minigrad.bernoulli(minigrad.sigmoid(x)),
    "multinomial": lambda x: x * minigrad.multinomial(x.abs(), 20),
    "bernoulli_": lambda x: x * minigrad.empty(16, 20).bernoulli_(0.5),
    "bernoulli_ of a tensor": lambda x: x * minigrad.empty(16, 20).bernoulli_(minigrad.sigmoid(x)),
    "cauchy_": lambda x: x * minigrad.empty(16, 20).cauchy_(),
    "Gamma": lambda x: x * minigrad.distributions.Gamma(minigrad.ones(16, 20), 1.0).sample(),
}  # fmt: skip
"""Everything that draws: functions, layers, fills, distributions."""


@minigrad.autograd.primitive(arrays=1, random_keys=("key",))
def of_keys(x: Any, key: int) -> Any:
    return x * np.random.default_rng(key).random(x.shape, x.dtype)


of_keys.defvjp(x=lambda g, key: within_rule(of_keys, g, key))


class Opened(Observer):
    """Fused ops that draw run as the ops of their decompositions."""

    opened = tuple(op for op in registry.values() if op.random_keys and op.decomposition)


def test_every_op_with_a_key_is_in_the_table() -> None:
    assert {op.name for op in registry.values() if op.random_keys} <= RANDOM.keys()
    assert [op.name for op in Opened.opened] == ["attention"]


WAYS = [(name, way) for name in RANDOM for way in ("at once", "in parts")]
WAYS += [(name, "opened") for name in RANDOM if "attention" in name or name == "a layer"]


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_random_numbers(name: str, way: str) -> None:
    """The same are those of a loop that seeds anew; different ones differ, backward as forward."""
    chunk_size = 48 if way == "in parts" else None

    def both(x: Any) -> Any:
        value, pull = vjp(RANDOM[name], x)
        return value, pull(minigrad.cos(minigrad.arange(320.0)).reshape(value.shape))[0]

    minigrad.manual_seed(0)
    alone = both(EQUAL[0])
    minigrad.manual_seed(0)
    with Opened() if way == "opened" else contextlib.nullcontext():
        same = vmap(both, randomness="same", chunk_size=chunk_size)(EQUAL)
        different = vmap(both, randomness="different", chunk_size=chunk_size)(EQUAL)
    for every, one in zip(same, alone, strict=True):
        np.testing.assert_allclose(every.numpy(), [one.numpy()] * 64, rtol=1e-4, atol=1e-5)
    for found in different:
        assert len({sample.tobytes() for sample in found.numpy()}) > 60


@pytest.mark.parametrize("name", ["dropout", "attention of the same", "drop_path", "vmap", "key"])
def test_a_derivative_has_the_random_numbers_of_its_forward_pass(name: str) -> None:
    def both(x: Any) -> Any:
        value, pull = vjp(lambda x: RANDOM[name](x).sum(), x)
        return value, (x * pull(minigrad.ones(()))[0]).sum()  # equal for a linear function

    x = minigrad.randn(64, 16, 20)
    value, same = vmap(both, randomness="different")(x)
    np.testing.assert_allclose(value.numpy(), same.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_a_generator_draws_once(randomness: Any) -> None:
    """Then it goes on where a loop would."""
    one, other = minigrad.Generator(), minigrad.Generator()
    other.set_state(one.get_state())
    found = vmap(lambda _: minigrad.rand(3, generator=one), randomness=randomness)(EQUAL[:2])
    expected = [minigrad.rand(3, generator=other) for _ in range(2 - (randomness == "same"))]
    np.testing.assert_array_equal(found.numpy(), [expected[0].numpy(), expected[-1].numpy()])
    assert minigrad.equal(*[minigrad.rand(3, generator=each) for each in (one, other)])


def test_a_key_from_outside_is_the_same_for_all() -> None:
    found = vmap(lambda x: ops.dropout(x, 0.5, 7))(EQUAL).numpy()
    np.testing.assert_array_equal(found, [ops.dropout(EQUAL[0], 0.5, 7).numpy()] * 64)


def test_no_warning_of_an_intermediate_value() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(grad(lambda x: minigrad.where(x > 0, minigrad.sqrt(x), 0).sum()))(minigrad.zeros(2, 2))
