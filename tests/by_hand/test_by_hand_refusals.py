"""What attention by hand refuses: each error names the function, what came and what was wanted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from printed import gist

from minigrad.nn import by_hand as hand

D, H = 6, 2


def draw(*shape: int) -> np.ndarray:
    return np.random.default_rng([0, *shape]).normal(size=shape)


def bools(*shape: int) -> np.ndarray:
    return np.ones(shape, bool)


X, Y = draw(2, 3, D), draw(1, 3, D)
W, V, A = draw(D, D), draw(4), draw(1, 2, 3)
heads, block = hand.MultiHeadAttention, hand.TransformerEncoderBlock
attend, forward = hand.scaled_dot_product_attention, hand.multi_head_attention_forward
additive, ff = hand.additive_attention, hand.feed_forward
positions, padding = hand.add_positional_encoding, hand.create_padding_mask

VALUE: dict[str, Callable[[], Any]] = {
    "compute_attention_scores: K must have shape (2, 3), got (2, 4)":
        lambda: hand.compute_attention_scores(draw(2, 3), draw(2, 4)),
    "apply_attention_mask: ... (2, 2)": lambda: hand.apply_attention_mask(draw(2, 3), bools(2, 2)),
    "apply_attention_mask: ... (4, 2, 3)":
        lambda: hand.apply_attention_mask(draw(2, 3), bools(4, 2, 3)),
    "scaled_dot_product_attention: V must have shape (4, 3), got (5, 3)":
        lambda: attend(draw(2, 3), draw(4, 3), draw(5, 3)),
    "scaled_dot_product_attention: K ... (1, 2, 3), got (2, 2, 3)":
        lambda: attend(A, draw(2, 2, 3), draw(2, 2, 3)),
    "V ... got (1, 2, 3)": lambda: attend(draw(2, 2, 3), draw(2, 2, 3), A),
    "additive_attention: Q ": lambda: additive(*(draw(2, 3),) * 3, draw(3, 4), draw(3, 4), V),
    "additive_attention: W_k must have shape (3, 4), got (4, 3)":
        lambda: additive(A, A, A, draw(3, 4), draw(4, 3), V),
    "W_q ... (3, 4), got (2, 4)": lambda: additive(A, A, A, draw(2, 4), draw(3, 4), V),
    "additive_attention: v must have shape (4,), got (4, 1)":
        lambda: additive(A, A, A, draw(3, 4), draw(3, 4), draw(4, 1)),
    "split_heads: d_model (5) must be divisible by num_heads (2)":
        lambda: hand.split_heads(draw(2, 3, 5), 2),
    "expected 3, got 2": lambda: hand.split_heads(draw(3, 4), 2),
    "expected 4, got 2": lambda: hand.merge_heads(draw(3, 4)),
    "MultiHeadAttention: d_model (10) must be divisible by num_heads (3)": lambda: heads(10, 3),
    "num_heads (0)": lambda: heads(10, 0),
    "d_model (0)": lambda: heads(0, 1),
    "must be divisible": lambda: block(10, 3),
    "d_ff must be positive": lambda: block(4, 2, 0),
    "Q ... (2, 3, 6) ... (2, 3, 5)": lambda: heads(D, H).forward(*(draw(2, 3, 5),) * 3),
    "Q ... (3, 6, 6) ... (3, 6)": lambda: heads(D, H).forward(draw(3, D), X, X),
    "W_V ... (6, 6) ... (6, 5)": lambda: forward(X, X, X, W, W, draw(D, 5), W, H),
    "K ... (2, 3, 6), got (1, 3, 6)": lambda: heads(D, H).forward(X, Y, Y),
    "V ... (2, 3, 6), got (1, 3, 6)": lambda: heads(D, H).forward(X, X, Y),
    "grad_output ... (2, 3, 6) ... (2, 3, 5)": lambda: hand.multi_head_attention_backward(
        draw(2, 3, 5), {"merged": X, "num_heads": H}),
    "V must have shape (2, 2, 4, 3), got (2, 2, 5, 3)":
        lambda: heads(D, H).forward(X, draw(2, 4, D), draw(2, 5, D)),
    "mask ... (2, 3) ... mask[:, None, None": lambda: block(D, H).forward(X, bools(2, 3)),
    "mask of shape (5, 3) does not broadcast to scores of shape (2, 2, 3, 3)":
        lambda: block(D, H).forward(X, bools(5, 3)),
    "sinusoidal_encoding: d_model ... even ... 5": lambda: hand.sinusoidal_encoding(4, 5),
    "add_positional_encoding: pe ... got (4, 4)": lambda: positions(draw(1, 5, 4), draw(4, 4)),
    "pe ... (5, 4), got (5, 1)": lambda: positions(draw(1, 5, 4), draw(9, 1)),
    "pe must have shape (5, 4), got (1, 9, 4)": lambda: positions(draw(1, 5, 4), draw(1, 9, 4)),
    "create_padding_mask: ... 4 ... 5": lambda: padding(np.array([3, 5]), 4),
    "-1": lambda: padding(np.array([-1]), 4),
    "lengths must have shape (1,)": lambda: padding(np.array([[1]]), 4),
    "layer_norm: gamma": lambda: hand.layer_norm(draw(2, 3), draw(2), draw(3)),
    "layer_norm: beta": lambda: hand.layer_norm(draw(2, 3), draw(3), draw(2)),
    "feed_forward: b1 ... (4,)": lambda: ff(A, draw(3, 4), draw(3), draw(4, 3), draw(3)),
    "feed_forward: W1 ... (2, 4)": lambda: ff(A, draw(2, 4), V, draw(4, 3), draw(3)),
    "feed_forward: W1 ... (3, 1, 4)": lambda: ff(A, draw(3, 1, 4), V, draw(4, 3), draw(3)),
    "feed_forward: W2 ... (3, 4)": lambda: ff(A, draw(3, 4), V, draw(3, 4), draw(3)),
    "feed_forward: b2 ... (3,)": lambda: ff(A, draw(3, 4), V, draw(4, 3), V),
}  # fmt: skip
TYPE: dict[str, Callable[[], Any]] = {
    "apply_attention_mask: ... bool ... float64":
        lambda: hand.apply_attention_mask(draw(2, 3), np.ones((2, 3))),
    "a bool mask": lambda: block(D, H).forward(X, np.ones((3, 3))),
    "integer": lambda: padding(np.array([1.0]), 4),
}  # fmt: skip
RUNTIME: dict[str, Callable[[], Any]] = {
    "MultiHeadAttention.backward: call forward first": lambda: heads(D, H).backward(X),
    "TransformerEncoderBlock.backward: ... forward": lambda: block(D, H).backward(X),
}
CASES = [
    (call, error, message)
    for error, table in ((ValueError, VALUE), (TypeError, TYPE), (RuntimeError, RUNTIME))
    for message, call in table.items()
]


@pytest.mark.parametrize(("call", "error", "message"), CASES, ids=[case[2] for case in CASES])
def test_it_says_what_came(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=gist(message)):
        call()
