"""The expression of micrograd.

The example of Andrej Karpathy's micrograd. Each box shows its number and, after its step, its
gradient. `a` and `b` are used several times: their shares are added up.
"""

import minigrad
from minigrad import viz

a = minigrad.tensor(-4.0, requires_grad=True)
b = minigrad.tensor(2.0, requires_grad=True)

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

print(f"g = {g.item():.4f}, dg/da = {a.grad.item():.4f}, dg/db = {b.grad.item():.4f}")
viz.explore(traced.graph(g, a=a, b=b), path="micrograd.html")
