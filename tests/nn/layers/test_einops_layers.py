"""Rearrange, Reduce and EinMix: einops as layers."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn

einops = pytest.importorskip("einops")

float64 = minigrad.float64


def draw(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype=float64, requires_grad=True)


class TestRearrangeAndReduce:
    @pytest.mark.parametrize("reduction", ["any", "all"])
    def test_of_bools(self, reduction: str) -> None:
        x = np.array([[True, False], [True, True], [False, False]])
        layer = nn.Reduce("a b -> a", reduction)
        assert layer(minigrad.tensor(x)).tolist() == getattr(x, reduction)(axis=1).tolist()

    def test_in_a_model(self) -> None:
        model = nn.Sequential(
            nn.Rearrange("n (h p) (w q) -> n (h w) (p q)", p=2, q=2),
            nn.Linear(4, 5),
            nn.Reduce("n length c -> n c", "mean"),
        )
        assert model(minigrad.ones((3, 4, 6))).shape == (3, 5)
        assert [*model.state_dict()] == ["1.weight", "1.bias"]
        assert repr(model[0]) == "Rearrange('n (h p) (w q) -> n (h w) (p q)', p=2, q=2)"
        assert repr(model[2]) == "Reduce('n length c -> n c', 'mean')"
        mixed = nn.EinMix("n i -> n o", "i o", "o", i=2, o=3)
        assert repr(mixed) == "EinMix('n i -> n o', 'i o', 'o', i=2, o=3)"
        assert repr(nn.EinMix("n i -> n", "i", i=2)) == "EinMix('n i -> n', 'i', i=2)"
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert repr(twin) == repr(model)
            assert twin(minigrad.ones((3, 4, 6))).shape == (3, 5)


class TestEinMix:
    def test_the_bias_has_the_axes_behind_the_ellipsis(self) -> None:
        layer = nn.EinMix("n ... i -> n ... k o", "i k o", "o", i=2, k=3, o=4)
        assert layer.bias is not None
        assert layer.bias.shape == (1, 4)
        assert nn.EinMix("n i -> n o", "i o", "o", i=2, o=3).bias.shape == (1, 3)

    @pytest.mark.needs("torch")
    def test_as_in_pytorch(self) -> None:
        import torch
        from einops.layers.torch import EinMix

        arguments = ("n l (h i) -> l n (h o)", "h i o", "h o")
        theirs = EinMix(*arguments, h=2, i=3, o=4).double()
        ours = nn.EinMix(*arguments, h=2, i=3, o=4).double()
        ours.load_state_dict(theirs.state_dict())
        x = draw(5, 6, 6)
        expected = theirs(torch.tensor(x.numpy())).detach().numpy()
        np.testing.assert_allclose(ours(x).numpy(), expected, rtol=1e-12)


IO = ("n i -> n o", "i o")
SAYS: dict[str, tuple[type[Exception], Any]] = {
    "^Rearrange: p .*1.* 0": (ValueError, lambda: nn.Rearrange("(a p) -> a p", p=0)),
    r"^Reduce: p .*int.* 2\.0": (TypeError, lambda: nn.Reduce("(a p) -> a", "sum", p=2.0)),
    "^EinMix: o .*1.* 0": (ValueError, lambda: nn.EinMix("i -> o", "i o", i=3, o=0)),
    "^EinMix: .*length.* o ": (ValueError, lambda: nn.EinMix(*IO, i=2)),
    "^EinMix: .*p of the bias": (ValueError, lambda: nn.EinMix(*IO, "p", i=2, o=3, p=1)),
    "^EinMix: .*o of the output": (ValueError, lambda: nn.EinMix("n i -> n o", "i", i=2)),
    "^EinMix: .*o of the weight": (ValueError, lambda: nn.EinMix("n i -> n", "i o", i=2, o=3)),
    "^EinMix: .*n of the bias": (
        ValueError, lambda: nn.EinMix("n ... i -> n ... o", "i o", "n", i=2, o=3, n=4)),
    "^EinMix: .*length.* k": (ValueError, lambda: nn.EinMix(*IO, i=2, o=3, k=1)),
}  # fmt: skip


@pytest.mark.parametrize("message", SAYS)
def test_what_does_not_fit_is_refused_at_once(message: str) -> None:
    error, make = SAYS[message]
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Rearrange("a b -> a c"),
        lambda: nn.Rearrange("a b -> a b", c=2),
        lambda: nn.Reduce("a b -> a c", "sum"),
        lambda: nn.Reduce("a b -> a", "median"),
        lambda: nn.EinMix("(a b -> c b", "a c", a=2, c=2),
    ],
)
def test_patterns_are_checked_at_once(make: Any) -> None:
    with pytest.raises(einops.EinopsError):
        make()


MAKE: dict[str, Any] = {
    "Rearrange": nn.Rearrange,
    "Reduce": lambda pattern: nn.Reduce(pattern, "sum"),
    "EinMix": lambda pattern: nn.EinMix(pattern, "b", b=2),
}


@pytest.mark.parametrize("name", MAKE)
def test_without_a_pattern_or_einops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for pattern in ("a b", "a -> b -> c", "", None):
        with pytest.raises(ValueError, match=f"^{name}: .*pattern"):
            MAKE[name](pattern)
    monkeypatch.setitem(sys.modules, "einops", None)
    monkeypatch.setitem(sys.modules, "einops.layers", None)
    with pytest.raises(ImportError, match=f"^{name}: einops is missing: pip install einops$"):
        MAKE[name]("a b -> b")
