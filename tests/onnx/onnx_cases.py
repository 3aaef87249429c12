"""Models to export, with inputs of any batch and length: what the tests and the table run over."""

from collections.abc import Callable
from typing import Any, NamedTuple

import char_lm
import numpy as np

import minigrad
from minigrad import Tensor, nn
from minigrad.nn import functional as F

WIDTH, HEADS = 16, 4


class Case(NamedTuple):
    """A model, and how its inputs are made for a batch and a length.

    Attributes:
        name: What it is called in the table.
        make: Makes the model.
        inputs: From a batch and a length to the arguments of forward, by name.
        at: The batches and lengths other than (2, 5) at which the file is run.
    """

    name: str
    make: Callable[[], nn.Module]
    inputs: Callable[[int, int], dict[str, Any]]
    at: tuple[tuple[int, int], ...] = ((3, 9), (1, 1))

    @property
    def axes(self) -> dict[str, dict[int, str]]:
        """The dynamic axes: those whose size depends on the batch and the length."""
        return {
            name: {i: f"size_{n}" for i, n in enumerate(one.shape) if other.shape[i] != n}
            for (name, one), other in zip(
                self.inputs(2, 5).items(), self.inputs(3, 9).values(), strict=True
            )
            if isinstance(one, (Tensor, np.ndarray))
        }


class Wrapped(nn.Module):
    """A function of a tensor, and of a mask if there is one, as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any, mask: Any = None) -> Any:
        return self.function(x) if mask is None else self.function(x, mask)


class Model(nn.Module):
    """A function of a module and a tensor as a module; it has a layer, a parameter and a buffer."""

    def __init__(self, function: Callable[[Any, Tensor], Any]) -> None:
        super().__init__()
        self.function = function
        self.linear = nn.Linear(4, 4)
        self.scale = nn.Parameter(minigrad.full((1,), 2.0))
        self.register_buffer("count", minigrad.zeros(4))

    def forward(self, x: Tensor) -> Any:
        return self.function(self, x)


class Rotated(nn.Module):
    """Causal attention of rotated queries and keys."""

    def __init__(self, interleaved: bool = True) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rotary = nn.RotaryPosEmbedding(WIDTH // HEADS, interleaved=interleaved)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (F.split_heads(one, HEADS) for one in (self.query(x), self.key(x), x))
        q, k = self.rotary(q), self.rotary(k)
        return F.merge_heads(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class LinearBiases(nn.Module):
    """Attention with ALiBi."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiHeadAttention(WIDTH, HEADS)

    def forward(self, x: Tensor) -> Tensor:
        places = np.arange(x.shape[1], dtype=np.float32)
        slopes = 2.0 ** -np.arange(1, HEADS + 1, dtype=np.float32)
        bias = minigrad.tensor(-slopes[:, None, None] * abs(places[:, None] - places))[None]
        return self.attention(x, x, x, attn_mask=bias, is_causal=True)


class Bert(nn.Module):
    """Words, segments and learned positions; an encoder under a padding mask; a pooled output."""

    def __init__(self, words: int = 30) -> None:
        super().__init__()
        self.words, self.segments = nn.Embedding(words, WIDTH), nn.Embedding(2, WIDTH)
        self.positions = nn.LearnedPosEmbedding(12, WIDTH)
        self.norm, self.dropout = nn.LayerNorm(WIDTH), nn.Dropout(0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 32, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.pooler = nn.Linear(WIDTH, WIDTH)

    def forward(self, ids: Any, segments: Any, padding: Any) -> dict[str, Tensor]:
        x = self.positions(self.words(ids) + self.segments(segments))
        x = self.encoder(self.dropout(self.norm(x)), src_key_padding_mask=padding)
        return {"hidden": x, "pooled": minigrad.tanh(self.pooler(x[:, 0]))}


class Llama(nn.Module):
    """Root-mean-square norms, grouped queries, a gated feed-forward network."""

    def __init__(self, words: int = 30) -> None:
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.positions = nn.SinusoidalPosEmbedding()
        self.norm1, self.norm2, self.last = (nn.RMSNorm(WIDTH) for _ in range(3))
        self.attention = nn.MultiHeadAttention(WIDTH, HEADS, bias=False, num_kv_heads=2)
        self.forwards = nn.SwiGLU(WIDTH)

    def forward(self, ids: Any) -> Tensor:
        x = self.positions(self.words(ids))
        normal = self.norm1(x)
        x = x + self.attention(normal, normal, normal, is_causal=True)
        x = x + self.forwards(self.norm2(x))
        return F.linear(self.last(x), self.words.weight)


class Residual(nn.Module):
    """A small residual network for images, as ResNet has it."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, stride=2, padding=1, bias=False)
        self.bn1, self.pool = nn.BatchNorm2d(width), nn.MaxPool2d(3, 2, 1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, groups=2)
        self.bn2, self.average = nn.BatchNorm2d(width), nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(width, 5)
        for norm in (self.bn1, self.bn2):  # as after some training
            nn.init.uniform(norm.running_mean, -1.0, 1.0)
            nn.init.uniform(norm.running_var, 0.5, 2.0)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = F.relu(x + self.bn2(self.conv2(x)))
        return self.head(self.average(x).flatten(1))


class Tagger(nn.Module):
    """Words, a bidirectional LSTM of two layers, and a tag for each word."""

    def __init__(self, words: int = 30) -> None:
        super().__init__()
        self.words = nn.Embedding(words, WIDTH)
        self.lstm = nn.LSTM(WIDTH, 8, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(16, 4)

    def forward(self, ids: Any) -> Tensor:
        return self.head(self.lstm(self.words(ids))[0])


def images(n: int, length: int) -> dict[str, Any]:
    return {"x": minigrad.randn(n, 3, length + 8, length + 11)}


def sequence(n: int, length: int, name: str = "x") -> dict[str, Any]:
    return {name: minigrad.randn(n, length, WIDTH)}


def ids(n: int, length: int, words: int = 30) -> np.ndarray:
    return minigrad.random.generator().integers(0, words, (n, length))


def padding(n: int, length: int) -> np.ndarray:
    return np.arange(length) >= np.maximum(length - np.arange(n)[:, None], 1)


def made(options: dict[str, Any], n: int, length: int) -> dict[str, Any]:
    return {k: v(n, length) if callable(v) else v for k, v in options.items()}


def self_attention(**more: Any) -> Callable[[int, int], dict[str, Any]]:
    def inputs(n: int, length: int) -> dict[str, Any]:
        x = minigrad.randn(n, length, WIDTH)
        return {"query": x, "key": x * 0.5, "value": x + 1, **made(more, n, length)}

    return inputs


def bools(_n: int, length: int) -> np.ndarray:
    return minigrad.random.generator().random((length, length)) < 0.7


def floats(n: int, length: int) -> np.ndarray:
    return minigrad.randn(n, 1, length, length).numpy()


def attention(**options: Any) -> Callable[[], nn.Module]:
    return lambda: nn.MultiHeadAttention(WIDTH, HEADS, **options)


def encoder_layer(**options: Any) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(WIDTH, HEADS, 32, **options)


def decoder_layer(**options: Any) -> nn.TransformerDecoderLayer:
    return nn.TransformerDecoderLayer(WIDTH, HEADS, 32, **options)


def target(**more: Any) -> Callable[[int, int], dict[str, Any]]:
    def inputs(n: int, length: int) -> dict[str, Any]:
        inner = {**sequence(n, length, "tgt"), **sequence(n, length + 2, "memory")}
        return inner | made(more, n, length)

    return inputs


def given(n: int, length: int) -> dict[str, Any]:
    return sequence(n, length, "input")


def image(n: int, length: int) -> dict[str, Any]:
    return {"input": images(n, length)["x"]}


def masked(name: str, causal: bool = True, weights: bool = False, **options: Any) -> Case:
    """Attention with a padding mask."""
    more = {"is_causal": causal} | ({"need_weights": True} if weights else {})
    inputs = self_attention(key_padding_mask=padding, **more)
    return Case(f"MultiHeadAttention, {name}", attention(**options), inputs)


CASES = [
    Case("Linear", lambda: nn.Linear(WIDTH, 8), given),
    Case("Linear, no bias", lambda: nn.Linear(WIDTH, 8, bias=False), given),
    Case("Embedding", lambda: nn.Embedding(30, WIDTH, padding_idx=0),
         lambda n, t: {"input": ids(n, t)}),
    Case("LayerNorm", lambda: nn.LayerNorm(WIDTH), given),
    Case("LayerNorm, no weight", lambda: nn.LayerNorm(WIDTH, elementwise_affine=False), given),
    Case("RMSNorm", lambda: nn.RMSNorm(WIDTH), lambda n, t: sequence(n, t, "x")),
    Case("SwiGLU", lambda: nn.SwiGLU(WIDTH), given),
    Case("Dropout", lambda: nn.Dropout(0.5), given),
    Case("MultiHeadAttention", attention(), self_attention()),
    Case("MultiHeadAttention, causal", attention(), self_attention(is_causal=True)),
    masked("padding mask", causal=False),
    Case("MultiHeadAttention, bool mask", attention(), self_attention(attn_mask=bools)),
    Case("MultiHeadAttention, float mask", attention(), self_attention(attn_mask=floats)),
    Case("MultiHeadAttention, all masks", attention(),
         self_attention(attn_mask=bools, key_padding_mask=padding, is_causal=True)),
    masked("weights", weights=True),
    masked("grouped", num_kv_heads=2),
    masked("extra keys", add_bias_kv=True, add_zero_attn=True),
    Case("SinusoidalPosEmbedding", lambda: nn.SinusoidalPosEmbedding(None, WIDTH), given),
    Case("LearnedPosEmbedding", lambda: nn.LearnedPosEmbedding(12, WIDTH), given),
    Case("RotaryPosEmbedding, interleaved", Rotated, sequence),
    Case("RotaryPosEmbedding, halves", lambda: Rotated(interleaved=False), sequence),
    Case("ALiBi", LinearBiases, sequence),
    Case("TransformerEncoderLayer", encoder_layer, lambda n, t: sequence(n, t, "src")),
    Case("TransformerEncoderLayer, pre-norm, GELU",
         lambda: encoder_layer(norm_first=True, activation="gelu"),
         lambda n, t: {**sequence(n, t, "src"), "is_causal": True}),
    Case("TransformerEncoder, masked",
         lambda: nn.TransformerEncoder(encoder_layer(num_kv_heads=1), 2, nn.LayerNorm(WIDTH)),
         lambda n, t: {**sequence(n, t, "src"), "src_mask": bools(n, t),
                       "src_key_padding_mask": padding(n, t)}),
    Case("TransformerDecoderLayer", decoder_layer, target(tgt_is_causal=True)),
    Case("TransformerDecoderLayer, two padding masks", decoder_layer,
         target(tgt_key_padding_mask=padding,
                mem_key_padding_mask=lambda n, t: padding(n, t + 2))),
    Case("TransformerDecoder, masked",
         lambda: nn.TransformerDecoder(decoder_layer(norm_first=True), 2, nn.LayerNorm(WIDTH)),
         target(tgt_is_causal=True, mem_key_padding_mask=lambda n, t: padding(n, t + 2))),
    Case("Transformer", lambda: nn.Transformer(WIDTH, HEADS, 1, 1, 32),
         lambda n, t: {**sequence(n, t, "src"), **sequence(n, t + 1, "tgt"),
                       "tgt_is_causal": True}),
    Case("TransformerBlock", lambda: nn.TransformerBlock(WIDTH, WIDTH, HEADS, WIDTH), given),
    Case("Conv1d", lambda: nn.Conv1d(WIDTH, 8, 3, stride=2, padding=1),
         lambda n, t: {"input": minigrad.randn(n, WIDTH, t + 4)}),
    Case("ConvTranspose2d", lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), image),
    Case("GroupNorm", lambda: nn.GroupNorm(3, 3), image),
    Case("RNN", lambda: nn.RNN(WIDTH, 8, nonlinearity="relu", batch_first=False),
         lambda n, t: {"input": minigrad.randn(t, n, WIDTH)}),
    Case("LSTM", lambda: nn.LSTM(WIDTH, 8, batch_first=True), given),
    Case("GRU, two layers, both ways",
         lambda: nn.GRU(WIDTH, 8, num_layers=2, batch_first=True, bidirectional=True),
         lambda n, t: {**sequence(n, t, "input"), "hx": minigrad.randn(4, n, 8)}),
    Case("GRU, no bias", lambda: nn.GRU(WIDTH, 8, bias=False, batch_first=True), given),
    Case("ResNet-like", Residual, images),
    Case("LSTM tagger", Tagger, lambda n, t: {"ids": ids(n, t)}),
    Case("GPT of examples/char_lm.py", lambda: char_lm.Writer("abcdefghij", 32, 4, 2),
         lambda n, t: {"ids": ids(n, t, 10)}, at=((3, 9), (1, 1), (2, 64))),
    Case("BERT-like", Bert,
         lambda n, t: {"ids": ids(n, t), "segments": ids(n, t, 2), "padding": padding(n, t)},
         at=((3, 9), (1, 1), (2, 12))),
    Case("Llama-like", Llama, lambda n, t: {"ids": ids(n, t)}, at=((3, 9), (1, 1), (2, 200))),
]  # fmt: skip


def print_table() -> None:
    """Print the largest difference of each case, as docs/onnx.md has it."""
    import tempfile
    from pathlib import Path

    from test_onnx_layers import difference

    print("| layer | operators | largest difference |\n|---|---|---|")
    for case in CASES:
        minigrad.random.seed(0)
        path = Path(tempfile.mkdtemp(), "model.onnx")
        model = case.make().eval()
        minigrad.onnx.export(model, case.inputs(2, 5), path, dynamic_axes=case.axes)
        worst = max(difference(model, path, case.inputs(*at)) for at in ((2, 5), *case.at))
        nodes = len(onnx.load(path).graph.node)
        print(f"| {case.name} | {nodes} | {f'{worst:.1e}' if worst else 0} |")


if __name__ == "__main__":
    import onnx

    print_table()
