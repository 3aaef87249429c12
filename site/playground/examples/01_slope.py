"""A slope.

The derivative of f at x says how much f changes if x changes a little.
"""

import minigrad


def f(x):
    return x**3 - 2 * x


x = minigrad.tensor(1.5, requires_grad=True)
y = f(x)
y.backward()
print("by autograd ", x.grad.item())

for h in (0.1, 0.01, 0.001):
    print(f"with h = {h:<5}", (f(1.5 + h) - f(1.5)) / h)

y
