"""Exercise 19: a KV cache.

A language model writes one token at a time. Each new token attends to itself and to all before it.
Their keys and values do not change any more, so they are kept in a cache, and a step computes only
what is new: its cost no longer grows with the square of the length.

`Decoder.whole` computes a whole sequence at once, with a causal mask. Write `Decoder.step`: it gets
the next tokens, x of shape (new, width), one or several of them, and returns their outputs, (new,
width). Whatever the pieces are, the outputs must be those of `whole`. A new sequence starts with a
new Decoder.

The cache is `self.keys` and `self.values`, (tokens so far, width) each, empty at first. The n-th
token of the sequence is at position n, also if it comes in a later piece.
"""

import numpy as np


def attention(q, k, v, mask):
    """Given: attention with a mask (queries, keys) of bools, True = may attend."""
    scores = np.where(mask, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def positions(start, stop, width):
    """Given: what is added to the tokens from `start` to `stop`, (stop - start, width)."""
    angles = np.arange(start, stop)[:, None] / 10.0 ** np.arange(width)
    return np.cos(angles)


class Decoder:
    """One layer of self-attention that sees no future."""

    def __init__(self, w_q, w_k, w_v):
        """Given: three projections, (width, width) each, and an empty cache."""
        self.w_q, self.w_k, self.w_v = w_q, w_k, w_v
        self.keys = np.zeros((0, len(w_k)))
        self.values = np.zeros((0, len(w_v)))

    def whole(self, x):
        """Given: the outputs of a whole sequence at once, (length, width), without a cache."""
        x = x + positions(0, len(x), x.shape[1])
        mask = np.tri(len(x), dtype=bool)
        return attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)

    def step(self, x):
        """The outputs of the next tokens, which then are in the cache as well."""
        # gap: return an array of the shape of x
        old = len(self.keys)
        total = old + len(x)
        x = x + positions(old, total, x.shape[1])
        self.keys = np.concatenate([self.keys, x @ self.w_k])
        self.values = np.concatenate([self.values, x @ self.w_v])
        mask = np.arange(total) <= np.arange(old, total)[:, None]  # (new, total)
        return attention(x @ self.w_q, self.keys, self.values, mask)
        # end of gap


if __name__ == "__main__":  # try things out here: python 19_kv_cache.py
    decoder, x = Decoder(np.eye(2), np.eye(2), np.eye(2)), np.array([[1.0, 0.0], [0.0, 2.0]])
    print(decoder.whole(x))
    print(decoder.step(x[:1]), decoder.step(x[1:]))
