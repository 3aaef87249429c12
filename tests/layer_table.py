"""The one table of layers: each line makes a layer, and says the shapes of its inputs.

A new layer is one line here. The tests of argument checks, dtypes, memory layouts and derivatives
run over it, and compare each layer that PyTorch has with its own. Layers whose inputs are not
tensors of floats alone have no shapes here; test_higher_orders_of_layers.py calls them, and calls
others with masks, targets and states.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest

from minigrad import nn

__all__ = ["LAYERS", "Layer", "cases", "layer", "needs_of"]

Shapes = list[tuple[int, ...]]


class Layer(NamedTuple):
    """A way to make a layer.

    Attributes:
        kind: The name of its class.
        sizes: The arguments by position.
        options: The arguments by keyword.
        shapes: The shapes of its inputs; empty if they are not tensors of floats alone.
    """

    kind: str
    sizes: tuple[Any, ...]
    options: dict[str, Any]
    shapes: Shapes

    def make(self) -> Any:
        return getattr(nn, self.kind)(*self.sizes, **self.options)

    def __str__(self) -> str:
        options = (f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.kind}({', '.join([*map(repr, self.sizes), *options])})"


def layer(kind: str, *sizes: Any, of: Shapes = [], **options: Any) -> Layer:  # noqa: B006
    """A line of the table."""
    return Layer(kind, sizes, options, of)


def cases(lines: Iterable[Layer]) -> list[Any]:
    """Lines as the parameters of a test, skipped where they need what is not there."""
    return [pytest.param(line, id=str(line), marks=needs_of(line.kind)) for line in lines]


def needs_of(kind: str) -> Any:
    """The marks of a test of a layer."""
    return pytest.mark.needs("einops") if kind in NEED_EINOPS else ()


NEED_EINOPS = ("CausalSelfAttention", "EinMix", "Rearrange", "Reduce")
VECTORS = [(4, 5)]
SEQUENCES = [(2, 3, 4)]  # batch, length, width
CHANNELS = [(2, 4, 5)]
IMAGES = [(2, 4, 3, 5)]
WINDOW = {"stride": 2, "groups": 2}
STACK = {"num_layers": 2, "bidirectional": True, "batch_first": True}

LAYERS = [
    layer("Identity", of=VECTORS),
    layer("Linear", 4, 3, of=SEQUENCES),
    layer("Linear", 4, 3, bias=False, of=[(4,)]),
    layer("Bilinear", 4, 3, 2, of=[(5, 2, 4), (5, 2, 3)]),
    layer("Bilinear", 4, 3, 2, bias=False, of=[(5, 4), (5, 3)]),
    layer("SwiGLU", 4, of=SEQUENCES),
    layer("Embedding", 5, 4),
    layer("Embedding", 5, 4, padding_idx=1),
    layer("EmbeddingBag", 5, 4),
    layer("EmbeddingBag", 5, 4, mode="sum"),
    layer("Flatten", of=SEQUENCES),
    layer("Flatten", 0, 1, of=SEQUENCES),
    layer("Unflatten", -2, (2, 2), of=[(4, 3)]),
    layer("Unflatten", -1, (2, -1), of=SEQUENCES),
    # normalization
    layer("LayerNorm", 4, of=SEQUENCES),
    layer("LayerNorm", 4, 1e-3, bias=False, of=SEQUENCES),
    layer("LayerNorm", (3, 4), of=SEQUENCES),
    layer("LayerNorm", 4, elementwise_affine=False, of=SEQUENCES),
    layer("RMSNorm", 4, of=SEQUENCES),
    layer("BatchNorm1d", 4, of=CHANNELS),
    layer("BatchNorm1d", 4, affine=False, of=[(5, 4)]),
    layer("BatchNorm2d", 4, momentum=None, of=IMAGES),
    layer("GroupNorm", 2, 4, of=CHANNELS),
    layer("InstanceNorm1d", 4, of=CHANNELS),
    layer("InstanceNorm1d", 4, affine=True, track_running_stats=True, of=CHANNELS),
    layer("InstanceNorm2d", 4, of=IMAGES),
    layer("InstanceNorm2d", 4, track_running_stats=True, of=IMAGES),
    # activations
    layer("ReLU", of=VECTORS),
    layer("ReLU6", of=[(40, 5)]),
    layer("LeakyReLU", 0.2, of=VECTORS),
    layer("ELU", 0.7, of=VECTORS),
    layer("CELU", 0.5, of=VECTORS),
    layer("SELU", of=VECTORS),
    layer("GELU", of=VECTORS),
    layer("GELU", "tanh", of=VECTORS),
    layer("SiLU", of=VECTORS),
    layer("Mish", of=VECTORS),
    layer("HardSwish", of=[(40, 5)]),
    layer("HardSigmoid", of=[(40, 5)]),
    layer("Hardtanh", of=VECTORS),
    layer("Hardtanh", -0.5, 0.75, of=VECTORS),
    layer("Tanh", of=VECTORS),
    layer("Sigmoid", of=VECTORS),
    layer("LogSigmoid", of=VECTORS),
    layer("Softplus", 0.5, of=VECTORS),
    layer("Softsign", of=VECTORS),
    layer("Softmax", -1, of=SEQUENCES),
    layer("Softmax", 1, of=SEQUENCES),
    layer("LogSoftmax", -1, of=SEQUENCES),
    layer("LogSoftmax", 0, of=SEQUENCES),
    layer("PReLU", of=[(5,)]),
    layer("PReLU", 4, of=CHANNELS),
    layer("GLU", of=SEQUENCES),
    layer("GLU", 1, of=[(2, 4, 3)]),
    # dropout
    layer("Dropout", 0.4, of=SEQUENCES),
    layer("Dropout1d", 0.4, of=CHANNELS),
    layer("Dropout2d", 0.4, of=IMAGES),
    layer("DropPath", 0.3, of=SEQUENCES),
    # convolution and pooling
    layer("Conv1d", 4, 4, 2, of=CHANNELS),
    layer("Conv1d", 4, 6, 3, **WINDOW, of=[(2, 4, 9)]),
    layer("Conv2d", 4, 4, 2, of=IMAGES),
    layer("Conv2d", 4, 6, 3, bias=False, **WINDOW, of=[(2, 4, 5, 7)]),
    layer("Conv2d", 2, 3, (2, 3), padding="same", padding_mode="reflect", of=[(1, 2, 3, 3)]),
    layer("ConvTranspose1d", 4, 4, 2, of=CHANNELS),
    layer("ConvTranspose1d", 4, 6, 3, **WINDOW, of=CHANNELS),
    layer("ConvTranspose2d", 4, 4, 2, of=IMAGES),
    layer("ConvTranspose2d", 4, 6, 3, **WINDOW, of=[(1, 4, 2, 3)]),
    layer("MaxPool1d", 2, of=CHANNELS),
    layer("MaxPool1d", 2, 1, of=CHANNELS),
    layer("MaxPool2d", 2, of=IMAGES),
    layer("MaxPool2d", 2, 1, ceil_mode=True, of=IMAGES),
    layer("MaxUnpool1d", 2),
    layer("MaxUnpool2d", 2),
    layer("AvgPool1d", 2, of=CHANNELS),
    layer("AvgPool1d", 2, 1, 1, of=CHANNELS),
    layer("AvgPool2d", 2, of=IMAGES),
    layer("AvgPool2d", 2, 1, 1, count_include_pad=False, of=IMAGES),
    layer("AdaptiveAvgPool1d", 2, of=CHANNELS),
    layer("AdaptiveAvgPool2d", 2, of=IMAGES),
    layer("AdaptiveAvgPool2d", (3, None), of=IMAGES),
    layer("AdaptiveMaxPool1d", 2, of=CHANNELS),
    layer("AdaptiveMaxPool2d", 2, of=IMAGES),
    layer("AdaptiveMaxPool2d", (2, 3), of=IMAGES),
    # borders, sizes and windows
    layer("ConstantPad1d", 1, 0.5, of=CHANNELS),
    layer("ConstantPad2d", 1, 0.5, of=IMAGES),
    layer("ConstantPad2d", -1, 0.5, of=IMAGES),
    layer("ZeroPad1d", 1, of=CHANNELS),
    layer("ZeroPad1d", (1, -1), of=CHANNELS),
    layer("ZeroPad2d", 1, of=IMAGES),
    layer("ZeroPad2d", (1, 0, -1, 2), of=IMAGES),
    layer("ReflectionPad1d", 1, of=CHANNELS),
    layer("ReflectionPad2d", 1, of=IMAGES),
    layer("ReplicationPad1d", 1, of=CHANNELS),
    layer("ReplicationPad1d", (1, 0), of=CHANNELS),
    layer("ReplicationPad2d", 1, of=IMAGES),
    layer("ReplicationPad2d", (1, 0, 2, 0), of=IMAGES),
    layer("CircularPad1d", 1, of=CHANNELS),
    layer("CircularPad1d", (0, 2), of=CHANNELS),
    layer("CircularPad2d", 1, of=IMAGES),
    layer("Upsample", 2, of=CHANNELS),
    layer("Upsample", scale_factor=2, of=[(1, 2, 2, 3)]),
    layer("Upsample", 5, mode="linear", of=[(1, 2, 3)]),
    layer("Upsample", (3, 2), mode="bilinear", of=[(1, 2, 2, 3)]),
    layer("Upsample", (3, 2), mode="area", of=[(1, 2, 4, 3)]),
    layer("PixelShuffle", 2, of=IMAGES),
    layer("Fold", (4, 4), 2, of=[(1, 8, 9)]),
    layer("Fold", (2, 3), 2, padding=1, of=[(1, 8, 12)]),
    layer("Unfold", 2, of=IMAGES),
    layer("Unfold", 2, padding=1, of=[(2, 2, 2, 3)]),
    # recurrence
    layer("RNN", 4, 4, batch_first=True, of=SEQUENCES),
    layer("RNN", 4, 2, **STACK, of=SEQUENCES),
    layer("LSTM", 4, 4, batch_first=True, of=SEQUENCES),
    layer("LSTM", 4, 2, **STACK, of=SEQUENCES),
    layer("GRU", 4, 4, batch_first=True, of=SEQUENCES),
    layer("GRU", 4, 2, bias=False, **STACK, of=SEQUENCES),
    layer("RNNCell", 4, 4, of=[(2, 4)]),
    layer("LSTMCell", 4, 4, of=[(2, 4)]),
    layer("GRUCell", 4, 4, of=[(2, 4)]),
    layer("GRUCell", 4, 4, bias=False, of=[(2, 4)]),
    # positions
    layer("LearnedPosEmbedding", 5, 4, of=SEQUENCES),
    layer("SinusoidalPosEmbedding", 4, of=SEQUENCES),
    layer("RotaryPosEmbedding", 4, of=SEQUENCES),
    layer("RotaryPosEmbedding", 4, interleaved=False, of=SEQUENCES),
    # attention and transformers
    layer("MultiHeadAttention", 4, 2, of=SEQUENCES * 3),
    layer("MultiHeadAttention", 4, 2, bias=False, of=SEQUENCES * 3),
    layer("MultiHeadAttention", 4, 2, kdim=3, vdim=2, of=[(2, 3, 4), (2, 5, 3), (2, 5, 2)]),
    layer("MultiHeadAttention", 4, 2, vdim=2, add_bias_kv=True,
          of=[(2, 3, 4), (2, 5, 4), (2, 5, 2)]),
    layer("ScaledDotProductAttention", of=SEQUENCES * 3),
    layer("AdditiveAttention", 4, 4, 3, of=SEQUENCES * 3),
    layer("DotProductAttention", 4, 4, 4, 4, of=SEQUENCES * 3),
    layer("MultiHeadDotProductAttention", 4, 4, 4, 4, 2, of=SEQUENCES * 3),
    layer("CausalSelfAttention", 4, 2, of=SEQUENCES),
    layer("TransformerEncoderLayer", 4, 2, 5, of=SEQUENCES),
    layer("TransformerEncoderLayer", 4, 2, 5, norm_first=True, of=SEQUENCES),
    layer("TransformerDecoderLayer", 4, 2, 5, of=SEQUENCES * 2),
    layer("TransformerDecoderLayer", 4, 2, 5, bias=False, of=[(2, 3, 4), (2, 5, 4)]),
    layer("Transformer", 4, 2, 1, 1, 5, of=SEQUENCES * 2),
    layer("TransformerEncoderBlock", 4, 2, 5, of=SEQUENCES),
    layer("TransformerBlock", 4, 4, 2, 4, of=SEQUENCES),
    # blocks, and ops of einops
    layer("ConvBNReLU1d", 4, 4, 2, of=CHANNELS),
    layer("ConvBNReLU2d", 4, 4, 2, of=IMAGES),
    layer("DepthSeparableConv1d", 4, 4, 2, of=CHANNELS),
    layer("DepthSeparableConv2d", 4, 4, 2, of=IMAGES),
    layer("SEModule", 16, of=[(2, 16, 3, 2)]),
    layer("SelectiveKernel", 4, 16, (1, 3), of=IMAGES),
    layer("EinMix", "a b -> b a", "a b", a=4, b=5, of=VECTORS),
    layer("Rearrange", "a b -> b a", of=VECTORS),
    layer("Reduce", "a b -> a", "sum", of=VECTORS),
    # lazy layers become others
    layer("LazyLinear", 4),
    layer("LazyConv1d", 4, 2),
    layer("LazyConv2d", 4, 2),
    layer("LazyBatchNorm1d"),
    layer("LazyBatchNorm2d"),
    # distances and losses
    layer("CosineSimilarity", of=[(4, 3)] * 2),
    layer("CosineSimilarity", -1, 0.01, of=[(2, 4, 3), (4, 3)]),
    layer("MSELoss", of=VECTORS * 2),
    layer("L1Loss", reduction="sum", of=VECTORS * 2),
    layer("HuberLoss", of=VECTORS * 2),
    layer("SmoothL1Loss", beta=0.7, of=VECTORS * 2),
    layer("KLDivLoss"),
    layer("BCELoss"),
    layer("BCEWithLogitsLoss"),
    layer("CrossEntropyLoss"),
    layer("NLLLoss"),
    layer("TripletMarginLoss", of=VECTORS * 3),
    layer("TripletMarginLoss", 0.7, swap=True, of=VECTORS * 3),
    layer("MarginRankingLoss"),
    layer("CosineEmbeddingLoss"),
    layer("GaussianNLLLoss"),
]  # fmt: skip
