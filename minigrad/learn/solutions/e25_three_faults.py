"""Exercise 25: find the three faults.

`Reader` tells classes of short sequences, and learns badly: there are three faults in its code.
You could stare at it. Or ask the tools, with `compute`, a function without arguments that returns
the loss:

    print(why_no_grad(parameter, compute))     what cuts this parameter off from the loss?
    with minigrad.detect_anomaly():            which op makes the first NaN or infinity, and
        compute()                              in which line?
    gradcheck(lambda *_: compute(), tensors)   are the gradients of these tensors right? If the
                                               rule of an op is wrong, it names the op.
    viz.graph(compute()).save("graph.svg")     what was recorded?

Some sequences are shorter than others; `real` is False where there is only padding. Without
padding there is no NaN, so use gradcheck there. The end of this file has calls to begin with.

1. `findings` returns what you have found, as three names: of the parameter that gets no gradient
   ("score.weight" would be one), of the op that makes the first NaN or infinity, and of the op
   whose rule is wrong.
2. `repaired` returns a class derived from Reader, in which you write the faulty methods anew. Only
   the faults may change: where the loss was a number, it stays that number.
"""

import numpy as np

import minigrad
from minigrad import nn
from minigrad.autograd import gradcheck, primitive, why_no_grad
from minigrad.nn import functional as F


@primitive
def squash(x):
    """x / (1 + |x|), between -1 and 1."""
    return x / (1 + abs(x))


squash.defvjp(x=lambda g, x: g / (1 + abs(x)))


class Reader(nn.Module):
    """The classes of sequences: a weighted mean of their tokens, and a linear map."""

    def __init__(self, words=10, width=4, classes=3):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.hidden = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.head = nn.Linear(width, classes)

    def features(self, tokens):
        """What is known of each token: (N, T) -> (N, T, W)."""
        return squash(self.hidden(self.embed(tokens)))

    def weights(self, x, real):
        """How much each token counts: positive, 0 for padding, and 1 in all: (N, T)."""
        with minigrad.no_grad():  # the mask is a constant
            mask = minigrad.tensor(np.where(real, 0.0, -np.inf))
            scores = self.score(x)[..., 0] + mask
        return minigrad.softmax(scores)

    def entropy(self, weights):
        """How evenly the weights are spread: 0 if one token counts for all: (N, T) -> (N,)."""
        return -(weights * minigrad.log(weights)).sum(dim=1)

    def forward(self, tokens, real):
        """The scores of the classes (N, C), and the entropies (N,)."""
        x = self.features(tokens)
        weights = self.weights(x, real)
        mean = (weights[..., None] * x).sum(dim=1)  # (N, W)
        return self.head(mean), self.entropy(weights)


def loss(model, tokens, real, labels):
    """Given: cross-entropy, less a little of the entropy, so that more than one token counts."""
    scores, entropy = model(tokens, real)
    return F.cross_entropy(scores, labels) - 0.1 * entropy.mean()


def batch(padded):
    """Given: tokens (5, 6), real (5, 6) and labels (5,)."""
    random = np.random.default_rng(25)
    lengths = np.array([6, 4, 1, 3, 5] if padded else [6, 6, 6, 6, 6])
    real = np.arange(6) < lengths[:, None]
    return random.integers(0, 10, (5, 6)), real, np.array([0, 2, 1, 1, 0])


def findings():
    """Three names: a parameter without a gradient, the op of the first NaN, an op's wrong rule."""
    # gap: return three strings
    return "score.weight", "log", "squash"
    # end of gap


def repaired():
    """A class derived from Reader, without the faults."""

    # gap: class Repaired(Reader): with the faulty methods written anew; then return Repaired
    class Repaired(Reader):
        def features(self, tokens):
            x = self.hidden(self.embed(tokens))
            return x / (1 + abs(x))

        def weights(self, x, real):
            scores = self.score(x)[..., 0]
            return minigrad.softmax(minigrad.where(real, scores, -np.inf))

        def entropy(self, weights):
            inside = minigrad.where(weights > 0, weights, 1.0)
            return -(weights * minigrad.log(inside)).sum(dim=1)

    return Repaired
    # end of gap


if __name__ == "__main__":  # to try things out: python 25_three_faults.py
    minigrad.random.seed(0)
    model = Reader().to("float64")
    with np.errstate(all="ignore"):
        print(loss(model, *batch(padded=True)))
    loss(model, *batch(padded=False)).backward()
    for name, parameter in model.named_parameters():
        print(name, "no gradient" if parameter.grad is None else "has a gradient")
    print(why_no_grad(model.head.weight, lambda: loss(model, *batch(padded=False))))
    print(gradcheck(lambda *_: loss(model, *batch(padded=False)), [model.head.weight]))
