"""micrograd's expression.

The graph shows the value and the gradient of each number. Change a and run it again.
"""

import minigrad
from minigrad import viz

a = minigrad.tensor(-4.0, requires_grad=True, dtype="float64")
b = minigrad.tensor(2.0, requires_grad=True, dtype="float64")
with viz.trace() as traced:
    c = a + b
    d = a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + (b + a).relu()
    d = d + 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g = g + 10.0 / f
    g.backward()
print(f"{g.item():.4f}")  # 24.7041
print(f"{a.grad.item():.4f}")  # 138.8338
print(f"{b.grad.item():.4f}")  # 645.5773

traced.graph(g, a=a, b=b)
