"""Layers that learn the size of their input from the first one."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim

LAYERS: dict[str, tuple[Any, Any, tuple[int, ...]]] = {
    "LazyLinear": (lambda: nn.LazyLinear(3), lambda: nn.Linear(4, 3), (2, 5, 4)),
    "LazyLinear, no bias": (
        lambda: nn.LazyLinear(3, bias=False), lambda: nn.Linear(4, 3, False), (4,)),
    "LazyConv1d": (
        lambda: nn.LazyConv1d(4, 3, 2, 1, groups=2), lambda: nn.Conv1d(6, 4, 3, 2, 1, groups=2),
        (2, 6, 7)),
    "LazyConv2d": (
        lambda: nn.LazyConv2d(4, (2, 3), padding="same", padding_mode="reflect"),
        lambda: nn.Conv2d(3, 4, (2, 3), padding="same", padding_mode="reflect"), (3, 5, 6)),
    "LazyBatchNorm1d": (nn.LazyBatchNorm1d, lambda: nn.BatchNorm1d(4), (5, 4)),
    "LazyBatchNorm2d": (
        lambda: nn.LazyBatchNorm2d(affine=False), lambda: nn.BatchNorm2d(4, affine=False),
        (2, 4, 3, 3)),
}  # fmt: skip


def draw(*shape: int, dtype: Any = np.float32) -> Any:
    return minigrad.tensor(np.random.default_rng(0).standard_normal(shape), dtype=dtype)


@pytest.mark.parametrize("name", LAYERS)
def test_it_becomes_the_layer_of_that_size(name: str) -> None:
    """With the same random numbers: none is drawn before the first input."""
    lazy, usual, shape = LAYERS[name]
    minigrad.random.seed(0)
    layer = lazy()
    x = draw(*shape)
    out = layer(x)
    minigrad.random.seed(0)
    wanted = usual()
    np.testing.assert_array_equal(out.numpy(), wanted(x).numpy())
    assert type(layer) is type(wanted)
    assert repr(layer) == repr(wanted)
    for one, other in zip(layer.parameters(), wanted.parameters(), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    np.testing.assert_array_equal(layer(x).numpy(), wanted(x).numpy())


@pytest.mark.parametrize("name", LAYERS)
def test_dtype_copies_and_states_from_before(name: str) -> None:
    lazy, usual, shape = LAYERS[name]
    layer, x = lazy().double(), draw(*shape, dtype=np.float64)
    copied = copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))
    assert layer(x).dtype == np.float64
    assert all(p.dtype == np.float64 for p in layer.parameters())
    for other in copied:
        assert type(other) is not type(layer)
        assert type(other(x)) is type(x)
    if "weight" in dict(layer.named_parameters()):
        loaded, source = lazy(), usual()
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
