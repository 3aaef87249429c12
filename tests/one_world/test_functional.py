"""`nn.functional` has PyTorch's names, order, defaults and results: one row for each call.

A row is the call as a stranger writes it, with F, and with arrays of the names below. Both sides
get the same float64 numbers; results and the gradients of what requires one are compared.
"""

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from functional_calls import ARRAYS, CALLS, FIXED, X

import minigrad
from minigrad import nn, tensor
from minigrad.nn import functional as F


def outcome(call: str, functions: Any, make: Callable[..., Any]) -> list[np.ndarray]:
    """The results of a call, and the gradients that flow from them to its arrays."""
    names = compile(call, "row", "eval").co_names
    given = {n: make(np.array(ARRAYS[n]), requires_grad=True) for n in names if n in ARRAYS}
    fixed = {n: make(np.array(FIXED[n])) for n in names if n in FIXED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = eval(call, {"F": functions, **given, **fixed})
    results = list(result) if isinstance(result, tuple) else [result]
    total: Any = 0
    for i, part in enumerate(results):
        if part.requires_grad:
            weights = np.random.default_rng(i).standard_normal(tuple(part.shape))
            total = total + (part * make(weights)).sum()
    if not isinstance(total, int):
        total.backward()
    found = [part.detach().numpy() for part in results]
    return found + [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in given.values()]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_gives_what_pytorchs_gives(call: str) -> None:
    torch = pytest.importorskip("torch")
    ours = outcome(call, F, tensor)
    theirs = outcome(call, torch.nn.functional, torch.tensor)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, 1e-7, 1e-8)


def test_the_names_and_parameters_are_pytorchs() -> None:
    """Whatever has a name of PyTorch's has its parameters first, with its defaults."""
    theirs = pytest.importorskip("torch").nn.functional
    for name in F.__all__:
        other = getattr(theirs, name, None)
        if not inspect.isfunction(other) or name in ("sigmoid", "tanh"):  # ops
            continue
        try:
            wanted = inspect.signature(other).parameters
        except ValueError:
            continue
        if next(iter(wanted)) == "args":  # of two functions, one of which is chosen
            continue
        given = inspect.signature(getattr(F, name)).parameters
        rest = [n for n in wanted if n not in ("out", "_stacklevel")]
        assert [n for n in given if n not in ("dtype", "_stacklevel") or n in rest][
            : len(rest)
        ] == rest, name
        for n in rest:
            mine, default = given[n].default, wanted[n].default
            assert mine == default or {mine, default} <= {None, False}, (name, n)


SILENT: list[tuple[str, str]] = [
    ("F.mse_loss(x, y, 'sum')", "mse_loss: size_average must be .* write reduction='sum'"),
    ("F.l1_loss(x, y, None, 'sum')", "l1_loss: reduce must be .* write reduction='sum'"),
    ("F.smooth_l1_loss(x, y, 0.5)", "size_average must be .* write beta=0.5"),
    ("F.huber_loss(x, y, 0.5)", "huber_loss: reduction must be a text, got 0.5: write delta="),
    ("F.smooth_l1_loss(x, y, 'sum')", "write reduction='sum'"),
    ("F.cross_entropy(x, classes, None, 'sum')", "write reduction='sum'"),
    ("F.nll_loss(log_p, classes, None, 'sum')", "write reduction='sum'"),
    ("F.binary_cross_entropy(p, q, None, 'sum')", "write reduction='sum'"),
    ("F.binary_cross_entropy_with_logits(x, q, None, 'sum')", "write reduction='sum'"),
    ("F.kl_div(log_p, q, 'batchmean')", "write reduction='batchmean'"),
    ("F.margin_ranking_loss(x, y, signs, 0.0, 'sum')", "write reduction='sum'"),
    ("F.cosine_embedding_loss(x, y, ones, 0.0, 'sum')", "write reduction='sum'"),
    ("F.triplet_margin_loss(x, x, y, 1.0, 2, 1e-6, False, 'sum')", "write reduction='sum'"),
    ("F.soft_margin_loss(x, signs, 1)", "size_average must be True, False or None, got 1"),
    ("F.softmax(seq)", r"softmax: .*\(2, 4, 6\) has more than two axes: write dim=-1 .*first"),
    ("F.log_softmax(img)", "log_softmax: .*write dim=-1 .*second"),
    ("F.softmin(seq)", "softmin: .*write dim=-1"),
    ("F.avg_pool2d(bytes, 2)", r"avg_pool2d: .*\.float\(\).* got uint8"),
    ("F.conv2d(bytes > 3, bytes > 3)", "conv2d: .* numbers expected, got bool and bool"),
]


@pytest.mark.parametrize(("call", "message"), SILENT)
def test_what_would_be_another_number_in_silence_is_an_error(call: str, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        outcome(call, F, tensor)


REFUSED: list[tuple[str, type[Exception], str]] = [
    ("F.batch_norm(x, None, None)", ValueError, "batch_norm: evaluation needs"),
    ("F.hardtanh(bytes)", ValueError, "hardtanh: uint8 has no negative numbers"),
    ("F.linear(x, v, scale)", ValueError, r"the weight must have shape \(out, in\)"),
    ("F.mse_loss(x, seq)", ValueError, r"mse_loss: input and target of one shape .* \(3, 4\)"),
    ("F.mse_loss(x, y, weight=v)", ValueError, r"a weight of the shape \(3, 4\)"),
    ("F.mse_loss(x, y, reduction='avg')", ValueError, 'reduction must be "mean"'),
    ("F.avg_pool2d(img, 2, divisor_override=0)", ValueError, "divisor_override"),
    ("F.interpolate(img, 2, antialias=True)", ValueError, "antialias is for bilinear and bicubic"),
    ("F.embedding_bag(ids, table, scale_grad_by_freq=True, mode='max')", ValueError, "not for"),
    ("F.rrelu(x, 2, 1)", ValueError, "rrelu: upper"),
    ("F.softshrink(x, -1)", ValueError, "softshrink: lambd"),
    ("F.multi_margin_loss(x, classes, 3)", ValueError, "p must be 1 or 2"),
    ("F.multi_margin_loss(x, classes + 2)", IndexError, "classes from 0 to 3"),
    ("F.multi_margin_loss(x, ones)", TypeError, "integers as classes expected"),
    ("F.multi_margin_loss(x, lone1)", ValueError, "a target of shape"),
    ("F.pixel_unshuffle(img, 4)", ValueError, "divisible by 4"),
    ("F.channel_shuffle(img, 3)", ValueError, "divisible by 3"),
    ("F.local_response_norm(x, 2)", ValueError, r"\(N, C, L, ...\) expected"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), REFUSED)
def test_what_does_not_fit(call: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        outcome(call, F, tensor)


def test_a_broadcast_loss_warns() -> None:
    x, row = tensor(X), tensor(ARRAYS["row"])
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        with pytest.warns(UserWarning, match=r"\(1, 4\) are broadcast, .*same shape") as seen:
            loss(x, row)
        assert seen[0].filename == __file__


@pytest.mark.parametrize("call", [
    "F.softmax(x, axis=0)", "F.log_softmax(x, axis=0)", "F.glu(x, axis=1)",
    "F.normalize(x, axis=0)", "F.cosine_similarity(x, y, axis=0)",
    "F.pairwise_distance(x, y, keepdims=True)",
])  # fmt: skip
def test_numpys_keywords_mean_the_same(call: str) -> None:
    other = call.replace("axis", "dim").replace("keepdims", "keepdim")
    for one, two in zip(outcome(call, F, tensor), outcome(other, F, tensor), strict=True):
        np.testing.assert_array_equal(one, two)


def test_softmax_converts_first() -> None:
    x = tensor(X.astype(np.float32))
    assert F.softmax(x, 1, dtype=minigrad.float64).dtype == np.float64
    assert F.log_softmax(x, 1, 3, minigrad.float64).dtype == np.float64


def test_gumbel_softmax_takes_eps_before_dim() -> None:
    drawn = F.gumbel_softmax(tensor(X), 1, True, 1e-10, 0)
    np.testing.assert_array_equal(drawn.numpy().sum(0), np.ones(4))
    np.testing.assert_allclose(F.gumbel_softmax(tensor(X), dim=0).numpy().sum(0), 1)


def test_random_activations() -> None:
    x = minigrad.full((20_000,), -1.0)
    slopes = -F.rrelu(x, 0.25, 0.5, training=True).numpy()
    assert slopes.min() >= 0.25
    assert slopes.max() <= 0.5
    assert abs(slopes.mean() - 0.375) < 0.01
    z = minigrad.randn(20_000)
    dropped = F.alpha_dropout(z, 0.3, training=True).numpy()
    assert abs(dropped.mean()) < 0.05
    assert abs(dropped.std() - 1) < 0.05
    assert F.alpha_dropout(z, 0.3, training=True, inplace=True) is z
    rows = F.dropout2d(minigrad.ones(50, 40)).numpy()
    assert set(rows.ravel().tolist()) == {0.0, 2.0}


def test_attention_has_no_guard_where_pytorchs_has_none() -> None:
    """The layers have it, with an option that takes the mask."""
    x = tensor(ARRAYS["b3"])
    inverted = np.triu(np.ones((4, 4), bool), 1)
    out = F.scaled_dot_product_attention(x, x, x, inverted)
    assert not out.numpy()[:, -1].any()
    layers: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (nn.ScaledDotProductAttention(inverted), (x, x, x), {}),
        (nn.MultiHeadAttention(3, 1).double(), (x, x, x), {"attn_mask": inverted}),
        (nn.AdditiveAttention(3, 3, 2).double(), (x, x, x), {"attn_mask": inverted}),
        (nn.DotProductAttention(3, 3, 3, 2).double(), (x, x, x), {"attn_mask": inverted}),
    ]
    for layer, inputs, masks in layers:
        with pytest.raises(ValueError, match="False on its whole diagonal.*refuses_inverted_masks"):
            layer(*inputs, **masks)
        layer.refuses_inverted_masks = False
        assert np.isfinite(layer(*inputs, **masks).numpy()).all()
    encoder = nn.TransformerEncoderLayer(4, 1)
    encoder.self_attn.refuses_inverted_masks = False
    assert encoder(minigrad.ones(2, 4, 4), inverted).shape == (2, 4, 4)
