"""vmap: many samples at once.

A function of one sample becomes a function of a batch: the gradient of each sample on its own.
"""

import minigrad
from minigrad import nn, vmap
from minigrad.func import functional_call, grad

model = nn.Linear(3, 2)
weights = {name: value.detach() for name, value in model.named_parameters()}


def loss(weights, x, y):
    logits = functional_call(model, weights, (x[None],))
    return nn.functional.cross_entropy(logits, y[None])


x, y = minigrad.randn(5, 3), minigrad.tensor([0, 1, 0, 1, 1])
each = vmap(grad(loss), in_dims=(None, 0, 0))(weights, x, y)
print("the gradients of 5 samples:", each["weight"].shape)
norms = (each["weight"] ** 2).sum(dim=(1, 2)).sqrt()
print("their norms:", norms.numpy().round(3))

(whole,) = minigrad.autograd.grad(nn.functional.cross_entropy(model(x), y), model.weight)
print("their mean is the gradient of the mean:", minigrad.allclose(each["weight"].mean(0), whole))
