"""Exercise 23: checkpointing.

A backward pass needs what every layer saved on the way forward: memory for the whole depth.
Checkpointing keeps only the input of every few layers, and runs these layers again when their
turn comes in the backward pass. It pays with one more forward pass.

`plain_gradient` keeps everything. Write `checkpointed_gradient`: the same output and gradient, but

- going forward, it keeps the input of each segment of `every` layers, and nothing that is saved;
- going back, from the last segment to the first, it runs the segment again, this time keeping what
  its layers save, and goes back through it. At any time, only one segment is saved.

The layers have dropout: a layer draws random numbers as it runs. The second run must draw the same
ones. `state = random.bit_generator.state` notes where a generator is, and
`random.bit_generator.state = state` sets it back. When you return, the generator must be where the
first run has left it, so that the next batch gets new numbers.

The last segment may be shorter than the others.
"""

import numpy as np


class Layer:
    """Given: dropout(tanh(x @ weight))."""

    def __init__(self, weight):
        """Given."""
        self.weight = weight

    def forward(self, x, random):
        """Given: the output, and what the backward pass needs."""
        kept = random.random(x.shape) < 0.8
        y = np.tanh(x @ self.weight)
        return y * kept, (y, kept)

    def backward(self, g, saved):
        """Given: the gradient of x from the gradient g of the output."""
        y, kept = saved
        return (g * kept * (1 - y**2)) @ self.weight.T


def plain_gradient(layers, x, g, random):
    """Given: the output, and the gradient of x, where g is the gradient of the output."""
    kept = []
    for layer in layers:
        x, saved = layer.forward(x, random)
        kept.append(saved)
    for layer in reversed(layers):
        g = layer.backward(g, kept.pop())
    return x, g


def checkpointed_gradient(layers, x, g, random, every):
    """The same as `plain_gradient`, with the memory of one segment and of the inputs of all."""
    # gap: return output, grad_x
    starts = []
    for i, layer in enumerate(layers):
        if i % every == 0:
            starts.append((i, x, random.bit_generator.state))
        x = layer.forward(x, random)[0]
    output, end = x, random.bit_generator.state
    for i, x, state in reversed(starts):
        random.bit_generator.state = state
        segment, kept = layers[i : i + every], []
        for layer in segment:
            x, saved = layer.forward(x, random)
            kept.append(saved)
        for layer in reversed(segment):
            g = layer.backward(g, kept.pop())
    random.bit_generator.state = end
    return output, g
    # end of gap


if __name__ == "__main__":  # try things out here: python 23_checkpointing.py
    layers, x = [Layer(np.eye(2)) for _ in range(10)], np.array([[0.5, 1.0]])
    print(plain_gradient(layers, x, np.ones((1, 2)), np.random.default_rng(0)))
    print(checkpointed_gradient(layers, x, np.ones((1, 2)), np.random.default_rng(0), 4))
