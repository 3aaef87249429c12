"""Attention by hand and on tensors: with equal weights, the same outputs and the same gradients."""

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
from minigrad.nn.source_documents.blocks import BY_HAND

N, L, S, D, H, D_FF = 2, 3, 4, 6, 2, 5
RTOL, ATOL = 1e-10, 1e-12
ADDITIVE = [(N, L, 2), (N, S, 3), (N, S, 5), (2, 7), (3, 7), (7,)]  # Q, K, V, W_q, W_k, v
PAIRS = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]], bool)
MASKS: dict[str, Any] = {
    "none": None, "pairs": PAIRS, "batch": np.stack([PAIRS, PAIRS[::-1]]),
    "keys": np.array([[True, True, False, True]]),
}  # fmt: skip
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


def same(ours: Callable[..., Tensor], arrays: Any, expected: np.ndarray, wanted: Any) -> None:
    """A function of tensors has the values, and the gradients for a cotangent, of one by hand."""
    g = draw(*expected.shape, seed=1)
    leaves = [minigrad.tensor(array, requires_grad=True) for array in arrays]
    output = ours(*leaves)
    assert_close(output, expected)
    grads = minigrad.autograd.grad((output * g).sum(), leaves)
    for k, (grad, other) in enumerate(zip(grads, wanted(g), strict=True)):
        assert_close(grad, other, f"gradient {k}")


def leaves_and_gradients(call: Any, arrays: list[np.ndarray], expected: np.ndarray) -> list[Tensor]:
    """The gradients of inputs when a module is called, those of its parameters are in `grad`."""
    tensors = [minigrad.tensor(array, requires_grad=True) for array in arrays]
    output = call(*tensors)
    assert_close(output, expected)
    (output * draw(*expected.shape, seed=1)).sum().backward()
    return [tensor.grad for tensor in tensors]


class TestSteps:
    @pytest.mark.parametrize("scale", [True, False])
    def test_scores(self, scale: bool) -> None:
        Q, K = draw(N, L, D), draw(N, S, D)
        factor = D**-0.5 if scale else 1.0
        same(lambda q, k: F.compute_attention_scores(q, k, scale), [Q, K],
             by_hand.compute_attention_scores(Q, K, scale),
             lambda g: (g @ K * factor, g.swapaxes(1, 2) @ Q * factor))  # fmt: skip

    @masks
    def test_mask(self, mask: Any) -> None:
        mask = np.ones(S, bool) if mask is None else mask
        scores = draw(N, L, S)
        for value in (-1e9, -3.0):
            for given in (mask, minigrad.tensor(mask)):
                same(lambda s, given=given, value=value: F.apply_attention_mask(s, given, value),
                     [scores], by_hand.apply_attention_mask(scores, mask, value),
                     lambda g: [np.where(mask, g, 0)])  # fmt: skip

    @pytest.mark.parametrize("axis", [-1, 0, 1])
    def test_weights(self, axis: int) -> None:
        scores = draw(N, L, S)
        expected = by_hand.attention_weights(scores, axis)
        same(lambda s: F.attention_weights(s, axis), [scores], expected,
             lambda g: [by_hand.attention_weights_backward(g, expected, axis)])  # fmt: skip

    @masks
    def test_scaled_dot_product_attention(self, mask: Any) -> None:
        arrays = [draw(N, L, D), draw(N, S, D), draw(N, S, 5)]
        expected, weights = by_hand.scaled_dot_product_attention(*arrays, mask)

        def stepwise(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            scores = F.compute_attention_scores(q, k)
            if mask is not None:
                scores = F.apply_attention_mask(scores, mask)
            return F.attention_weights(scores) @ v

        def composed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            output, found = F.scaled_dot_product_attention(q, k, v, mask, output_weight=True)
            assert_close(found, weights)
            return output

        backward = by_hand.scaled_dot_product_attention_backward
        for function in (
            stepwise, composed, lambda *qkv: F.scaled_dot_product_attention(*qkv, mask),
        ):  # fmt: skip
            same(function, arrays, expected, lambda g: backward(g, *arrays, weights, mask))

    @pytest.mark.parametrize("heads", [1, 2, 3])
    def test_heads(self, heads: int) -> None:
        x, h = draw(N, L, D), draw(N, heads, L, D // heads)
        split, merge = by_hand.split_heads, by_hand.merge_heads
        same(lambda x: F.split_heads(x, heads), [x], split(x, heads), lambda g: [merge(g)])
        same(F.merge_heads, [h], merge(h), lambda g: [split(g, heads)])

    @masks
    def test_additive_attention(self, mask: Any) -> None:
        arrays = [draw(*shape) for shape in ADDITIVE]
        expected, weights = by_hand.additive_attention(*arrays, mask)

        def wanted(g: np.ndarray) -> list[np.ndarray]:
            *grads, params = by_hand.additive_attention_backward(g, *arrays, mask)
            return [*grads, *params.values()]

        def function(*tensors: Tensor) -> Tensor:
            output, found = F.additive_attention(*tensors, mask)
            assert_close(found, weights)
            return output

        same(function, arrays, expected, wanted)
        layer = nn.AdditiveAttention(2, 3, 7).double()
        layer.load_state_dict(dict(zip(("W_q", "W_k", "v"), arrays[3:], strict=True)))
        grads = leaves_and_gradients(
            lambda *x: layer(*x, attn_mask=mask, need_weights=True)[0], arrays[:3], expected
        )
        grads += [layer.W_q.grad, layer.W_k.grad, layer.v.grad]
        for grad, other in zip(grads, wanted(draw(*expected.shape, seed=1)), strict=True):
            assert_close(grad, other)

    def test_feed_forward(self) -> None:
        arrays = [draw(N, L, D), draw(D, D_FF), draw(D_FF), draw(D_FF, D), draw(D)]

        def wanted(g: np.ndarray) -> list[np.ndarray]:
            x, params = by_hand.feed_forward_backward(g, *arrays[:4])
            return [x, *params.values()]

        same(F.feed_forward, arrays, by_hand.feed_forward(*arrays), wanted)

    @pytest.mark.parametrize("eps", [1e-6, 0.3])
    def test_layer_norm(self, eps: float) -> None:
        arrays = [draw(N, L, D), draw(D), draw(D, seed=1)]
        same(lambda x, w, b: F.layer_norm(x, D, w, b, eps), arrays,
             by_hand.layer_norm(*arrays, eps),
             lambda g: by_hand.layer_norm_backward(g, *arrays[:2], eps))  # fmt: skip


class TestPositionsAndMasks:
    def test_sinusoidal(self) -> None:
        expected = by_hand.sinusoidal_encoding(9, 8)
        assert_close(F.sinusoidal_encoding(9, 8, dtype=minigrad.float64), expected)
        assert F.sinusoidal_encoding(9, 8).dtype == minigrad.get_default_dtype()
        np.testing.assert_allclose(F.sinusoidal_encoding(9, 8).numpy(), expected, atol=1e-7)
        assert F.sinusoidal_encoding(0, 0).shape == by_hand.sinusoidal_encoding(0, 0).shape

    def test_adding_reaches_both(self) -> None:
        x, pe = draw(N, L, D), draw(7, D)
        same(F.add_positional_encoding, [x, pe], by_hand.add_positional_encoding(x, pe),
             lambda g: (g, np.vstack([g.sum(axis=0), np.zeros((7 - L, D))])))  # fmt: skip

    def test_learned(self) -> None:
        minigrad.random.seed(3)
        first, second = (F.learned_positional_encoding(50, 40) for _ in range(2))
        assert (first.numpy() != second.numpy()).any()
        minigrad.random.seed(3)
        np.testing.assert_array_equal(F.learned_positional_encoding(50, 40).numpy(), first.numpy())
        assert first.numpy().std() == pytest.approx(0.02, rel=0.1)
        assert isinstance(first, nn.Parameter)
        assert first.shape == by_hand.learned_positional_encoding(50, 40).shape

    def test_masks(self) -> None:
        assert_close(F.create_causal_mask(5), by_hand.create_causal_mask(5))
        lengths = np.array([3, 0, 4])
        assert_close(F.create_padding_mask(lengths, 4), by_hand.create_padding_mask(lengths, 4))
        assert F.create_padding_mask([], 4).shape == (0, 4)

    def test_a_padding_mask_is_the_key_padding_mask_inverted(self) -> None:
        block = nn.TransformerEncoderBlock(D, H).double()
        x = minigrad.tensor(draw(3, 4, D))
        real = F.create_padding_mask([3, 1, 4], 4)
        before = block(x, key_padding_mask=~real)
        assert_close(block(x, real[:, None, None, :]), before)
        x.data[~real.numpy()] = 1e3
        np.testing.assert_array_equal(
            block(x, key_padding_mask=~real).numpy()[real.numpy()], before.numpy()[real.numpy()]
        )


def pair(d_ff: int | None = D_FF) -> tuple[nn.TransformerEncoderBlock, Any]:
    """A block on tensors and one by hand with the same weights, none of which is 0 or 1."""
    hand = by_hand.TransformerEncoderBlock(D, H, d_ff)
    params = {name: 0.5 * draw(*p.shape) for name, p in hand.get_params().items()}
    hand.set_params(params)
    block = nn.TransformerEncoderBlock(D, H, d_ff).double()
    block.load_state_dict(hand.get_params())
    return block, hand


@pytest.mark.parametrize("need_weights", [False, True])
@masks
def test_multi_head_attention(mask: Any, need_weights: bool) -> None:
    hand = by_hand.MultiHeadAttention(D, H)
    layer = nn.MultiHeadAttention(D, H, bias=False).double()
    names = {name: BY_HAND[name].removeprefix("attention.") for name in hand.get_params()}
    layer.load_state_dict({names[n]: W.T for n, W in hand.get_params().items()})
    arrays = [draw(N, L, D), draw(N, S, D), draw(N, S, D, seed=1)]
    expected = hand.forward(*arrays, mask)
    *wanted, params = hand.backward(draw(N, L, D, seed=1))

    def call(*tensors: Tensor) -> Tensor:
        output = layer(*tensors, attn_mask=mask, need_weights=need_weights)
        if need_weights:
            output, weights = output
            assert_close(weights, hand.cache["weights"])
        return output

    for grad, other in zip(leaves_and_gradients(call, arrays, expected), wanted, strict=True):
        assert_close(grad, other)
    for name, path in names.items():
        assert_close(layer.get_parameter(path).grad, params[name].T, name)


@square
@pytest.mark.parametrize(("d_ff", "depth"), [(D_FF, 1), (None, 1), (D_FF, 3)])
def test_blocks_and_stacks(mask: Any, d_ff: int | None, depth: int) -> None:
    blocks, hands = zip(*(pair(d_ff) for _ in range(depth)), strict=True)
    x, grad = draw(N, L, D), draw(N, L, D, seed=1)
    expected = by_hand.stack_encoder_blocks(x, list(hands), mask)
    call = lambda x: F.stack_encoder_blocks(x, nn.ModuleList(blocks), mask)
    if depth == 1:
        call = lambda x: blocks[0](x, mask)
    [found] = leaves_and_gradients(call, [x], expected)
    for block, hand in reversed(list(zip(blocks, hands, strict=True))):
        grad, wanted = hand.backward(grad)
        assert {name for name, _ in block.named_parameters()} == {*BY_HAND.values()}
        for name, path in BY_HAND.items():
            assert_close(block.get_parameter(path).grad, wanted[name].T, name)
    assert_close(found, grad)


def test_defaults_of_the_block() -> None:
    block = nn.TransformerEncoderBlock(D, H)
    assert (block.d_model, block.num_heads, block.d_ff) == (D, H, 4 * D)
    assert block.norm1.eps == block.norm2.eps == 1e-6
    before = {name: p.numpy().copy() for name, p in block.named_parameters()}
    block.reset_parameters()
    changed = {n for n, p in block.named_parameters() if (p.numpy() != before[n]).any()}
    assert changed == {name for name in before if not name.startswith("norm")}


class TestAQueryWithoutAKey:
    """By hand it attends to all keys alike, since -1e9 replaces all its scores; here, to none."""

    nowhere = PAIRS & (np.arange(L) != 1)[:, None]

    @pytest.mark.parametrize("name", ["scaled_dot_product_attention", "additive_attention"])
    def test_in_attention(self, name: str) -> None:
        additive = name == "additive_attention"
        shapes = ADDITIVE if additive else [(N, L, D), (N, S, D), (N, S, D)]
        arrays = [draw(*shape, seed=k) for k, shape in enumerate(shapes)]
        leaves = [minigrad.tensor(array, requires_grad=True) for array in arrays]
        options = {} if additive else {"output_weight": True}
        call = lambda *x: getattr(F, name)(*x, self.nowhere, **options)
        by, weights = getattr(by_hand, name)(*arrays, self.nowhere)
        ours, found = call(*leaves)
        assert (weights[:, 1] == 1 / S).all()
        np.testing.assert_allclose(by[:, 1], arrays[2].mean(axis=1))
        given = arrays if additive else [*arrays, weights]
        backward = getattr(by_hand, f"{name}_backward")
        assert not backward(draw(*by.shape), *given, self.nowhere)[0][:, 1].any()
        assert not found.numpy()[:, 1].any()
        assert not ours.numpy()[:, 1].any()
        assert_close(ours.numpy()[:, [0, 2]], by[:, [0, 2]])
        gradcheck(call, leaves, directions=3)

    def test_in_the_steps_it_depends_on_the_mask_value(self) -> None:
        scores = minigrad.tensor(draw(N, L, S))
        replaced = F.attention_weights(F.apply_attention_mask(scores, self.nowhere))
        assert (replaced.numpy()[:, 1] == 1 / S).all()
        removed = F.attention_weights(F.apply_attention_mask(scores, self.nowhere, -np.inf))
        assert (removed.numpy()[:, 1] == 0).all()

    def test_in_the_block(self) -> None:
        block, hand = pair()
        x, mask = draw(N, L, D), np.tri(L, dtype=bool)
        mask[0] = False  # query 0 has no key
        by, ours = hand.forward(x, mask), block(minigrad.tensor(x), mask).numpy()
        assert np.abs(by - ours)[:, 0].min() > 1e-6
        assert_close(ours[:, 1:], by[:, 1:])
        nothing = x[:, :1] + by_hand.feed_forward(
            by_hand.layer_norm(x[:, :1], hand.gamma2, hand.beta2),
            hand.W1, hand.b1, hand.W2, hand.b2,
        )  # fmt: skip
        assert_close(ours[:, :1], nothing)


def test_masks_of_additive_attention_have_an_effect_and_combine() -> None:
    layer = nn.AdditiveAttention(2, 3, 7).double()
    tensors = [minigrad.tensor(draw(*shape)) for shape in ADDITIVE[:3]]
    padding = np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool)
    keep = PAIRS & ~padding[:, None] & np.tri(L, S, dtype=bool)
    both = layer(*tensors, padding, PAIRS, True)
    assert_close(both, layer(*tensors, attn_mask=keep))
    assert_close(layer(*tensors, attn_mask=np.where(keep, 0.0, -np.inf)), both)
    base = layer(*tensors).numpy()
    for masks in ((padding,), (None, PAIRS), (None, None, True)):
        assert np.abs(layer(*tensors, *masks).numpy() - base).max() > 1e-3


def test_the_layers_do_not_use_what_is_by_hand() -> None:
    """Else the one could not witness for the other."""
    folder = Path(nn.__file__).parent
    for path in folder.rglob("*.py"):
        if path.parent.name == "by_hand" or path == folder / "__init__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom | ast.Import):
                assert "by_hand" not in ast.unparse(node), path
