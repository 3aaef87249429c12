"""Exercise 17: masks.

A mask says which keys a query may attend to: True where it may, False where it may not. What it may
not attend to has weight 0, and the other weights of the row still sum to 1.

1. `causal_mask(length)` is a (length, length) array of bools. Row i, column j: may token i attend
   to token j? Yes for itself and for all earlier tokens, no for later ones.
2. `masked_softmax(scores, mask)` returns the weights: softmax along the last axis over the keys
   that are allowed. scores is (n, m), and mask is (n, m), bools. A query that may attend to no key
   at all, such as padding, gets weights 0 everywhere: no NaN, and nothing shared out.
"""

import numpy as np


def causal_mask(length):
    """Which token may attend to which: itself, and those before it."""
    # gap: return a (length, length) array of bools
    return np.tri(length, dtype=bool)
    # end of gap


def masked_softmax(scores, mask):
    """Attention weights that are 0 where the mask is False."""
    # gap: return an array of the shape of scores
    scores = np.where(mask, scores, -np.inf)
    largest = np.max(scores, axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))  # -inf - -inf is NaN
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)
    # end of gap


if __name__ == "__main__":  # try things out here: python 17_masks.py
    print(causal_mask(3))
    print(masked_softmax(np.zeros((3, 3)), np.tri(3, dtype=bool)))
    print(masked_softmax(np.zeros((1, 3)), np.zeros((1, 3), dtype=bool)))
