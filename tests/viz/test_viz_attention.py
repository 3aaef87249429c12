"""`viz.attention`: the weights of every attention that runs in a model, drawn with their tokens."""

from __future__ import annotations

import html.parser
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.nn import functional as F
from minigrad.viz.drawing.colour_scale import sequential
from minigrad.viz.record.heatmap import LEVELS, to_levels

SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["the", "cat", "<sat>", "&", "slept"]


def encoder(layers: int = 2, heads: int = 2) -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, heads, 16), layers)


def texts(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ET.fromstring(svg).iter(f"{SVG}text")]


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

    def test_of_groups_of_queries_every_head(self) -> None:
        attention = nn.MultiHeadAttention(8, 4, num_kv_heads=2)
        x = minigrad.randn(2, 3, 8)
        _, expected = attention(x, x, x, is_causal=True, need_weights=True)
        one = viz.attention(attention, x, x, x, is_causal=True)["MultiHeadAttention"]
        np.testing.assert_allclose(one.weights, expected.numpy(), rtol=0, atol=1e-6)
        np.testing.assert_array_equal(
            one.masked, np.broadcast_to(np.triu(np.ones((3, 3)), 1), (2, 4, 3, 3))
        )

    def test_large_ones_are_whole(self) -> None:
        q = minigrad.randn(2, 20, 70, 2)
        maps = viz.attention(F.scaled_dot_product_attention, q, q, q)
        expected = F.scaled_dot_product_attention(q, q, q, output_weight=True)[1].numpy()
        np.testing.assert_allclose(maps["attention"].weights, expected, rtol=0, atol=1e-6)

    def test_a_function_with_a_mask(self) -> None:
        q, keep = minigrad.randn(1, 2, 3, 4), np.tri(3, dtype=bool)
        maps = viz.attention(F.scaled_dot_product_attention, q, q, q, attn_mask=keep)
        np.testing.assert_array_equal(maps["attention"].masked[0, 1], ~keep)
        assert (maps["attention"].weights[..., ~keep] == 0).all()

    def test_attention_of_ones_own_and_a_mask_of_large_numbers(self) -> None:
        model, x = Own(), minigrad.randn(3, 5, 4)
        one = viz.attention(nn.Sequential(model), x)["0"]
        assert one.weights.shape == (3, 1, 5, 5)  # the first axis is the batch
        np.testing.assert_array_equal(one.masked[2, 0], ~np.tri(5, dtype=bool))
        np.testing.assert_allclose((minigrad.tensor(one.weights[:, 0]) @ x), model(x), atol=1e-6)
        assert viz.attention(model, x[0])["Own"].weights.shape == (1, 1, 5, 5)

    def test_weights_that_lose_an_axis_before_they_are_used(self) -> None:
        attention, x = nn.AdditiveAttention(4, 4, 4), minigrad.randn(2, 3, 4)
        assert viz.attention(attention, x, x, x)["AdditiveAttention"].weights.shape == (2, 1, 3, 3)

    def test_three_axes_of_which_the_first_is_no_batch_are_heads(self) -> None:
        x = minigrad.randn(5, 8)

        def heads(x: Tensor) -> Tensor:
            q = x.reshape(5, 2, 4).swapaxes(0, 1)
            return minigrad.softmax(q @ q.swapaxes(-1, -2), axis=-1) @ q

        assert viz.attention(heads, x)["attention"].weights.shape == (1, 2, 5, 5)

    def test_encoder_decoder(self) -> None:
        model = nn.Transformer(8, 2, 1, 2, 16)
        maps = viz.attention(model, minigrad.randn(1, 5, 8), minigrad.randn(1, 3, 8))
        assert {path: one.weights.shape[2:] for path, one in maps.items()} == {
            "encoder.layers.0.self_attn": (5, 5),
            "decoder.layers.0.self_attn": (3, 3), "decoder.layers.0.multihead_attn": (3, 5),
            "decoder.layers.1.self_attn": (3, 3), "decoder.layers.1.multihead_attn": (3, 5),
        }  # fmt: skip

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
    def test_layers_heads_and_sample(self) -> None:
        x = minigrad.randn(3, 5, 8)
        model = encoder(layers=3).eval()
        maps = viz.attention(model, x, layers=["layers.[02].*"], heads=[1], sample=2)
        assert list(maps) == ["layers.0.self_attn", "layers.2.self_attn"]
        assert len(maps) == 2
        said = texts(maps.to_svg())
        assert said.count("head 1") == 2
        assert "head 0" not in said
        alone = viz.attention(model, x[2:], layers=["layers.[02].*"], heads=[1])
        images = re.findall('href="([^"]*)"', maps.to_svg())
        assert images == re.findall('href="([^"]*)"', alone.to_svg())
        other = viz.attention(model, x, layers=["layers.[02].*"], heads=[1])
        assert images != re.findall('href="([^"]*)"', other.to_svg())

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"sample": 2}, ["sample", "no 2", "layers.0.self_attn", "2 samples"]),
            ({"sample": -1}, ["no -1"]),
            ({"heads": []}, ["heads is empty"]),
            ({"heads": [0, 7]}, ["heads", "no 7", "2 heads"]),
            ({"layers": ["decoder"]}, ["layers", "'decoder'", "layers.1.self_attn"]),
            ({"tokens": {"decoder.*": "abcde"}}, ["tokens", "'decoder.*'", "layers.1.self_attn"]),
            ({"tokens": ["a", "b"]}, ["layers.0.self_attn", "5 queries", "2 tokens", "dict"]),
            ({"tokens": (list("abcde"), list("abc"))}, ["5 keys", "3 tokens", "pair"]),
        ],
    )
    def test_what_is_not_there(self, options: dict[str, Any], words: list[str]) -> None:
        with pytest.raises(ValueError, match="attention") as raised:
            viz.attention(encoder(), minigrad.randn(2, 5, 8), **options)
        assert all(word in str(raised.value) for word in words)

    def test_other_mistakes(self) -> None:
        with pytest.raises(RuntimeError, match=r"no attention ran in Linear.*softmax"):
            viz.attention(nn.Linear(3, 2), minigrad.randn(4, 3))
        with pytest.raises(TypeError, match="expected a Module or a function .* got Tensor"):
            viz.attention(minigrad.randn(4, 3))
        with pytest.raises(TypeError, match="a token should be a string, got 1"):
            viz.attention(encoder(), minigrad.randn(1, 2, 8), tokens=[1, 2])  # type: ignore[list-item]
        with pytest.raises(TypeError, match="TransformerEncoder"):
            viz.attention(encoder())


class TestPicture:
    def test_where_there_is_no_room_every_other_token_is_written(self) -> None:
        tokens = [f"w{i}" for i in range(80)]
        q = minigrad.randn(1, 1, 80, 2)
        maps = viz.attention(F.scaled_dot_product_attention, q, q, q, tokens=tokens)
        svg = maps.to_svg()
        written = [text for text in texts(svg) if text in tokens]
        every = 160 // len(written) + (160 % len(written) > 0)
        assert every > 1
        assert written == 2 * tokens[::every]
        assert len(svg) < 60_000
        assert len(maps.to_html()) < 120_000

    def test_what_is_not_finite_is_drawn(self) -> None:
        x = np.ones((1, 3, 8), np.float32)
        x[0, 1] = np.nan
        with np.errstate(all="ignore"):
            maps = viz.attention(encoder(1), x)
        assert "nan" in texts(maps.to_svg())
        assert '"nan"' in maps.to_html()
        assert maps._repr_svg_() == maps.to_svg()

    def test_equal_runs_give_equal_files(self, tmp_path: Path) -> None:
        def written(ending: str, name: str) -> bytes:
            minigrad.random.seed(3)
            maps = viz.attention(encoder(), minigrad.randn(1, 5, 8), tokens=WORDS)
            return maps.save(tmp_path / f"{name}{ending}").read_bytes()

        for ending in (".svg", ".html"):
            assert written(ending, "one") == written(ending, "other")

    @pytest.mark.needs("cairosvg", "PIL")
    def test_png_and_pdf_have_the_light_picture(self, tmp_path: Path) -> None:
        from PIL import Image

        q = minigrad.randn(1, 1, 16, 2)
        maps = viz.attention(F.scaled_dot_product_attention, q, q, q)
        assert maps.save(tmp_path / "maps.pdf").read_bytes().startswith(b"%PDF")
        with Image.open(maps.save(tmp_path / "maps.png")) as file:
            pixels = np.asarray(file.convert("RGB"))
        root = ET.fromstring(maps.to_svg())
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
        with pytest.raises(ValueError, match=r"maps\.gif.*\.svg, \.html, \.png or \.pdf"):
            viz.attention(encoder(1), minigrad.randn(1, 3, 8)).save(tmp_path / "maps.gif")
        assert not list(tmp_path.iterdir())


class Reader(html.parser.HTMLParser):
    """The addresses that a page names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.addresses += [values[name] or "" for name in ("src", "href") if name in values]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""


def test_the_page_needs_nothing_else() -> None:
    maps = viz.attention(encoder(), minigrad.randn(1, 5, 8), tokens=[*WORDS[:4], "</script>"])
    text = maps.to_html()
    page = Reader(text)
    assert page.addresses
    assert all(one.startswith("data:image/png") for one in page.addresses)
    assert "default-src 'none'" in page.policy
    assert "://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert text.count("</script>") == 2
    assert "<sat>" not in text
    assert text.count("<section>") == 3
    assert text.count("<style>") == text.count("<pattern") + 1 == 2


def test_a_notebook_does_not_wait_for_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    maps = viz.attention(encoder(1), minigrad.randn(1, 3, 8))
    assert (maps._repr_svg_() or "").startswith("<svg")
    monkeypatch.setattr("minigrad.viz.page.attention.MOST_CELLS", 2 * 9 - 1)
    assert maps._repr_svg_() is None


def test_an_overview_of_the_layers() -> None:
    maps = viz.attention(encoder(), minigrad.randn(1, 5, 8))
    assert repr(maps) == "AttentionMaps(layers.0.self_attn, layers.1.self_attn)"
    one = maps["layers.0.self_attn"]
    assert repr(one) == "AttentionMap('layers.0.self_attn', 1 sample, 2 heads, 5 queries, 5 keys)"
    assert one.path == "layers.0.self_attn"
    assert one.queries == ("0", "1", "2", "3", "4")
