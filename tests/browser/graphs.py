"""What several tests show in a browser."""

from collections.abc import Callable
from functools import cache
from typing import Any

import minigrad
from minigrad import nn, viz


def recorded(compute: Callable[[], Any], trace: Any = None, **named: Any) -> viz.Graph:
    """The graph of what a function computes, and of its backward pass if it has one."""
    with trace or viz.trace() as traced:
        compute()
    return traced.graph(**named)


def explored(model: Any, *inputs: Any, **options: Any) -> str:
    """The page of a model, as `explore` writes it."""
    text: str = viz.explore(model, *inputs, **options).path.read_text(encoding="utf-8")
    return text


def layers() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


@cache
def perceptron() -> viz.Graph:
    minigrad.random.seed(0)
    model, x = layers(), minigrad.randn(5, 3)
    with viz.trace() as traced:
        model(x).sum().backward()
    return traced.graph(x=x)
