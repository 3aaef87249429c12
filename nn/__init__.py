"""Neural networks: modules, layers, losses and their initialisation."""

if __name__ != "minigrad.nn":
    raise ImportError("this folder is the package minigrad.nn: write `import minigrad.nn`")

from minigrad.nn import by_hand, functional, generation, init, utils
from minigrad.nn.attention.cache import DynamicKVCache, EncoderDecoderCache, StaticKVCache
from minigrad.nn.attention.cache_base import Cache, KVCache
from minigrad.nn.attention.multi_head import MultiHeadAttention, ScaledDotProductAttention
from minigrad.nn.layers.activation import (
    ELU,
    GELU,
    SELU,
    HardSigmoid,
    HardSwish,
    LeakyReLU,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Swish,
    Tanh,
)
from minigrad.nn.layers.channel_norm import BatchNorm1d, BatchNorm2d, GroupNorm
from minigrad.nn.layers.convolution import Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d
from minigrad.nn.layers.dropout import Dropout
from minigrad.nn.layers.embedding import Embedding
from minigrad.nn.layers.flatten import Flatten, Unflatten
from minigrad.nn.layers.linear import Identity, Linear
from minigrad.nn.layers.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from minigrad.nn.layers.normalization import LayerNorm, RMSNorm
from minigrad.nn.layers.pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AvgPool1d,
    AvgPool2d,
    MaxPool1d,
    MaxPool2d,
)
from minigrad.nn.layers.positional import (
    LearnedPosEmbedding,
    RotaryPosEmbedding,
    SinusoidalPosEmbedding,
)
from minigrad.nn.layers.rearrange import EinMix, Rearrange, Reduce
from minigrad.nn.layers.recurrence import GRU, LSTM, RNN
from minigrad.nn.layers.recurrent_cells import GRUCell, LSTMCell, RNNCell
from minigrad.nn.module.base import Module
from minigrad.nn.module.containers import ModuleDict, ModuleList, Sequential
from minigrad.nn.module.parameter import Parameter
from minigrad.nn.transformers.decoder import TransformerDecoder, TransformerDecoderLayer
from minigrad.nn.transformers.encoder import TransformerEncoder, TransformerEncoderLayer
from minigrad.nn.transformers.feed_forward import SwiGLU
from minigrad.nn.transformers.transformer import Transformer
from minigrad.nn.variants.additive_attention import AdditiveAttention
from minigrad.nn.variants.causal_self_attention import CausalSelfAttention
from minigrad.nn.variants.dot_product_attention import (
    DotProductAttention,
    MultiHeadDotProductAttention,
)
from minigrad.nn.variants.encoder_block import TransformerEncoderBlock
from minigrad.nn.variants.transformer_block import TransformerBlock

__all__ = [
    "ELU",
    "GELU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdditiveAttention",
    "AvgPool1d",
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "Cache",
    "CausalSelfAttention",
    "Conv1d",
    "Conv2d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "CrossEntropyLoss",
    "DotProductAttention",
    "Dropout",
    "DynamicKVCache",
    "EinMix",
    "Embedding",
    "EncoderDecoderCache",
    "Flatten",
    "GRUCell",
    "GroupNorm",
    "HardSigmoid",
    "HardSwish",
    "HuberLoss",
    "Identity",
    "KLDivLoss",
    "KVCache",
    "L1Loss",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "LearnedPosEmbedding",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "MultiHeadDotProductAttention",
    "NLLLoss",
    "Parameter",
    "RMSNorm",
    "RNNCell",
    "ReLU",
    "ReLU6",
    "Rearrange",
    "Reduce",
    "RotaryPosEmbedding",
    "ScaledDotProductAttention",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SinusoidalPosEmbedding",
    "SmoothL1Loss",
    "Softmax",
    "Softplus",
    "StaticKVCache",
    "SwiGLU",
    "Swish",
    "Tanh",
    "Transformer",
    "TransformerBlock",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderBlock",
    "TransformerEncoderLayer",
    "Unflatten",
    "by_hand",
    "functional",
    "generation",
    "init",
    "utils",
]
