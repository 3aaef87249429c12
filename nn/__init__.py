"""Neural networks: modules, layers, losses and their initialisation."""

if __name__ != "minigrad.nn":
    raise ImportError(
        "this folder is the package minigrad.nn: write `import minigrad.nn`, with minigrad "
        "installed (pip install -e . --config-settings editable_mode=strict)"
    )

from minigrad.nn import by_hand, functional, generation, init, utils
from minigrad.nn.activation import GELU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh
from minigrad.nn.additive_attention import AdditiveAttention
from minigrad.nn.attention import MultiHeadAttention, ScaledDotProductAttention
from minigrad.nn.cache import DynamicKVCache, EncoderDecoderCache, StaticKVCache
from minigrad.nn.cache_base import Cache, KVCache
from minigrad.nn.causal_self_attention import CausalSelfAttention
from minigrad.nn.containers import ModuleDict, ModuleList, Sequential
from minigrad.nn.decoder import TransformerDecoder, TransformerDecoderLayer
from minigrad.nn.dot_product_attention import DotProductAttention, MultiHeadDotProductAttention
from minigrad.nn.dropout import Dropout
from minigrad.nn.embedding import Embedding
from minigrad.nn.encoder import TransformerEncoder, TransformerEncoderLayer
from minigrad.nn.encoder_block import TransformerEncoderBlock
from minigrad.nn.feed_forward import SwiGLU
from minigrad.nn.linear import Identity, Linear
from minigrad.nn.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
)
from minigrad.nn.module import Module
from minigrad.nn.normalization import LayerNorm, RMSNorm
from minigrad.nn.parameter import Parameter
from minigrad.nn.positional import (
    LearnedPosEmbedding,
    RotaryPosEmbedding,
    SinusoidalPosEmbedding,
)
from minigrad.nn.rearrange import EinMix, Rearrange, Reduce
from minigrad.nn.transformer import Transformer
from minigrad.nn.transformer_block import TransformerBlock

__all__ = [
    "GELU",
    "AdditiveAttention",
    "BCELoss",
    "BCEWithLogitsLoss",
    "Cache",
    "CausalSelfAttention",
    "CrossEntropyLoss",
    "DotProductAttention",
    "Dropout",
    "DynamicKVCache",
    "EinMix",
    "Embedding",
    "EncoderDecoderCache",
    "HuberLoss",
    "Identity",
    "KVCache",
    "L1Loss",
    "LayerNorm",
    "LearnedPosEmbedding",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiHeadAttention",
    "MultiHeadDotProductAttention",
    "NLLLoss",
    "Parameter",
    "RMSNorm",
    "ReLU",
    "Rearrange",
    "Reduce",
    "RotaryPosEmbedding",
    "ScaledDotProductAttention",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SinusoidalPosEmbedding",
    "Softmax",
    "Softplus",
    "StaticKVCache",
    "SwiGLU",
    "Tanh",
    "Transformer",
    "TransformerBlock",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderBlock",
    "TransformerEncoderLayer",
    "by_hand",
    "functional",
    "generation",
    "init",
    "utils",
]
