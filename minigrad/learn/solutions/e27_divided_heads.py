"""Exercise 27: attention heads on several ranks.

An attention layer is too large for one machine, so its heads are divided among ranks. Each rank
holds the weights of its own heads, and a copy of the input x. As in exercise 26, the ranks are
simulated: a list has one entry for each rank.

The heads are blocks of columns: with 4 heads and 2 ranks, the first half of the columns of W_Q, W_K
and W_V computes heads 0 and 1. Their outputs are multiplied by the first half of the rows of W_O.
So each rank computes a part of the output, and the output is the sum of these parts, plus the bias
b_O.

1. `divide`: a dict for each rank, with its parts of W_Q, W_K, W_V and W_O.
2. `forward`: the output, on each rank, and the cache of each rank. The layer of one machine,
   `multi_head`, is given, and `all_reduce` too.
3. `backward`: g is the gradient of the output. It is the same on all ranks, and counts once: the
   ranks hold copies of one output. Return the gradient of x on each rank, in full; the gradients of
   each rank's own weights; and the gradient of b_O.

Communicate as little as possible: one all_reduce in `forward` and one in `backward` are enough.
"""

import numpy as np

from minigrad.learn.solutions.e18_attention_backward import (
    multi_head,  # x, p, heads -> output, cache: self-attention with these heads, times W_O
    multi_head_backward,  # g, p, cache -> grad_x, and a dict with W_Q, W_K, W_V, W_O
)
from minigrad.learn.solutions.e26_collectives import all_reduce  # a list -> a list of its sum


def divide(p, ranks):
    """The weights of each rank."""
    # gap: return a list of dicts, each with W_Q, W_K, W_V and W_O
    columns = {name: np.split(p[name], ranks, axis=1) for name in ("W_Q", "W_K", "W_V")}
    rows = np.split(p["W_O"], ranks, axis=0)
    return [
        {name: parts[r] for name, parts in columns.items()} | {"W_O": rows[r]} for r in range(ranks)
    ]
    # end of gap


def forward(x, parts, b_O, heads):
    """The output on each rank, and the cache of each rank; x is the same on all of them."""
    ranks = len(parts)
    # gap: return a list of outputs and a list of caches
    results = [multi_head(x, part, heads // ranks) for part in parts]
    total = all_reduce([output for output, _ in results])
    return [output + b_O for output in total], [cache for _, cache in results]
    # end of gap


def backward(g, parts, caches):
    """The gradient of x on each rank, those of the weights of each rank, and that of b_O."""
    # gap: return a list of grad_x, a list of dicts, and grad_b_O
    results = [
        multi_head_backward(g, part, cache) for part, cache in zip(parts, caches, strict=True)
    ]
    grad_x = all_reduce([own for own, _ in results])
    return grad_x, [grads for _, grads in results], g.sum(axis=(0, 1))
    # end of gap


if __name__ == "__main__":  # to try things out: python 27_divided_heads.py
    p = {name: np.eye(4) for name in ("W_Q", "W_K", "W_V", "W_O")}
    x = np.arange(8.0).reshape(1, 2, 4)
    outputs, caches = forward(x, divide(p, ranks=2), np.zeros(4), heads=2)
    print(outputs[0])
