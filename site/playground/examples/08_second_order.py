"""Second order.

A gradient is computed from ops, so it has a gradient too. Newton's method uses both.
"""

import minigrad
from minigrad.autograd import grad


def f(x):
    return x**4 - 3 * x**2 + x


x = minigrad.tensor(2.0, requires_grad=True, dtype="float64")
for _ in range(6):
    (slope,) = grad(f(x), x, create_graph=True)
    (curvature,) = grad(slope, x)
    print(f"x = {x.item():.10f}, slope {slope.item():+.2e}, curvature {curvature.item():.3f}")
    x = (x - slope / curvature).detach().requires_grad_()

grad(f(x), x, create_graph=True)[0]
