"""Neural networks: modules, layers, attention, transformers, losses and initialization.

A file lists its public classes in its own `__all__`; this one imports every file.
"""

from typing import TYPE_CHECKING

if __name__ != "minigrad.nn":
    raise ImportError("this folder is the package minigrad.nn: write `import minigrad.nn`")

from minigrad.nn import by_hand as by_hand
from minigrad.nn import functional as functional
from minigrad.nn import generation as generation
from minigrad.nn import init as init
from minigrad.nn import utils as utils
from minigrad.nn.attention.cache import *
from minigrad.nn.attention.multi_head import *
from minigrad.nn.layers.activation import *
from minigrad.nn.layers.blocks import *
from minigrad.nn.layers.convolution import *
from minigrad.nn.layers.dropout import *
from minigrad.nn.layers.einops_layers import *
from minigrad.nn.layers.embedding import *
from minigrad.nn.layers.lazy import *
from minigrad.nn.layers.linear import *
from minigrad.nn.layers.loss import *
from minigrad.nn.layers.normalization import *
from minigrad.nn.layers.pooling import *
from minigrad.nn.layers.recurrence import *
from minigrad.nn.layers.resampling import *
from minigrad.nn.module.base import *
from minigrad.nn.module.containers import *
from minigrad.nn.module.parameter import *
from minigrad.nn.source_documents.attention import *
from minigrad.nn.source_documents.blocks import *
from minigrad.nn.transformers.layers import *
from minigrad.nn.transformers.stacks import *
from minigrad.support.lazy_names import lazy_names

if not TYPE_CHECKING:  # type checkers follow the imports above
    _classes = [name for name, value in globals().items() if isinstance(value, type)]
    __all__ = ["by_hand", "functional", "generation", "init", "utils", *sorted(_classes)]

    def __getattr__(name: str) -> object:
        if name == "MultiheadAttention":  # one letter must not invert a mask
            raise AttributeError(
                "minigrad.nn has no 'MultiheadAttention': take minigrad.nn.MultiHeadAttention, "
                "whose bool masks are True where attention is allowed, or PyTorch's, "
                "minigrad.torch.nn.MultiheadAttention, whose masks are True where it is not"
            )
        return lazy_names("minigrad.nn")(name)
