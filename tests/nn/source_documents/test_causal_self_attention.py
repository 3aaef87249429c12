"""CausalSelfAttention: it equals MultiHeadAttention, of any batch."""

import sys
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn

pytest.importorskip("einops")

float64 = minigrad.float64
N, L, D, H = 2, 5, 12, 3

biases = pytest.mark.parametrize("bias", [True, False])


def draw(*shape: int, dtype: Any = float64) -> Tensor:
    return minigrad.randn(*shape, dtype=dtype, requires_grad=True)


def attention(width: int = D, **options: Any) -> nn.CausalSelfAttention:
    """A layer in float64 with no bias at zero."""
    layer = nn.CausalSelfAttention(width, H, **options).double()
    for parameter in layer.parameters():
        nn.init.normal(parameter, std=0.5)
    return layer


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@biases
def test_multi_head_attention_with_the_weights_packed(bias: bool) -> None:
    layer, x = attention(bias=bias), draw(N, L, D)
    other = nn.MultiHeadAttention(D, H, bias=bias).double()
    names = {"qkv_weights.": "in_proj_", "o_weight.": "out_proj."}
    state = layer.state_dict()
    for mine, theirs in names.items():
        state = {name.replace(mine, theirs): value for name, value in state.items()}
    other.load_state_dict(state)

    close(layer(x), other(x, x, x, is_causal=True))


@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 3), (2, 1, 2, 2)])
def test_any_number_of_batch_axes(lead: tuple[int, ...]) -> None:
    layer, x = attention(), draw(*lead, L, D)
    output, weights = layer(x, need_weights=True)
    assert output.shape == x.shape
    assert weights.shape == (*lead, H, L, L)
    assert not np.triu(weights.numpy(), 1).any()
    close(weights.sum(axis=-1), np.ones((*lead, H, L)))
    close(output, layer(x))
    flat = layer(x.reshape(-1, L, D))
    close(output, flat.reshape(x.shape))


def test_a_single_position_gets_its_own_value() -> None:
    layer, x = attention(), draw(N, 1, D)
    value = layer.qkv_weights(x)[..., 2 * D :]
    close(layer(x), layer.o_weight(value))


@pytest.mark.parametrize("shape", [(D,), (N, L, D + 1), ()])
def test_what_comes_is_named(shape: tuple[int, ...]) -> None:
    model = nn.Sequential(nn.Identity(), nn.CausalSelfAttention(D, H))
    came = ", ".join(map(str, shape))
    with pytest.raises(ValueError, match=rf"^CausalSelf.*seq_len|^linear: .*\({came},?\), its"):
        model(minigrad.ones(shape))


MISSING = "pip install einops"


def test_the_layer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = nn.CausalSelfAttention(D, H)
    monkeypatch.setitem(sys.modules, "einops", None)
    for use in (lambda: nn.CausalSelfAttention(D, H), lambda: layer(minigrad.ones((L, D)))):
        with pytest.raises(ImportError) as caught:
            use()
        assert str(caught.value) == f"CausalSelfAttention: einops is missing: {MISSING}"
