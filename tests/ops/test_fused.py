"""Fused ops: the kernel and its rule against the meaning, for every option; and what masks do."""

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, ops, tensor
from minigrad.autograd import grad, gradcheck
from minigrad.autograd.node import node_of
from minigrad.autograd.primitives import registry
from minigrad.ops import linalg
from minigrad.ops.random_masks import uniform

KEEP = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng([1, *shape]).standard_normal(shape)


def qkv(*leading: int) -> dict[str, np.ndarray]:
    shapes = {"query": (3, 4), "key": (5, 4), "value": (5, 2)}
    return {name: normal(*leading, *shape) for name, shape in shapes.items()}


def attention_calls() -> list[tuple[dict[str, np.ndarray], dict[str, Any]]]:
    arrays = [
        *(qkv(), qkv(2), qkv(2, 2)),
        {**qkv(2, 2), "bias": normal(2, 2, 3, 5)},
        {**qkv(2, 2), "bias": normal(2, 1, 1, 5)},
        {**qkv(2), "bias": normal(3, 1)},
        {**qkv(2), "bias": normal()},
        {"query": normal(2, 2, 3, 4), "key": normal(1, 5, 4), "value": normal(2, 1, 5, 2)},
    ]
    options: list[dict[str, Any]] = [
        {"keep": keep, "causal": causal, "scale": scale, **dropped}
        for keep, causal, scale, dropped in itertools.product(
            (None, KEEP, KEEP[2:], KEEP[:, :1]),
            (False, True),
            (None, 0.7),
            ({}, {"dropout": 0.4, "dropout_key": 11}),
        )
    ]
    return [*itertools.product(arrays, options)]


LAST = [(shape, shape[-n:], {"ndim": n}) for shape in [(2, 5), (2, 3, 4), (3, 4)] for n in (1, 2)]
GROUPS = [(shape, shape[1:2], {"groups": 2}) for shape in [(2, 4), (2, 4, 3), (1, 6, 2, 2)]]


def normalization_calls(
    table: Any, eps: float, biased: bool = True
) -> list[tuple[dict[str, np.ndarray], dict[str, Any]]]:
    """With and without each parameter, for two `eps`."""
    calls = []
    for (shape, own, options), each in itertools.product(table, (eps, 0.3)):
        weight, bias = {"weight": normal(*own)}, {"bias": normal(*own) + 1}
        extras = [{}, weight, bias, {**weight, **bias}] if biased else [{}, weight]
        calls += [({"x": normal(*shape), **more}, {**options, "eps": each}) for more in extras]
    return calls


def cross_entropy_calls() -> list[tuple[dict[str, np.ndarray], dict[str, Any]]]:
    targets = {
        (3, 4): np.array([1, 0, 2]), (4,): np.array(3), (2, 4, 3): np.array([[0, 1, 2], [2, 3, 0]]),
    }  # fmt: skip
    options = itertools.product(
        ("mean", "sum", "none"), (0.0, 0.3, 1.0), (None, 2), (None, np.array([0.5, 2.0, 1.3, 0.0]))
    )
    minus_infinity = np.array([[-np.inf, -0.2, 0.3, 1.0], [0.1, 0.5, 0.2, -0.4]])
    ignored = {"target": np.array([0, 2]), "ignore_index": 0}
    return [
        ({"logits": minus_infinity}, {**ignored, "reduction": reduction})
        for reduction in ("mean", "sum", "none")
    ] + [
        (
            {"logits": normal(*shape)},
            {"target": target, "weight": weight, "reduction": reduction,
             "label_smoothing": smoothing, "ignore_index": ignore},
        )
        for (reduction, smoothing, ignore, weight), (shape, target) in itertools.product(
            options, targets.items()
        )
        if not (weight is not None and reduction == "mean" and target.ndim == 0)
    ]  # fmt: skip


def det_calls() -> list[tuple[dict[str, np.ndarray], dict[str, Any]]]:
    """Of full rank, of less, and of both in one stack."""
    one_less = normal(4, 3) @ normal(3, 4)
    return [
        ({"x": x}, {})
        for x in (
            *(normal(3, 3), normal(2, 3, 4, 4), one_less, np.zeros((3, 3))),
            np.stack([one_less, normal(4, 4), normal(4, 2) @ normal(2, 4), normal(4, 4)]),
            *(normal(0, 2, 2), normal(2, 0, 0)),
        )
    ]


def recurrence_calls(gates: int, *states: str, biased: bool = False) -> Any:
    """Of one step and of several, for batches of several, one and none."""
    calls = []
    for steps, batch, width in ((4, 3, 2), (1, 2, 3), (3, 1, 1), (2, 0, 2)):
        arrays = {
            "gates": normal(steps, batch, gates * width),
            "weight": normal(gates * width, width) / 2,
            **{name: normal(batch, width) + i for i, name in enumerate(states)},
        }
        if biased:
            calls.append((arrays, {"bias": None}))
            arrays = {**arrays, "bias": normal(gates * width)}
        calls.append((arrays, {}))
    return calls


def function_of(name: str) -> Any:
    return getattr(linalg if name in linalg.__all__ else ops, name)


CALLS = {
    "attention": attention_calls(),
    "layer_norm": normalization_calls(LAST, 1e-5),
    "group_norm": normalization_calls(GROUPS, 1e-5),
    "rms_norm": normalization_calls(LAST, 1e-6, biased=False),
    "cross_entropy": cross_entropy_calls(),
    "det": det_calls(),
    "lstm": recurrence_calls(4, "h0", "c0"),
    "gru": recurrence_calls(3, "h0", biased=True),
    "rnn": [
        (arrays, {"nonlinearity": name})
        for arrays, _ in recurrence_calls(1, "h0")
        for name in ("tanh", "relu")
    ],
}


def test_every_fused_op_has_its_calls() -> None:
    ours = [op for op in registry.values() if op.module.startswith("minigrad.")]
    assert {op.name for op in ours if op.decomposition is not None} == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_kernel_and_decomposition_agree(name: str) -> None:
    """Values and every gradient; each gradient by itself, too, for the rule is told of it."""
    op = registry[name]
    function = function_of(name)
    assert inspect.signature(op.decomposition) == op.signature
    for arrays, options in CALLS[name]:
        tensors = {k: tensor(v, requires_grad=True) for k, v in arrays.items()}
        kernel = function(**tensors, **options)
        decomposition = op.decomposition(**tensors, **options)
        shown = f"{name}: { ({k: v.shape for k, v in arrays.items()}) }, {options}"
        assert kernel._node.plan.op is op
        one, other = kernel.numpy(), decomposition.numpy()
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12, err_msg=shown)
        assert kernel.shape == decomposition.shape
        g = np.cos(np.arange(kernel.numel())).reshape(kernel.shape)
        wanted = grad(decomposition, [*tensors.values()], g)
        found = grad(kernel, [*tensors.values()], g, retain_graph=True)
        for key, array in arrays.items():
            np.testing.assert_array_equal(tensors[key].numpy(), array)
        for key, one, other in zip(tensors, found, wanted, strict=True):
            where = {"err_msg": f"{key} of {shown}"}
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12, **where)
            (alone,) = grad(kernel, tensors[key], g, retain_graph=True)
            np.testing.assert_array_equal(alone.numpy(), one.numpy(), **where)
            only = {k: tensors[k] if k == key else v for k, v in arrays.items()}
            single = function(**only, **options)
            slope = grad(single, tensors[key], g)[0].numpy()
            np.testing.assert_allclose(slope, one.numpy(), rtol=1e-12, atol=1e-13, **where)


def joint_calls() -> dict[str, Tensor]:
    """An output of each op whose arguments share a rule, all of them differentiable."""
    leaf = lambda *shape: tensor(normal(*shape), requires_grad=True)
    square = tensor(normal(3, 3) + 3 * np.eye(3), requires_grad=True)
    attended = [leaf(*array.shape) for array in qkv(2).values()]
    return {
        "attention": ops.attention(*attended, leaf(3, 5), KEEP, dropout=0.4, dropout_key=1),
        "layer_norm": ops.layer_norm(leaf(2, 4), leaf(4), leaf(4)),
        "group_norm": ops.group_norm(leaf(2, 4, 3), leaf(4), leaf(4), groups=2),
        "rms_norm": ops.rms_norm(leaf(2, 4), leaf(4)),
        "batch_norm": ops.batch_norm(leaf(4, 3), leaf(3), leaf(3))[0],
        "lstm": ops.lstm(leaf(3, 2, 8), leaf(8, 2), leaf(2, 2), leaf(2, 2)),
        "gru": ops.gru(leaf(3, 2, 6), leaf(6, 2), leaf(6), leaf(2, 2)),
        "rnn": ops.rnn(leaf(3, 2, 2), leaf(2, 2), leaf(2, 2)),
        "solve": linalg.solve(square, leaf(3, 2)),
        "solve_triangular": linalg.solve_triangular(square, leaf(3, 2), upper=True),
        "einsum": ops.einsum("ij,jk,k->i", leaf(2, 3), leaf(3, 4), leaf(4)),
        "concatenate": ops.concatenate([leaf(2, 3), leaf(4, 3), leaf(1, 3)]),
        "stack": ops.stack([leaf(2, 3), leaf(2, 3)]),
        "scatter_extreme": ops.scatter_reduce(
            leaf(3, 2), 0, np.array([[0, 1], [2, 1]]), leaf(2, 2), "amax"
        ),
    }


STEPS = {"solve": {1}, "solve_triangular": {1}, "lstm": {0, 2, 3}, "gru": {0, 3}, "rnn": {0, 2}}
"""Cotangents that the others are computed from, so that they are there in any case."""


def test_a_joint_rule_computes_what_is_needed_and_nothing_else() -> None:
    calls = joint_calls()
    joint = {op.name for op in registry.values() if op.joint and len(op.joint_slots) > 1}
    variadic = {"concatenate", "einsum", "stack"}
    ours = {name for name in joint if registry[name].module.startswith("minigrad.ops")}
    assert ours | variadic == {*calls}
    for name, out in calls.items():
        several = name == "batch_norm"
        node: Any = node_of(out._node)
        saved = dict(zip(node.plan.saved_names, node.saved, strict=True))
        rule = node.plan.op.joint
        arguments = [saved[name] for name in rule.needs]
        count = len(node.edges)
        g: Any = np.cos(np.arange(out.numel())).reshape(out.shape)
        g = (g, *(np.sin(saved[part]) for part in ("mean", "std"))) if several else g
        everything = rule.function(g, (True,) * count, *arguments)
        for needed in itertools.product((False, True), repeat=count):
            if not any(needed):
                continue
            found = rule.function(g, needed, *arguments)
            for i, (want, one, other) in enumerate(zip(needed, found, everything, strict=True)):
                if want:
                    np.testing.assert_array_equal(one, other, err_msg=f"{name} {needed}")
                elif i not in STEPS.get(name, ()):
                    assert one is None, (name, needed)


# Attention ------------------------------------------------------------------------------------


def nowhere(path: str, dropout: float = 0.0) -> tuple[Tensor, list[Tensor]]:
    """Attention in which the second query may attend no key, by one path or the other."""
    tensors = [tensor(v, requires_grad=True) for v in qkv(2).values()]
    bias = tensor(normal(3, 5), requires_grad=True)
    tensors.append(bias)
    q, k, v = tensors[:3]
    if path == "fused":
        out = ops.attention(q, k, v, bias, KEEP, dropout=dropout, dropout_key=3)
    elif path == "composed":
        out = ops.attention_weights(q, k, bias, KEEP) @ v
    elif path == "minus infinity":
        minus = np.where(KEEP, 0.0, -np.inf)
        out = ops.attention(q, k, v, bias + minus)
    else:
        out = ops.softmax((q * 0.5) @ k.mT + bias + np.where(KEEP, 0.0, -np.inf)) @ v
    return out, tensors


@pytest.mark.parametrize("path", ["fused", "composed", "minus infinity", "by hand"])
def test_a_query_that_may_attend_nowhere(path: str) -> None:
    out, tensors = nowhere(path)
    assert out.numpy()[:, 1].tolist() == [[0.0, 0.0]] * 2
    wanted, twins = nowhere("fused")
    np.testing.assert_allclose(out.numpy(), wanted.numpy(), atol=1e-14)
    for create_graph in (False, True):
        found = grad(out.sum(), tensors, retain_graph=True, create_graph=create_graph)
        reference = grad(wanted.sum(), twins, retain_graph=True)
        for g, other in zip(found, reference, strict=True):
            assert np.isfinite(g.numpy()).all()
            np.testing.assert_allclose(g.numpy(), other.numpy(), rtol=1e-9, atol=1e-13)
        assert found[0].numpy()[:, 1].tolist() == [[0.0] * 4] * 2
        assert found[3].numpy()[1].tolist() == [0.0] * 5
        if create_graph:
            penalty = sum(((g * g).sum() for g in found), Tensor(0.0))
            second = grad(penalty, tensors)
            assert all(np.isfinite(g.numpy()).all() for g in second)


def test_nowhere_with_dropout_and_causal_masks() -> None:
    out, tensors = nowhere("fused", dropout=0.5)
    out.sum().backward()
    assert all(np.isfinite(t.grad.numpy()).all() for t in tensors)
    q = tensor(normal(3, 4), requires_grad=True)
    never = np.zeros((3, 3), bool)
    out = ops.attention(q, q, q, keep=never, causal=True)
    assert out.tolist() == [[0.0] * 4] * 3
    out.sum().backward()
    assert q.grad.tolist() == [[0.0] * 4] * 3


def test_every_broadcastable_mask_is_its_materialised_self() -> None:
    arrays = qkv(2, 2)
    full = (2, 2, 3, 5)
    for shape in itertools.product((1, 2), (1, 2), (1, 3), (1, 5)):
        keep = np.random.default_rng(sum(shape)).random(shape) < 0.6
        bias = np.random.default_rng(7).standard_normal(shape)
        for k in range(4):
            cut = shape[k:]
            if any(n != 1 for n in shape[:k]):
                break
            for masks in ({"keep": keep.reshape(cut)}, {"bias": bias.reshape(cut)}):
                wide = {k: np.broadcast_to(v, full) for k, v in masks.items()}
                one, other = ops.attention(**arrays, **masks), ops.attention(**arrays, **wide)
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-12, atol=1e-15)


def test_causal_is_the_triangle_top_left_aligned() -> None:
    for length, size in ((3, 5), (5, 3), (4, 4), (1, 4), (4, 1)):
        q, k, v = normal(length, 4), normal(size, 4), normal(size, 2)
        one = ops.attention(q, k, v, causal=True)
        other = ops.attention(q, k, v, keep=np.tri(length, size, dtype=bool))
        np.testing.assert_array_equal(one.numpy(), other.numpy())
        np.testing.assert_allclose(one.numpy()[0], v[0])


def test_heads_of_values_alone_have_dropout_of_their_own() -> None:
    one, three = np.cos(np.arange(12.0)).reshape(1, 4, 3), np.sin(np.arange(36.0)).reshape(3, 4, 3)
    given: Any = {"query": one, "key": one, "value": three, "dropout": 0.5, "dropout_key": 1}
    parts = ops.attention.op.decomposition(**given)
    np.testing.assert_allclose(ops.attention(**given).numpy(), np.asarray(parts), rtol=1e-6)


def test_attention_dropout_by_key() -> None:
    arrays = qkv(2)
    one = ops.attention(**arrays, dropout=0.5, dropout_key=1).numpy()
    same = ops.attention(**arrays, dropout=0.5, dropout_key=1).numpy()
    other = ops.attention(**arrays, dropout=0.5, dropout_key=2).numpy()
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
    with pytest.raises(ValueError, match="attention: .*dropout_key"):
        ops.attention(**arrays, dropout=0.5)
    tensors = {name: tensor(array, requires_grad=True) for name, array in arrays.items()}
    gone = ops.attention(**tensors, dropout=1.0, dropout_key=1)
    assert not gone.numpy().any()
    assert not any(g.numpy().any() for g in grad(gone.sum(), [*tensors.values()]))
    many = [ops.attention(**arrays, dropout=0.3, dropout_key=i).numpy() for i in range(2000)]
    np.testing.assert_allclose(np.mean(many, axis=0), ops.attention(**arrays).numpy(), atol=0.1)


def test_the_gradient_of_the_values_alone_needs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """What leads on to the scores is not computed: np.vecdot is a part of that alone."""
    arrays = qkv(2)
    value = tensor(arrays["value"], requires_grad=True)
    calls: list[Any] = []
    vecdot = np.vecdot
    monkeypatch.setattr(np, "vecdot", lambda *args: calls.append(args) or vecdot(*args))
    grad(ops.attention(arrays["query"], arrays["key"], value).sum(), value)
    assert not calls
    query = tensor(arrays["query"], requires_grad=True)
    grad(ops.attention(query, arrays["key"], value).sum(), query)
    assert calls


def test_no_key_to_attend_to() -> None:
    q = tensor(normal(2, 4), requires_grad=True)
    out = ops.attention(q, np.zeros((0, 4)), np.zeros((0, 3)))
    assert out.tolist() == [[0.0] * 3] * 2
    assert gradcheck(lambda q: ops.attention(q, np.zeros((0, 4)), np.zeros((0, 3))), q)


# Dropout --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_dropout_keeps_the_expectation(p: float, dtype: Any) -> None:
    x = tensor(np.ones(40_000, dtype), requires_grad=True)
    y = ops.dropout(x, p, 7)
    values = set(np.unique(y.numpy()).tolist())
    kept = 0.0 if p == 1 else float(np.asarray(1 / (1 - p), dtype))
    assert values == ({kept} if p == 0 else {0.0} if p == 1 else {0.0, kept})
    if p < 1:
        deviation = np.sqrt(p / (1 - p) / 40_000)
        assert abs(y.numpy().mean(dtype=np.float64) - 1) < 5 * deviation + 1e-3
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.numpy())


def test_dropout_by_key() -> None:
    x = np.ones((50, 60))
    one, same, other = (ops.dropout(x, 0.5, key).numpy() for key in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert 0.4 < (one != other).mean() < 0.6


def test_the_masks_of_keys_are_unrelated() -> None:
    """Of keys that are close, of powers of two and of random ones; and so are their rows."""
    random = np.random.default_rng(0).integers(2**63, size=40).tolist()
    keys = [*range(60), *(2**n for n in range(6, 63)), *random]
    numbers = np.array([uniform(key, (64, 64)) for key in keys])
    for rows in (numbers.reshape(len(keys), -1), numbers[:40].reshape(-1, 64)):
        scores = np.corrcoef(rows)[np.triu_indices(len(rows), 1)] * np.sqrt(rows.shape[1])
        assert np.abs(scores).max() < 6
        assert abs(scores.std() - 1) < 0.05
    counts = np.bincount((numbers * 256).astype(int).ravel(), minlength=256) / numbers.size
    np.testing.assert_allclose(counts, 1 / 256, rtol=5 * np.sqrt(256 / numbers.size))


@pytest.mark.parametrize("key", [2**63 - 1, 0, -1, np.int64(5), np.uint8(200)])
def test_a_key_is_any_integer(key: Any) -> None:
    one, same = (ops.dropout(np.ones((30, 40)), 0.5, each).numpy() for each in (key, int(key)))
    np.testing.assert_array_equal(one, same)
    for wrong in (1.0, "1", None):
        with pytest.raises(TypeError, match="integer"):
            ops.dropout(np.ones((30, 40)), 0.5, wrong)


# Cross-entropy --------------------------------------------------------------------------------


def test_ignored_targets_have_no_influence() -> None:
    logits = normal(3, 4)
    for reduction in ("mean", "sum"):
        one = ops.cross_entropy(logits, [1, -100, 2], ignore_index=-100, reduction=reduction)
        other = ops.cross_entropy(logits[[0, 2]], [1, 2], reduction=reduction)
        np.testing.assert_allclose(one.item(), other.item(), rtol=1e-14)
    x = tensor(logits, requires_grad=True)
    ops.cross_entropy(x, [1, -100, 2], ignore_index=-100, label_smoothing=0.1).backward()
    assert not x.grad.numpy()[1].any()
    broken = logits.copy()
    broken[1] = np.inf
    with np.errstate(invalid="ignore"):
        loss = ops.cross_entropy(broken, [1, -100, 2], ignore_index=-100)
    np.testing.assert_allclose(loss.item(), ops.cross_entropy(logits[[0, 2]], [1, 2]).item())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_impossible_class_that_counts_nothing_has_no_influence(
    reduction: str, create_graph: bool
) -> None:
    """Its loss is infinite, its weight 0."""
    logits = tensor(np.array([[-np.inf, 1.0, 0.5], [0.2, 0.3, 0.1]]), requires_grad=True)
    weight = np.array([0.0, 1.0, 2.0])
    loss = ops.cross_entropy(logits, [0, 2], weight, reduction=reduction)
    (slope,) = grad(loss.sum(), logits, create_graph=create_graph)
    alone = tensor(logits.numpy()[1:], requires_grad=True)
    wanted = ops.cross_entropy(alone, [2], weight, reduction=reduction)
    np.testing.assert_allclose(loss.sum().item(), wanted.sum().item())
    assert slope.tolist()[0] == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(slope.numpy()[1:], grad(wanted.sum(), alone)[0].numpy())


@pytest.mark.parametrize("value", [1e4 * 1.0001, 1e6 * 1.0001])
@pytest.mark.parametrize("width", [3, 1000, 100_000])
def test_constant_rows_are_zeros_exactly(width: int, value: float) -> None:
    x = np.full((2, width), value, np.float32)
    assert not ops.layer_norm(tensor(x)).numpy().any()
    out, _, var = ops.batch_norm(tensor(x[:, None]))
    assert not out.numpy().any()
    assert not var.numpy().any()


@pytest.mark.parametrize("shape", [(8, 16, 784), (2, 3, 50_000), (4096, 5)], ids=str)
def test_batch_norm_far_from_zero(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x = (1.0001e4 + 1e-2 * rng.standard_normal(shape)).astype(np.float32)
    exact = x.astype(np.float64)
    axes = (0, *range(2, x.ndim))
    expected = (exact - exact.mean(axes, keepdims=True)) / exact.std(axes, keepdims=True)
    out, _, var = ops.batch_norm(tensor(x), eps=0.0)
    np.testing.assert_allclose(out.numpy(), expected, atol=1e-3)
    np.testing.assert_allclose(var.numpy(), exact.var(axes), rtol=1e-3)


def test_batch_norm_of_more_numbers_than_float16_counts() -> None:
    rng = np.random.default_rng(0)
    x = tensor(rng.standard_normal((64, 1, 2048)).astype(np.float16), requires_grad=True)
    ops.batch_norm(x)[0].sum().backward()
    assert np.abs(x.grad.numpy()).max() < 1e-2


@pytest.mark.parametrize("width", [0, 1])
def test_nothing_goes_back_through_the_normal_of_a_single_number(width: int) -> None:
    x = tensor(np.arange(3.0 * width).reshape(3, width), requires_grad=True)
    weight, bias = (tensor(np.full(width, 2.0), requires_grad=True) for _ in range(2))
    with np.errstate(all="raise"):
        ops.layer_norm(x, weight, bias).backward(np.full((3, width), 5.0))
    assert not x.grad.numpy().any()
    assert not weight.grad.numpy().any()
    assert bias.grad.tolist() == [15.0] * width
