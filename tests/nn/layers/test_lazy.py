"""Layers that learn the size of their input from the first one."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim

LAYERS: list[tuple[str, int, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    # the layer, the size that it learns, its other arguments, and the shape of an input
    ("Linear", 4, (3,), {}, (2, 5, 4)),
    ("Linear", 4, (3,), {"bias": False}, (4,)),
    ("Conv1d", 6, (4, 3, 2, 1), {"groups": 2}, (2, 6, 7)),
    ("Conv2d", 3, (4, (2, 3)), {"padding": "same", "padding_mode": "reflect"}, (3, 5, 6)),
    ("BatchNorm1d", 4, (), {}, (5, 4)),
    ("BatchNorm2d", 4, (), {"affine": False}, (2, 4, 3, 3)),
]
layers = pytest.mark.parametrize(("kind", "size", "sizes", "options", "shape"), LAYERS)


def draw(*shape: int, dtype: Any = np.float32) -> Any:
    return minigrad.tensor(np.random.default_rng(0).standard_normal(shape), dtype=dtype)


@layers
def test_it_becomes_that_layer(kind: str, size: int, sizes: Any, options: Any, shape: Any) -> None:
    """With the same random numbers: none is drawn before the first input."""
    minigrad.random.seed(0)
    layer = getattr(nn, f"Lazy{kind}")(*sizes, **options)
    x = draw(*shape)
    out = layer(x)
    minigrad.random.seed(0)
    wanted = getattr(nn, kind)(size, *sizes, **options)
    np.testing.assert_array_equal(out.numpy(), wanted(x).numpy())
    assert type(layer) is type(wanted)
    assert repr(layer) == repr(wanted)
    for one, other in zip(layer.parameters(), wanted.parameters(), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    np.testing.assert_array_equal(layer(x).numpy(), wanted(x).numpy())


@layers
def test_what_came_before(kind: str, size: int, sizes: Any, options: Any, shape: Any) -> None:
    lazy = lambda: getattr(nn, f"Lazy{kind}")(*sizes, **options)
    layer, x = lazy().double(), draw(*shape, dtype=np.float64)
    copied = copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))
    assert layer(x).dtype == np.float64
    assert all(p.dtype == np.float64 for p in layer.parameters())
    for other in copied:
        assert type(other) is not type(layer)
        assert type(other(x)) is type(x)
    if "weight" in dict(layer.named_parameters()):
        loaded, source = lazy(), getattr(nn, kind)(size, *sizes, **options)
        loaded.load_state_dict(source.state_dict())
        np.testing.assert_array_equal(loaded(draw(*shape)).numpy(), source(draw(*shape)).numpy())
    assert not lazy().load_state_dict(lazy().state_dict()).missing_keys


def test_an_optimizer_may_be_made_before() -> None:
    model = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(1))
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    x = draw(8, 4)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((model(x) - 1.0) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
