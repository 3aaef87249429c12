"""BERT: a bidirectional encoder. Fields have the names of the library transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import nn, ops
from minigrad.autograd.errors import value_error
from minigrad.nn.functional import MaskLike
from minigrad.pretrained.config import ACTIVATIONS, Activation, Checked, Index, Share, Size
from minigrad.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True)
class BertConfig(Checked):
    """The fields of BERT's `config.json` that are used, with their defaults.

    Attributes:
        vocab_size: The number of tokens.
        hidden_size: The model width.
        num_hidden_layers: The number of layers.
        num_attention_heads: The number of attention heads.
        intermediate_size: The width inside the feed-forward networks.
        hidden_act: The activation there, and in the head for masked tokens.
        hidden_dropout_prob: The dropout probability of embeddings and of residual branches.
        attention_probs_dropout_prob: The dropout probability of attention weights.
        max_position_embeddings: The number of positions.
        type_vocab_size: The number of token types.
        layer_norm_eps: The eps of all normalisations.
        pad_token_id: The padding token, whose embedding gets no gradient, or None.
        tie_word_embeddings: Whether the head for masked tokens shares the token embeddings as its
            weight.

    Example:
        >>> from minigrad import pretrained
        >>> pretrained.BertConfig(num_hidden_layers=2).hidden_size
        768
    """

    vocab_size: Size = 30522
    hidden_size: Size = 768
    num_hidden_layers: Size = 12
    num_attention_heads: Size = 12
    intermediate_size: Size = 3072
    hidden_act: Activation = "gelu"
    hidden_dropout_prob: Share = 0.1
    attention_probs_dropout_prob: Share = 0.1
    max_position_embeddings: Size = 512
    type_vocab_size: Size = 2
    layer_norm_eps: Share = 1e-12
    pad_token_id: Index | None = 0
    tie_word_embeddings: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_heads("num_attention_heads", "hidden_size")
        if (self.pad_token_id or 0) >= self.vocab_size:
            raise ValueError(
                f"pad_token_id: {self.pad_token_id} given, but vocab_size is {self.vocab_size}"
            )


class BertEmbeddings(nn.Module):
    """The normalized sum of the embeddings of token, position and token type."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.words = nn.Embedding(config.vocab_size, width, padding_idx=config.pad_token_id)
        self.positions = nn.LearnedPosEmbedding(config.max_position_embeddings, width)
        self.token_types = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, ids: Any, token_type_ids: Any = None) -> Tensor:
        """Look up: (N, L) -> (N, L, width)."""
        words = self.words(ids)
        types = np.zeros(words.shape[:-1], np.int64) if token_type_ids is None else token_type_ids
        if np.shape(types) != words.shape[:-1]:
            raise value_error(
                f"Bert: token_type_ids need the shape of the ids, {tuple(words.shape[:-1])}, got "
                f"{np.shape(types)}"
            )
        return self.dropout(self.norm(self.positions(words + self.token_types(types))))


class BertPooler(nn.Module):
    """One vector for a sequence: a linear map and tanh of its first token's vector."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.linear = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        """Pool: (N, L, width) -> (N, width)."""
        return ops.tanh(self.linear(hidden[:, 0]))


class BertMaskedHead(nn.Module):
    """The masked language model head: logits for each token."""

    def __init__(self, config: BertConfig, words: nn.Embedding) -> None:
        super().__init__()
        self.linear = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = ACTIVATIONS[config.hidden_act]
        self.norm = nn.LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        if config.tie_word_embeddings:
            self.decoder.weight = words.weight

    def forward(self, hidden: Tensor) -> Tensor:
        """Score: (N, L, width) -> (N, L, tokens)."""
        return self.decoder(self.norm(self.activation(self.linear(hidden))))


class Bert(nn.Module):
    """BERT: embeddings, post-norm transformer layers, and the heads of the checkpoint.

    A call returns the hidden states of the last layer. A head is a separate module that takes them:
    ``model.masked_lm(model(ids))``.

    Source: Devlin et al., "BERT: pre-training of deep bidirectional transformers for language
    understanding", 2019.

    Args:
        pooler: Whether there is a pooler.
        masked_lm: Whether there is a head for masked tokens.
        next_sentence: Whether there is a head for next-sentence prediction.

    Attributes:
        encoder: A `nn.TransformerEncoder`.
        pooler: Hidden states of shape (N, L, width) to vectors of shape (N, width); or None.
        masked_lm: Hidden states to logits of shape (N, L, vocab_size); or None.
        next_sentence: A `nn.Linear` from the pooler's output to logits of shape (N, 2); or None.

    Example:
        >>> from minigrad import pretrained
        >>> config = pretrained.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2,
        ...                                num_attention_heads=4, intermediate_size=32)
        >>> model = pretrained.Bert(config, masked_lm=True)
        >>> hidden = model([[2, 7, 9, 3]])
        >>> hidden.shape, model.pooler(hidden).shape, model.masked_lm(hidden).shape
        (minigrad.Size([1, 4, 16]), minigrad.Size([1, 16]), minigrad.Size([1, 4, 50]))
    """

    def __init__(
        self, config: BertConfig, *, pooler: bool = True, masked_lm: bool = False,
        next_sentence: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        layer = nn.TransformerEncoderLayer(
            config.hidden_size, config.num_attention_heads, config.intermediate_size,
            config.hidden_dropout_prob, ACTIVATIONS[config.hidden_act], config.layer_norm_eps,
        )  # fmt: skip
        layer.self_attn.dropout = config.attention_probs_dropout_prob
        layer.dropout.p = 0.0  # none inside the feed-forward network
        self.encoder = nn.TransformerEncoder(layer, config.num_hidden_layers)
        self.pooler = BertPooler(config) if pooler else None
        self.masked_lm = BertMaskedHead(config, self.embeddings.words) if masked_lm else None
        self.next_sentence = nn.Linear(config.hidden_size, 2) if next_sentence else None

    def forward(
        self, ids: Any, token_type_ids: Any = None, key_padding_mask: MaskLike = None
    ) -> Tensor:
        """Compute the hidden states of the last layer, of shape (N, L, hidden_size).

        Args:
            ids: Tokens, integers of shape (N, L).
            token_type_ids: 0 for tokens of the first text and 1 for the second, of the same shape;
                by default 0.
            key_padding_mask: A bool mask of shape (N, L): True = padding, ignored. It is the
                opposite of an `attention_mask`: ``attention_mask == 0``.
        """
        embedded = self.embeddings(ids, token_type_ids)
        return self.encoder(embedded, src_key_padding_mask=key_padding_mask)
