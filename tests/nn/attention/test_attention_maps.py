"""The attention weights of a whole model, by hooks that leave no trace."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad
from minigrad import nn
from minigrad.nn.utils import attention_weights


def test_every_layer_and_every_call_and_the_same_output() -> None:
    model = nn.Transformer(8, 2, 2, 1, 16, dropout=0.0).double()
    src, tgt = minigrad.randn(2, 5, 8, dtype="float64"), minigrad.randn(2, 3, 8, dtype="float64")
    before = model(src, tgt)
    with attention_weights(model) as weights:
        np.testing.assert_allclose(model(src, tgt).numpy(), before.numpy(), rtol=1e-12)
        model(src, tgt[:, :2])
    assert {path: [w.shape for w in found] for path, found in weights.items()} == {
        "encoder.layers.0.self_attn": [(2, 2, 5, 5)] * 2,
        "encoder.layers.1.self_attn": [(2, 2, 5, 5)] * 2,
        "decoder.layers.0.self_attn": [(2, 2, 3, 3), (2, 2, 2, 2)],
        "decoder.layers.0.multihead_attn": [(2, 2, 3, 5), (2, 2, 2, 5)],
    }
    for found in weights.values():
        np.testing.assert_allclose(found[0].numpy().sum(axis=-1), 1.0)
    model(src, tgt)
    assert [len(found) for found in weights.values()] == [2, 2, 2, 2]


def test_who_asks_for_weights_still_gets_them() -> None:
    layer = nn.MultiHeadAttention(8, 2)
    x = minigrad.randn(1, 3, 8)
    with attention_weights(layer) as weights:
        output, own = layer(x, x, x, need_weights=True)
        plain = layer(x, x, x)
    np.testing.assert_array_equal(output.numpy(), plain.numpy())
    assert [w.tolist() for w in weights[""]] == [own.tolist()] * 2


def test_an_error_takes_the_hooks_away() -> None:
    layer = nn.MultiHeadAttention(8, 2)
    x = minigrad.randn(1, 3, 8)
    with pytest.raises(KeyError), attention_weights(layer):
        raise KeyError
    assert isinstance(layer(x, x, x), minigrad.Tensor)


def test_a_model_without_attention_is_refused() -> None:
    with (
        pytest.raises(ValueError, match="Linear .*no attention"),
        attention_weights(nn.Linear(2, 2)),
    ):
        pass
