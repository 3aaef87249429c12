"""Capture.

A training step is recorded once; then it is replayed without most of Python's work.
"""

import time

import minigrad
from minigrad import nn, optim

model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = optim.SGD(model.parameters(), lr=0.1)


def step(x, y):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


captured = minigrad.capture(step)
x, y = minigrad.randn(8, 16), minigrad.randint(0, 4, (8,))
for name, run in (("plain", step), ("captured", captured)):
    for _ in range(130):  # it checks itself at calls 4, 8, 16, ... 128
        run(x, y)
    began = time.perf_counter()
    for _ in range(100):
        loss = run(x, y)
    print(f"{name:9} {10 * (time.perf_counter() - began):.2f} ms a step, loss {loss.item():.4f}")
