"""Where a NaN comes from.

A softmax that is written by hand, without subtracting the maximum. The exponential overflows, and
infinity divided by infinity is NaN. The page marks both ops, and the button at its top leads to the
first.
"""

import numpy as np

import minigrad
from minigrad import viz

scores = minigrad.tensor([[1.0, 2.0, 3.0], [10.0, 100.0, 20.0]], requires_grad=True)
target = minigrad.tensor([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])

with np.errstate(all="ignore"), viz.trace() as traced:  # without NumPy's warnings
    e = scores.exp()
    probabilities = e / e.sum(-1, keepdim=True)
    loss = -(target * probabilities.log()).sum(-1).mean()
    loss.backward()

viz.explore(traced.graph(loss, scores=scores, target=target), path="nan.html")
