"""Rearrange and Reduce: einops as layers."""

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn

einops = pytest.importorskip("einops")


@pytest.mark.parametrize("reduction", ["any", "all"])
def test_reductions_of_bools(reduction: str) -> None:
    x = np.array([[True, False], [True, True], [False, False]])
    layer = nn.Reduce("a b -> a", reduction)
    assert layer(minigrad.tensor(x)).tolist() == getattr(x, reduction)(axis=1).tolist()


def test_in_a_model() -> None:
    model = nn.Sequential(
        nn.Rearrange("n (h p) (w q) -> n (h w) (p q)", p=2, q=2),
        nn.Linear(4, 5),
        nn.Reduce("n length c -> n c", "mean"),
    )
    assert model(minigrad.ones((3, 4, 6))).shape == (3, 5)
    assert [*model.state_dict()] == ["1.weight", "1.bias"]
    assert repr(model[0]) == "Rearrange('n (h p) (w q) -> n (h w) (p q)', p=2, q=2)"
    assert repr(model[2]) == "Reduce('n length c -> n c', 'mean')"
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert repr(twin) == repr(model)
        assert twin(minigrad.ones((3, 4, 6))).shape == (3, 5)


WRONG = [
    lambda: nn.Rearrange("a b -> a c"),
    lambda: nn.Rearrange("a b -> a b", c=2),
    lambda: nn.Reduce("a b -> a c", "sum"),
    lambda: nn.Reduce("a b -> a", "median"),
]


@pytest.mark.parametrize("make", WRONG)
def test_patterns_are_checked_at_once(make: Any) -> None:
    with pytest.raises(einops.EinopsError):
        make()


def test_without_einops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "einops", None)
    monkeypatch.setitem(sys.modules, "einops.layers", None)
    for make in (nn.Rearrange, lambda pattern: nn.Reduce(pattern, "sum")):
        with pytest.raises(ImportError, match="einops is missing: pip install einops$"):
            make("a b -> b")
