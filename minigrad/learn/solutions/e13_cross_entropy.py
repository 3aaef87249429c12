"""Exercise 13: cross-entropy.

A classifier gives each class a score. Softmax makes probabilities of the scores, and the loss of
an example is minus the logarithm of the probability of its right class:

    p = softmax(scores)        loss = the mean over the examples of -log p[right class]

scores is (N, C): a row for each example, a column for each class. labels is (N,): the right class
of each example, an integer from 0 to C - 1.

1. `loss` returns the loss, one number. Scores may differ by 1000: the loss is then 1000, not inf.
2. `gradient` returns the gradient of the loss with respect to the scores, of shape (N, C).
"""

import numpy as np


def softmax(scores):
    """Given: the probabilities of the classes, a row for each example."""
    e = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def loss(scores, labels):
    """The mean of -log p[right class]."""
    # gap: return one number
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))  # (N, C)
    return -log_p[np.arange(len(labels)), labels].mean()
    # end of gap


def gradient(scores, labels):
    """The gradient of the loss with respect to the scores."""
    # gap: return an array of shape (N, C)
    g = softmax(scores)
    g[np.arange(len(labels)), labels] -= 1.0
    return g / len(labels)
    # end of gap


if __name__ == "__main__":  # try things out here: python 13_cross_entropy.py
    scores, labels = np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0]]), np.array([0, 1])
    print(loss(scores, labels))
    print(gradient(scores, labels))
