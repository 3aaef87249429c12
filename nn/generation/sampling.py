"""Sampling tokens from a model one by one; prompts of unequal length."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from minigrad import random
from minigrad.autograd.call import leaf_of
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes
from minigrad.autograd.grad_mode import no_grad
from minigrad.nn.attention.cache import Cache, DynamicKVCache, EncoderDecoderCache, KVCache
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.module.stateless import evaluating
from minigrad.ops._numerics import array_of, values_of
from minigrad.support.checks import check_number, check_probability, check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["generate", "pad_left", "sample", "stream"]


def generate(
    model: Callable[..., Tensor], ids: Any, max_new_tokens: int, *, temperature: float = 1.0,
    top_k: int | None = None, top_p: float | None = None, stop: int | None = None,
    cache: Cache | None = None, key_padding_mask: MaskLike = None,
) -> Tensor:  # fmt: skip
    """Continue a batch of sequences token by token.

    A module runs in evaluation mode without recording; its mode is restored afterwards. Call
    `minigrad.random.seed` for reproducible samples.

    Args:
        model: Called as ``model(ids, cache)``, it returns logits of shape (N, L, classes). It gets
            each token once; if it does not write its cache, all of them in each step.
        ids: The prompts, integers of shape (N, L) with L at least 1.
        max_new_tokens: The largest number of tokens to add.
        temperature: The logits are divided by it. 0 is greedy: always the most likely token.
        top_k: Sample from the k most likely tokens only.
        top_p: Sample from the smallest set of most likely tokens with this total probability.
        stop: A token that ends a sequence. The sequence is padded with it; generation ends when
            all sequences have ended.
        cache: The cache, by default a new `DynamicKVCache`. If it is not empty, `ids` continue
            it. Use an `EncoderDecoderCache` for a decoder.
        key_padding_mask: A bool mask: True = padding, of shape (N, L), or (N, cached + L) with a
            cache that is not empty. The last token of each prompt must be real. If it is given,
            the model is called with `key_padding_mask` and `position_ids` too.

    Returns:
        The ids with the new tokens, an int64 tensor of shape (N, L + new).

    Raises:
        TypeError: The ids are not integers.
        ValueError: An argument is out of range, or the model's logits have a wrong shape.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> class Model(nn.Module):
        ...     def __init__(self, classes, width, layers):
        ...         super().__init__()
        ...         self.tokens = nn.Embedding(classes, width)
        ...         self.positions = nn.LearnedPosEmbedding(64, width)
        ...         layer = nn.TransformerEncoderLayer(width, 4, norm_first=True)
        ...         self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))
        ...         self.head = nn.Linear(width, classes)
        ...     def forward(self, ids, cache=None):
        ...         start = 0 if cache is None else cache.get_seq_length()
        ...         x = self.positions(self.tokens(ids), start)
        ...         x = self.layers(x, is_causal=True, kv_cache=cache, use_cache=cache is not None)
        ...         return self.head(x)
        >>> model = Model(classes=100, width=16, layers=2)
        >>> minigrad.random.seed(0)
        >>> nn.generation.generate(model, [[1, 2, 3]], 10, temperature=0.8, top_k=20).shape
        minigrad.Size([1, 13])
    """
    beginning = checked_ids("generate", ids)
    steps = stream(
        model, beginning, max_new_tokens, temperature=temperature, top_k=top_k, top_p=top_p,
        stop=stop, cache=cache, key_padding_mask=key_padding_mask,
    )  # fmt: skip
    drawn = [values_of(step)[:, None] for step in steps]
    return leaf_of(np.concatenate([beginning, *drawn], axis=1), False)


def stream(
    model: Callable[..., Tensor], ids: Any, max_new_tokens: int, *, temperature: float = 1.0,
    top_k: int | None = None, top_p: float | None = None, stop: int | None = None,
    cache: Cache | None = None, key_padding_mask: MaskLike = None,
) -> Iterator[Tensor]:  # fmt: skip
    """Generate as `generate` does, but yield each step, int64 of shape (N,), once it is sampled.

    Arguments and errors are those of `generate`.

    Example:
        >>> import numpy as np
        >>> from minigrad import Tensor, nn
        >>> def successor(ids, cache):  # predicts n + 1 after n
        ...     return Tensor(1000.0 * (np.asarray(ids)[..., None] + 1 == np.arange(10)))
        >>> [step.item() for step in nn.generation.stream(successor, [[3]], 4)]
        [4, 5, 6, 7]
    """
    tokens = checked_ids("generate", ids)
    check_size("generate", "max_new_tokens", max_new_tokens, least=0)
    _check_choice(temperature, top_k, top_p)
    kept = DynamicKVCache() if cache is None else cache
    start = cached_length(kept)
    padding = checked_padding("generate", key_padding_mask, tokens.shape, start)

    def steps(tokens: np.ndarray, padding: np.ndarray | None) -> Iterator[Tensor]:
        text, ended = tokens, np.zeros(len(tokens), bool)
        for _ in range(max_new_tokens):
            logits = last_logits("generate", model, tokens, kept, padding)
            drawn = values_of(sample(logits, temperature, top_k, top_p))
            if stop is not None:
                drawn = np.where(ended, stop, drawn)
                ended |= drawn == stop
            yield leaf_of(drawn, False)
            if stop is not None and ended.all():
                return
            text = np.concatenate([text, drawn[:, None]], axis=1)
            tokens = unread(text, kept, start)
            if padding is not None:
                padding = np.pad(padding, ((0, 0), (0, 1)))  # sampled tokens are not padding

    return steps(tokens, padding)


def last_logits(
    owner: str, model: Callable[..., Tensor], tokens: np.ndarray, cache: Cache,
    padding: np.ndarray | None,
) -> Tensor:  # fmt: skip
    """Run the model on tokens (N, L), in evaluation mode; return the last logits, (N, classes)."""
    masks: dict[str, Any] = {}
    if padding is not None:
        positions = np.maximum(np.cumsum(~padding, axis=1) - 1, 0)[:, -tokens.shape[1] :]
        masks = {"key_padding_mask": padding, "position_ids": positions}
    with no_grad(), evaluating(model):
        logits = model(leaf_of(tokens, False), cache, **masks)
    wanted = f"logits of shape (N, L, classes), with N, L = {tokens.shape}, from the model"
    refuse_shapes(logits.ndim != 3 or logits.shape[:2] != tokens.shape, owner, wanted, logits)
    return logits[:, -1]


def cached_length(cache: Cache) -> int:
    """The number of positions of the sequence that a cache holds, in whichever layers."""
    own = cache.self_attention_cache if isinstance(cache, EncoderDecoderCache) else cache
    layers = own.cached_layers() if isinstance(own, KVCache) else [0]
    return max(map(own.get_seq_length, layers), default=0)


def unread(text: np.ndarray, cache: Cache, start: int) -> np.ndarray:
    """The last tokens (N, 1) of a text; all of it if the model has not written its cache.

    `start` is the length that the cache had before the text.
    """
    return text if cached_length(cache) == start else text[:, -1:]


def pad_left(prompts: Iterable[Any], pad: int = 0) -> tuple[Tensor, np.ndarray]:
    """Pad prompts of unequal length on the left, so that all of them end in the last column.

    Args:
        prompts: N sequences of at least one token id.
        pad: The id of the padding.

    Returns:
        The ids, int64 of shape (N, L), and their `key_padding_mask`, bool of the same shape:
        True = padding.

    Example:
        >>> from minigrad import nn
        >>> ids, padding = nn.generation.pad_left([[5, 6, 7], [8]])
        >>> ids.tolist()
        [[5, 6, 7], [0, 0, 8]]
        >>> padding.tolist()
        [[False, False, False], [True, True, False]]
    """
    rows = [np.asarray(prompt) for prompt in prompts]
    for row in rows:
        if row.ndim != 1 or not row.size or row.dtype.kind not in "iu":
            raise ValueError(f"pad_left: prompts of one or more integers, got {row.tolist()}")
    longest = max(map(len, rows))
    padding = np.array([np.arange(longest) < longest - len(row) for row in rows])
    ids = np.full(padding.shape, pad, np.int64)
    ids[~padding] = np.concatenate([row.astype(np.int64) for row in rows])
    return leaf_of(ids, False), padding


def sample(
    logits: Any, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Sample a class for each row of logits (..., classes): int64 of shape (...).

    Temperature is applied first, then `top_k`, then `top_p` to what `top_k` keeps.

    Source: top-p: Holtzman et al., "The curious case of neural text degeneration", 2020.

    Args:
        logits: A tensor of shape (..., classes); -inf excludes a class.
        temperature: The divisor of the logits. 0 takes the most likely class.
        top_k: Sample from the k most likely classes only; of equal ones the first.
        top_p: Sample from the smallest set with at least this total probability only.

    Raises:
        ValueError: An argument is out of range, or a row has a NaN or only -inf.

    Example:
        >>> from minigrad import nn, tensor
        >>> logits = tensor([[0.0, 1.0, 0.9], [9.0, 0.0, 8.0]])
        >>> nn.generation.sample(logits, temperature=0.0).tolist()
        [1, 0]
        >>> set(nn.generation.sample(logits[[0] * 100], top_k=2).tolist()) == {1, 2}
        True
    """
    _check_choice(temperature, top_k, top_p)
    scores = np.asarray(array_of(logits)).astype(np.float64)
    best = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    if not np.isfinite(best).all():
        raise ValueError("sample: each row of logits needs a largest finite one, and no NaN")
    if temperature == 0:
        return leaf_of(scores.argmax(axis=-1), False)
    with np.errstate(over="ignore"):  # a temperature near 0
        weights = np.exp((scores - best) / temperature)  # (..., classes)
    order = np.argsort(-scores, axis=-1, kind="stable")
    weights = np.take_along_axis(weights, order, axis=-1)  # most likely first
    if top_k is not None:
        weights[..., top_k:] = 0.0
    before = np.cumsum(weights, axis=-1) - weights  # of the more likely classes
    total = weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(before < top_p * total, weights, 0.0)
    reached = np.cumsum(weights, axis=-1)
    mark = random.generator().random(scores.shape[:-1])[..., None] * reached[..., -1:]
    place = (reached <= mark).sum(axis=-1, keepdims=True)
    return leaf_of(np.take_along_axis(order, place, axis=-1)[..., 0], False)


def checked_ids(owner: str, ids: Any) -> np.ndarray:
    try:
        array = np.asarray(ids)
    except ValueError:
        remedy = "ids, mask = nn.generation.pad_left(prompts), and key_padding_mask=mask"
        what = "prompts of unequal length need padding"
        raise ValueError(f"{owner}: {what}: {remedy}") from None
    refuse_dtypes(array.dtype.kind not in "iu", owner, "ids that are integers", array)
    wanted = "ids of shape (N, L) with L of at least 1, such as [ids] for one sequence,"
    refuse_shapes(array.ndim != 2 or not array.shape[1], owner, wanted, array)
    return array.astype(np.int64)


def checked_padding(
    owner: str, mask: Any, shape: tuple[int, ...], cached: int
) -> np.ndarray | None:
    if mask is None:
        return None
    array = np.asarray(array_of(mask))
    expected = (shape[0], cached + shape[1])
    if array.dtype != bool or array.shape != expected:
        wanted = f"key_padding_mask must be bool of shape {expected}, True = padding"
        raise ValueError(f"{owner}: {wanted}; got {array.dtype} {array.shape}")
    if array[:, -1].any():
        which = int(array[:, -1].argmax())
        raise ValueError(f"{owner}: prompt {which} ends in padding; pad on the left, by pad_left()")
    return array


def _check_choice(temperature: float, top_k: int | None, top_p: float | None) -> None:
    check_number("sample", "temperature", temperature, 0.0)
    if top_k is not None:
        check_size("sample", "top_k", top_k)
    if top_p is not None and not check_probability("sample", "top_p", top_p):
        raise ValueError("sample: top_p must be above 0, or no token is left")
