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
        for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert repr(twin) == repr(model)
            assert twin(minigrad.ones((3, 4, 6))).shape == (3, 5)


class TestEinMix:
    def test_repr(self) -> None:
        layer = nn.EinMix("n i -> n o", "i o", "o", i=2, o=3)
        assert repr(layer) == "EinMix('n i -> n o', 'i o', 'o', i=2, o=3)"
        assert repr(nn.EinMix("n i -> n", "i", i=2)) == "EinMix('n i -> n', 'i', i=2)"

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


class TestErrors:
    @pytest.mark.parametrize("pattern", ["a b", "a -> b -> c", "", None])
    def test_no_pattern(self, pattern: Any) -> None:
        for make in (
            lambda: nn.Rearrange(pattern),
            lambda: nn.Reduce(pattern, "sum"),
            lambda: nn.EinMix(pattern, "a", a=2),
        ):
            with pytest.raises(ValueError, match="^(Rearrange|Reduce|EinMix): .*pattern"):
                make()

    def test_patterns_are_checked_at_once(self) -> None:
        for make in (
            lambda: nn.Rearrange("a b -> a c"),
            lambda: nn.Rearrange("a b -> a b", c=2),
            lambda: nn.Reduce("a b -> a c", "sum"),
            lambda: nn.Reduce("a b -> a", "median"),
            lambda: nn.EinMix("(a b -> c b", "a c", a=2, c=2),
        ):
            with pytest.raises(einops.EinopsError):
                make()

    def test_lengths(self) -> None:
        with pytest.raises(ValueError, match="^Rearrange: p .*1.* 0"):
            nn.Rearrange("(a p) -> a p", p=0)
        with pytest.raises(TypeError, match=r"^Reduce: p .*int.* 2\.0"):
            nn.Reduce("(a p) -> a", "sum", p=2.0)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="^EinMix: o .*1.* 0"):
            nn.EinMix("i -> o", "i o", i=3, o=0)

    @pytest.mark.parametrize(
        ("arguments", "lengths", "message"),
        [
            (("n i -> n o", "i o"), {"i": 2}, ".*length.* o "),
            (("n i -> n o", "i o", "p"), {"i": 2, "o": 3, "p": 1}, ".*p of the bias"),
            (("n i -> n o", "i"), {"i": 2}, ".*o of the output"),
            (("n i -> n", "i o"), {"i": 2, "o": 3}, ".*o of the weight"),
            (("n ... i -> n ... o", "i o", "n"), {"i": 2, "o": 3, "n": 4}, ".*n of the bias"),
            (("n i -> n o", "i o"), {"i": 2, "o": 3, "k": 1}, ".*length.* k"),
        ],
    )
    def test_axes_of_einmix(self, arguments: Any, lengths: Any, message: str) -> None:
        with pytest.raises(ValueError, match=f"^EinMix: {message}"):
            nn.EinMix(*arguments, **lengths)

    def test_without_einops(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "einops", None)
        monkeypatch.setitem(sys.modules, "einops.layers", None)
        for name, make in {
            "Rearrange": lambda: nn.Rearrange("a b -> b a"),
            "Reduce": lambda: nn.Reduce("a b -> b", "sum"),
            "EinMix": lambda: nn.EinMix("a b -> a c", "b c", b=2, c=2),
        }.items():
            with pytest.raises(ImportError) as caught:
                make()
            expected = f"{name}: einops is missing: pip install einops"
            assert str(caught.value) == expected
