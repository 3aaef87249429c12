"""Generation: a model says what may come next, one token is chosen, and goes back into the model.

A model here is anything that is called with ids of shape (N, L) and a cache, and returns logits of
shape (N, L, classes). It is given each token once: what came before is in the cache, whose
`get_seq_length()` is the position of the first of the ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from minigrad import random
from minigrad._checks import check_number, check_probability, check_size
from minigrad._creation import made
from minigrad._tensor import Tensor
from minigrad.autograd.mode import no_grad
from minigrad.nn.attention.cache import Cache, DynamicKVCache
from minigrad.nn.module.eval_mode import evaluating
from minigrad.ops._numerics import array_of

__all__ = ["generate", "sample", "stream"]


def generate(
    model: Callable[..., Tensor],
    ids: Any,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop: int | None = None,
    cache: Cache | None = None,
) -> Tensor:
    """Continue a batch of sequences, token by token.

    A module runs in evaluation mode, and is put back into its own afterwards; nothing is recorded
    for differentiation. `minigrad.random.seed` makes what is drawn repeatable.

    Args:
        model: Called as ``model(ids, cache)``, it returns logits of shape (N, L, classes).
        ids: The beginnings, integers of shape (N, L), all of one length of at least 1.
        max_new_tokens: How many tokens to add at most.
        temperature: Logits are divided by it: below 1 the likely becomes likelier. 0 is greedy,
            the likeliest token always.
        top_k: Draw from the k likeliest tokens only.
        top_p: Draw from the fewest likeliest tokens that have this probability together only.
        stop: A token that ends a sequence. The sequence is filled up with it, and generation ends
            when all of them have.
        cache: The cache to use, by default a new `DynamicKVCache`. If it is not empty, `ids` are
            what comes behind what it holds. A decoder gets an `EncoderDecoderCache`.

    Returns:
        The ids and those added to them, a tensor of int64, of shape (N, L + new).

    Raises:
        TypeError: The ids are no integers.
        ValueError: An argument is out of its range, or the model's logits have a wrong shape.

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
        (1, 13)
    """
    beginning = _checked_ids(ids)
    steps = stream(
        model, beginning, max_new_tokens, temperature=temperature, top_k=top_k, top_p=top_p,
        stop=stop, cache=cache,
    )  # fmt: skip
    return made(np.concatenate([beginning, *(step.data[:, None] for step in steps)], axis=1), False)


def stream(
    model: Callable[..., Tensor],
    ids: Any,
    max_new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    stop: int | None = None,
    cache: Cache | None = None,
) -> Iterator[Tensor]:
    """Continue a batch of sequences like `generate`, handing out each step as soon as it is drawn.

    Args:
        model: As in `generate`, as all arguments.
        ids: The beginnings.
        max_new_tokens: How many tokens to add at most.
        temperature: What logits are divided by.
        top_k: How many of the likeliest tokens to draw from.
        top_p: What probability the likeliest tokens to draw from have together.
        stop: A token that ends a sequence.
        cache: The cache to use.

    Returns:
        An iterator over tensors of int64 of shape (N,): the next token of each sequence.

    Raises:
        TypeError: The ids are no integers.
        ValueError: An argument is out of its range, or the model's logits have a wrong shape.

    Example:
        >>> import numpy as np
        >>> from minigrad import Tensor, nn
        >>> def successor(ids, cache):  # it is sure that n + 1 comes after n
        ...     return Tensor(1000.0 * (np.asarray(ids)[..., None] + 1 == np.arange(10)))
        >>> [step.item() for step in nn.generation.stream(successor, [[3]], 4)]
        [4, 5, 6, 7]
    """
    tokens = _checked_ids(ids)
    check_size("generate", "max_new_tokens", max_new_tokens, least=0)
    _check_choice(temperature, top_k, top_p)
    kept = DynamicKVCache() if cache is None else cache
    return _steps(model, tokens, max_new_tokens, (temperature, top_k, top_p), stop, kept)


def _steps(
    model: Callable[..., Tensor],
    tokens: np.ndarray,
    count: int,
    choice: tuple[float, int | None, float | None],
    stop: int | None,
    cache: Cache,
) -> Iterator[Tensor]:
    ended = np.zeros(len(tokens), bool)
    for _ in range(count):
        with no_grad(), evaluating(model):
            logits = model(made(tokens, False), cache)
        if logits.ndim != 3 or logits.shape[:2] != tokens.shape:
            raise ValueError(
                f"generate: the model must return logits of shape (N, L, classes), "
                f"({tokens.shape[0]}, {tokens.shape[1]}, classes) here, got {logits.shape}"
            )
        drawn = sample(logits[:, -1], *choice).data
        if stop is not None:
            drawn = np.where(ended, stop, drawn)
            ended |= drawn == stop
        yield made(drawn, False)
        if stop is not None and ended.all():
            return
        tokens = drawn[:, None]


def sample(
    logits: Any, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """Draw a class for each row of logits, from `minigrad.random`'s generator.

    The temperature comes first, then `top_k`, then `top_p`, which looks at what `top_k` has left.

    Source: top-p: Holtzman et al., "The curious case of neural text degeneration", 2020.

    Args:
        logits: A tensor of shape (..., classes); -inf for a class that must not come.
        temperature: What logits are divided by. 0 takes the likeliest class, and draws nothing.
        top_k: How many of the likeliest classes to draw from; of equal ones the first.
        top_p: What probability the likeliest classes to draw from have together at least.

    Returns:
        A tensor of int64 of shape (...).

    Raises:
        ValueError: An argument is out of its range, or a row has a NaN, or no class that may come.

    Example:
        >>> import minigrad
        >>> from minigrad import nn
        >>> logits = minigrad.tensor([[0.0, 1.0, 0.9], [9.0, 0.0, 8.0]])
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
        return made(scores.argmax(axis=-1), False)
    with np.errstate(over="ignore"):  # a temperature next to 0 is almost greedy
        weights = np.exp((scores - best) / temperature)  # (..., classes)
    order = np.argsort(-scores, axis=-1, kind="stable")
    weights = np.take_along_axis(weights, order, axis=-1)  # the likeliest first
    if top_k is not None:
        weights[..., top_k:] = 0.0
    before = np.cumsum(weights, axis=-1) - weights  # of all that are likelier
    total = weights.sum(axis=-1, keepdims=True)
    if top_p is not None:
        weights = np.where(before < top_p * total, weights, 0.0)
    reached = np.cumsum(weights, axis=-1)
    mark = random.generator().random(scores.shape[:-1])[..., None] * reached[..., -1:]
    place = (reached <= mark).sum(axis=-1, keepdims=True)
    return made(np.take_along_axis(order, place, axis=-1)[..., 0], False)


def _checked_ids(ids: Any) -> np.ndarray:
    array = np.asarray(ids)
    if array.dtype.kind not in "iu":
        raise TypeError(f"generate: ids must be integers, got {array.dtype}")
    if array.ndim != 2 or not array.shape[1]:
        hint = "; write [ids] for one sequence" if array.ndim == 1 else ""
        raise ValueError(
            f"generate: ids must have shape (N, L) with L of at least 1, got {array.shape}{hint}"
        )
    return array.astype(np.int64)


def _check_choice(temperature: float, top_k: int | None, top_p: float | None) -> None:
    check_number("sample", "temperature", temperature, 0.0)
    if top_k is not None:
        check_size("sample", "top_k", top_k)
    if top_p is not None and not check_probability("sample", "top_p", top_p):
        raise ValueError("sample: top_p must be above 0, or no token is left")
