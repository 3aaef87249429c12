"""Solve the equation of a damped oscillator, x'' + d x' + k x = 0, with a network.

The network is a function x(t). The loss is what the equation leaves over, so a step differentiates
twice by the time, and then by the weights. It is captured: `minigrad.capture` records it in two
calls, and replays it from then on. The exact solution says how good the network is.

    python examples/oscillator.py --help
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable

# For matrices this small, one BLAS thread is fastest. NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _command_line import Parser, progress, run, whole

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.autograd import grad

DAMPING, STIFFNESS = 0.4, 4.0
DURATION, POINTS = 4.0, 64


def exact(t: np.ndarray) -> np.ndarray:
    """The motion from x = 1 at rest."""
    decay = DAMPING / 2
    frequency = math.sqrt(STIFFNESS - decay**2)
    wave = np.cos(frequency * t) + decay / frequency * np.sin(frequency * t)
    moved: np.ndarray = np.exp(-decay * t) * wave
    return moved


class Motion(nn.Module):
    """A network for x(t): two hidden layers."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, t: Tensor) -> Tensor:
        """(N, 1) -> (N, 1): 1 at rest at the start, whatever the weights."""
        moved: Tensor = 1 + t**2 * self.layers(2 * t / DURATION - 1)
        return moved


def step_of(model: Motion, optimizer: optim.Optimizer) -> Callable[[Tensor], Tensor]:
    """A training step: from times of shape (N, 1) to the loss."""

    def step(times: Tensor) -> Tensor:
        t = times.detach().requires_grad_()
        x = model(t)
        (speed,) = grad(x.sum(), t, create_graph=True)
        (acceleration,) = grad(speed.sum(), t, create_graph=True)
        rest = acceleration + DAMPING * speed + STIFFNESS * x
        loss: Tensor = (rest**2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def train(model: Motion, steps: int, plain: bool) -> None:
    """Train the model in place, at times that are drawn anew in each step."""
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    step = step_of(model, optimizer)
    if not plain:
        step = minigrad.capture(step)
    rounds, say = progress(steps, "step")
    for i in rounds:
        loss = step(minigrad.random.uniform(0.0, DURATION, (POINTS, 1)).astype("float32"))
        schedule.step()
        if (i + 1) % 500 == 0 or i + 1 == steps:
            say(f"loss {loss.item():.6f}")


def error(model: Motion) -> float:
    """The largest distance from the exact solution."""
    t = np.linspace(0, DURATION, 200, dtype=np.float32)[:, None]
    with minigrad.no_grad():
        return float(abs(model(minigrad.tensor(t)).numpy() - exact(t)).max())


def main() -> None:
    """Train, and print the error and the time."""
    parser = Parser(
        description="Solve the equation of an oscillator with a network. Takes about 10 seconds; "
        "with --smoke, about 1 second.",
        allow_abbrev=False,
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--steps", type=whole(1), default=2000, help="training steps: 2000")
    task.add_argument("--smoke", dest="steps", action="store_const", const=20, help="only 20")
    parser.add_argument("--plain", action="store_true", help="do not capture the step")
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    args: argparse.Namespace = parser.parse_args()
    minigrad.random.seed(args.seed)
    model = Motion()
    start = time.perf_counter()
    train(model, args.steps, args.plain)
    print(f"{args.steps} steps in {time.perf_counter() - start:.1f} s")
    print(f"largest error: {error(model):.4f}")


if __name__ == "__main__":
    run(main)
