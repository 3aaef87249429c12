"""A convolutional network.

Two convolutions with pooling between them, and a classifier. At the step of `max_pool` the gradient
goes only to the largest number of each window. At the step of `convolution` the gradient of a
filter is a sum over all positions at which the filter was used.
"""

import minigrad
from minigrad import nn, viz

minigrad.random.seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 2, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(2, 3, 3),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(3, 2),
)
image = minigrad.zeros(1, 1, 6, 6)
image[..., 1:5, 2:4] = 1.0  # a vertical bar
label = minigrad.tensor([1])

with viz.trace() as traced:
    loss = nn.functional.cross_entropy(model(image), label)
    loss.backward()

viz.explore(traced.graph(loss, image=image, label=label), path="cnn.html")
