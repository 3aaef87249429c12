"""Heatmaps of attention: the weights that were used, what was masked, and their gradients."""

from __future__ import annotations

import base64
import struct
import xml.etree.ElementTree as ET
import zlib
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops, viz
from minigrad.ops.dropout import dropout_factor
from minigrad.viz import Cells, Graph, Heatmap
from minigrad.viz.drawing.colour_scale import diverging, png, sequential
from minigrad.viz.drawing.heatmap import figure

SVG = "{http://www.w3.org/2000/svg}"


def qkv(*shape: int) -> list[Tensor]:
    return [minigrad.randn(*shape, dtype="float64", requires_grad=True) for _ in range(3)]


def only(graph: Graph) -> Heatmap:
    (heatmap,) = graph.heatmaps
    return heatmap


def fused(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> tuple[Graph, np.ndarray]:
    """The trace of attention, and what each element of the output is weighted with in the loss."""
    with viz.trace() as traced:
        out = ops.attention(q, k, v, **options)
        factor = np.random.default_rng(0).standard_normal(out.shape)
        (out * factor).sum().backward()
    return traced.graph(), factor


class TestWeights:
    def test_they_are_those_of_the_first_element_and_rows_sum_to_1(self) -> None:
        q, k, v = qkv(3, 2, 5, 4)
        heatmap = only(fused(q, k, v)[0])
        expected = ops.attention_weights(q, k).numpy()[0]
        assert heatmap.shape == heatmap.whole == (2, 5, 5)
        step = (heatmap.weights.high - heatmap.weights.low) / 254
        np.testing.assert_allclose(heatmap.values(), expected, rtol=0, atol=step / 2 * 1.001)
        np.testing.assert_allclose(heatmap.values().sum(-1), 1, rtol=0, atol=5 * step / 2)
        assert heatmap.weights.high == expected.max()
        assert heatmap.weights.low == expected.min()

    def test_masked_cells_are_marked_and_zero(self) -> None:
        q, k, v = qkv(2, 2, 4, 3)
        keep = np.random.default_rng(1).random((4, 4)) < 0.7
        keep[:, 0] = True
        bias = np.where(keep, 0.0, -np.inf)
        for options in ({"keep": keep}, {"bias": minigrad.tensor(bias)}):
            heatmap = only(fused(q, k, v, **options)[0])
            np.testing.assert_array_equal(heatmap.masked(), np.broadcast_to(~keep, (2, 4, 4)))
            assert (heatmap.values()[heatmap.masked()] == 0).all()
        assert not only(fused(q, k, v)[0]).masked().any()

    def test_a_query_that_may_attend_nowhere(self) -> None:
        q, k, v = qkv(1, 1, 3, 2)
        keep = np.array([[True, True, True], [False, False, False], [True, False, True]])
        heatmap = only(fused(q, k, v, keep=keep)[0])
        np.testing.assert_allclose(heatmap.values().sum(-1)[0], [1, 0, 1], atol=0.01)
        assert heatmap.masked()[0, 1].all()

    def test_only_a_corner_of_large_ones_is_kept(self) -> None:
        q, k, v = (minigrad.randn(1, 20, n, 2) for n in (40, 50, 50))
        with viz.trace() as traced:
            ops.attention(q, k, v)
        heatmap = only(traced.graph())
        assert (heatmap.shape, heatmap.whole) == ((16, 32, 32), (20, 40, 50))
        with viz.trace(heatmap=8) as traced:
            ops.attention(q, k, v)
        small = only(traced.graph())
        assert small.shape == (16, 8, 8)
        expected = ops.attention_weights(q, k).numpy()[0, :16, :8, :8]
        np.testing.assert_allclose(small.values(), expected, atol=small.weights.high / 254)
        with viz.trace(heatmap=0) as traced:
            ops.attention(q, k, v)
        assert traced.graph().heatmaps == ()

    def test_keeping_nothing_less_than_nothing(self) -> None:
        with pytest.raises(ValueError, match="heatmap"):
            viz.trace(heatmap=-1)


class TestGradients:
    @pytest.mark.parametrize("dropout", [0.0, 0.4])
    def test_of_fused_attention(self, dropout: float) -> None:
        """They are those of the weights as a tensor of their own, in the composed form."""
        q, k, v = qkv(2, 2, 5, 4)
        options: dict[str, Any] = {"causal": True}
        if dropout:
            options |= {"dropout": dropout, "dropout_key": 7}
        graph, factor = fused(q, k, v, **options)
        heatmap = only(graph)
        weights = ops.attention_weights(q, k, causal=True)
        weights.retain_grad()
        used = weights
        if dropout:
            used = weights * dropout_factor(7, weights.shape, dropout, weights.dtype)
        ((used @ v) * factor).sum().backward()
        assert weights.grad is not None
        assert heatmap.gradients is not None
        step = (heatmap.gradients.high - heatmap.gradients.low) / 254
        np.testing.assert_allclose(
            heatmap.gradient_values(), weights.grad.numpy()[0], rtol=0, atol=step / 2 * 1.001
        )

    def test_of_a_value_that_all_of_a_batch_share_less(self) -> None:
        """The weights have fewer axes than the values: their gradient is summed."""
        q, k = (minigrad.randn(3, 4, dtype="float64", requires_grad=True) for _ in range(2))
        v = minigrad.randn(5, 3, 2, dtype="float64", requires_grad=True)
        graph, factor = fused(q, k, v)
        expected = np.einsum("nld,nsd->ls", factor, v.numpy())
        heatmap = only(graph)
        assert heatmap.shape == (1, 3, 3)
        np.testing.assert_allclose(
            heatmap.gradient_values()[0], expected, atol=np.ptp(expected) / 254
        )

    def test_there_are_none_without_a_backward_pass(self) -> None:
        q, k, v = qkv(1, 2, 3, 4)
        with viz.trace() as traced:
            ops.attention(q, k, v)
        heatmap = only(traced.graph())
        assert heatmap.gradients is None
        with pytest.raises(RuntimeError, match="no gradients; call loss.backward"):
            heatmap.gradient_values()
        with pytest.raises(RuntimeError, match="no gradients"):
            heatmap.to_svg(gradients=True)


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
        heatmap = only(traced.graph())
        assert heatmap.group is None
        assert weights.grad is not None
        np.testing.assert_allclose(heatmap.values(), weights.numpy()[0], atol=0.003)
        np.testing.assert_array_equal(heatmap.masked()[1], ~keep)
        np.testing.assert_allclose(
            heatmap.gradient_values(), weights.grad.numpy()[0],
            atol=np.ptp(weights.grad.numpy()[0]) / 254,
        )  # fmt: skip

    def test_a_softmax_that_weighs_nothing_has_none(self) -> None:
        logits, other = qkv(4, 4, 4)[:2]
        with viz.trace() as traced:
            minigrad.log(minigrad.softmax(logits, axis=-1)).sum().backward()
            _ = minigrad.softmax(logits, axis=0) @ other
            _ = other @ minigrad.softmax(logits, axis=-1)
        assert traced.graph().heatmaps == ()

    def test_json_both_ways(self) -> None:
        graph, _ = fused(*qkv(1, 2, 3, 4), causal=True)
        again = Graph.from_json(graph.to_json())
        assert again == graph
        assert again.heatmaps == graph.heatmaps != ()

    def test_watching_changes_no_gradient(self) -> None:
        q, k, v = qkv(1, 2, 3, 4)
        fused(q, k, v, causal=True)
        seen = [x.grad.numpy().copy() for x in (q, k, v) if x.grad is not None]
        for x in (q, k, v):
            x.zero_grad()
        out = ops.attention(q, k, v, causal=True)
        (out * np.random.default_rng(0).standard_normal(out.shape)).sum().backward()
        for x, grad in zip((q, k, v), seen, strict=True):
            np.testing.assert_array_equal(x.grad, grad)


class TestCells:
    def test_all_alike_and_nothing_finite(self) -> None:
        np.testing.assert_array_equal(Cells.of(np.full(3, 2.5)).array((3,)), np.full(3, 2.5))
        np.testing.assert_array_equal(
            Cells.of(np.array([np.nan, np.inf])).array((2,)), [np.nan] * 2
        )

    def test_half_a_step_is_the_most_that_is_lost(self) -> None:
        array = np.random.default_rng(0).standard_normal((4, 5))
        np.testing.assert_allclose(
            Cells.of(array).array((4, 5)), array, rtol=0, atol=np.ptp(array) / 508 * 1.001
        )


def lightness(colour: tuple[int, int, int]) -> float:
    """L* of CIELAB."""
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    y = float(np.dot([0.2126, 0.7152, 0.0722], linear))
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


class TestPicture:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(0, "0"), (1, "1"), (0.25, ".25"), (0.996, "1"), (-0.5, "−.5"), (94.3, "94"), (9.96, "10"),
         (142.0, "142"), (-3e-5, "−3e-5"), (12345.0, "1e4"), (1e12, "1e12"), (np.nan, "nan")],
    )  # fmt: skip
    def test_figures_are_short(self, value: float, text: str) -> None:
        assert figure(value) == text

    def test_equal_steps_look_equal(self) -> None:
        steps = np.diff([lightness(colour) for colour in sequential(33)])
        assert (steps < 0).all()
        assert steps.max() / steps.min() > 0.5
        red, _, blue = np.array(sequential(255)[20:]).T
        assert (blue > red).all()
        scale = diverging(255)
        lights = [lightness(colour) for colour in scale]
        assert np.argmax(lights) == 127
        np.testing.assert_allclose(lights, lights[::-1], atol=4)

    def test_a_png_is_what_was_put_in(self) -> None:
        levels = np.arange(6, dtype=np.uint8).reshape(2, 3)
        data = base64.b64decode(png(levels, sequential(6)).partition(",")[2])
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        chunks, at = {}, 8
        while at < len(data):
            size, name = struct.unpack_from(">I4s", data, at)
            body = data[at + 8 : at + 8 + size]
            assert zlib.crc32(name + body) == struct.unpack_from(">I", data, at + 8 + size)[0]
            chunks[name], at = body, at + 12 + size
        assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (3, 2)
        assert zlib.decompress(chunks[b"IDAT"]) == b"\0\0\1\2\0\3\4\5"
        assert list(chunks[b"PLTE"][-3:]) == list(sequential(6)[-1])

    def test_large_ones_have_no_numbers_and_stay_small(self) -> None:
        with viz.trace() as traced:
            ops.attention(*(minigrad.randn(1, 8, 64, 4) for _ in range(3)), causal=True)
        svg = only(traced.graph()).to_svg()
        assert len(svg) < 60_000
        tree = ET.fromstring(svg)
        assert "the first 32 by 32" in (tree.get("aria-label") or "")
        assert len(list(tree.iter(f"{SVG}text"))) == 1 + 8 + 4

    def test_gradients_and_names_are_escaped(self) -> None:
        q, k, v = qkv(1, 1, 3, 4)

        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.parts = nn.ModuleDict({'a<&">': nn.MultiHeadAttention(4, 1)})

            def forward(self, x: Tensor) -> Tensor:
                return next(iter(self.parts.values()))(x, x, x)

        with viz.trace() as traced:
            Model()(minigrad.randn(1, 3, 4)).sum().backward()
        svg = only(traced.graph()).to_svg(gradients=True)
        label = ET.fromstring(svg).get("aria-label") or ""
        assert label.startswith('parts.a<&">: gradient of the weights')
        width = float(ET.fromstring(svg).get("width") or 0)
        assert width > 5 * len(label)  # the title is longer than the grid is wide
        assert only(fused(q, k, v)[0])._repr_svg_().startswith("<svg")
