"""Exercise 29: two moons on your own engine.

This comes after exercise 5: the scalar engine trains a network. Points lie on two half circles,
the moons. The label of a point says on which one: 1 or -1. The network has 2 inputs, 8 hidden
neurons and 1 output, and the sign of its score is its answer.

1. `neuron`: tanh of the sum of weight * input over the inputs, plus the bias, as a Value.
2. `loss`: the mean over all points of (score - label)², as a Value.
3. `step`: one step of gradient descent. `value` is the loss. Set the gradients of the parameters to
   0, walk back from the loss, and move the .data of each parameter by rate * gradient, downhill.

`Value` is the engine of exercise 5. Put your own class in its place: it is imported here so that
this file runs by itself. The check trains the network for 60 steps, and draws where its score is
above 0 and where it is below: the decision boundary is between them.
"""

from minigrad.learn.solutions.e05_scalar_engine import Value


def neuron(inputs, weights, bias):
    """The output of one neuron; weights and bias are Values, inputs are Values or numbers."""
    # gap: return a Value
    total = bias
    for weight, x in zip(weights, inputs):
        total = total + weight * x
    return total.tanh()
    # end of gap


def score(point, hidden, output):
    """What the network says of a point; a neuron is a pair of its weights and its bias."""
    return neuron([neuron(point, *one) for one in hidden], *output)


def loss(scores, labels):
    """The mean squared difference of the scores, which are Values, and the labels."""
    # gap: return a Value
    total = Value(0.0)
    for score, label in zip(scores, labels):
        total = total + (score - label) ** 2
    return total * (1 / len(labels))
    # end of gap


def step(parameters, value, rate):
    """Move each parameter, so that the loss becomes smaller; the loss before."""
    # gap: gradients to 0, backward, and a small step for each parameter
    for parameter in parameters:
        parameter.grad = 0.0
    value.backward()
    for parameter in parameters:
        parameter.data -= rate * parameter.grad
    # end of gap
    return value.data


if __name__ == "__main__":  # to try things out: python 29_two_moons.py
    w, b = Value(0.5), Value(0.0)
    for _ in range(5):
        print(step([w, b], loss([neuron([1.0], [w], b)], [1.0]), rate=0.5))
