"""An MLP on two moons.

The picture moves while the network learns: where it is blue, it says 1.
"""

import numpy as np

import minigrad
from minigrad import nn, optim

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 200)
side = np.arange(200) % 2
points = np.stack([np.cos(angle), np.sin(angle)], 1)
points[side == 1] = [1, 0.5] - points[side == 1]
points += rng.normal(0, 0.12, points.shape)
x = minigrad.tensor(points, dtype="float32")
y = minigrad.tensor(side, dtype="int64")

model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = optim.AdamW(model.parameters(), lr=0.02)


class Boundary:
    """A picture of what the model says at each place."""

    def _repr_svg_(self):
        n, parts = 40, []
        across, up = np.linspace(-1.6, 2.6, n), np.linspace(1.5, -1.0, n)
        grid = np.stack(np.meshgrid(across, up), -1).reshape(-1, 2).astype("float32")
        with minigrad.no_grad():
            one = model(minigrad.tensor(grid)).softmax(1).numpy()[:, 1].reshape(n, n)
        for row in range(n):
            for column in range(n):
                share = one[row, column]
                color = f"rgb({230 - 150 * share:.0f},{150:.0f},{80 + 150 * share:.0f})"
                place = f'x="{10 * column}" y="{10 * row}" width="11" height="11"'
                parts.append(f'<rect {place} fill="{color}"/>')
        for (a, b), label in zip(points, side):
            left, top = 400 * (a + 1.6) / 4.2, 400 * (1.5 - b) / 2.5
            fill = "#14324f" if label else "#ffe08a"
            parts.append(
                f'<circle cx="{left:.1f}" cy="{top:.1f}" r="4" fill="{fill}" stroke="#222"/>'
            )
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="400" '
            f'viewBox="0 0 400 400">{"".join(parts)}</svg>'
        )


for step in range(301):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        display(Boundary(), name="boundary")
    if step % 50 == 0:
        right = (model(x).argmax(1) == y).mean().item()
        print(f"step {step:3}: loss {loss.item():.3f}, right {right:.0%}")
