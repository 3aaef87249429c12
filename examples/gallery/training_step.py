"""A training step of an MLP.

Forward, backward, a step of SGD, and the loss once more. Each parameter has a second box, its value
`after SGD.step`, and the second loss is smaller. Step through to see why the gradient of a weight
is a sum over the rows of the batch.
"""

import minigrad
from minigrad import nn, optim, viz

minigrad.random.seed(0)
model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = optim.SGD(model.parameters(), lr=0.5)
x = minigrad.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = minigrad.tensor([[0.0], [1.0], [1.0], [0.0]])  # XOR

with viz.trace() as traced:
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
    loss_after = ((model(x) - y) ** 2).mean()

print(f"loss before the step: {loss.item():.4f}, after it: {loss_after.item():.4f}")
viz.explore(traced.graph(loss, loss_after, x=x, y=y), depth=2, path="training_step.html")
