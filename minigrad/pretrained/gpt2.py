"""GPT-2: a decoder-only language model. Fields have the names of the library transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minigrad import nn
from minigrad.nn.functional import MaskLike
from minigrad.pretrained.config import ACTIVATIONS, Activation, Checked, Share, Size
from minigrad.tensors.tensor import Tensor


@dataclass(frozen=True, kw_only=True)
class GPT2Config(Checked):
    """The fields of GPT-2's `config.json` that are used, with their defaults.

    Attributes:
        vocab_size: The number of tokens.
        n_positions: The number of positions.
        n_ctx: The number of positions in older files.
        n_embd: The model width.
        n_layer: The number of layers.
        n_head: The number of attention heads.
        n_inner: The width inside the feed-forward networks, 4 · n_embd if None.
        activation_function: The activation there.
        resid_pdrop: The dropout probability of residual branches.
        embd_pdrop: The dropout probability of embeddings.
        attn_pdrop: The dropout probability of attention weights.
        layer_norm_epsilon: The eps of all normalisations.
        tie_word_embeddings: Whether the head shares the token embeddings as its weight.

    Example:
        >>> from minigrad import pretrained
        >>> pretrained.GPT2Config(n_layer=2).activation_function
        'gelu_new'
    """

    vocab_size: Size = 50257
    n_positions: Size = 1024
    n_ctx: Size | None = None
    n_embd: Size = 768
    n_layer: Size = 12
    n_head: Size = 12
    n_inner: Size | None = None
    activation_function: Activation = "gelu_new"
    resid_pdrop: Share = 0.1
    embd_pdrop: Share = 0.1
    attn_pdrop: Share = 0.1
    layer_norm_epsilon: Share = 1e-5
    tie_word_embeddings: bool = True

    @property
    def hidden(self) -> int:
        """The width inside the feed-forward networks."""
        return 4 * self.n_embd if self.n_inner is None else self.n_inner

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_heads("n_head", "n_embd")
        if self.n_ctx not in (None, self.n_positions):
            raise ValueError(f"n_ctx: {self.n_ctx} differs from n_positions, {self.n_positions}")


class GPT2(nn.Module):
    """GPT-2: embeddings, causal pre-norm layers, and logits of the next token.

    A call with ids and a cache returns logits, as `nn.generation` expects.

    Source: Radford et al., "Language models are unsupervised multitask learners", 2019.

    Attributes:
        tokens: The table of embeddings.
        positions: The `nn.LearnedPosEmbedding`.
        decoder: A `nn.TransformerEncoder` with a final normalisation.
        head: The linear map to the logits; it shares the weight of `tokens` if the config ties
            them.

    Example:
        >>> from minigrad import nn, pretrained
        >>> config = pretrained.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2,
        ...                                n_head=4)
        >>> model = pretrained.GPT2(config)
        >>> model([[2, 7, 9]]).shape
        minigrad.Size([1, 3, 50])
        >>> nn.generation.generate(model, [[2, 7, 9]], 4, temperature=0).shape
        minigrad.Size([1, 7])
    """

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.n_embd)
        self.positions = nn.LearnedPosEmbedding(config.n_positions, config.n_embd)
        self.dropout = nn.Dropout(config.embd_pdrop)
        eps = config.layer_norm_epsilon
        layer = nn.TransformerEncoderLayer(
            config.n_embd, config.n_head, config.hidden, config.resid_pdrop,
            ACTIVATIONS[config.activation_function], eps, norm_first=True,
        )  # fmt: skip
        layer.self_attn.dropout = config.attn_pdrop
        layer.dropout.p = 0.0  # none inside the feed-forward network
        self.decoder = nn.TransformerEncoder(
            layer, config.n_layer, nn.LayerNorm(config.n_embd, eps)
        )
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie_word_embeddings:
            self.head.weight = self.tokens.weight

    def features(
        self, ids: Any, cache: nn.KVCache | None = None, key_padding_mask: MaskLike = None,
        position_ids: Any = None,
    ) -> Tensor:  # fmt: skip
        """Compute the hidden states after the final normalisation, of shape (N, L, n_embd).

        Args:
            ids: Tokens, integers of shape (N, L).
            cache: A cache of earlier tokens; `ids` are the tokens after them.
            key_padding_mask: A bool mask of shape (N, S): True = padding, ignored. S counts the
                cached tokens too.
            position_ids: The position of each token, integers of shape (N, L); by default they
                follow the cached tokens.
        """
        start = 0 if cache is None or position_ids is not None else cache.get_seq_length()
        x = self.positions(self.tokens(ids), offset=start, position_ids=position_ids)
        return self.decoder(
            self.dropout(x), src_key_padding_mask=key_padding_mask, is_causal=True,
            kv_cache=cache, use_cache=cache is not None,
        )  # fmt: skip

    def forward(
        self, ids: Any, cache: nn.KVCache | None = None, key_padding_mask: MaskLike = None,
        position_ids: Any = None,
    ) -> Tensor:  # fmt: skip
        """Return logits of the next token, (N, L, vocab_size); arguments as in `features`."""
        return self.head(self.features(ids, cache, key_padding_mask, position_ids))
