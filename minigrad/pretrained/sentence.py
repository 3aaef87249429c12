"""Sentence encoders: one vector for each text, pooled from those of its tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import value_error
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn import Module
from minigrad.nn.functional import MaskLike
from minigrad.nn.utils import evaluating
from minigrad.pretrained.bert import Bert
from minigrad.support.checks import check_choice, check_size
from minigrad.tensors.tensor import Tensor

POOLINGS = ("cls", "max", "mean")
SIMILARITIES = ("cosine", "dot")
LENGTH_EPS = 1e-12
"""The minimum length by which vectors are divided when they are scaled to length 1."""


class Tokens(NamedTuple):
    """Tokenized texts, the input of a `SentenceEncoder`.

    Attributes:
        ids: Tokens, int64 of shape (N, L).
        token_type_ids: The type of each token, of the same shape.
        key_padding_mask: A bool mask of that shape: True = padding.

    Example:
        >>> import numpy as np
        >>> from minigrad import pretrained
        >>> ids = np.array([[2, 7, 3], [2, 3, 0]])
        >>> tokens = pretrained.Tokens(ids, np.zeros_like(ids), ids == 0)
        >>> tokens.key_padding_mask.sum(axis=1)
        array([0, 1])
    """

    ids: np.ndarray
    token_type_ids: np.ndarray
    key_padding_mask: np.ndarray


class Pooling(Module):
    """One vector from the vectors of a sequence's tokens; ignores padding.

    Args:
        modes: The poolings, whose results are concatenated: "cls" is the vector of the first token
            that is not padding, "max" the maximum of each feature, "mean" its mean.

    Example:
        >>> import minigrad, numpy
        >>> from minigrad import pretrained
        >>> hidden = minigrad.tensor([[[1.0, 8.0], [3.0, 4.0], [9.0, 9.0]]])
        >>> padding = numpy.array([[False, False, True]])
        >>> pretrained.Pooling(["cls", "mean"])(hidden, padding).tolist()
        [[1.0, 8.0, 2.0, 6.0]]
    """

    def __init__(self, modes: Sequence[str] = ("mean",)) -> None:
        super().__init__()
        if not modes or any(mode not in POOLINGS for mode in modes):
            raise ValueError(f"Pooling: modes must be some of {POOLINGS}, got {modes!r}")
        self.modes = tuple(modes)

    def forward(self, hidden: Tensor, key_padding_mask: MaskLike = None) -> Tensor:
        """Pool (N, L, D) to (N, D · number of modes); True in the mask (N, L) is padding, ignored.

        Raises:
            ValueError: The mask has another shape, or a sequence is all padding.
        """
        shape = hidden.shape[:2]
        padding = np.zeros(shape, bool) if key_padding_mask is None else key_padding_mask
        real = ~np.asarray(padding, bool)[..., None]  # (N, L, 1)
        if real.shape[:-1] != shape or not real.any(axis=1).all():
            raise value_error(
                f"Pooling: a mask of shape {shape} expected that leaves a token in each "
                f"sequence, got {tuple(real.shape[:-1])}"
            )
        return ops.concatenate([self._pooled(mode, hidden, real) for mode in self.modes], axis=1)

    def _pooled(self, mode: str, hidden: Tensor, real: np.ndarray) -> Tensor:
        if mode == "cls":
            return hidden[np.arange(len(real)), real[..., 0].argmax(axis=1)]
        if mode == "max":
            return ops.max(ops.where(real, hidden, -np.inf), axis=1)
        counts = ops.sum(ops.astype(real, hidden.dtype), axis=1)  # (N, 1)
        return ops.sum(ops.where(real, hidden, 0.0), axis=1) / counts

    def extra_repr(self) -> str:
        return f"modes={self.modes}"


class SentenceEncoder(Module):
    """A BERT whose hidden states are pooled to one vector for each text.

    Calling it with tokens records a graph, for training; `encode` takes texts.

    Source: Reimers and Gurevych, "Sentence-BERT: sentence embeddings using Siamese BERT-networks",
    2019.

    Args:
        pooling: Combines its hidden states into one vector.
        tokenizer: A `tokenizers.Tokenizer`; it is copied.
        max_length: The number of tokens to which a text is cut; by default the model's number of
            positions.
        lower_case: Whether texts are converted to lower case first.
        normalize: Whether vectors are scaled to length 1.
        similarity_name: "cosine", or "dot" for the scalar product.

    Example:
        >>> from minigrad import pretrained
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "word": 2}, "[UNK]"))
        >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> config = pretrained.BertConfig(vocab_size=3, hidden_size=16, num_hidden_layers=2,
        ...                                num_attention_heads=4, intermediate_size=32)
        >>> encoder = pretrained.SentenceEncoder(
        ...     pretrained.Bert(config, pooler=False), pretrained.Pooling(["mean"]), tokenizer
        ... )
        >>> vectors = encoder.encode(["a word", "word", "a"])
        >>> vectors.shape, encoder.similarity(vectors, vectors).shape
        (minigrad.Size([3, 16]), minigrad.Size([3, 3]))
    """

    def __init__(
        self, bert: Bert, pooling: Pooling, tokenizer: Any, *, max_length: int | None = None,
        lower_case: bool = False, normalize: bool = False, similarity_name: str = "cosine",
    ) -> None:  # fmt: skip
        super().__init__()
        positions = bert.config.max_position_embeddings
        longest = positions if max_length is None else max_length
        self.max_length = check_size("SentenceEncoder", "max_length", longest)
        if longest > positions:
            raise ValueError(
                f"SentenceEncoder: max_length {longest} given, there are {positions} positions"
            )
        check_choice("SentenceEncoder", "similarity_name", similarity_name, SIMILARITIES)
        self.bert = bert
        self.pooling = pooling
        self.lower_case = lower_case
        self.normalize = normalize
        self.similarity_name = similarity_name
        self.tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self.tokenizer.no_padding()  # replaces the file's own truncation and padding
        self.tokenizer.enable_truncation(self.max_length)

    def tokenize(self, texts: Iterable[str]) -> Tokens:
        """Tokenize texts, and pad the shorter ones: the arguments of a call of this model."""
        given = _listed(texts)
        read = [text.lower() for text in given] if self.lower_case else given
        encodings = self.tokenizer.encode_batch(read)
        empty = [text for text, encoding in zip(given, encodings, strict=True) if not encoding.ids]
        if empty:
            raise ValueError(f"SentenceEncoder: no token in {empty[0]!r}")
        shape = len(encodings), max((len(encoding.ids) for encoding in encodings), default=0)
        pad = self.bert.config.pad_token_id or 0  # any token will do: it is masked
        ids, types = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
        padding = np.ones(shape, bool)
        for i, encoding in enumerate(encodings):
            length = len(encoding.ids)
            ids[i, :length] = encoding.ids
            types[i, :length] = encoding.type_ids
            padding[i, :length] = False
        return Tokens(ids, types, padding)

    def forward(
        self, ids: Any, token_type_ids: Any = None, key_padding_mask: MaskLike = None
    ) -> Tensor:
        """Embed a batch of texts, with gradients: ``model(*model.tokenize(texts))``.

        The arguments, of shape (N, L), are described in `Tokens`; the result has shape (N, D).
        """
        hidden = self.bert(ids, token_type_ids, key_padding_mask)
        vectors = self.pooling(hidden, key_padding_mask)
        return _directions(vectors) if self.normalize else vectors

    def encode(self, texts: Iterable[str], batch_size: int = 32) -> Tensor:
        """Embed texts, in evaluation mode and without a graph: a tensor of shape (N, D).

        Args:
            texts: N texts: a list, an array, a column of a table, a generator.
            batch_size: The number of texts in a batch; texts of similar length are batched
                together.
        """
        check_size("SentenceEncoder", "batch_size", batch_size)
        ids, types, padding = self.tokenize(texts)
        if not len(ids):
            raise ValueError("SentenceEncoder: at least one text expected")
        lengths = (~padding).sum(axis=1)
        order = np.argsort(lengths, kind="stable")
        vectors = []
        with no_grad(), evaluating(self):
            for start in range(0, len(order), batch_size):
                some = order[start : start + batch_size]
                longest = lengths[some[-1]]
                vectors.append(self(*(part[some, :longest] for part in (ids, types, padding))))
        return ops.concatenate(vectors)[np.argsort(order)]

    def similarity(self, a: Tensor, b: Tensor) -> Tensor:
        """Compute the similarity (N, M) of vectors (N, D) and (M, D), as the model was trained."""
        if self.similarity_name == "cosine":
            a, b = _directions(a), _directions(b)
        return a @ b.swapaxes(0, 1)

    def extra_repr(self) -> str:
        return (
            f"max_length={self.max_length}, lower_case={self.lower_case}, "
            f"normalize={self.normalize}, similarity_name={self.similarity_name!r}"
        )


def _listed(texts: Any) -> list[str]:
    """Texts as a list of Python strings."""
    if isinstance(texts, str):
        raise TypeError("SentenceEncoder: a list of texts expected, got one; write [text]")
    if not isinstance(texts, Iterable):
        raise TypeError(f"SentenceEncoder: a list of texts expected, got {texts!r}")
    given = [*texts]
    for i, text in enumerate(given):
        if not isinstance(text, str):
            raise TypeError(f"SentenceEncoder: texts expected, but number {i} is {text!r}")
    return [str(text) for text in given]


def _directions(vectors: Tensor) -> Tensor:
    """Scale vectors to length 1: (N, D) -> (N, D)."""
    return vectors / ops.maximum(ops.norm(vectors, axis=1, keepdims=True), LENGTH_EPS)
