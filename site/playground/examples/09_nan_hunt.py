"""A NaN hunt.

Softmax written by hand overflows: infinity divided by infinity. `detect_anomaly` says where.
"""

import minigrad
from minigrad.autograd import detect_anomaly


def softmax(x):
    e = x.exp()
    return e / e.sum()


x = minigrad.tensor([2.0, 3.0, 1000.0], requires_grad=True)
print("by hand    ", softmax(x).tolist())
print("by minigrad", x.softmax(0).tolist())

with detect_anomaly():
    softmax(x).sum().backward()
