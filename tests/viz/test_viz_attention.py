"""The weights of attention: heatmaps of a trace, and viz.attention with tokens."""

import re
import xml.etree.ElementTree as ElementTree
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import SVG, parse, texts, watched

import minigrad
from minigrad import Tensor, nn, ops, viz
from minigrad.nn import functional as F
from minigrad.ops.random_masks import dropout_factor
from minigrad.viz import Graph, Heatmap
from minigrad.viz.drawing.colour_scale import LEVELS, sequential, to_levels
from minigrad.viz.drawing.heatmap import figure


def qkv(*shape: int) -> list[Tensor]:
    return [minigrad.randn(*shape, dtype="float64", requires_grad=True) for _ in range(3)]


def only(graph: Graph) -> Heatmap:
    (heatmap,) = graph.heatmaps
    return heatmap


def forward_of(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Heatmap:
    """Of attention alone, without a backward pass."""
    return only(watched(lambda: ops.attention(q, k, v, **options), viz.trace(open=["attention"])))


def fused(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> tuple[Graph, np.ndarray]:
    """The trace of attention, and what each element of the output is weighted with in the loss."""
    with viz.trace(open=["attention"]) as traced:
        out = ops.attention(q, k, v, **options)
        factor = np.random.default_rng(0).standard_normal(out.shape)
        (out * factor).sum().backward()
    return traced.graph(), factor


class TestCellsOfWeights:
    def test_they_are_those_of_the_first_element_and_rows_sum_to_1(self) -> None:
        q, k, v = qkv(3, 2, 5, 4)
        heatmap = forward_of(q, k, v)
        expected = ops.attention_weights(q, k).numpy()[0]
        assert heatmap.values().shape == heatmap.whole == (2, 5, 5)
        assert (heatmap.weights.low, heatmap.weights.high) == (expected.min(), expected.max())
        step = np.ptp(expected) / 254
        np.testing.assert_allclose(heatmap.values(), expected, rtol=0, atol=step / 2 * 1.001)
        np.testing.assert_allclose(heatmap.values().sum(-1), 1, rtol=0, atol=5 * step / 2)

    def test_masked_cells_are_marked_and_zero(self) -> None:
        """Also where a query may attend nowhere."""
        q, k, v = qkv(2, 2, 4, 3)
        keep = np.random.default_rng(1).random((4, 4)) < 0.7
        keep[:, 0] = True
        for options in ({"keep": keep}, {"bias": minigrad.tensor(np.where(keep, 0.0, -np.inf))}):
            heatmap = forward_of(q, k, v, **options)
            np.testing.assert_array_equal(heatmap.masked(), np.broadcast_to(~keep, (2, 4, 4)))
            assert (heatmap.values()[heatmap.masked()] == 0).all()
        assert not forward_of(q, k, v).masked().any()
        keep[1] = False
        heatmap = forward_of(q, k, v, keep=keep)
        np.testing.assert_allclose(heatmap.values().sum(-1)[0], [1, 0, 1, 1], atol=0.01)
        assert heatmap.masked()[0, 1].all()

    def test_only_a_corner_of_large_ones_is_kept(self) -> None:
        q, k, v = (minigrad.randn(1, 20, n, 2) for n in (40, 50, 50))
        heatmap = forward_of(q, k, v)
        assert (heatmap.values().shape, heatmap.whole) == ((16, 32, 32), (20, 40, 50))
        expected = ops.attention_weights(q, k).numpy()[0, :16, :32, :32]
        np.testing.assert_allclose(heatmap.values(), expected, atol=1e-6)


class TestGradients:
    @pytest.mark.parametrize("dropout", [0.0, 0.4])
    def test_of_fused_attention(self, dropout: float) -> None:
        """They are those of the weights as a tensor of their own, in the composed form."""
        q, k, v = qkv(2, 2, 5, 4)
        options: dict[str, Any] = {"dropout": dropout, "dropout_key": 7} if dropout else {}
        graph, factor = fused(q, k, v, causal=True, **options)
        weights = ops.attention_weights(q, k, causal=True)
        weights.retain_grad()
        kept = dropout_factor(7, weights.shape, dropout, weights.dtype) if dropout else 1.0
        ((weights * kept @ v) * factor).sum().backward()
        heatmap, right = only(graph), weights.grad.numpy()[0]
        room = (heatmap.gradients.high - heatmap.gradients.low) / 508 * 1.001
        np.testing.assert_allclose(heatmap.gradient_values(), right, rtol=0, atol=room)

    def test_of_a_value_that_all_of_a_batch_share_less(self) -> None:
        """The weights have fewer axes than the values: their gradient is summed."""
        (q, k, _), v = qkv(3, 4), minigrad.randn(5, 3, 2, dtype="float64", requires_grad=True)
        graph, factor = fused(q, k, v)
        expected = np.einsum("nld,nsd->ls", factor, v.numpy())
        heatmap = only(graph)
        assert heatmap.values().shape == (1, 3, 3)
        room = np.ptp(expected) / 254
        np.testing.assert_allclose(heatmap.gradient_values()[0], expected, atol=room)

    def test_there_are_none_without_a_backward_pass(self) -> None:
        heatmap = forward_of(*qkv(1, 2, 3, 4))
        assert heatmap.gradients is None
        for asked in (heatmap.gradient_values, lambda: heatmap.to_svg(gradients=True)):
            with pytest.raises(RuntimeError, match="no gradients; call loss.backward"):
                asked()


class TestFinding:
    def test_attention_written_out(self) -> None:
        q, k, v = qkv(2, 2, 3, 4)
        keep = np.tril(np.ones((3, 3), dtype=bool))
        with viz.trace() as traced:
            scores = minigrad.where(keep, q @ k.swapaxes(-1, -2), -np.inf)
            weights = minigrad.softmax(scores, axis=-1)
            weights.retain_grad()
            out = minigrad.einsum("bhqk,bhkd->bhqd", weights * 0.5, v)
            (out * out).sum().backward()
        heatmap, gradient = only(traced.graph()), weights.grad.numpy()[0]
        np.testing.assert_allclose(heatmap.values(), weights.numpy()[0], atol=0.003)
        np.testing.assert_array_equal(heatmap.masked()[1], ~keep)
        room = np.ptp(gradient) / 254
        np.testing.assert_allclose(heatmap.gradient_values(), gradient, atol=room)

    def test_a_softmax_that_weighs_nothing_has_none(self) -> None:
        logits, other = qkv(4, 4, 4)[:2]
        with viz.trace() as traced:
            minigrad.log(minigrad.softmax(logits, axis=-1)).sum().backward()
            _ = minigrad.softmax(logits, axis=0) @ other
            _ = other @ minigrad.softmax(logits, axis=-1)
        assert traced.graph().heatmaps == ()

    def test_tensordot_multiplies_by_values(self) -> None:
        q, k, v = qkv(3, 4)
        graph = watched(lambda: minigrad.tensordot(minigrad.softmax(q @ k.mT, dim=-1), v, 1))
        assert only(graph).values().shape == (1, 3, 3)


class TestCellsDrawn:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(0, "0"), (1, "1"), (0.25, ".25"), (0.996, "1"), (-0.5, "−.5"), (94.3, "94"), (9.96, "10"),
         (142.0, "142"), (-3e-5, "−3e-5"), (12345.0, "1e4"), (1e12, "1e12"), (np.nan, "nan")],
    )  # fmt: skip
    def test_figures_are_short(self, value: float, text: str) -> None:
        assert figure(value) == text

    def test_large_ones_have_no_numbers_and_stay_small(self) -> None:
        svg = forward_of(*(minigrad.randn(1, 8, 64, 4) for _ in range(3)), causal=True).to_svg()
        assert len(svg) < 60_000
        tree = parse(svg)
        assert "the first 32 by 32" in tree.get("aria-label", "")
        assert not [text for text in tree.iter(f"{SVG}text") if "fill" in text.get("style", "")]

    def test_gradients_and_names_are_escaped(self) -> None:
        layer = nn.TransformerEncoderLayer(4, 1, 4)
        model, x = nn.Sequential(OrderedDict({'a<&">': layer})), minigrad.randn(1, 3, 4)
        graph = watched(lambda: model(x).sum().backward(), viz.trace(open=["attention"]))
        svg = parse(only(graph).to_svg(gradients=True))
        label = svg.get("aria-label", "")
        assert label.startswith('a<&">.self_attn: gradient of the weights')
        # The title is longer than the grid is wide.
        assert float(svg.get("width", "")) > 5 * len(label)
        assert only(graph)._repr_svg_().startswith("<svg")


X = minigrad.ones(1, 2, 8)


def encoder(layers: int = 2, heads: int = 2) -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, heads, 16), layers)


class Own(nn.Module):
    """Attention that is written out, with a mask of large numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        scores = self.q(x) @ self.k(x).swapaxes(-1, -2)
        allowed = np.tri(x.shape[-2], dtype=bool)
        return minigrad.softmax(minigrad.where(allowed, scores, -1e9), axis=-1) @ x


class TestWeights:
    def test_they_are_those_that_the_module_returns(self) -> None:
        attention = nn.MultiHeadAttention(8, 2, add_zero_attn=True)
        q, k = minigrad.randn(3, 4, 8), minigrad.randn(3, 6, 8)
        _, expected = attention(q, k, k, need_weights=True)
        one = viz.attention(attention, q, k, k)["MultiHeadAttention"]
        np.testing.assert_allclose(one.weights, expected.numpy(), rtol=0, atol=1e-6)
        np.testing.assert_allclose(one.weights.sum(-1), 1, rtol=0, atol=1e-6)
        assert one.weights.shape == one.masked.shape == (3, 2, 4, 7)
        assert not one.masked.any()
        asked = viz.attention(lambda: attention(q, k, k, need_weights=True))
        np.testing.assert_array_equal(asked["MultiHeadAttention"].weights, one.weights)

    def test_a_function_with_a_mask_and_one_with_large_weights(self) -> None:
        function, keep = F.scaled_dot_product_attention, np.tri(3, dtype=bool)
        q = [minigrad.randn(1, 2, 3, 4)] * 3
        one = viz.attention(function, *q, attn_mask=keep)["attention"]
        np.testing.assert_array_equal(one.masked[0, 1], ~keep)
        assert (one.weights[..., ~keep] == 0).all()
        q = [minigrad.randn(2, 20, 70, 2)] * 3
        one, expected = (
            viz.attention(function, *q)["attention"],
            function(*q, output_weight=True)[1],
        )
        np.testing.assert_allclose(one.weights, expected, rtol=0, atol=1e-6)  # all of them

    def test_attention_of_ones_own_and_a_mask_of_large_numbers(self) -> None:
        model, x = Own(), minigrad.randn(3, 5, 4)
        one = viz.attention(nn.Sequential(model), x)["0"]
        assert one.weights.shape == (3, 1, 5, 5)  # the first axis is the batch
        np.testing.assert_array_equal(one.masked[2, 0], ~np.tri(5, dtype=bool))
        np.testing.assert_allclose((minigrad.tensor(one.weights[:, 0]) @ x), model(x), atol=1e-6)
        assert viz.attention(model, x[0])["Own"].weights.shape == (1, 1, 5, 5)

    def test_weights_of_three_axes(self) -> None:
        """Those that lose one before they are used; the first of others is no batch but heads."""

        def heads(x: Tensor) -> Tensor:
            q = x.reshape(5, 2, 4).swapaxes(0, 1)
            return minigrad.softmax(q @ q.swapaxes(-1, -2), axis=-1) @ q

        attention, x = nn.AdditiveAttention(4, 4, 4), minigrad.randn(2, 3, 4)
        assert viz.attention(attention, x, x, x)["AdditiveAttention"].weights.shape == (2, 1, 3, 3)
        maps = viz.attention(heads, minigrad.randn(5, 8))
        assert maps["attention"].weights.shape == (1, 2, 5, 5)

    def test_a_module_that_runs_twice(self) -> None:
        layer, x = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(1, 3, 8)
        maps = viz.attention(lambda x: layer(layer(x)), x, tokens={"self*": "abc"})
        assert list(maps) == ["self_attn#1", "self_attn#2"]
        assert maps["self_attn#2"].keys == ("a", "b", "c")
        tied = nn.Sequential(layer, layer)
        assert list(viz.attention(tied, x)) == ["0.self_attn#1", "0.self_attn#2"]
        assert list(viz.attention(tied, x, layers=["*#2"])) == ["0.self_attn#2"]

    def test_the_model_stays_as_it_is(self) -> None:
        model = nn.Sequential(nn.BatchNorm1d(3), nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5))
        x = minigrad.randn(2, 3, 8, requires_grad=True)
        before, mean = minigrad.random.get_state(), model[0].running_mean.numpy().copy()
        maps = viz.attention(model, x)
        assert model.training
        assert minigrad.random.get_state() == before
        assert x.grad is None
        np.testing.assert_array_equal(model[0].running_mean, mean)
        np.testing.assert_allclose(maps["1.self_attn"].weights.sum(-1), 1, atol=1e-6)


class TestChoice:
    def test_layers_and_sample(self) -> None:
        x = minigrad.randn(3, 5, 8)
        model = encoder(layers=3).eval()
        maps = viz.attention(model, x, layers=["layers.[02].*"], sample=2)
        assert [*maps] == ["layers.0.self_attn", "layers.2.self_attn"]
        assert len(maps) == 2
        assert texts(parse(maps.to_svg())).count("head 1") == 2
        others = (viz.attention(model, one, layers=["layers.[02].*"]) for one in (x[2:], x))
        images, same, other = (
            re.findall('href="([^"]*)"', one.to_svg()) for one in (maps, *others)
        )
        assert images == same != other

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"sample": 2}, ["sample", "no 2", "layers.0.self_attn", "2 samples"]),
            ({"sample": -1}, ["no -1"]),
            ({"layers": ["decoder"]}, ["layers", "'decoder'", "layers.1.self_attn"]),
            ({"layers": []}, ["layers is empty", "None means all"]),
            ({"tokens": {"decoder.*": "abcde"}}, ["tokens", "'decoder.*'", "layers.1.self_attn"]),
            ({"tokens": ["a", "b"]}, ["layers.0.self_attn", "5 queries", "2 tokens", "dict"]),
            ({"tokens": (list("abcde"), list("abc"))}, ["5 keys", "3 tokens", "pair"]),
        ],
    )
    def test_what_is_not_there(self, options: dict[str, Any], words: list[str]) -> None:
        with pytest.raises(ValueError, match="attention") as raised:
            viz.attention(encoder(), minigrad.randn(2, 5, 8), **options)
        assert all(word in str(raised.value) for word in words)

    @pytest.mark.parametrize(
        ("error", "why", "model", "inputs"),
        [
            (RuntimeError, r"no attention ran in Linear.*softmax", nn.Linear(8, 2), [X]),
            (TypeError, "is not a callable object", X, []),
            (TypeError, "TransformerEncoder", encoder(), []),
        ],
    )
    def test_other_mistakes(self, error: Any, why: str, model: Any, inputs: list[Tensor]) -> None:
        with pytest.raises(error, match=why):
            viz.attention(model, *inputs)


class TestPicture:
    def test_where_there_is_no_room_every_other_token_is_written(self) -> None:
        tokens, q = [f"w{i}" for i in range(80)], minigrad.randn(1, 1, 80, 2)
        svg = viz.attention(F.scaled_dot_product_attention, q, q, q, tokens=tokens).to_svg()
        written = [text for text in texts(parse(svg)) if text in tokens]
        every = -(-160 // len(written))
        assert every > 1
        assert written == 2 * tokens[::every]
        assert len(svg) < 60_000

    def test_what_is_not_finite_is_drawn(self) -> None:
        x = np.ones((1, 3, 8), np.float32)
        x[0, 1] = np.nan
        with np.errstate(all="ignore"):
            maps = viz.attention(encoder(1), x)
        assert "nan" in texts(parse(maps.to_svg()))
        assert maps._repr_svg_() == maps.to_svg()

    @pytest.mark.needs("cairosvg", "PIL")
    def test_png_and_pdf_have_the_light_picture(self, tmp_path: Path) -> None:
        from PIL import Image

        q = minigrad.randn(1, 1, 16, 2)
        maps = viz.attention(F.scaled_dot_product_attention, q, q, q)
        assert maps.save(tmp_path / "maps.pdf").read_bytes().startswith(b"%PDF")
        with Image.open(maps.save(tmp_path / "maps.png")) as file:
            pixels = np.asarray(file.convert("RGB"))
        root = ElementTree.fromstring(maps.to_svg())
        assert pixels.shape[:2] == tuple(2 * int(root.get(one, "")) for one in ("height", "width"))
        assert (pixels[0, 0] == 255).all()
        [grid] = [one for one in root.iter(f"{SVG}g") if one.get("class") == "cells"]
        left, top = (18 + float(n) for n in re.findall(r"[\d.]+", grid.get("transform", "")))
        weights = maps["attention"].weights[0, 0]
        levels = to_levels(weights, 0.0, float(weights.max()))
        for row, column in np.ndindex(16, 16):  # near the edge of a cell, its own colour
            y, x = (int(2 * (at + 16 * i + 2)) for at, i in ((top, row), (left, column)))
            assert tuple(pixels[y, x]) == sequential(LEVELS + 1)[levels[row, column]]

    def test_an_unknown_ending(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match=r"maps\.gif.*\.svg, \.png or \.pdf"):
            viz.attention(encoder(1), minigrad.randn(1, 3, 8)).save(tmp_path / "maps.gif")
        assert not list(tmp_path.iterdir())


def test_a_notebook_does_not_wait_for_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    maps = viz.attention(encoder(1), minigrad.randn(1, 3, 8))
    assert (maps._repr_svg_() or "").startswith("<svg")
    monkeypatch.setattr("minigrad.viz.drawing.attention.MOST_CELLS", 2 * 9 - 1)
    assert maps._repr_svg_() is None
