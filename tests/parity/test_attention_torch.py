"""MultiHeadAttention and F.scaled_dot_product_attention against PyTorch, in values and gradients.

PyTorch's attn_mask has the opposite meaning where it is bool, and one shape per head: it gets
floats that say the same.
"""

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

from minigrad import nn

N, H, L, S, E = 2, 2, 4, 5, 6

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "no bias": {"bias": False},
    "bias_kv": {"add_bias_kv": True},
    "zero_attn": {"add_zero_attn": True},
    "bias_kv, zero_attn": {"add_bias_kv": True, "add_zero_attn": True},
    "kdim, vdim": {"kdim": 3, "vdim": 4},
    "all": {"add_bias_kv": True, "add_zero_attn": True, "kdim": 3, "vdim": 4, "bias": False},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
PADDING = np.array([[0, 0, 0, 0, 1], [0, 0, 1, 0, 1]], bool)


def check(
    options: Any, mask: Any = None, padding: Any = None, causal: bool = False, weights: bool = True
) -> None:
    theirs = randomise(torch.nn.MultiheadAttention(E, H, batch_first=True, **options))
    ours = nn.MultiHeadAttention(E, H, **options).double()
    inputs = [draw(N, L, E), draw(N, S, ours.kdim), draw(N, S, ours.vdim)]
    inputs += [mask] if mask is not None and mask.dtype == float else []

    def run_ours(q: Any, k: Any, v: Any, bias: Any = mask) -> Any:
        return ours(q, k, v, padding, bias, causal, need_weights=weights)

    def run_theirs(q: Any, k: Any, v: Any, bias: Any = None) -> Any:
        hidden = ~np.tri(L, S, dtype=bool) if causal else np.zeros((L, S), bool)
        if bias is None:
            bias = torch.zeros(N, H, L, S).double()
            hidden = hidden if mask is None else hidden | ~mask
        given = bias.masked_fill(torch.tensor(hidden), -torch.inf).reshape(N * H, L, S)
        keys = torch.tensor(np.zeros((N, S), bool) if padding is None else padding)
        keys = torch.zeros(N, S).double().masked_fill(keys, -torch.inf)
        output, shares = theirs(q, k, v, keys, attn_mask=given, average_attn_weights=False)
        return (output, shares) if weights else output

    compare(ours, theirs, inputs, run_ours, run_theirs)


@options
@pytest.mark.parametrize("need_weights", [False, True])
def test_options_and_masks_of_keys(options: Any, need_weights: bool) -> None:
    check(options, None, None, False, need_weights)
    check(options, None, PADDING, not need_weights, need_weights)


@options
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("rest", [(None, False), (PADDING, True)], ids=["alone", "with the others"])
def test_options_and_masks_of_pairs(options: Any, kind: str, rest: Any) -> None:
    """Everybody may attend to key 0."""
    mask = draw(N, H, L, S)
    check(options, (mask > -0.3) | (np.arange(S) == 0) if kind == "bool" else mask, *rest)
