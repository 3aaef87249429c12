"""The one table of layers: each line makes a layer, and says how it is called.

A new layer is one line here. tests/nn/test_every_layer.py runs over the table: formulas, options,
dtypes, memory layouts, derivatives, modes, copies, refusals. The tests of tests/parity compare each
layer that PyTorch has with its own.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest

from minigrad import Tensor, nn, tensor
from minigrad.nn import functional as F

__all__ = ["LAYERS", "Layer", "cases", "layer", "made", "needs_of"]

Shapes = list[tuple[int, ...]]


class Layer(NamedTuple):
    """A way to make a layer, and to call it.

    Attributes:
        kind: The name of its class.
        sizes: The arguments by position; a Layer among them is made first.
        options: The arguments by keyword.
        shapes: The shapes of its inputs of floats; empty if it is not called.
        given: Further arguments of a call, by keyword: targets, indices, masks.
        call: How it is called with its inputs, where that is not `module(*inputs, **given)`.
        by: What it computes, in NumPy: a function of the layer, arrays and `given`.
    """

    kind: str
    sizes: tuple[Any, ...]
    options: dict[str, Any]
    shapes: Shapes
    given: dict[str, Any]
    call: Callable[..., Any] | None = None
    by: Callable[..., Any] | None = None

    def make(self) -> Any:
        options = {name: made(value) for name, value in self.options.items()}
        return getattr(nn, self.kind)(*map(made, self.sizes), **options)

    def run(self, module: Any, *inputs: Any) -> list[Any]:
        """Every tensor that a call returns."""
        given = {
            name: value.astype(inputs[0].dtype) if is_floats(value) else value
            for name, value in self.given.items()
        }
        return _tensors((self.call or type(module).__call__)(module, *inputs, **given))

    @property
    def is_called(self) -> bool:
        return bool(self.shapes or self.given)

    def __str__(self) -> str:
        options = [f"{name}={_shown(value)}" for name, value in self.options.items()]
        text = f"{self.kind}({', '.join([*map(_shown, self.sizes), *options])})"
        shapes = f" of {', '.join(map(str, self.shapes))}" if self.call else ""
        return text + shapes + (f" given {', '.join(self.given)}" if self.given else "")


def is_floats(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def made(value: Any) -> Any:
    """A value, or the layer that it describes."""
    return value.make() if isinstance(value, Layer) else value


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Layer) else repr(value)


def _tensors(result: Any) -> list[Any]:
    parts = result if isinstance(result, tuple) else (result,)
    return [out for p in parts for out in (_tensors(p) if isinstance(p, tuple) else [p])]


def layer(
    kind: str, *sizes: Any, of: Shapes = [], given: dict[str, Any] = {},  # noqa: B006
    call: Any = None, by: Any = None, **options: Any,
) -> Layer:  # fmt: skip
    """A line of the table."""
    return Layer(kind, sizes, options, of, given, call, by)


def cases(lines: Iterable[Layer]) -> list[Any]:
    """Lines as the parameters of a test, skipped where they need what is not there."""
    return [pytest.param(line, id=str(line), marks=needs_of(line.kind)) for line in lines]


def needs_of(kind: str) -> Any:
    """The marks of a test of a layer."""
    return pytest.mark.needs("einops") if kind in NEED_EINOPS else ()


NEED_EINOPS = ("CausalSelfAttention", "Rearrange", "Reduce")
VECTORS = [(4, 5)]
SEQUENCES = [(2, 3, 4)]  # batch, length, width
CHANNELS = [(2, 4, 5)]
IMAGES = [(2, 4, 3, 5)]
WINDOW = {"stride": 2, "groups": 2}
STACK = {"num_layers": 2, "bidirectional": True, "batch_first": True}
KEEP = np.array([[True, False, True], [False] * 3, [True] * 3])  # the second query sees nothing
PADDING = np.array([[False, False, False], [False, True, True]])
IDS = np.array([[0, 3, 3], [1, 0, 4]])
CLASSES = np.array([1, 0, 3])
PLACES = np.array([[1, 0, 2], [3, 3, 0]])  # a class at each place
WEIGHT = [1.0, 0.5, 2.0, 0.25]
SIGNS = np.array([1.0, -1.0, 1.0, -1.0])
CHANCES = np.linspace(0, 1, 20).reshape(4, 5)

erf = np.vectorize(math.erf)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def normal(x: Any, axis: Any, eps: float = 1e-5) -> Any:
    """Values of mean 0 and variance 1."""
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + eps)


def affine(m: Any, x: Any, axis: int = -1) -> Any:
    """Times the weight plus the bias, along one axis."""
    shape = [1] * x.ndim
    shape[axis] = -1
    return x * m.weight.numpy().reshape(shape) + m.bias.numpy().reshape(shape)


def linear(m: Any, x: Any) -> Any:
    out = x @ m.weight.data.T
    return out if m.bias is None else out + m.bias.numpy()


def log_softmax(x: Any, axis: int = 1) -> Any:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def cosine(x: Any, y: Any) -> Any:
    return (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1))


def log_loss(x: Any, target: Any) -> Any:
    return np.logaddexp(0, x) - x * target


def triplet(margin: float, eps: float, swap: bool, *x: Any) -> Any:
    a, p, n = x
    far = np.linalg.norm(a - n + eps, axis=-1)
    far = np.minimum(far, np.linalg.norm(p - n + eps, axis=-1)) if swap else far
    return np.maximum(np.linalg.norm(a - p + eps, axis=-1) - far + margin, 0).mean()


# The blocks, by the functions of their layers


def conv_bn_relu(block: Any, x: Any) -> Any:
    convolved = F.conv2d if x.ndim == 4 else F.conv1d
    conv = block.conv
    out = convolved(
        tensor(x), conv.weight, conv.bias, conv.stride, conv.padding, conv.dilation, conv.groups
    ).numpy()
    bn = block.bn
    out = normal(out, (0, *range(2, x.ndim)), bn.eps)
    return np.maximum(out if bn.weight is None else affine(bn, out, 1), 0)


def separable(block: Any, x: Any) -> Any:
    """One convolution whose kernel of each output and input channel is their product."""
    deep, point = block.depthwise, block.pointwise
    mix = point.weight.reshape(*point.weight.shape[:2], *[1] * (x.ndim - 2))
    kernel = mix * deep.weight.swapaxes(0, 1)
    bias = None
    if deep.bias is not None:
        bias = point.bias + (point.weight.reshape(point.weight.shape[:2]) @ deep.bias)
    convolved = F.conv2d if x.ndim == 4 else F.conv1d
    return convolved(tensor(x), kernel, bias, deep.stride, deep.padding, deep.dilation).numpy()


def squeezed(block: Any, x: Any) -> Any:
    gate = sigmoid(linear(block.fc2, np.maximum(linear(block.fc1, x.mean((2, 3))), 0)))
    return np.einsum("nchw,nc->nchw", x, gate)


def selected(block: Any, x: Any) -> Any:
    outs = [branch(tensor(x)).numpy() for branch in block.branches]
    first, norm, last = block.attention[1], block.attention[2], block.attention[4]
    hidden = sum(outs).mean((2, 3)) @ first.weight.numpy().reshape(first.weight.shape[:2]).T
    hidden = affine(norm, normal(hidden, 0, norm.eps))
    scores = np.maximum(hidden, 0) @ last.weight.numpy().reshape(last.weight.shape[:2]).T
    weights = np.exp(log_softmax(scores))
    return sum(out * weights[:, i].reshape(-1, 1, 1, 1) for i, out in enumerate(outs))


# Other calls


def attend(m: Any, x: Any, **masks: Any) -> Any:
    """Self-attention."""
    return m(x, x, x, **masks)


def biased(m: Any, x: Any, bias: Any) -> Any:
    """Self-attention with a learned bias, and nothing of what comes."""
    return m(x, x, x, attn_mask=bias, is_causal=True)


def packed(m: Any, x: Any) -> Any:
    """A recurrence over sequences of unequal length."""
    given = nn.utils.rnn.pack_padded_sequence(x, [1, 3], enforce_sorted=False)
    return m(given)[0].data


ENCODER = layer("TransformerEncoderLayer", 4, 2, 5, 0.0, "gelu", norm_first=True)
DECODER = layer("TransformerDecoderLayer", 4, 2, 5, 0.0, "gelu")
ALL_MASKS = {"attn_mask": KEEP, "key_padding_mask": PADDING, "is_causal": True}

LAYERS = [
    layer("Identity", of=VECTORS, by=lambda m, x: x),
    layer("Linear", 4, 3, of=SEQUENCES, by=linear),
    layer("Linear", 4, 3, bias=False, of=[(4,)], by=linear),
    layer("Bilinear", 4, 3, 2, of=[(5, 2, 4), (5, 2, 3)],
          by=lambda m, x, y: np.einsum("abi,oij,abj->abo", x, m.weight.numpy(), y)
          + m.bias.numpy()),
    layer("Bilinear", 4, 3, 2, bias=False, of=[(5, 4), (5, 3)]),
    layer("SwiGLU", 4, of=SEQUENCES),
    layer("SwiGLU", 4, 5, bias=True, of=SEQUENCES,
          by=lambda m, x: linear(m.down_proj, linear(m.gate_proj, x) * sigmoid(
              linear(m.gate_proj, x)) * linear(m.up_proj, x))),
    layer("Embedding", 5, 4, given={"input": IDS},
          by=lambda m, **ids: m.weight.numpy()[ids["input"]]),
    layer("Embedding", 5, 4, padding_idx=1, given={"input": IDS}),
    layer("EmbeddingBag", 5, 4, given={"input": IDS},
          by=lambda m, **ids: m.weight.numpy()[ids["input"]].mean(1)),
    layer("EmbeddingBag", 5, 4, mode="sum", padding_idx=3, given={"input": IDS}),
    layer("Flatten", of=SEQUENCES, by=lambda m, x: x.reshape(2, 12)),
    layer("Flatten", 0, 1, of=SEQUENCES, by=lambda m, x: x.reshape(6, 4)),
    layer("Unflatten", 1, (2, 2), of=[(3, 4)], by=lambda m, x: x.reshape(3, 2, 2)),
    layer("Unflatten", -1, (2, -1), of=SEQUENCES, by=lambda m, x: x.reshape(2, 3, 2, 2)),
    layer("Unflatten", -3, (2, 1), of=SEQUENCES, by=lambda m, x: x.reshape(2, 1, 3, 4)),
    # normalization
    layer("LayerNorm", 4, of=SEQUENCES, by=lambda m, x: affine(m, normal(x, -1))),
    layer("LayerNorm", 4, 1e-3, bias=False, of=SEQUENCES,
          by=lambda m, x: normal(x, -1, 1e-3) * m.weight.numpy()),
    layer("LayerNorm", (3, 4), of=SEQUENCES,
          by=lambda m, x: normal(x, (1, 2)) * m.weight.numpy() + m.bias.numpy()),
    layer("LayerNorm", 4, elementwise_affine=False, of=SEQUENCES),
    layer("RMSNorm", 4, 1e-3, of=SEQUENCES, by=lambda m, x: m.weight.numpy() * x / np.sqrt(
        (x * x).mean(-1, keepdims=True) + 1e-3)),
    layer("RMSNorm", 4, elementwise_affine=False, of=SEQUENCES),
    layer("BatchNorm1d", 4, of=CHANNELS, by=lambda m, x: affine(m, normal(x, (0, 2)), 1)),
    layer("BatchNorm1d", 4, 1e-2, affine=False, of=[(5, 4)], by=lambda m, x: normal(x, 0, 1e-2)),
    layer("BatchNorm1d", 4, bias=False, track_running_stats=False, of=[(5, 4)],
          call=lambda m, x: m.eval()(x), by=lambda m, x: normal(x, 0) * m.weight.numpy()),
    layer("BatchNorm1d", 4, momentum=0.5, of=[(5, 4)]),
    layer("BatchNorm2d", 4, 1e-2, momentum=None, of=IMAGES),
    layer("BatchNorm2d", 4, affine=False, track_running_stats=False, of=IMAGES),
    layer("BatchNorm2d", 4, bias=False, of=IMAGES),
    layer("GroupNorm", 2, 4, of=CHANNELS, by=lambda m, x: affine(
        m, normal(x.reshape(2, 2, 10), -1).reshape(2, 4, 5), 1)),
    layer("GroupNorm", 2, 4, 1e-2, affine=False, of=CHANNELS),
    layer("GroupNorm", 2, 4, bias=False, of=CHANNELS),
    layer("InstanceNorm1d", 4, of=CHANNELS, by=lambda m, x: normal(x, -1)),
    layer("InstanceNorm1d", 4, 1e-2, 0.3, affine=True, track_running_stats=True, of=CHANNELS),
    layer("InstanceNorm1d", 4, affine=True, bias=False, of=CHANNELS),
    layer("InstanceNorm2d", 4, of=IMAGES),
    layer("InstanceNorm2d", 4, track_running_stats=True, of=IMAGES),
    layer("InstanceNorm2d", 4, 1e-2, 0.3, affine=True, track_running_stats=True, of=IMAGES),
    layer("InstanceNorm2d", 4, affine=True, bias=False, of=IMAGES),
    # activations
    layer("ReLU", of=VECTORS, by=lambda m, x: np.maximum(x, 0)),
    layer("ReLU6", of=[(40, 5)], by=lambda m, x: np.clip(x, 0, 6)),
    layer("LeakyReLU", 0.2, of=VECTORS, by=lambda m, x: np.where(x > 0, x, 0.2 * x)),
    layer("ELU", 0.7, of=VECTORS, by=lambda m, x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    layer("CELU", 0.5, of=VECTORS, by=lambda m, x: np.where(x > 0, x, 0.5 * np.expm1(x / 0.5))),
    layer("SELU", of=VECTORS, by=lambda m, x: 1.0507009873554805 * np.where(
        x > 0, x, 1.6732632423543772 * np.expm1(x))),
    layer("GELU", of=VECTORS, by=lambda m, x: x * (1 + erf(x / 2**0.5)) / 2),
    layer("GELU", "tanh", of=VECTORS, by=lambda m, x: 0.5 * x * (
        1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))),
    layer("SiLU", of=VECTORS, by=lambda m, x: x * sigmoid(x)),
    layer("Mish", of=VECTORS, by=lambda m, x: x * np.tanh(np.logaddexp(x, 0))),
    layer("Hardswish", of=[(40, 5)], by=lambda m, x: x * np.clip(x + 3, 0, 6) / 6),
    layer("Hardsigmoid", of=[(40, 5)], by=lambda m, x: np.clip(x + 3, 0, 6) / 6),
    layer("Hardtanh", of=VECTORS, by=lambda m, x: np.clip(x, -1, 1)),
    layer("Hardtanh", -0.5, 0.75, of=VECTORS, by=lambda m, x: np.clip(x, -0.5, 0.75)),
    layer("Tanh", of=VECTORS, by=lambda m, x: np.tanh(x)),
    layer("Sigmoid", of=VECTORS, by=lambda m, x: sigmoid(x)),
    layer("LogSigmoid", of=VECTORS, by=lambda m, x: np.log(sigmoid(x))),
    layer("Softplus", 0.5, of=VECTORS, by=lambda m, x: 2 * np.logaddexp(0.5 * x, 0)),
    layer("Softplus", 2.0, 1.0, of=VECTORS,
          by=lambda m, x: np.where(2 * x > 1, x, np.logaddexp(2 * x, 0) / 2)),
    layer("Hardshrink", 0.3, of=VECTORS, by=lambda m, x: np.where(abs(x) > 0.3, x, 0)),
    layer("Softshrink", 0.3, of=VECTORS,
          by=lambda m, x: np.where(abs(x) > 0.3, x - 0.3 * np.sign(x), 0)),
    layer("Tanhshrink", of=VECTORS, by=lambda m, x: x - np.tanh(x)),
    layer("Threshold", 0.1, -1.0, of=VECTORS, by=lambda m, x: np.where(x > 0.1, x, -1)),
    layer("RReLU", 0.2, 0.4, of=VECTORS, call=lambda m, x: m.eval()(x),
          by=lambda m, x: np.where(x > 0, x, 0.3 * x)),
    layer("Softsign", of=VECTORS, by=lambda m, x: x / (1 + abs(x))),
    layer("Softmax", of=VECTORS, by=lambda m, x: np.exp(log_softmax(x, -1))),
    layer("Softmax", 1, of=SEQUENCES, by=lambda m, x: np.exp(log_softmax(x, 1))),
    layer("LogSoftmax", of=VECTORS, by=lambda m, x: log_softmax(x, -1)),
    layer("LogSoftmax", 0, of=SEQUENCES, by=lambda m, x: log_softmax(x, 0)),
    layer("Softmin", 1, of=SEQUENCES, by=lambda m, x: np.exp(log_softmax(-x, 1))),
    layer("Softmax2d", of=IMAGES, by=lambda m, x: np.exp(log_softmax(x, 1))),
    layer("PReLU", of=[(5,)]),
    layer("PReLU", 4, 0.1, of=CHANNELS,
          by=lambda m, x: np.where(x > 0, x, x * m.weight.numpy()[:, None])),
    layer("GLU", of=SEQUENCES, by=lambda m, x: x[..., :2] * sigmoid(x[..., 2:])),
    layer("GLU", 1, of=[(2, 4, 3)], by=lambda m, x: x[:, :2] * sigmoid(x[:, 2:])),
    # dropout
    layer("Dropout", 0.4, of=SEQUENCES),
    layer("Dropout1d", 0.4, of=CHANNELS),
    layer("Dropout2d", 0.4, of=IMAGES),
    layer("AlphaDropout", 0.4, of=SEQUENCES),
    layer("DropPath", 0.3, of=[(9, 2)]),
    layer("DropPath", 0.4, scale_by_keep=False, of=[(9, 2)]),
    # convolution and pooling
    layer("Conv1d", 4, 4, 2, of=CHANNELS),
    layer("Conv1d", 4, 6, 3, **WINDOW, of=[(2, 4, 9)]),
    layer("Conv1d", 4, 6, 3, **WINDOW, padding=1, dilation=2, bias=False, padding_mode="circular",
          of=[(2, 4, 9)]),
    layer("Conv2d", 4, 4, 2, of=IMAGES),
    layer("Conv2d", 4, 6, 3, bias=False, **WINDOW, of=[(2, 4, 5, 7)]),
    layer("Conv2d", 2, 3, (2, 3), padding="same", padding_mode="reflect", of=[(1, 2, 3, 3)]),
    layer("Conv2d", 2, 2, 2, dilation=(1, 2), of=[(1, 2, 3, 4)]),
    layer("ConvTranspose1d", 4, 4, 2, of=CHANNELS, by=lambda m, x: m.bias.numpy()[:, None] + sum(
        np.einsum("nil,io->nol", np.pad(x, ((0, 0), (0, 0), (k, 1 - k))), m.weight.numpy()[..., k])
        for k in range(2))),
    layer("ConvTranspose1d", 4, 6, 3, **WINDOW, of=CHANNELS),
    layer("ConvTranspose1d", 4, 6, 3, **WINDOW, padding=1, output_padding=1, bias=False,
          dilation=2, of=CHANNELS),
    layer("ConvTranspose2d", 4, 4, 2, of=IMAGES),
    layer("ConvTranspose2d", 4, 6, 3, **WINDOW, of=[(1, 4, 2, 3)]),
    layer("ConvTranspose2d", 4, 6, 3, **WINDOW, padding=1, output_padding=1, bias=False,
          dilation=2, of=[(1, 4, 2, 3)]),
    layer("MaxPool1d", 2, of=CHANNELS, by=lambda m, x: x[..., :4].reshape(2, 4, 2, 2).max(-1)),
    layer("MaxPool1d", 3, 2, 1, 2, ceil_mode=True, of=[(2, 4, 8)]),
    layer("MaxPool2d", 2, of=IMAGES),
    layer("MaxPool2d", 3, 2, 1, 2, ceil_mode=True, of=[(1, 2, 4, 6)]),
    layer("MaxUnpool1d", 2, given={"indices": np.array([[[0, 3]]])}, of=[(1, 1, 2)],
          by=lambda m, x, indices: np.array([[[x[0, 0, 0], 0, 0, x[0, 0, 1]]]])),
    layer("MaxUnpool1d", 3, 2, 1, given={"indices": np.array([[[0, 2]]])}, of=[(1, 1, 2)]),
    layer("MaxUnpool2d", 2, given={"indices": np.array([[[[0, 7]]]])}, of=[(1, 1, 1, 2)]),
    layer("MaxUnpool2d", 3, 2, 1, given={"indices": np.array([[[[0, 2]]]])}, of=[(1, 1, 1, 2)]),
    layer("AvgPool1d", 2, of=CHANNELS, by=lambda m, x: x[..., :4].reshape(2, 4, 2, 2).mean(-1)),
    layer("AvgPool1d", 3, 2, 1, ceil_mode=True, count_include_pad=False, of=[(2, 4, 6)]),
    layer("AvgPool2d", 2, of=IMAGES),
    layer("AvgPool2d", 2, divisor_override=3, of=IMAGES),
    layer("LPPool1d", 2, 2, of=CHANNELS,
          by=lambda m, x: (x[..., :4].reshape(2, 4, 2, 2) ** 2).sum(-1) ** 0.5),
    layer("LPPool1d", 4, 3, 2, True, of=[(2, 4, 6)]),
    layer("LPPool2d", 2, 2, of=IMAGES),
    layer("LPPool2d", 4, 3, 2, True, of=[(1, 2, 4, 6)]),
    layer("AvgPool2d", 9, ceil_mode=True, of=[(1, 2, 4, 6)]),
    layer("AvgPool2d", 3, 2, 1, ceil_mode=True, count_include_pad=False, of=[(1, 2, 4, 6)]),
    layer("AdaptiveAvgPool1d", 2, of=CHANNELS,
          by=lambda m, x: np.stack([x[..., :3].mean(-1), x[..., 2:].mean(-1)], -1)),
    layer("AdaptiveAvgPool2d", 2, of=IMAGES),
    layer("AdaptiveAvgPool2d", (3, None), of=IMAGES),
    layer("AdaptiveMaxPool1d", 2, of=CHANNELS,
          by=lambda m, x: np.stack([x[..., :3].max(-1), x[..., 2:].max(-1)], -1)),
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
    layer("Upsample", scale_factor=2.2, mode="linear", recompute_scale_factor=True, of=[(1, 2, 3)]),
    layer("Upsample", (3, 2), mode="bilinear", align_corners=True, of=[(1, 2, 2, 3)]),
    layer("Upsample", (3, 2), mode="area", of=[(1, 2, 4, 3)]),
    layer("PixelShuffle", 2, of=IMAGES, by=lambda m, x: x.reshape(2, 2, 2, 3, 5).transpose(
        0, 3, 1, 4, 2).reshape(2, 1, 6, 10)),
    layer("UpsamplingNearest2d", 4, of=[(1, 2, 2, 3)]),
    layer("UpsamplingNearest2d", scale_factor=2, of=[(1, 2, 2, 3)]),
    layer("UpsamplingBilinear2d", 4, of=[(1, 2, 2, 3)]),
    layer("UpsamplingBilinear2d", scale_factor=2, of=[(1, 2, 2, 3)]),
    layer("PixelUnshuffle", 2, of=[(1, 2, 4, 6)], by=lambda m, x: np.transpose(
        x.reshape(1, 2, 2, 2, 3, 2), (0, 1, 3, 5, 2, 4)).reshape(1, 8, 2, 3)),
    layer("ChannelShuffle", 2, of=CHANNELS, by=lambda m, x: x[:, [0, 2, 1, 3]]),
    layer("LocalResponseNorm", 2, 0.5, 0.6, 2.0, of=CHANNELS),
    layer("Fold", (4, 4), 2, of=[(1, 8, 9)]),
    layer("Fold", (4, 5), 2, 2, 1, 2, of=[(1, 8, 6)]),
    layer("Unfold", 2, of=IMAGES),
    layer("Unfold", 2, 2, 1, 2, of=[(2, 2, 4, 5)]),
    # recurrence
    layer("RNN", 4, 4, batch_first=True, of=SEQUENCES),
    layer("RNN", 4, 2, **STACK, of=SEQUENCES),
    layer("RNN", 4, 2, nonlinearity="relu", bias=False, dropout=0.4, **STACK, of=SEQUENCES),
    layer("LSTM", 4, 4, batch_first=True, of=SEQUENCES),
    layer("LSTM", 4, 2, **STACK, of=SEQUENCES),
    layer("LSTM", 4, 2, 2, bias=False, dropout=0.4, of=SEQUENCES),
    layer("LSTM", 4, 3, **STACK, proj_size=2, of=SEQUENCES),
    layer("LSTM", 4, 2, bidirectional=True, of=[(3, 2, 4), (2, 2, 2), (2, 2, 2)],
          call=lambda m, x, h, c: m(x, (h, c))),
    layer("GRU", 4, 4, batch_first=True, of=SEQUENCES),
    layer("GRU", 4, 2, bias=False, dropout=0.4, **STACK, of=SEQUENCES),
    layer("GRU", 4, 2, 2, of=[(3, 2, 4), (2, 2, 2)]),
    layer("GRU", 4, 2, 2, bidirectional=True, dropout=0.4, of=[(3, 2, 4)], call=packed),
    layer("RNNCell", 4, 4, of=[(2, 4)], by=lambda m, x: np.tanh(
        x @ m.weight_ih.data.T + m.bias_ih.numpy() + m.bias_hh.numpy())),
    layer("RNNCell", 4, 2, bias=False, nonlinearity="relu", of=[(3, 4), (3, 2)],
          by=lambda m, x, h: np.maximum(x @ m.weight_ih.data.T + h @ m.weight_hh.data.T, 0)),
    layer("LSTMCell", 4, 4, of=[(2, 4)]),
    layer("LSTMCell", 4, 2, bias=False, of=[(3, 4), (3, 2), (3, 2)],
          call=lambda m, x, h, c: m(x, (h, c))),
    layer("GRUCell", 4, 4, of=[(2, 4)]),
    layer("GRUCell", 4, 4, bias=False, of=[(2, 4)]),
    layer("GRUCell", 4, 2, bias=False, of=[(3, 4), (3, 2)]),
    # positions
    layer("LearnedPosEmbedding", 5, 4, of=SEQUENCES,
          by=lambda m, x: x + m.pos_emb.weight.numpy()[:3]),
    layer("LearnedPosEmbedding", 5, 4, of=SEQUENCES, given={"offset": 2},
          by=lambda m, x, offset: x + m.pos_emb.weight.numpy()[2:]),
    layer("SinusoidalPosEmbedding", 4, of=SEQUENCES),
    layer("RotaryPosEmbedding", 4, of=SEQUENCES),
    layer("RotaryPosEmbedding", 4, interleaved=False, of=SEQUENCES),
    layer("RotaryPosEmbedding", base=100.0, of=SEQUENCES, given={
        "position_ids": np.array([[3, 1, 7], [0, 0, 2]])}),
    # attention and transformers
    layer("MultiHeadAttention", 4, 2, of=SEQUENCES * 3),
    layer("MultiHeadAttention", 4, 2, bias=False, of=SEQUENCES * 3),
    layer("MultiHeadAttention", 4, 2, kdim=3, vdim=2, of=[(2, 3, 4), (2, 5, 3), (2, 5, 2)]),
    layer("MultiHeadAttention", 4, 2, vdim=2, add_bias_kv=True,
          of=[(2, 3, 4), (2, 5, 4), (2, 5, 2)]),
    layer("MultiHeadAttention", 4, 2, 0.4, of=SEQUENCES, call=attend),
    layer("MultiHeadAttention", 4, 2, of=SEQUENCES, call=attend, given={
        "attn_mask": KEEP, "need_weights": True}),
    layer("MultiHeadAttention", 4, 2, of=SEQUENCES, call=attend, given=ALL_MASKS),
    layer("MultiHeadAttention", 4, 2, of=[(2, 3, 4), (2, 1, 3, 3)], call=biased),
    layer("MultiHeadAttention", 4, 2, add_bias_kv=True, add_zero_attn=True, of=SEQUENCES,
          call=attend, given={"key_padding_mask": PADDING, "need_weights": True}),
    layer("MultiHeadAttention", 4, 4, num_kv_heads=2, of=[(2, 3, 4), (2, 1, 3, 3)], call=biased),
    layer("MultiHeadAttention", 4, 2, rope=layer("RotaryPosEmbedding"), of=SEQUENCES, call=attend,
          given={"is_causal": True}),
    layer("ScaledDotProductAttention", of=SEQUENCES * 3),
    layer("ScaledDotProductAttention", KEEP.tolist(), 0.2, True, 0.3, of=SEQUENCES * 3),
    layer("AdditiveAttention", 4, 4, 3, of=SEQUENCES * 3),
    layer("AdditiveAttention", 4, 3, 5, of=[(2, 3, 4), (2, 3, 3), (2, 3, 4)], given={
        **ALL_MASKS, "need_weights": True}),
    layer("DotProductAttention", 4, 4, 4, 4, of=SEQUENCES * 3),
    layer("DotProductAttention", 4, 3, 2, 5, of=[(2, 3, 4), (2, 3, 3), (2, 3, 2)], given={
        **ALL_MASKS, "need_weights": True}),
    layer("MultiHeadDotProductAttention", 4, 4, 4, 4, 2, of=SEQUENCES * 3),
    layer("MultiHeadDotProductAttention", 4, 3, 2, 4, 2, of=[(2, 3, 4), (2, 3, 3), (2, 3, 2)],
          given={**ALL_MASKS, "need_weights": True}),
    layer("CausalSelfAttention", 4, 2, of=SEQUENCES),
    layer("CausalSelfAttention", 4, 2, bias=False, dropout=0.3, of=SEQUENCES),
    layer("TransformerEncoderLayer", 4, 2, 5, of=SEQUENCES),
    layer("TransformerEncoderLayer", 4, 2, 5, 0.0, norm_first=True, num_kv_heads=1,
          rope=layer("RotaryPosEmbedding"), of=SEQUENCES, given={"src_mask": KEEP}),
    layer("TransformerEncoderLayer", 4, 2, 5, 0.0, "gelu", 1e-2, bias=False, of=SEQUENCES, given={
        "src_key_padding_mask": PADDING, "need_weights": True}),
    layer("TransformerEncoder", ENCODER, 2, layer("LayerNorm", 4), of=SEQUENCES, given={
        "is_causal": True}),
    layer("TransformerDecoderLayer", 4, 2, 5, of=SEQUENCES * 2),
    layer("TransformerDecoderLayer", 4, 2, 5, bias=False, of=[(2, 3, 4), (2, 5, 4)]),
    layer("TransformerDecoderLayer", 4, 2, 5, 0.0, bias=False, norm_first=True, num_kv_heads=1,
          rope=layer("RotaryPosEmbedding"), of=[(2, 3, 4), (2, 5, 4)], given={
              "tgt_is_causal": True}),
    layer("TransformerDecoderLayer", 4, 2, 5, 0.0, "gelu", 1e-2, of=SEQUENCES * 2, given={
        "tgt_mask": KEEP, "mem_mask": KEEP, "tgt_key_padding_mask": PADDING,
        "mem_key_padding_mask": PADDING, "mem_is_causal": True}),
    layer("TransformerDecoder", DECODER, 2, layer("LayerNorm", 4), of=SEQUENCES * 2),
    layer("Transformer", 4, 2, 1, 1, 5, of=SEQUENCES * 2),
    layer("Transformer", 4, 2, 1, 2, 5, 0.0, "gelu", layer_norm_eps=1e-2, norm_first=True,
          bias=False, of=SEQUENCES * 2, given={"tgt_is_causal": True}),
    layer("TransformerEncoderBlock", 4, 2, 5, of=SEQUENCES),
    layer("TransformerBlock", 4, 4, 2, 4, of=SEQUENCES),
    # blocks, and ops of einops
    layer("ConvBNReLU1d", 4, 4, 2, of=CHANNELS, by=conv_bn_relu),
    layer("ConvBNReLU1d", 4, 6, 3, 2, 1, 2, 2, False, 1e-3, 0.3, of=[(3, 4, 9)], by=conv_bn_relu),
    layer("ConvBNReLU1d", 4, 4, 2, bn_affine=False, track_running_stats=False, of=CHANNELS,
          by=conv_bn_relu),
    layer("ConvBNReLU2d", 4, 6, (3, 2), 2, (1, 0), (1, 2), 2, False, 1e-3, 0.3, of=[(2, 4, 3, 4)],
          by=conv_bn_relu),
    layer("ConvBNReLU2d", 4, 4, 2, bn_affine=False, track_running_stats=False, of=IMAGES,
          by=conv_bn_relu),
    layer("DepthSeparableConv1d", 3, 4, 3, 2, 2, 2, of=[(2, 3, 7)], by=separable),
    layer("DepthSeparableConv1d", 4, 4, 2, bias=False, of=CHANNELS, by=separable),
    layer("DepthSeparableConv2d", 3, 4, (2, 3), 2, 1, (2, 1), of=[(2, 3, 5, 6)], by=separable),
    layer("DepthSeparableConv2d", 4, 4, 2, bias=False, of=IMAGES, by=separable),
    layer("SEModule", 16, of=[(2, 16, 3, 2)], by=squeezed),
    layer("SEModule", 6, 2, of=[(2, 6, 3, 2)], by=squeezed),
    layer("SelectiveKernel", 4, 16, (1, 3), of=IMAGES, by=selected),
    layer("SelectiveKernel", 2, 4, [1, 3], 2, groups=2, reduction=2, of=[(3, 2, 3, 4)],
          by=selected),
    layer("SelectiveKernel", 2, 4, [2, 4], padding="same", reduction=2, of=[(3, 2, 3, 4)],
          by=selected),
    layer("Rearrange", "a b -> b a", of=VECTORS, by=lambda m, x: x.T),
    layer("Rearrange", "... a b -> b ... a", of=SEQUENCES, by=lambda m, x: np.moveaxis(x, 2, 0)),
    layer("Rearrange", "n (h p) (w q) -> n (h w) (p q)", p=2, q=3, of=[(2, 4, 6)],
          by=lambda m, x: x.reshape(2, 2, 2, 2, 3).swapaxes(2, 3).reshape(2, 4, 6)),
    layer("Reduce", "a b -> a", "sum", of=VECTORS, by=lambda m, x: x.sum(1)),
    layer("Reduce", "... c -> ...", "mean", of=SEQUENCES, by=lambda m, x: x.mean(-1)),
    layer("Reduce", "n (h p) -> n h", "max", p=2, of=[(3, 6)],
          by=lambda m, x: x.reshape(3, 3, 2).max(-1)),
    layer("Reduce", "a b -> 1 b", "min", of=VECTORS, by=lambda m, x: x.min(0, keepdims=True)),
    layer("Reduce", "a b -> a", "prod", of=VECTORS, by=lambda m, x: x.prod(1)),
    # lazy layers become others
    layer("LazyLinear", 4),
    layer("LazyConv1d", 4, 2),
    layer("LazyConv2d", 4, 2),
    layer("LazyBatchNorm1d"),
    layer("LazyBatchNorm2d"),
    # distances and losses
    layer("CosineSimilarity", of=[(4, 3)] * 2, by=lambda m, x, y: cosine(x, y)),
    layer("CosineSimilarity", -1, 1.5, of=[(2, 4, 3), (4, 3)]),
    layer("PairwiseDistance", of=VECTORS * 2,
          by=lambda m, x, y: np.linalg.norm(x - y + 1e-6, axis=1)),
    layer("PairwiseDistance", 3.0, 0.1, True, of=VECTORS * 2),
    layer("HingeEmbeddingLoss", 0.7, of=[(4,)], given={"target": SIGNS},
          by=lambda m, x, target: np.where(target > 0, x, np.maximum(0.7 - x, 0)).mean()),
    layer("SoftMarginLoss", of=[(4,)], given={"target": SIGNS},
          by=lambda m, x, target: np.logaddexp(0, -target * x).mean()),
    layer("MultiLabelSoftMarginLoss", weight=[*WEIGHT, 2.0], of=VECTORS, given={"target": CHANCES},
          by=lambda m, x, target: (log_loss(x, target) * [*WEIGHT, 2.0]).mean()),
    layer("MultiMarginLoss", 2, 0.7, weight=WEIGHT, of=[(3, 4)], given={"target": CLASSES}),
    layer("CTCLoss", 1, "sum", True, of=[(5, 2, 4)],
          given={"targets": np.array([[2, 2], [0, 3]]), "input_lengths": np.array([2, 4]),
                 "target_lengths": np.array([2, 1])},
          call=lambda m, x, *labels, **named: m(x.log_softmax(-1), *labels, **named)),
    layer("PoissonNLLLoss", of=VECTORS, given={"target": 9 * CHANCES},
          by=lambda m, x, target: (np.exp(x) - target * x).mean()),
    layer("PoissonNLLLoss", False, True, eps=0.1, of=VECTORS, given={"target": 9 * CHANCES},
          call=lambda m, x, target: m(x.exp(), target)),
    layer("TripletMarginWithDistanceLoss", margin=0.7, swap=True, of=VECTORS * 3,
          by=lambda m, *x: triplet(0.7, 1e-6, True, *x)),
    layer("TripletMarginWithDistanceLoss", distance_function=layer("PairwiseDistance", 3.0),
          of=VECTORS * 3),
    layer("MSELoss", of=VECTORS * 2, by=lambda m, x, y: ((x - y) ** 2).mean()),
    layer("MSELoss", reduction="none", of=VECTORS * 2, by=lambda m, x, y: (x - y) ** 2),
    layer("L1Loss", reduction="sum", of=VECTORS * 2, by=lambda m, x, y: abs(x - y).sum()),
    layer("HuberLoss", of=VECTORS * 2, by=lambda m, x, y: np.where(
        abs(x - y) <= 1, (x - y) ** 2 / 2, abs(x - y) - 0.5).mean()),
    layer("HuberLoss", reduction="sum", delta=0.7, of=VECTORS * 2, by=lambda m, x, y: np.where(
        abs(x - y) <= 0.7, (x - y) ** 2 / 2, 0.7 * (abs(x - y) - 0.35)).sum()),
    layer("SmoothL1Loss", reduction="sum", beta=0.7, of=VECTORS * 2, by=lambda m, x, y: np.where(
        abs(x - y) < 0.7, (x - y) ** 2 / 1.4, abs(x - y) - 0.35).sum()),
    layer("SmoothL1Loss", beta=0.0, of=VECTORS * 2, by=lambda m, x, y: abs(x - y).mean()),
    layer("KLDivLoss", given={"target": CHANCES}, of=VECTORS, by=lambda m, x, target: (
        target * (np.log(np.maximum(target, 1e-99)) - x)).mean()),
    layer("KLDivLoss", reduction="batchmean", log_target=True, of=VECTORS * 2,
          by=lambda m, x, y: (np.exp(y) * (y - x)).sum() / 4),
    layer("BCELoss", of=VECTORS * 2, call=lambda m, x, y: m(x.sigmoid(), y.sigmoid()),
          by=lambda m, x, y: log_loss(x, sigmoid(y)).mean()),
    layer("BCELoss", weight=[*WEIGHT, 2.0], reduction="sum", of=VECTORS, given={"target": CHANCES},
          call=lambda m, x, target: m(x.sigmoid(), target),
          by=lambda m, x, target: (log_loss(x, target) * [*WEIGHT, 2.0]).sum()),
    layer("BCEWithLogitsLoss", of=VECTORS * 2, call=lambda m, x, y: m(x, y.sigmoid()),
          by=lambda m, x, y: log_loss(x, sigmoid(y)).mean()),
    layer("BCEWithLogitsLoss", weight=[*WEIGHT, 2.0], reduction="none", pos_weight=[2.0, *WEIGHT],
          of=VECTORS, given={"target": CHANCES}, by=lambda m, x, target: np.array(
              [*WEIGHT, 2.0]) * (np.logaddexp(0, x) * (1 - target) + np.logaddexp(0, -x) * target
                                 * [2.0, *WEIGHT])),
    layer("CrossEntropyLoss", of=[(3, 4)], given={"target": CLASSES},
          by=lambda m, x, target: -log_softmax(x)[range(3), target].mean()),
    layer("CrossEntropyLoss", of=[(4,)], given={"target": np.array(2)},
          by=lambda m, x, target: -log_softmax(x, 0)[2]),
    layer("CrossEntropyLoss", weight=WEIGHT, reduction="sum", ignore_index=3, label_smoothing=0.1,
          of=[(2, 4, 3)], given={"target": PLACES}),
    layer("CrossEntropyLoss", label_smoothing=0.1, of=[(3, 4)] * 2,
          call=lambda m, x, y: m(x, F.softmax(y) if isinstance(y, Tensor) else y.softmax(-1))),
    layer("NLLLoss", of=[(3, 4)], given={"target": CLASSES},
          by=lambda m, x, target: -x[range(3), target].mean()),
    layer("NLLLoss", weight=WEIGHT, reduction="none", ignore_index=3, of=[(2, 4, 3)],
          given={"target": PLACES}, by=lambda m, x, target: np.where(
              target == 3, 0, -np.array(WEIGHT)[target] * np.take_along_axis(
                  x, target[:, None], 1)[:, 0])),
    layer("TripletMarginLoss", of=VECTORS * 3, by=lambda m, *x: triplet(1.0, 1e-6, False, *x)),
    layer("TripletMarginLoss", 0.7, eps=0.1, swap=True, of=VECTORS * 3,
          by=lambda m, *x: triplet(0.7, 0.1, True, *x)),
    layer("TripletMarginLoss", 9.0, p=3.0, reduction="none", of=VECTORS * 3),
    layer("MarginRankingLoss", of=[(4,)] * 2, given={"target": SIGNS},
          by=lambda m, x, y, target: np.maximum(target * (y - x), 0).mean()),
    layer("MarginRankingLoss", margin=0.3, reduction="none", of=[(4,)] * 2, given={
        "target": SIGNS}, by=lambda m, x, y, target: np.maximum(target * (y - x) + 0.3, 0)),
    layer("CosineEmbeddingLoss", of=[(4, 3)] * 2, given={"target": SIGNS}),
    layer("CosineEmbeddingLoss", margin=-0.5, reduction="none", of=[(4, 3)] * 2, given={
        "target": SIGNS}, by=lambda m, x, y, target: np.where(
            target > 0, 1 - cosine(x, y), np.maximum(cosine(x, y) + 0.5, 0))),
    layer("GaussianNLLLoss", of=[(4, 3)] * 3, call=lambda m, x, y, v: m(x, y, v.exp()),
          by=lambda m, x, y, v: (v + (x - y) ** 2 / np.exp(v)).mean() / 2),
    layer("GaussianNLLLoss", full=True, reduction="sum", of=[(4, 3), (4, 3), (4, 1)],
          call=lambda m, x, y, v: m(x, y, v.exp()), by=lambda m, x, y, v: (
              v + (x - y) ** 2 / np.exp(v) + np.log(2 * np.pi)).sum() / 2),
]  # fmt: skip
