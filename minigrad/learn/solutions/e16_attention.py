"""Exercise 16: attention, forward.

Each token of a sequence asks a question (its query), and every token offers an answer (its value)
under a heading (its key). A query is compared with every key. The better they fit, the more of that
value goes into the output:

    scores = Q Kᵀ / sqrt(d)        weights = softmax(scores)        output = weights V

Row i of the scores belongs to query i, column j to key j. d is the width of a query. The weights of
one query are positive, and sum to 1 over the keys.

Q is (..., n, d), K is (..., m, d) and V is (..., m, e). The dots mean any number of batch
axes, which come first: attention does the same in each of the batch.

`attention` returns the output (..., n, e) and the weights (..., n, m), in this order.
"""

import numpy as np


def softmax(x, axis):
    """Given: positive numbers that sum to 1 along an axis."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def attention(Q, K, V):
    """For each query, a weighted mean of the values; and the weights."""
    # gap: return output, weights
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])  # (..., n, m)
    weights = softmax(scores, axis=-1)
    return weights @ V, weights
    # end of gap


if __name__ == "__main__":  # try things out here: python 16_attention.py
    Q, K, V = np.eye(2, 4), 3 * np.eye(3, 4), np.array([[1.0], [2.0], [3.0]])
    output, weights = attention(Q, K, V)
    print(weights.round(2))
    print(output)
