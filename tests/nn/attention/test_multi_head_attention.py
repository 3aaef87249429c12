"""Attention: every path gives one answer, masks mean what they say, gradients are right."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.nn import functional as F

float64 = minigrad.float64
N, H, L, S, E = 2, 2, 4, 5, 8


def draw(*shape: int, requires_grad: bool = True) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=requires_grad)


def attention(heads: int = H, **options: Any) -> nn.MultiHeadAttention:
    """A layer in float64 with no bias at zero."""
    layer = nn.MultiHeadAttention(E, heads, **options).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter, std=0.5)
    return layer


def inputs(layer: nn.MultiHeadAttention) -> tuple[Tensor, Tensor, Tensor]:
    return draw(N, L, E), draw(N, S, layer.kdim), draw(N, S, layer.vdim)


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no bias": {"bias": False},
    "bias_kv": {"add_bias_kv": True},
    "zero_attn": {"add_zero_attn": True},
    "kdim, vdim": {"kdim": 3, "vdim": 4},
    "one group": {"num_kv_heads": 1, "add_bias_kv": True, "add_zero_attn": True},
    "pairs": {"rope": nn.RotaryPosEmbedding(), "num_kv_heads": 1},
    "halves": {"rope": nn.RotaryPosEmbedding(4, 5, False, base=50.0)},
    "all": {"add_bias_kv": True, "add_zero_attn": True, "kdim": 3, "vdim": 4, "bias": False},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)

PADDING = np.array([[0, 0, 0, 0, 1], [0, 1, 1, 0, 0]], bool)
KEEP = np.random.default_rng(1).random((N, H, L, S)) < 0.7
MASKS: dict[str, dict[str, Any]] = {
    "none": {}, "keep": {"attn_mask": KEEP}, "bias": {"attn_mask": 0.1 * np.arange(S)[None]},
    "padding": {"key_padding_mask": PADDING}, "causal": {"is_causal": True},
    "all": {"attn_mask": KEEP[:, :1], "key_padding_mask": PADDING, "is_causal": True},
}  # fmt: skip
masks = pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)


class TestOnePathOneAnswer:
    @options
    @masks
    def test_fused_with_weights_and_evaluated(self, options: Any, masks: Any) -> None:
        layer = attention(**options)
        tensors = inputs(layer)
        expected, _ = layer(*tensors, **masks, need_weights=True)
        fused = layer(*tensors, **masks)
        with minigrad.no_grad():
            plain = layer.eval()(*tensors, **masks)
        for output in (fused, plain):
            np.testing.assert_allclose(output.numpy(), expected.numpy(), rtol=1e-11, atol=1e-13)

    def test_groups_are_heads_with_the_same_keys_and_values(self) -> None:
        more = {"add_bias_kv": True, "add_zero_attn": True}
        layer, plain = attention(4, num_kv_heads=2, **more), attention(4, **more)
        state = layer.state_dict()
        for name, value in plain.state_dict().items():
            if name.startswith(("k_proj", "v_proj", "bias_")):
                groups = state[name].numpy().reshape(2, 2, -1)
                state[name] = np.repeat(groups, 2, axis=0).reshape(value.shape)
        plain.load_state_dict(state)
        tensors = inputs(layer)
        results = (each(*tensors, **MASKS["all"], need_weights=True) for each in (layer, plain))
        for one, other in zip(*results, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-11, atol=1e-13)

    def test_under_dropout_too(self) -> None:
        layer = attention(dropout=0.5)
        query, key, value = inputs(layer)
        outputs = []
        for need_weights in (False, True):
            minigrad.random.seed(5)
            output = layer(query, key, value, is_causal=True, need_weights=need_weights)
            outputs.append(output[0] if need_weights else output)
        np.testing.assert_allclose(outputs[0].numpy(), outputs[1].numpy(), rtol=1e-12)

    def test_weights_are_before_dropout_and_sum_to_one(self) -> None:
        layer = attention(dropout=0.9)
        _, weights = layer(*inputs(layer), need_weights=True)
        assert weights.shape == (N, H, L, S)
        np.testing.assert_allclose(weights.sum(axis=-1).numpy(), 1.0, rtol=1e-12)


NOWHERE: dict[str, dict[str, Any]] = {
    "a query by a bool mask": {"attn_mask": np.arange(L)[:, None] + np.zeros(S) != 1},
    "a query by a float mask": {
        "attn_mask": np.where(np.arange(L)[:, None] + np.zeros(S) == 1, -np.inf, 0.0)},
    "a batch by padding": {"key_padding_mask": np.array([[False] * S, [True] * S])},
    "a query by two masks": {
        "attn_mask": (np.arange(L)[:, None] != 1) | (np.arange(S) == 0),
        "key_padding_mask": np.arange(S)[None].repeat(N, 0) == 0},
    "the first query, whose only key is padding": {
        "is_causal": True, "key_padding_mask": np.arange(S)[None].repeat(N, 0) == 0},
}  # fmt: skip


@pytest.mark.parametrize("masks", NOWHERE.values(), ids=NOWHERE)
class TestNowhereToAttend:
    def rows(self, weights: Tensor) -> np.ndarray:
        """Which queries may attend nowhere, by the weights: (N, H, L)."""
        return np.asarray(weights.numpy().sum(axis=-1) == 0)

    @pytest.mark.parametrize("training", [False, True])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_zeros_and_finite_gradients(self, masks: Any, training: bool, dtype: Any) -> None:
        layer = attention(dropout=0.1).train(training).to(dtype)
        tensors = [t.detach().astype(dtype).requires_grad_() for t in inputs(layer)]
        output, weights = layer(*tensors, **masks, need_weights=True)
        rows = self.rows(weights)
        assert rows.any()
        assert not rows.all()
        nowhere = rows[:, 0]
        for result in (output, layer(*tensors, **masks)):
            expected = np.broadcast_to(layer.out_proj.bias.numpy(), result.numpy()[nowhere].shape)
            np.testing.assert_allclose(result.numpy()[nowhere], expected, rtol=1e-6)
            leaves = [*tensors, *layer.parameters()]
            grads = minigrad.autograd.grad((result**2).sum(), leaves, retain_graph=True)
            assert all(np.isfinite(g.numpy()).all() for g in grads)
            assert not grads[0].numpy()[nowhere].any()

    def test_an_added_key_is_always_there(self, masks: Any) -> None:
        layer = attention(add_zero_attn=True)
        _, weights = layer(*inputs(layer), **masks, need_weights=True)
        np.testing.assert_allclose(weights.numpy().sum(axis=-1), 1.0, rtol=1e-12)
        assert (weights.numpy()[..., -1] > 0).all()


class TestInfluence:
    """Every argument matters; what is masked does not."""

    def test_the_callers_mask_may_change_afterwards(self) -> None:
        layer = attention()
        q, k, v = inputs(layer)
        keep, padding = KEEP.copy(), PADDING.copy()
        (expected,) = minigrad.autograd.grad((layer(q, k, v, PADDING, KEEP) ** 2).sum(), q)
        loss = (layer(q, k, v, padding, keep) ** 2).sum()
        keep[...] = True
        padding[...] = False
        np.testing.assert_array_equal(minigrad.autograd.grad(loss, q)[0].data, expected.numpy())


@pytest.mark.parametrize(("n", "length", "size"), [(0, 2, 3), (2, 0, 3), (2, 1, 1), (2, 3, 0)])
@pytest.mark.parametrize("need_weights", [False, True])
def test_lengths_of_nothing_and_of_one(n: int, length: int, size: int, need_weights: bool) -> None:
    layer = attention()
    q, k, v = draw(n, length, E), draw(n, size, E), draw(n, size, E)
    result = layer(q, k, v, is_causal=True, need_weights=need_weights)
    output = result[0] if need_weights else result
    assert output.shape == (n, length, E)
    output.sum().backward()
    assert q.grad.shape == q.shape
    if size == 0:
        np.testing.assert_allclose(
            output.numpy(), np.broadcast_to(layer.out_proj.bias.numpy(), output.shape)
        )


# Rotated queries and keys ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rope", [nn.RotaryPosEmbedding(), nn.RotaryPosEmbedding(4, 5, False, base=50.0)], ids=str
)
def test_it_turns_the_queries_and_keys_of_each_head(rope: nn.RotaryPosEmbedding) -> None:
    layer, x = attention(rope=rope), draw(N, L, E)
    parts = (layer.q_proj, layer.k_proj, layer.v_proj)
    q, k, v = (F.split_heads(project(x), H) for project in parts)
    heads = F.scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True)
    wanted = layer.out_proj(F.merge_heads(heads))
    np.testing.assert_allclose(layer(x, x, x, is_causal=True).data, wanted.numpy(), rtol=1e-9)


def test_a_decoder_turns_its_own_attention_only() -> None:
    layer = nn.TransformerDecoderLayer(E, H, 12, rope=nn.RotaryPosEmbedding()).double().eval()
    assert layer.self_attn.rope is not None
    assert layer.multihead_attn.rope is None
    tgt, memory = draw(N, L, E), draw(N, 3, E)
    cache = nn.EncoderDecoderCache()
    steps = [
        layer(tgt[:, i : i + 1], memory, tgt_is_causal=True, kv_cache=cache, use_cache=True)
        for i in range(L)
    ]
    whole = layer(tgt, memory, tgt_is_causal=True)
    np.testing.assert_allclose(minigrad.concatenate(steps, axis=1).data, whole.numpy(), rtol=1e-9)


def test_state_dicts_are_the_same() -> None:
    rotated = nn.TransformerEncoderLayer(E, H, 12, rope=nn.RotaryPosEmbedding())
    plain = nn.TransformerEncoderLayer(E, H, 12)
    assert [*rotated.state_dict()] == [*plain.state_dict()]
    rotated.load_state_dict(plain.state_dict())


def test_capture_checkpoint_copies_and_a_picture() -> None:
    layer = nn.TransformerEncoderLayer(E, H, 12, 0.0, rope=nn.RotaryPosEmbedding())
    encoder = nn.TransformerEncoder(layer, 2)
    assert encoder.layers[1].self_attn.rope is not layer.self_attn.rope
    step = minigrad.capture(lambda x: encoder(x, is_causal=True))
    for seed in range(5):
        minigrad.random.seed(seed)
        x = minigrad.randn(N, L, E)
        np.testing.assert_allclose(step(x).numpy(), encoder(x, is_causal=True).numpy(), rtol=1e-5)
    found = minigrad.autograd.checkpoint(encoder, x)
    np.testing.assert_array_equal(found.numpy(), encoder(x).numpy())
    text = viz.graph(layer.self_attn, x, x, x).to_text()
    assert text.count("rope: RotaryPosEmbedding") == 2
    assert len(viz.attention(encoder, x)) == 2


def test_in_parts_of_ranks() -> None:
    layer = nn.TransformerEncoderLayer(E, H, 12, rope=nn.RotaryPosEmbedding())
    encoder = nn.TransformerEncoder(layer, 2).double().eval()
    x = draw(N, L, E)
    expected, weights = encoder(x, is_causal=True, need_weights=True)
    found, others = minigrad.distributed.parallelize(encoder)(x, is_causal=True, need_weights=True)
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)
    for one, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-10)


def test_a_position_too_many_leaves_the_cache_as_it_was() -> None:
    layer, cache = attention(rope=nn.RotaryPosEmbedding(4, 6)), nn.DynamicKVCache()
    x = draw(N, L, E)
    layer(x, x, x, kv_cache=cache, use_cache=True)
    with pytest.raises(ValueError, match="RotaryPosEmbedding: position 7 .*only 6.* max_seq_len"):
        layer(x, x, x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == L
