"""`rope=` of attention and of transformer layers: rotated queries and keys, and nothing else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.nn import functional as F

N, L, E, H = 2, 5, 8, 2


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype="float64", requires_grad=True)


def attention(**options: Any) -> nn.MultiHeadAttention:
    layer = nn.MultiHeadAttention(E, H, **{"rope": nn.RotaryPosEmbedding(), **options}).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter, std=0.5)
    return layer


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


def test_an_onnx_file_has_every_length(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    layer = nn.TransformerEncoderLayer(E, H, 12, rope=nn.RotaryPosEmbedding())
    encoder = nn.TransformerEncoder(layer, 2).eval()
    path = tmp_path / "encoder.onnx"
    written = minigrad.onnx.export(
        encoder, {"src": minigrad.randn(2, 5, E), "is_causal": True}, path,
        dynamic_axes={"src": [0, 1]},
    )  # fmt: skip
    assert written.inputs == {"src": ("src_0", "src_1", E)}
    session = runtime.InferenceSession(path)
    for size in ((1, 1), (3, 9)):
        x = minigrad.randn(*size, E)
        (found,) = session.run(None, {"src": x.numpy()})
        np.testing.assert_allclose(found, encoder(x, is_causal=True).numpy(), rtol=1e-4, atol=1e-5)


def test_a_position_too_many_leaves_the_cache_as_it_was() -> None:
    layer, cache = attention(rope=nn.RotaryPosEmbedding(4, 6)), nn.DynamicKVCache()
    x = draw(N, L, E)
    layer(x, x, x, kv_cache=cache, use_cache=True)
    with pytest.raises(ValueError, match="RotaryPosEmbedding: position 9 .*only 6.* max_seq_len"):
        layer(x, x, x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == L
