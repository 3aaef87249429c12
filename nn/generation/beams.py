"""Beam search: the most likely continuations of a prompt, as far as a few candidates show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.nn.attention.cache import Cache, DynamicKVCache
from minigrad.nn.functional.masks import MaskLike
from minigrad.nn.generation import sampling
from minigrad.ops._numerics import values_of
from minigrad.ops.probabilities import log_softmax
from minigrad.support.checks import check_flag, check_number, check_size
from minigrad.tensors.tensor import Tensor

__all__ = ["beam_search"]


def beam_search(
    model: Callable[..., Tensor], ids: Any, max_new_tokens: int, *, num_beams: int = 4,
    length_penalty: float = 1.0, early_stopping: bool = False, stop: int | None = None,
    cache: Cache | None = None, key_padding_mask: MaskLike = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    r"""Continue each prompt by the `num_beams` best sequences that beam search finds.

    In each step, every beam is continued by every token, and the best `num_beams` continuations
    that do not end with `stop` go on. One that does, and is among the best `num_beams` of all, is
    complete; after the last step, all are. Complete sequences are ranked by the score

    .. math::

        \frac{1}{n^\alpha} \sum_{t=1}^{n} \log p(y_t \mid y_{<t}, \text{prompt}),

    where n is the number of new tokens, `stop` included, and :math:`\alpha` the `length_penalty`:
    the score of Hugging Face's `generate`.

    Args:
        model: Called as in `generate`: with N sequences in the first step, then with N · B, where
            those of one prompt follow one another.
        ids: The prompts, integers of shape (N, L) with L at least 1.
        max_new_tokens: The largest number of tokens to add, at least 1.
        num_beams: B, the number of sequences that go on in each step, and of those returned.
        length_penalty: The exponent of the length in the score. 0 ranks by probability, which
            favours short sequences; larger values favour longer ones.
        early_stopping: Whether a prompt is finished as soon as B sequences are complete. Otherwise
            it is finished when no beam can get a better score than these (Hugging Face's
            ``"never"``).
        stop: A token that ends a sequence. Sequences are padded with it.
        cache: The cache, as in `generate`. Each step selects the sequences that go on.
        key_padding_mask: A bool mask: True = padding, as in `generate`.

    Returns:
        The ids with the new tokens, int64 of shape (N, B, L + new), and the scores, float64 of
        shape (N, B), best first. Where there are fewer than B sequences, the score is -inf.

    Raises:
        TypeError: The ids are not integers.
        ValueError: An argument is out of range, the model's logits have a wrong shape, or a row of
            them has a NaN or only -inf.

    Example:
        >>> import numpy as np
        >>> from minigrad import Tensor, nn
        >>> chances = np.array([[0.01, 0.59, 0.4], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05]])
        >>> def model(ids, cache):  # each token depends on the one before
        ...     return Tensor(np.log(chances[np.asarray(ids)]))
        >>> nn.generation.generate(model, [[0]], 2, temperature=0).tolist()  # p = 0.59 · 0.4
        [[0, 1, 0]]
        >>> found, scores = nn.generation.beam_search(model, [[0]], 2, num_beams=2)
        >>> found[0, 0].tolist()  # p = 0.4 · 0.9
        [0, 2, 0]
    """
    prompts = sampling.checked_ids("beam_search", ids)
    count = check_size("beam_search", "max_new_tokens", max_new_tokens)
    beams = check_size("beam_search", "num_beams", num_beams)
    penalty = check_number("beam_search", "length_penalty", length_penalty)
    check_flag("beam_search", "early_stopping", early_stopping)
    kept = DynamicKVCache() if cache is None else cache
    start = sampling.cached_length(kept)
    padding = sampling.checked_padding("beam_search", key_padding_mask, prompts.shape, start)
    pad = 0 if stop is None else stop

    n, tokens = len(prompts), prompts
    each = np.arange(n)[:, None]  # to index by beams, (N, B)
    sums = np.full((n, beams), -np.inf)  # the log-probabilities of the beams: one beam at first
    sums[:, 0] = 0.0
    texts = np.zeros((n, beams, 0), np.int64)  # their new tokens, (N, B, step)
    scores = np.full((n, beams), -np.inf)  # of the best complete sequences
    complete = np.zeros((n, beams, 0), np.int64)
    finished = np.zeros(n, bool)
    for step in range(1, count + 1):
        logits = sampling.last_logits("beam_search", model, tokens, kept, padding)
        log_p = _log_softmax(logits).reshape(n, -1, logits.shape[-1])  # (N, 1 | B, classes)
        following = (sums[..., None] + log_p).reshape(n, -1)  # (N, B · classes)
        which = np.broadcast_to(np.arange(following.shape[1]), following.shape)
        following, which = _best(2 * beams, following, which)  # B of them may end, and B go on
        parents, drawn = np.divmod(which, log_p.shape[2])
        longer = np.concatenate([texts[each, parents], drawn[..., None]], axis=2)
        ends = drawn == stop  # nowhere if stop is None
        sums, texts, parents = _best(beams, np.where(ends, -np.inf, following), longer, parents)

        ends[:, beams:] = False
        new = np.where(ends, following, -np.inf)
        if step == count:
            new, longer = np.hstack([new, sums]), np.hstack([longer, texts])
        new = np.where(finished[:, None], -np.inf, new / step**penalty)
        complete = np.pad(complete, ((0, 0), (0, 0), (0, 1)), constant_values=pad)
        scores, complete = _best(beams, np.hstack([scores, new]), np.hstack([complete, longer]))

        # Sums only fall. So a beam reaches at most its present sum over the most favourable length.
        length = count if penalty > 0 else step + 1
        reach = sums.max(axis=1) / length**penalty
        worst = scores.min(axis=1)
        enough = worst > -np.inf if early_stopping else worst >= reach
        finished |= enough | np.isneginf(reach)
        if step == count or finished.all():
            break
        rows = (each * log_p.shape[1] + np.minimum(parents, log_p.shape[1] - 1)).reshape(-1)
        kept.batch_select_indices(rows)
        text = np.concatenate([prompts.repeat(texts.shape[1], 0), texts.reshape(-1, step)], axis=1)
        tokens = sampling.unread(text, kept, start)
        if padding is not None:
            padding = np.pad(padding[rows], ((0, 0), (0, 1)))  # new tokens are not padding

    longest = step if stop is None else (complete != stop).any(axis=(0, 1)).sum() + 1
    repeated = np.broadcast_to(prompts[:, None], (n, beams, prompts.shape[1]))
    found = np.concatenate([repeated, complete[..., :longest]], axis=2)
    return leaf_of(found, False), leaf_of(scores, False)


def _best(count: int, values: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """The largest `count` of each row, largest first, and what stands there in other arrays."""
    order = np.argsort(-values, axis=1, kind="stable")[:, :count]
    return [array[np.arange(len(values))[:, None], order] for array in (values, *others)]


def _log_softmax(logits: Tensor) -> np.ndarray:
    """Log-probabilities in float64, (N, classes)."""
    values = values_of(logits).astype(np.float64)
    if not np.isfinite(values.max(axis=-1, initial=-np.inf)).all():
        raise ValueError("beam_search: each row of logits needs a largest finite one, and no NaN")
    return values_of(log_softmax(values))
