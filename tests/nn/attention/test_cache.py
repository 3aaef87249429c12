"""Caches: decoding step by step gives what the full forward pass gives, to float precision."""

import itertools
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.autograd import gradcheck

N, H, L, S, E = 2, 2, 6, 5, 8
PADDING = np.array([[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 1, 0]], bool)
MEM_PADDING = np.array([[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]], bool)
CHUNKS = [[1] * 6, [6], [4, 2], [1, 3, 2], [5, 1]]
chunks = pytest.mark.parametrize("sizes", CHUNKS, ids=str)
caches = pytest.mark.parametrize("kind", ["dynamic", "static", "just enough"])
orders = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def draw(*shape: int, **options: Any) -> Tensor:
    return minigrad.randn(*shape, dtype=minigrad.float64, **options)


def cache_of(kind: str, layers: int = 1) -> Any:
    if kind == "dynamic":
        return nn.DynamicKVCache()
    return nn.StaticKVCache(10 if kind == "static" else L, layers)


def pieces(sizes: list[int]) -> list[tuple[int, int]]:
    ends = [*itertools.accumulate(sizes)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def assert_equal(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10, atol=1e-12)


def joined(parts: list[Tensor]) -> Tensor:
    return minigrad.concatenate(parts, axis=1)


OPTIONS = [
    {}, {"num_kv_heads": 1}, {"add_bias_kv": True}, {"add_zero_attn": True},
    {"num_kv_heads": 1, "add_bias_kv": True, "add_zero_attn": True},
    {"num_kv_heads": 1, "rope": nn.RotaryPosEmbedding()},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@caches
@chunks
@minigrad.no_grad()
def test_attention(options: Any, kind: str, sizes: list[int]) -> None:
    layer = nn.MultiHeadAttention(E, H, **options).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter)
    x, bias = draw(N, L, E), draw(N, H, L, L)
    expected, weights = layer(x, x, x, PADDING, bias, True, need_weights=True)
    fused, plain = cache_of(kind), cache_of(kind)
    for start, end in pieces(sizes):
        new = x[:, start:end]
        masks = (PADDING[:, :end], bias[:, :, start:end, :end], True)
        assert_equal(layer(new, new, new, *masks, fused, True), expected[:, start:end])
        output, seen = layer(new, new, new, *masks, plain, True, need_weights=True)
        assert_equal(output, expected[:, start:end])
        extra = seen.shape[-1] - end
        assert_equal(seen[..., :end], weights[:, :, start:end, :end])
        assert_equal(seen[..., end:], weights[:, :, start:end, weights.shape[-1] - extra :])
    assert fused.get_seq_length() == L


@orders
@chunks
@pytest.mark.parametrize("kind", ["self only", "both", "static"])
@minigrad.no_grad()
def test_decoder(norm_first: bool, kind: str, sizes: list[int]) -> None:
    layer = nn.TransformerDecoderLayer(E, H, 8, norm_first=norm_first)
    decoder = nn.TransformerDecoder(layer, 2).double().eval()
    tgt, memory, mem_mask = draw(N, L, E), draw(N, S, E), draw(L, S)
    expected = decoder(tgt, memory, None, mem_mask, PADDING, MEM_PADDING, True, True)
    cache = {
        "self only": nn.DynamicKVCache(),
        "both": nn.EncoderDecoderCache(),
        "static": nn.EncoderDecoderCache(nn.StaticKVCache(L, 2), nn.StaticKVCache(S, 2)),
    }[kind]
    for start, end in pieces(sizes):
        found = decoder(
            tgt[:, start:end], memory, None, mem_mask[start:end], PADDING[:, :end], MEM_PADDING,
            True, True, cache, True,
        )  # fmt: skip
        assert_equal(found, expected[:, start:end])
    assert cache.get_seq_length() == L


@minigrad.no_grad()
def test_the_encoder_of_a_transformer() -> None:
    model = nn.Transformer(E, H, 2, 2, 8).double().eval()
    src, tgt = draw(N, S, E), draw(N, L, E)
    causal = model.encoder(src, is_causal=True)
    kept = nn.DynamicKVCache()
    model(
        src[:, :3], tgt, encoder_kv_cache=kept, use_encoder_cache=True, src_is_causal=True,
        encoder_cache_start_layer_idx=1,
    )  # fmt: skip
    assert kept.cached_layers() == [1, 2]
    rest = model.encoder(src[:, 3:], None, None, True, kept, True, np.arange(3, S), 1)
    assert_equal(rest, causal[:, 3:])


@minigrad.no_grad()
def test_the_memory_is_projected_once() -> None:
    layer = nn.TransformerDecoderLayer(E, H, 8).double().eval()
    tgt, memory, cache = draw(N, 2, E), draw(N, S, E), nn.EncoderDecoderCache()
    expected = layer(tgt, memory, tgt_is_causal=True, kv_cache=nn.EncoderDecoderCache())
    layer(tgt[:, :1], memory, tgt_is_causal=True, kv_cache=cache, use_cache=True)
    seen = []
    layer.multihead_attn.k_proj.register_forward_hook(lambda m, args, out: seen.append(out.shape))
    found = layer(tgt[:, 1:], memory, tgt_is_causal=True, kv_cache=cache, use_cache=True)
    assert_equal(found, expected[:, 1:])
    assert seen == [(N, 0, E)]
    assert cache.get_seq_length(is_cross_attention=True) == S


def test_gradients_flow_through_a_growing_cache() -> None:
    layer = nn.TransformerEncoderLayer(E, H, 8, 0.0).double()

    def steps(x: Tensor, *_: Tensor) -> Tensor:
        cache = nn.DynamicKVCache()
        return joined([
            layer(x[:, a:b], None, None, True, cache, True) for a, b in pieces([1, 2, 1])
        ])  # fmt: skip

    leaves = [draw(N, 4, E, requires_grad=True), *layer.parameters()]
    gradcheck(steps, leaves, directions=3)
    steps(*leaves).square().sum().backward()
    stepwise = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    layer(leaves[0], is_causal=True).square().sum().backward()
    for leaf, found in zip(leaves, stepwise, strict=True):
        np.testing.assert_allclose(found.numpy(), leaf.grad.numpy(), rtol=1e-9, atol=1e-10)


@caches
@minigrad.no_grad()
def test_without_use_cache_nothing_is_kept(kind: str) -> None:
    layer = nn.MultiHeadAttention(E, H).double()
    x, cache = draw(N, L, E), cache_of(kind)
    layer(x[:, :4], x[:, :4], x[:, :4], kv_cache=cache, use_cache=True)
    kept = [part.numpy().copy() for part in cache.get(0)]
    expected = layer(x, x, x, None, None, True)[:, 4:]
    for _ in range(2):
        new = x[:, 4:]
        assert_equal(layer(new, new, new, None, None, True, cache), expected)
    for part, before in zip(cache.get(0), kept, strict=True):
        np.testing.assert_array_equal(part.numpy(), before)


@caches
@minigrad.no_grad()
def test_positions_say_where_to_go_on(kind: str) -> None:
    layer = nn.MultiHeadAttention(E, H).double()
    x, cache = draw(N, L, E), cache_of(kind)
    wrong = draw(N, L, E)
    layer(wrong, wrong, wrong, kv_cache=cache, use_cache=True)
    layer(x[:, :2], x[:, :2], x[:, :2], None, None, True, cache, True, [0, 1])
    assert cache.get_seq_length() == 2
    layer(wrong[:, :3], wrong[:, :3], wrong[:, :3], kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == 5
    rest, expected = x[:, 2:], layer(x, x, x, None, None, True)[:, 2:]
    for use_cache in (False, True):  # both from the middle of what is cached
        arguments = (None, None, True, cache, use_cache, tensor(np.arange(2, L)))
        assert_equal(layer(rest, rest, rest, *arguments), expected)
        assert cache.get_seq_length() == (L if use_cache else 5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "length"), [(0, 3), (2, 1)])
@caches
@minigrad.no_grad()
def test_edges(dtype: Any, n: int, length: int, kind: str) -> None:
    layer = nn.TransformerEncoderLayer(E, H, 8).to(dtype).eval()
    x, cache = minigrad.randn(n, length, E, dtype=dtype), cache_of(kind)
    expected = layer(x, is_causal=True)
    found = joined([
        layer(x[:, i : i + 1], is_causal=True, kv_cache=cache, use_cache=True)
        for i in range(length)
    ])  # fmt: skip
    assert found.dtype == cache.get(0)[0].dtype == dtype
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["dynamic", "static"])
class TestTheCacheItself:
    def filled(self, kind: str) -> Any:
        cache = cache_of(kind, 2)
        for layer in range(2):
            cache.update(draw(N, H, 4, 3), draw(N, H, 4, 5), layer)
        return cache

    def test_update_and_get(self, kind: str) -> None:
        cache = cache_of(kind, 2)
        assert cache.get(1) is None
        key, value = draw(N, H, 2, 3), draw(N, H, 2, 5)
        cache.update(key, value, 1)
        more, last = draw(N, H, 1, 3), draw(N, H, 1, 5)
        both = cache.update(more, last, 1)
        for found in (both, cache.get(1)):
            np.testing.assert_array_equal(found[0].numpy(), np.concatenate([key, more], axis=2))
            np.testing.assert_array_equal(found[1].numpy(), np.concatenate([value, last], axis=2))
        assert [cache.get_seq_length(i) for i in range(2)] == [0, 3]
        assert cache.get_max_cache_shape() == (None if kind == "dynamic" else 10)
        assert "length=3" in repr(cache)

    def test_crop_and_reset(self, kind: str) -> None:
        cache = self.filled(kind)
        before = cache.get(1)[1].numpy()[:, :, :3].copy()
        cache.crop(3)
        np.testing.assert_array_equal(cache.get(1)[1].numpy(), before)
        assert cache.get_seq_length(0) == 3
        cache.crop(9)
        assert cache.get_seq_length(0) == 3
        cache.reset()
        assert cache.get_seq_length(0) == 0
        assert cache.get(0) is None

    def test_batches(self, kind: str) -> None:
        cache = self.filled(kind)
        before = cache.get(1)[0].numpy().copy()
        cache.batch_repeat_interleave(3)
        np.testing.assert_array_equal(cache.get(1)[0].numpy(), np.repeat(before, 3, axis=0))
        cache.batch_select_indices([5, 0])
        np.testing.assert_array_equal(cache.get(1)[0].numpy(), before[::-1])
        cache.batch_select_indices(np.array([1, 0]))
        np.testing.assert_array_equal(cache.get(1)[0].numpy(), before)

    def test_refusals(self, kind: str) -> None:
        cache = self.filled(kind)
        key, value = draw(N, H, 1, 3), draw(N, H, 1, 5)
        with pytest.raises(ValueError, match=r"\(N, H, L, d\) .* got \("):
            cache.update(key, draw(N, H, 2, 5), 0)
        with pytest.raises(ValueError, match=r"reset\(\)"):
            cache.update(draw(3, H, 1, 3), draw(3, H, 1, 5), 0)
        for position in ([5], [-1], [0, 1], 0, [0.0], [[0]]):
            with pytest.raises(ValueError, match="cache_position .*1 consecutive"):
                cache.update(key, value, 0, position)
        two = draw(N, H, 2, 3), draw(N, H, 2, 5)
        with pytest.raises(ValueError, match="consecutive"):
            cache.update(*two, 0, [1, 3])
        with pytest.raises((TypeError, ValueError), match="layer_idx"):
            cache.update(key, value, -1)
        for bad in (-1, 1.0):
            with pytest.raises((TypeError, ValueError), match="max_length"):
                cache.crop(bad)
        with pytest.raises(ValueError, match="repeats"):
            cache.batch_repeat_interleave(0)
        with pytest.raises(TypeError, match="indices must be integers"):
            cache.batch_select_indices([0.5])
        for shaped in (1, [[0, 1]]):
            with pytest.raises(ValueError, match=r"batch_select_indices: ints of shape \(n,\)"):
                cache.batch_select_indices(shaped)
        assert cache.get_seq_length(0) == 4


def test_encoder_decoder_cache() -> None:
    cache = nn.EncoderDecoderCache(cross_attention_cache=nn.StaticKVCache(9, 1))
    own, across = cache.self_attention_cache, cache.cross_attention_cache
    own.update(draw(N, H, 2, 3), draw(N, H, 2, 3), 0)
    across.update(draw(N, H, 5, 3), draw(N, H, 5, 3), 0)
    cache.crop(1)
    assert (cache.get_seq_length(), cache.get_seq_length(0, True)) == (1, 5)
    cache.batch_repeat_interleave(2)
    cache.batch_select_indices([3])
    assert across.get(0)[0].shape == (1, H, 5, 3)
    assert own.get(0)[0].shape == (1, H, 1, 3)
    assert cache.get_max_cache_shape() is None
    assert "StaticKVCache" in repr(cache)
    cache.reset()
    assert (cache.get_seq_length(), cache.get_seq_length(0, True)) == (0, 0)


class TestRefusals:
    def test_a_static_cache_says_what_it_cannot_do(self) -> None:
        cache = nn.StaticKVCache(4, 1)
        layer, x = nn.MultiHeadAttention(E, H), minigrad.randn(N, 5, E)
        with pytest.raises(RuntimeError, match=r"no_grad\(\).*DynamicKVCache"):
            layer(x[:, :1], x[:, :1], x[:, :1], kv_cache=cache, use_cache=True)
        with minigrad.no_grad():
            with pytest.raises(ValueError, match="5 .*max_cache_len=4"):
                layer(x, x, x, kv_cache=cache, use_cache=True)
            with pytest.raises(ValueError, match="layer_idx 1"):
                layer(x, x, x, kv_cache=cache, use_cache=True, cache_layer_idx=1)
        assert cache.get(0) is None

    @pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (2.5, 1)])
    def test_sizes(self, sizes: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="StaticKVCache: "):
            nn.StaticKVCache(*sizes)

    @pytest.mark.parametrize(
        "arguments", [{"use_cache": True}, {"cache_position": [0]}, {"cache_layer_idx": 1}], ids=str
    )
    def test_arguments_without_a_cache(self, arguments: Any) -> None:
        x = minigrad.randn(N, 1, E)
        for run in (
            lambda **kw: nn.MultiHeadAttention(E, H)(x, x, x, **kw),
            lambda **kw: nn.TransformerEncoderLayer(E, H, 8)(x, **kw),
            lambda **kw: nn.TransformerDecoderLayer(E, H, 8)(x, x, **kw),
        ):
            with pytest.raises(ValueError, match="kv_cache="):
                run(**arguments)

    def test_masks_that_leave_out_the_cached_keys(self) -> None:
        layer, cache = nn.MultiHeadAttention(E, H), nn.DynamicKVCache()
        x = minigrad.randn(N, 2, E)
        layer(x, x, x, kv_cache=cache, use_cache=True)
        padding = np.zeros((N, 2), bool)
        with pytest.raises(ValueError, match=r"key_padding_mask: .*\(2, 4\)"):
            layer(x, x, x, padding, kv_cache=cache, use_cache=True)
        assert cache.get_seq_length() == 2  # a call that was refused leaves nothing behind
        with pytest.raises(ValueError, match=r"attn_mask: .*\(2, 2\)"):
            layer(x, x, x, None, np.ones((2, 2), bool), kv_cache=cache)


def test_what_a_static_cache_held_is_not_silently_changed_under_a_graph() -> None:
    layer, cache = nn.MultiHeadAttention(E, H).double(), nn.StaticKVCache(4, 1)
    for name in ("k_proj", "v_proj"):
        layer.get_submodule(name).requires_grad_(False)
    x = draw(N, 2, E)
    output = layer(x, x, x, kv_cache=cache, use_cache=True)
    layer(2 * x, 2 * x, 2 * x, kv_cache=cache, use_cache=True, cache_position=[0, 1])
    with pytest.raises(RuntimeError, match="in place|overwritten|written"):
        output.sum().backward()
