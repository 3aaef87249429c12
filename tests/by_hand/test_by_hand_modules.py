"""Attention, positions, masks and the encoder block by hand; NumPy is all they need."""

import ast
import inspect
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.nn import by_hand

B, SEQ, MEMORY, D, H = 2, 3, 4, 6, 2
FILES = sorted(Path(by_hand.__file__).parent.glob("*.py"))
PAIRS = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1, 1]], bool)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_numpy_is_all_that_is_imported(path: Path) -> None:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    modules = {f"minigrad.nn.by_hand.{path.stem}" for path in FILES}
    assert found <= {"numpy", "typing", *modules}


def test_the_four_modules() -> None:
    assert {path.stem for path in FILES} == {
        "__init__", "attention_core", "multi_head", "positional", "transformer_block",
    }  # fmt: skip


SIGNATURES = {
    "attention_core.compute_attention_scores": "Q, K, scale=True",
    "attention_core.apply_attention_mask": "scores, mask, mask_value=-1000000000.0",
    "attention_core.attention_weights": "scores, axis=-1",
    "attention_core.scaled_dot_product_attention": "Q, K, V, mask=None",
    "attention_core.additive_attention": "Q, K, V, W_q, W_k, v, mask=None",
    "multi_head.split_heads": "x, num_heads",
    "multi_head.merge_heads": "x",
    "multi_head.multi_head_attention_forward": "Q, K, V, W_Q, W_K, W_V, W_O, num_heads, mask=None",
    "multi_head.multi_head_attention_backward": "grad_output, cache",
    "multi_head.MultiHeadAttention": "d_model, num_heads",
    "multi_head.MultiHeadAttention.forward": "self, Q, K, V, mask=None",
    "multi_head.MultiHeadAttention.backward": "self, grad_output",
    "multi_head.MultiHeadAttention.get_params": "self",
    "multi_head.MultiHeadAttention.set_params": "self, params",
    "positional.sinusoidal_encoding": "max_length, d_model",
    "positional.add_positional_encoding": "x, pe",
    "positional.learned_positional_encoding": "max_length, d_model",
    "positional.create_causal_mask": "seq_length",
    "positional.create_padding_mask": "lengths, max_length",
    "transformer_block.layer_norm": "x, gamma, beta, eps=1e-06",
    "transformer_block.layer_norm_backward": "grad_output, x, gamma, eps=1e-06",
    "transformer_block.feed_forward": "x, W1, b1, W2, b2",
    "transformer_block.TransformerEncoderBlock": "d_model, num_heads, d_ff=None",
    "transformer_block.TransformerEncoderBlock.forward": "self, x, mask=None",
    "transformer_block.TransformerEncoderBlock.backward": "self, grad_output",
    "transformer_block.stack_encoder_blocks": "x, blocks, mask=None",
}


@pytest.mark.parametrize("path", SIGNATURES)
def test_names_parameters_and_defaults(path: str) -> None:
    wanted = inspect.signature(operator.attrgetter(path)(by_hand)).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in wanted]
    assert str(inspect.Signature(plain)) == f"({SIGNATURES[path]})"


class TestAttention:
    """Its values and derivatives are compared with those of tensors, in tests/nn."""

    def test_range_of_weights(self) -> None:
        np.testing.assert_array_equal(by_hand.attention_weights(np.array([1000.0, 0.0])), [1, 0])
        np.testing.assert_array_equal(by_hand.attention_weights(np.full(2, -np.inf)), [0, 0])
        np.testing.assert_array_equal(by_hand.attention_weights(np.array([3, 3])), [0.5, 0.5])
        assert by_hand.attention_weights(np.empty((2, 0))).shape == (2, 0)

    def test_float32_stays(self) -> None:
        Q, K, V = (draw(B, n, D).astype(np.float32) for n in (SEQ, MEMORY, MEMORY))
        output, weights = by_hand.scaled_dot_product_attention(Q, K, V, PAIRS)
        grads = by_hand.scaled_dot_product_attention_backward(output, Q, K, V, weights, PAIRS)
        assert {x.dtype for x in (output, weights, *grads)} == {np.dtype(np.float32)}

    def test_no_keys(self) -> None:
        nothing = draw(B, 0, D)
        output, _ = by_hand.scaled_dot_product_attention(draw(B, SEQ, D), nothing, nothing)
        np.testing.assert_array_equal(output, np.zeros((B, SEQ, D)))

    def test_masks_with_and_without_head_axis(self) -> None:
        layer = by_hand.MultiHeadAttention(D, H)
        Q, K = draw(B, SEQ, D), draw(B, MEMORY, D)
        expected = layer.forward(Q, K, K, PAIRS)
        full = np.broadcast_to(PAIRS, (B, H, SEQ, MEMORY))
        for mask in (PAIRS[None], full[:, 0], full[:, :1], full[:1], full):
            np.testing.assert_array_equal(layer.forward(Q, K, K, mask), expected)
        of_batch = np.stack([PAIRS, ~PAIRS])
        with_heads = layer.forward(Q, K, K, of_batch[:, None])
        np.testing.assert_array_equal(layer.forward(Q, K, K, of_batch), with_heads)


class TestParameters:
    def test_attributes(self) -> None:
        layer = by_hand.MultiHeadAttention(D, H)
        assert (layer.d_model, layer.num_heads, layer.d_k) == (D, H, D // H)
        assert {name: W.shape for name, W in layer.get_params().items()} == dict.fromkeys(
            ("W_Q", "W_K", "W_V", "W_O"), (D, D)
        )
        block = by_hand.TransformerEncoderBlock(D, H)
        assert (block.d_model, block.num_heads, block.d_ff) == (D, H, 4 * D)
        assert isinstance(block.attention, by_hand.MultiHeadAttention)
        assert {name: p.shape for name, p in block.get_params().items()} == {
            **dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (D, D)),
            "W1": (D, 4 * D), "b1": (4 * D,), "W2": (4 * D, D), "b2": (D,),
            **dict.fromkeys(("gamma1", "beta1", "gamma2", "beta2"), (D,)),
        }  # fmt: skip
        assert by_hand.TransformerEncoderBlock(D, H, 5).W1.shape == (D, 5)
        assert by_hand.MultiHeadAttention(1, 1).d_k == 1

    @pytest.mark.usefixtures("global_random")
    def test_no_two_layers_begin_alike(self) -> None:
        np.random.seed(0)  # noqa: NPY002
        a = by_hand.MultiHeadAttention(D, H)
        np.random.seed(0)  # noqa: NPY002
        b = by_hand.MultiHeadAttention(D, H)
        drawn = [*a.get_params().values(), *b.get_params().values()]
        assert len({array.tobytes() for array in drawn}) == 8
        tables = [by_hand.learned_positional_encoding(50, 40) for _ in range(2)]
        assert (tables[0] != tables[1]).all()
        assert tables[0].std() == pytest.approx(0.02, rel=0.1)
        assert tables[0].mean() == pytest.approx(0, abs=0.003)

    def test_weights_begin_within_xaviers_bound(self) -> None:
        block = by_hand.TransformerEncoderBlock(64, 2, 100)
        for name, weight in block.get_params().items():
            if weight.ndim == 2:
                bound = (6 / sum(weight.shape)) ** 0.5
                found = weight.min(), weight.max()
                assert found == pytest.approx((-bound, bound), rel=0.01), name

    @pytest.mark.parametrize("kind", [by_hand.MultiHeadAttention, by_hand.TransformerEncoderBlock])
    def test_get_and_set_copy_all_or_nothing(self, kind: Any) -> None:
        layer = kind(D, H)
        params = layer.get_params()
        new = {name: draw(*array.shape) for name, array in params.items()}
        layer.set_params(new)
        for name, array in layer.get_params().items():
            np.testing.assert_array_equal(array, new[name])
            kept = array.copy()
            array += 1
            new[name] += 1
            np.testing.assert_array_equal(layer.get_params()[name], kept)
        params = layer.get_params()
        wrong = {name: array + 1 for name, array in params.items() if name != "W_K"}
        wrong |= {"W_V": np.ones(3), "W_X": np.ones(3)}
        with pytest.raises(ValueError, match=r"W_K .*W_V .*\(3,\).*W_X"):
            layer.set_params(wrong)
        for name, array in layer.get_params().items():
            np.testing.assert_array_equal(array, params[name])


class TestPositions:
    def test_every_entry(self) -> None:
        encodings = by_hand.sinusoidal_encoding(7, 6)
        for pos, i in np.ndindex(7, 3):
            angle = pos / 10000 ** (2 * i / 6)
            assert encodings[pos, 2 * i] == pytest.approx(np.sin(angle), abs=1e-12)
            assert encodings[pos, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-12)

    def test_padding_and_causality_together(self) -> None:
        padding = by_hand.create_padding_mask(np.array([3, 0, 2]), 3)
        np.testing.assert_array_equal(padding.sum(axis=1), [3, 0, 2])
        both = by_hand.create_causal_mask(3) & padding[:, None, None, :]
        assert both.shape == (3, 1, 3, 3)
        np.testing.assert_array_equal(both[2, 0], [[1, 0, 0], [1, 1, 0], [1, 1, 0]])
        assert by_hand.create_causal_mask(0).shape == (0, 0)
        assert by_hand.create_padding_mask(np.array([]), 3).shape == (0, 3)
