"""Softmax.

The gradient of softmax is a matrix: diag(p) minus the outer product of p with itself.
"""

import numpy as np

import minigrad
from minigrad import viz
from minigrad.func import jacrev

x = minigrad.tensor([1.0, 2.0, 4.0], requires_grad=True, dtype="float64")
p = x.softmax(0)
by_hand = np.diag(p.numpy()) - np.outer(p.numpy(), p.numpy())
by_autograd = jacrev(lambda x: x.softmax(0))(x).numpy()
print(np.round(by_autograd, 4))
print("the same as by hand:", np.allclose(by_hand, by_autograd))
print("each row adds up to", np.round(by_autograd.sum(1), 12))

viz.explore(lambda x: -x.softmax(0)[2].log(), x)
