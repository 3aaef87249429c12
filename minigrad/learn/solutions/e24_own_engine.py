"""Exercise 24: your own engine runs the digits model.

Everything comes together: your engine of about 150 lines trains a transformer that reads digits,
beside minigrad, with the same numbers. The model is that of examples/digits.py; its code for any
engine is in minigrad/learn/digits.py. It needs a Tensor with + * @ [] reshape swapaxes, and five
functions. You have written almost every rule in the exercises before. Here each rule is kept with
the tensor that it made: it takes the gradient of that tensor and returns one for each parent.

Fill the gaps from the top. Or throw this all away and bring your own engine: only Tensor (with
data, grad, shape and backward) and the five functions must have these names. Count your lines.

- `backward` starts with a gradient of ones. The .grad of each leaf gets its sum; a tensor is newer
  than its parents, so the one with the largest stamp is next. A gradient may come in the shape of
  the result, where NumPy has stretched the parent: unbroadcast it there, once for all rules.
- `layer_norm` and `softmax` go along the last axis; `cross_entropy` is the mean over the rows.
"""

import itertools
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[float])  # given, for gelu: NumPy has none
clock = itertools.count()


class Tensor:
    """An array that remembers how it was computed."""

    def __init__(self, data, parents=(), rule=None, op=""):
        """Given. rule(g) returns a list or tuple: a gradient for each parent."""
        self.data = np.asarray(data, dtype=float)
        self.grad = None  # an array, after backward
        self.parents, self.rule, self.op = parents, rule, op
        self.stamp = next(clock)

    @property
    def shape(self):
        """Given."""
        return self.data.shape

    def backward(self):
        """Add to the grad of each leaf (a tensor without a rule)."""
        # gap: two uses of a tensor are two contributions; take the newest tensor first
        pending = {self: np.ones(self.shape)}
        while pending:
            tensor = max(pending, key=lambda tensor: tensor.stamp)
            g = pending.pop(tensor)
            if tensor.rule is None:
                tensor.grad = g if tensor.grad is None else tensor.grad + g
                continue
            for parent, part in zip(tensor.parents, tensor.rule(g), strict=True):
                part = unbroadcast(part, parent.shape)
                pending[parent] = pending[parent] + part if parent in pending else part
        # end of gap

    def __add__(self, other):
        """Given, as an example."""
        a, b = self, as_tensor(other)
        return Tensor(a.data + b.data, (a, b), lambda g: (g, g), "+")

    def __mul__(self, other):
        a, b = self, as_tensor(other)
        # gap: return a Tensor
        return Tensor(a.data * b.data, (a, b), lambda g: (g * b.data, g * a.data), "*")
        # end of gap

    def __matmul__(self, other):
        """Matrices with any number of batch axes, which may differ: (N, 17, 4) @ (4, W)."""
        # gap: return a Tensor
        a, b = self.data, other.data

        def rule(g):
            return g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g

        return Tensor(a @ b, (self, other), rule, "@")
        # end of gap

    def reshape(self, *shape):
        """The same entries in another shape."""
        # gap: return a Tensor
        return Tensor(
            self.data.reshape(*shape), (self,), lambda g: [g.reshape(self.shape)], "reshape"
        )
        # end of gap

    def swapaxes(self, i, j):
        """Two axes exchanged."""
        # gap: return a Tensor
        return Tensor(self.data.swapaxes(i, j), (self,), lambda g: [g.swapaxes(i, j)], "swapaxes")
        # end of gap

    def __getitem__(self, index):
        """Some entries; an entry may be taken twice."""

        # gap: return a Tensor
        def rule(g):
            whole = np.zeros(self.shape)
            np.add.at(whole, index, g)
            return [whole]

        return Tensor(self.data[index], (self,), rule, "[]")
        # end of gap


def as_tensor(value):
    """Given: a number or an array becomes a Tensor."""
    return value if isinstance(value, Tensor) else Tensor(value)


def unbroadcast(g, shape):
    """Given, from exercise 6: g summed over what NumPy has stretched."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1)
    return g.sum(axis=stretched, keepdims=True)


def concatenate(tensors, axis):
    """Tensors behind one another along an axis."""
    # gap: return a Tensor
    ends = np.cumsum([tensor.shape[axis] for tensor in tensors])[:-1]
    joined = np.concatenate([tensor.data for tensor in tensors], axis)
    return Tensor(joined, tuple(tensors), lambda g: np.split(g, ends, axis), "concatenate")
    # end of gap


def softmax(x):
    """Along the last axis, for scores of any size."""
    # gap: return a Tensor
    e = np.exp(x.data - x.data.max(axis=-1, keepdims=True))
    y = e / e.sum(axis=-1, keepdims=True)
    return Tensor(y, (x,), lambda g: [y * (g - (g * y).sum(axis=-1, keepdims=True))], "softmax")
    # end of gap


def layer_norm(x, weight, bias):
    """(x - mean) / sqrt(variance + 1e-5) * weight + bias, along the last axis."""
    # gap: return a Tensor with three parents
    centred = x.data - x.data.mean(axis=-1, keepdims=True)
    std = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    normal = centred / std

    def rule(g):
        h = g * weight.data
        shift = h.mean(axis=-1, keepdims=True)
        stretch = (h * normal).mean(axis=-1, keepdims=True)
        return (h - shift - normal * stretch) / std, g * normal, g

    return Tensor(normal * weight.data + bias.data, (x, weight, bias), rule, "layer_norm")
    # end of gap


def gelu(x):
    """x times (1 + erf(x / sqrt(2))) / 2. Its slope: that factor, plus x times the bell curve."""
    # gap: return a Tensor; the bell curve is exp(-x²/2) / sqrt(2 pi)
    part = (1 + erf(x.data / math.sqrt(2))) / 2
    bell = np.exp(-(x.data**2) / 2) / math.sqrt(2 * math.pi)
    return Tensor(x.data * part, (x,), lambda g: [g * (part + x.data * bell)], "gelu")
    # end of gap


def cross_entropy(scores, labels):
    """The mean of -log softmax(scores)[label], for scores (N, C) and N labels."""
    # gap: return a Tensor with one number
    rows = np.arange(len(labels))
    shifted = scores.data - scores.data.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))

    def rule(g):
        slope = np.exp(log_p)
        slope[rows, labels] -= 1
        return [g * slope / len(labels)]

    return Tensor(-log_p[rows, labels].mean(), (scores,), rule, "cross_entropy")
    # end of gap


if __name__ == "__main__":  # to try things out: python 24_own_engine.py
    from types import SimpleNamespace

    from minigrad.learn.digits import train

    for step, loss, right in train(SimpleNamespace(**globals())):
        print(f"step {step}: loss {loss:.3f}, {100 * right:.0f} % read right")
