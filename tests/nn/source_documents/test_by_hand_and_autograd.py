"""Attention by hand and on tensors: with equal weights, the same outputs and the same gradients."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import gradcheck
from minigrad.nn import by_hand
from minigrad.nn import functional as F
from minigrad.nn.source_documents.encoder_block import BY_HAND

N, L, S, D, H, D_FF = 2, 3, 4, 6, 2, 5
RTOL, ATOL = 1e-10, 1e-12
PAIRS = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]], bool)
MASKS: dict[str, Any] = {
    "none": None,
    "pairs": PAIRS,
    "batch": np.stack([PAIRS, PAIRS[::-1]]),
    "keys": np.array([[True, True, False, True]]),
}
masks = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
SQUARE: dict[str, Any] = {
    "none": None,
    "causal": np.tri(L, dtype=bool),
    "batch": np.stack([np.tri(L, dtype=bool), np.eye(L, dtype=bool)]),
    "heads": np.stack([np.tri(L, dtype=bool), np.eye(L, dtype=bool)])[None],
    "padding": by_hand.create_padding_mask(np.array([1, 3]), L)[:, None, None, :],
}
square = pytest.mark.parametrize("mask", SQUARE.values(), ids=SQUARE)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def assert_close(found: Any, expected: Any, name: str = "") -> None:
    assert found.shape == expected.shape, name
    np.testing.assert_allclose(found, expected, RTOL, ATOL, err_msg=name)


def pull(
    function: Callable[..., Any], arrays: list[np.ndarray], cotangents: list[np.ndarray]
) -> tuple[list[Tensor], list[Tensor]]:
    """Run a function on tensors of some arrays: its outputs, and the gradients of all tensors."""
    leaves = [Tensor(array, requires_grad=True) for array in arrays]
    outputs = function(*leaves)
    outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
    loss: Any = 0.0
    for output, cotangent in zip(outputs, cotangents, strict=True):
        loss = loss + (output * cotangent).sum()
    return outputs, list(minigrad.autograd.grad(loss, leaves))


class TestSteps:
    @pytest.mark.parametrize("scale", [True, False])
    def test_scores(self, scale: bool) -> None:
        Q, K, g = draw(N, L, D), draw(N, S, D), draw(N, L, S, seed=1)
        [scores], grads = pull(lambda q, k: F.compute_attention_scores(q, k, scale), [Q, K], [g])
        assert_close(scores, by_hand.compute_attention_scores(Q, K, scale))
        factor = D**-0.5 if scale else 1.0
        assert_close(grads[0], g @ K * factor)
        assert_close(grads[1], g.swapaxes(1, 2) @ Q * factor)

    @masks
    def test_mask(self, mask: Any) -> None:
        if mask is None:
            mask = np.ones(S, bool)
        scores, g = draw(N, L, S), draw(N, L, S, seed=1)
        for value in (-1e9, -3.0):
            [masked], [grad] = pull(
                lambda s, value=value: F.apply_attention_mask(s, mask, value), [scores], [g]
            )
            assert_close(masked, by_hand.apply_attention_mask(scores, mask, value))
            assert_close(grad, np.where(mask, g, 0))
        assert_close(F.apply_attention_mask(Tensor(scores), Tensor(mask), -3.0), masked)

    @pytest.mark.parametrize("axis", [-1, 0, 1])
    def test_weights(self, axis: int) -> None:
        scores, g = draw(N, L, S), draw(N, L, S, seed=1)
        [weights], [grad] = pull(lambda s: F.attention_weights(s, axis), [scores], [g])
        expected = by_hand.attention_weights(scores, axis)
        assert_close(weights, expected)
        assert_close(grad, by_hand.attention_weights_backward(g, expected, axis))

    @masks
    def test_scaled_dot_product_attention(self, mask: Any) -> None:
        arrays, g = [draw(N, L, D), draw(N, S, D), draw(N, S, 5)], draw(N, L, 5, seed=1)
        expected, weights = by_hand.scaled_dot_product_attention(*arrays, mask)
        wanted = by_hand.scaled_dot_product_attention_backward(g, *arrays, weights, mask)

        def stepwise(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            scores = F.compute_attention_scores(q, k)
            if mask is not None:
                scores = F.apply_attention_mask(scores, mask)
            return F.attention_weights(scores) @ v

        def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            return F.scaled_dot_product_attention(q, k, v, mask)

        def composed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            output, found = F.scaled_dot_product_attention(q, k, v, mask, output_weight=True)
            assert_close(found, weights)
            return output

        for function in (stepwise, fused, composed):
            [output], grads = pull(function, arrays, [g])
            assert_close(output, expected)
            for grad, other in zip(grads, wanted, strict=True):
                assert_close(grad, other)

    @pytest.mark.parametrize("heads", [1, 2, 3])
    def test_heads(self, heads: int) -> None:
        x, g = draw(N, L, D), draw(N, heads, L, D // heads, seed=1)
        [split], [grad] = pull(lambda x: F.split_heads(x, heads), [x], [g])
        assert_close(split, by_hand.split_heads(x, heads))
        assert_close(grad, by_hand.merge_heads(g))
        [merged], [grad] = pull(F.merge_heads, [g], [x])
        assert_close(merged, by_hand.merge_heads(g))
        assert_close(grad, by_hand.split_heads(x, heads))

    @masks
    def test_additive_attention(self, mask: Any) -> None:
        shapes = [(N, L, 2), (N, S, 3), (N, S, 5), (2, 7), (3, 7), (7,)]
        arrays, g = [draw(*shape) for shape in shapes], draw(N, L, 5, seed=1)
        expected, weights = by_hand.additive_attention(*arrays, mask)
        *wanted, params = by_hand.additive_attention_backward(g, *arrays, mask)
        layer = nn.AdditiveAttention(2, 3, 7).double()

        def function(*tensors: Tensor) -> Tensor:
            output, found = F.additive_attention(*tensors, mask)
            assert_close(found, weights)
            return output

        [output], grads = pull(function, arrays, [g])
        assert_close(output, expected)
        for grad, other in zip(grads, [*wanted, *params.values()], strict=True):
            assert_close(grad, other)

        layer.load_state_dict(dict(zip(("W_q", "W_k", "v"), arrays[3:], strict=True)))
        tensors = [Tensor(array, requires_grad=True) for array in arrays[:3]]
        output, found = layer(*tensors, attn_mask=mask, need_weights=True)
        assert_close(output, expected)
        assert_close(found, weights)
        (output * g).sum().backward()
        for tensor, other in zip(tensors, wanted, strict=True):
            assert_close(tensor.grad, other)
        for name, other in params.items():
            assert_close(getattr(layer, name).grad, other, name)

    def test_feed_forward(self) -> None:
        arrays = [draw(N, L, D), draw(D, D_FF), draw(D_FF), draw(D_FF, D), draw(D)]
        g = draw(N, L, D, seed=1)
        [output], [grad_x, *grads] = pull(F.feed_forward, arrays, [g])
        assert_close(output, by_hand.feed_forward(*arrays))
        wanted_x, wanted = by_hand.feed_forward_backward(g, *arrays[:4])
        assert_close(grad_x, wanted_x)
        for grad, (name, other) in zip(grads, wanted.items(), strict=True):
            assert_close(grad, other, name)

    @pytest.mark.parametrize("eps", [1e-6, 0.3])
    def test_layer_norm(self, eps: float) -> None:
        arrays, g = [draw(N, L, D), draw(D), draw(D, seed=1)], draw(N, L, D, seed=1)
        [output], grads = pull(lambda x, w, b: F.layer_norm(x, D, w, b, eps), arrays, [g])
        assert_close(output, by_hand.layer_norm(*arrays, eps))
        wanted = by_hand.layer_norm_backward(g, *arrays[:2], eps)
        for grad, other in zip(grads, wanted, strict=True):
            assert_close(grad, other)


class TestPositionsAndMasks:
    def test_sinusoidal(self) -> None:
        expected = by_hand.sinusoidal_encoding(9, 8)
        assert_close(F.sinusoidal_encoding(9, 8, dtype=minigrad.float64), expected)
        assert F.sinusoidal_encoding(9, 8).dtype == minigrad.get_default_dtype()
        np.testing.assert_allclose(F.sinusoidal_encoding(9, 8).data, expected, atol=1e-7)
        assert F.sinusoidal_encoding(0, 0).shape == by_hand.sinusoidal_encoding(0, 0).shape

    def test_adding_reaches_both(self) -> None:
        x, pe, g = draw(N, L, D), draw(7, D), draw(N, L, D, seed=1)
        [output], [grad_x, grad_pe] = pull(F.add_positional_encoding, [x, pe], [g])
        assert_close(output, by_hand.add_positional_encoding(x, pe))
        assert_close(grad_x, g)
        assert_close(grad_pe, np.vstack([g.sum(axis=0), np.zeros((7 - L, D))]))

    def test_learned(self) -> None:
        minigrad.random.seed(3)
        first, second = (F.learned_positional_encoding(50, 40) for _ in range(2))
        assert (first.data != second.data).any()
        minigrad.random.seed(3)
        np.testing.assert_array_equal(F.learned_positional_encoding(50, 40).data, first.data)
        assert first.data.std() == pytest.approx(0.02, rel=0.1)
        assert isinstance(first, nn.Parameter)
        assert first.shape == by_hand.learned_positional_encoding(50, 40).shape

    def test_masks(self) -> None:
        assert_close(F.create_causal_mask(5), by_hand.create_causal_mask(5))
        lengths = np.array([3, 0, 4])
        assert_close(F.create_padding_mask(lengths, 4), by_hand.create_padding_mask(lengths, 4))
        assert F.create_padding_mask([], 4).shape == (0, 4)

    def test_a_padding_mask_is_the_key_padding_mask_inverted(self) -> None:
        block = nn.TransformerEncoderBlock(D, H).double()
        x = Tensor(draw(3, 4, D))
        real = F.create_padding_mask([3, 1, 4], 4)
        before = block(x, key_padding_mask=~real)
        assert_close(block(x, real[:, None, None, :]), before)
        x.data[~real.data] = 1e3
        np.testing.assert_array_equal(
            block(x, key_padding_mask=~real).data[real.data], before.data[real.data]
        )


def pair(d_ff: int | None = D_FF) -> tuple[nn.TransformerEncoderBlock, Any]:
    """A block on tensors and one by hand with the same weights, none of which is 0 or 1."""
    hand = by_hand.TransformerEncoderBlock(D, H, d_ff)
    params = {name: 0.5 * draw(*p.shape) for name, p in hand.get_params().items()}
    hand.set_params(params)
    block = nn.TransformerEncoderBlock(D, H, d_ff).double()
    block.load_state_dict(hand.get_params())
    return block, hand


class TestMultiHead:
    @pytest.mark.parametrize("need_weights", [False, True])
    @masks
    def test_values_and_gradients(self, mask: Any, need_weights: bool) -> None:
        hand = by_hand.MultiHeadAttention(D, H)
        layer = nn.MultiHeadAttention(D, H, bias=False).double()
        names = {name: BY_HAND[name].removeprefix("attention.") for name in hand.get_params()}
        layer.load_state_dict({names[n]: W.T for n, W in hand.get_params().items()})
        arrays, g = [draw(N, L, D), draw(N, S, D), draw(N, S, D, seed=1)], draw(N, L, D, seed=1)
        expected = hand.forward(*arrays, mask)
        *wanted, params = hand.backward(g)

        tensors = [Tensor(array, requires_grad=True) for array in arrays]
        output = layer(*tensors, attn_mask=mask, need_weights=need_weights)
        if need_weights:
            output, weights = output
            assert_close(weights, hand.cache["weights"])
        assert_close(output, expected)
        (output * g).sum().backward()
        for tensor, other in zip(tensors, wanted, strict=True):
            assert_close(tensor.grad, other)
        for name, parameter in layer.named_parameters():
            [by] = [n for n in names if names[n] == name]
            assert_close(parameter.grad, params[by].T, name)


class TestBlock:
    @square
    @pytest.mark.parametrize("d_ff", [D_FF, None])
    def test_values_and_gradients(self, mask: Any, d_ff: int | None) -> None:
        block, hand = pair(d_ff)
        x, g = draw(N, L, D), draw(N, L, D, seed=1)
        expected = hand.forward(x, mask)
        wanted_x, wanted = hand.backward(g)

        tensor = Tensor(x, requires_grad=True)
        output = block(tensor, mask)
        assert_close(output, expected)
        (output * g).sum().backward()
        assert_close(tensor.grad, wanted_x)
        parameters = dict(block.named_parameters())
        assert {*parameters} == {*BY_HAND.values()}
        for name, path in BY_HAND.items():
            assert_close(parameters[path].grad, wanted[name].T, name)

    @square
    def test_a_stack(self, mask: Any) -> None:
        pairs = [pair() for _ in range(3)]
        hands = [hand for _, hand in pairs]
        blocks = nn.ModuleList(block for block, _ in pairs)
        x, g = draw(N, L, D), draw(N, L, D, seed=1)
        expected = by_hand.stack_encoder_blocks(x, hands, mask)
        tensor = Tensor(x, requires_grad=True)
        output = F.stack_encoder_blocks(tensor, blocks, mask)
        assert_close(output, expected)
        (output * g).sum().backward()
        grad = g
        for block, hand in reversed(list(zip(blocks, hands, strict=True))):
            grad, wanted = hand.backward(grad)
            for name, path in BY_HAND.items():
                assert_close(block.get_parameter(path).grad, wanted[name].T, name)
        assert_close(tensor.grad, grad)

    def test_defaults(self) -> None:
        block = nn.TransformerEncoderBlock(D, H)
        assert (block.d_model, block.num_heads, block.d_ff) == (D, H, 4 * D)
        assert block.norm1.eps == block.norm2.eps == 1e-6
        before = {name: p.data.copy() for name, p in block.named_parameters()}
        block.reset_parameters()
        changed = {n for n, p in block.named_parameters() if (p.data != before[n]).any()}
        assert changed == {name for name in before if not name.startswith("norm")}


class TestAQueryWithoutAKey:
    """By hand it attends to all keys alike, since -1e9 replaces all its scores; here, to none."""

    nowhere = PAIRS & (np.arange(L) != 1)[:, None]

    def test_in_dot_product_attention(self) -> None:
        Q, K, V = draw(N, L, D), draw(N, S, D), draw(N, S, D, seed=1)
        by, weights = by_hand.scaled_dot_product_attention(Q, K, V, self.nowhere)
        ours, found = F.scaled_dot_product_attention(
            *map(Tensor, (Q, K, V)), self.nowhere, output_weight=True
        )
        np.testing.assert_array_equal(weights[:, 1], np.full((N, S), 1 / S))
        np.testing.assert_allclose(by[:, 1], V.mean(axis=1))
        assert not found.data[:, 1].any()
        assert not ours.data[:, 1].any()
        assert_close(ours.data[:, [0, 2]], by[:, [0, 2]])

    def test_in_the_steps_it_depends_on_the_mask_value(self) -> None:
        scores = Tensor(draw(N, L, S))
        replaced = F.attention_weights(F.apply_attention_mask(scores, self.nowhere))
        assert (replaced.data[:, 1] == 1 / S).all()
        removed = F.attention_weights(F.apply_attention_mask(scores, self.nowhere, -np.inf))
        assert (removed.data[:, 1] == 0).all()

    def test_in_additive_attention(self) -> None:
        shapes = [(N, L, 2), (N, S, 3), (N, S, 5), (2, 7), (3, 7), (7,)]
        arrays = [draw(*shape) for shape in shapes]
        by, weights = by_hand.additive_attention(*arrays, self.nowhere)
        leaves = [Tensor(array, requires_grad=True) for array in arrays]
        ours, found = F.additive_attention(*leaves, self.nowhere)
        assert (weights[:, 1] == 1 / S).all()
        assert not found.data[:, 1].any()
        assert not ours.data[:, 1].any()
        assert_close(ours.data[:, [0, 2]], by[:, [0, 2]])
        gradcheck(lambda *leaves: F.additive_attention(*leaves, self.nowhere), leaves, directions=3)

    def test_in_the_block(self) -> None:
        block, hand = pair()
        x, mask = draw(N, L, D), np.tri(L, dtype=bool)
        mask[0] = False  # query 0 has no key
        by, ours = hand.forward(x, mask), block(Tensor(x), mask).data
        assert np.abs(by - ours)[:, 0].min() > 1e-6
        assert_close(ours[:, 1:], by[:, 1:])
        nothing = x[:, :1] + by_hand.feed_forward(
            by_hand.layer_norm(x[:, :1], hand.gamma2, hand.beta2),
            hand.W1, hand.b1, hand.W2, hand.b2,
        )  # fmt: skip
        assert_close(ours[:, :1], nothing)


class TestAdditiveModule:
    def layer(self) -> nn.AdditiveAttention:
        return nn.AdditiveAttention(2, 3, 7).double()

    def inputs(self) -> list[Tensor]:
        shapes = [(N, L, 2), (N, S, 3), (N, S, 5)]
        return [Tensor(draw(*shape), requires_grad=True) for shape in shapes]

    def test_every_mask_has_its_effect_and_they_combine(self) -> None:
        layer, tensors = self.layer(), self.inputs()
        padding = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
        keep = PAIRS & ~padding[:, None] & np.tri(L, S, dtype=bool)
        both = layer(*tensors, padding, PAIRS, True)
        assert_close(both, layer(*tensors, attn_mask=keep))
        bias = np.where(keep, 0.0, -np.inf)
        assert_close(layer(*tensors, attn_mask=bias), both)
        base = layer(*tensors).data
        for masks in ((padding,), (None, PAIRS), (None, None, True)):
            assert np.abs(layer(*tensors, *masks).data - base).max() > 1e-3


def test_the_layers_do_not_use_what_is_by_hand() -> None:
    """Else the one could not witness for the other."""
    folder = Path(nn.__file__).parent
    for path in folder.rglob("*.py"):
        if path.parent.name == "by_hand" or path == folder / "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom | ast.Import):
                assert "by_hand" not in ast.unparse(node), path
