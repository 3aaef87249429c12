"""Layers of `lucid.nn` whose constructors are not PyTorch's.

Source: the signatures and docstrings of Lucid 3.8.

Example:
    >>> from minigrad.lucid import nn, tensor
    >>> nn.MSELoss("sum")(tensor([1.0, 2.0]), tensor([1.0, 4.0])).item()
    4.0
"""

from __future__ import annotations

from typing import Any

from minigrad import nn
from minigrad.lucid.absent import supported
from minigrad.lucid.spelling import without_old
from minigrad.torch.nn import multihead, transformers

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "KLDivLoss", "L1Loss", "LogSoftmax", "MSELoss", "MarginRankingLoss", "MultiheadAttention",
    "NLLLoss", "RMSNorm", "SmoothL1Loss", "Softmax", "Transformer", "TransformerDecoderLayer",
    "TransformerEncoderLayer", "TripletMarginLoss",
]  # fmt: skip


class RMSNorm(nn.RMSNorm):
    """The root mean square normalization; `eps` is 1e-8."""

    def __init__(self, normalized_shape: Any, eps: float = 1e-8, **options: Any) -> None:
        super().__init__(normalized_shape, eps, **options)


class _OfLastAxis(nn.Module):
    """A layer that goes along the last axis if none is given."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__(-1 if dim is None else dim)  # type: ignore[call-arg]  # the layer's


class Softmax(_OfLastAxis, nn.Softmax):
    """The softmax, along the last axis if none is given."""


class LogSoftmax(_OfLastAxis, nn.LogSoftmax):
    """The logarithm of the softmax, along the last axis if none is given."""


class _Loss(nn.Module):
    """A loss whose constructor has no `size_average` and `reduce`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" not in vars(cls):  # of PyTorch's layer
            cls.__init__ = without_old(cls.__init__)  # type: ignore[method-assign]


class L1Loss(_Loss, nn.L1Loss):
    """The absolute error; the first argument is `reduction`."""


class MSELoss(_Loss, nn.MSELoss):
    """The squared error; the first argument is `reduction`."""


class SmoothL1Loss(_Loss, nn.SmoothL1Loss):
    """The squared error below `beta`, the absolute one above; the first is `reduction`."""


class CrossEntropyLoss(_Loss, nn.CrossEntropyLoss):
    """The cross-entropy of scores; the second argument is `ignore_index`."""


class NLLLoss(_Loss, nn.NLLLoss):
    """The cross-entropy of log-probabilities; the second argument is `ignore_index`."""


class BCELoss(_Loss, nn.BCELoss):
    """The cross-entropy of probabilities; the second argument is `reduction`."""


class BCEWithLogitsLoss(_Loss, nn.BCEWithLogitsLoss):
    """The cross-entropy of log-odds; the second argument is `reduction`."""


class KLDivLoss(_Loss, nn.KLDivLoss):
    """The divergence of log-probabilities from a target; the first argument is `reduction`."""


class TripletMarginLoss(_Loss, nn.TripletMarginLoss):
    """How much nearer a positive is than a negative; `reduction` comes after `swap`."""


class CosineEmbeddingLoss(_Loss, nn.CosineEmbeddingLoss):
    """How similar the pairs with y = 1 are, and the others are not; the second is `reduction`."""


class MarginRankingLoss(_Loss, nn.MarginRankingLoss):
    """How far the order of two tensors is from a given one; the second argument is `reduction`."""


class GaussianNLLLoss(nn.GaussianNLLLoss):
    """The cross-entropy of a normal distribution; the arguments have positions."""

    def __init__(self, full: bool = False, eps: float = 1e-6, reduction: Any = "mean") -> None:
        super().__init__(full=full, eps=eps, reduction=reduction)


class MultiheadAttention(multihead.MultiheadAttention):
    """Attention; a cache, or groups of heads, are errors that name what has them."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **supported("lucid.nn.MultiheadAttention", options))

    def forward(self, *args: Any, is_cross_attention: bool = False, **options: Any) -> Any:
        """Apply attention, as PyTorch's."""
        return super().forward(*args, **supported("lucid.nn.MultiheadAttention", options))


def _drop_attention(module: Any, p: float | None) -> None:
    """Set the dropout of the attention weights, if it is given."""
    for each in module.modules():
        if p is not None and isinstance(each, multihead.MultiheadAttention):
            each.dropout = p


class _TransformerLayer(nn.Module):
    """A layer whose fifth argument is the dropout of the attention weights."""

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        attention_dropout: float | None = None, activation: Any = "relu",
        batch_first: bool = False, norm_first: bool = False, layer_norm_eps: float = 1e-5,
        **options: Any,
    ) -> None:  # fmt: skip
        given = (activation, layer_norm_eps, batch_first, norm_first)
        super().__init__(d_model, nhead, dim_feedforward, dropout, *given, **options)  # type: ignore[call-arg]
        _drop_attention(self, attention_dropout)


class TransformerEncoderLayer(_TransformerLayer, transformers.TransformerEncoderLayer):
    """A layer of an encoder; the fifth argument is the dropout of the attention weights."""


class TransformerDecoderLayer(_TransformerLayer, transformers.TransformerDecoderLayer):
    """A layer of a decoder; the fifth argument is the dropout of the attention weights."""


class Transformer(transformers.Transformer):
    """An encoder and a decoder; the seventh argument is the dropout of the attention weights."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6,
        num_decoder_layers: int = 6, dim_feedforward: int = 2048, dropout: float = 0.1,
        attention_dropout: float | None = None, activation: Any = "relu",
        batch_first: bool = False, layer_norm_eps: float = 1e-5, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(
            d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward, dropout,
            activation, layer_norm_eps=layer_norm_eps, batch_first=batch_first, **options,
        )  # fmt: skip
        _drop_attention(self, attention_dropout)
