"""The kernels of attention: they work in blocks, so memory is not quadratic in the length.

A block is some rows of queries and some keys, in some heads: about 1 MB of scores, which stay in
the cache from the product to the last use. With `causal`, rows use only the keys up to their last
query. Heads are divided among threads.

    forward     S = scale Q Kᵀ + bias      lse = log Σ exp S      O = exp(S - lse) V
                (sums over blocks of keys: with the top of a row so far instead of lse)
    backward    P = exp(S - lse), recomputed from Q and K; known if there was a single block
                dV = Pᵀ dO     dS = P ∘ (dO Vᵀ - Σ dO ∘ O)     dQ = scale dS K     dK = scale dSᵀ Q

Σ dO ∘ O over the width equals Σ P ∘ dP over the keys, also with dropout. Shapes, with any leading
axes H (batch, heads ...): Q (H, L, E), K (H, S, E), V (H, S, W).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad.ops._numerics import widened
from minigrad.ops._parallel import PRODUCTS_PER_NS, for_rows, shared
from minigrad.ops.probabilities import exponentials, zero_if_masked
from minigrad.ops.random_masks import kept_rows

BLOCK_BYTES = 1 << 20
ROWS = 512
"""The least rows of a block where there are more queries: products of fewer rows are slower."""
CAUSAL_ROWS = 128
"""Rows of a block with `causal`: few, because each row computes up to so many masked keys."""


class _Block(NamedTuple):
    """Some heads: an index for the leading axes, the first head, and their number."""

    heads: tuple[Any, ...]
    first: int
    number: int


class Attention:
    """One call of attention: its arrays with all leading axes, its blocks and their masks.

    Args:
        query: Shape (H, L, E), or one whose leading axes broadcast to H; `key` and `value` too.
        key: Shape (H, S, E).
        value: Shape (H, S, W).
        bias: Added to the scores, or None.
        keep: Bools, True = may attend, or None.
        causal: Query i may attend keys 0 to i only.
        scale: Factor of the scores.
        dropout: Probability with which a weight is dropped.
        dropout_key: The key of the dropout's random stream.
    """

    def __init__(
        self, query: np.ndarray, key: np.ndarray, value: np.ndarray, bias: Any = None,
        keep: Any = None, causal: bool = False, scale: float = 1.0, dropout: float = 0.0,
        dropout_key: int | None = None,
    ) -> None:  # fmt: skip
        query, key, value, bias = map(widened, (query, key, value, bias))
        self.lead = query.shape[:-2]
        self.length, self.size = query.shape[-2], key.shape[-2]
        if not self.lead == key.shape[:-2] == value.shape[:-2]:
            self.lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
            query, key, value = (
                np.broadcast_to(array, (*self.lead, *array.shape[-2:]))
                for array in (query, key, value)
            )
        self.query, self.key, self.value = query, key, value
        self.causal, self.scale = causal, scale
        self.dropout, self.dropout_key = dropout, dropout_key
        self.dtype = query.dtype
        scores = (*self.lead, self.length, self.size)
        self.bias = self.limit = None
        if bias is not None:
            self.bias = np.broadcast_to(bias, scores)
        if keep is not None:  # used as min(score, +inf or -inf)
            ends = np.array([-np.inf, np.inf], self.dtype)
            self.limit = np.broadcast_to(ends[keep.view(np.uint8)], scores)
        fitting = BLOCK_BYTES // self.dtype.itemsize  # scores
        rows = CAUSAL_ROWS if causal else max(fitting // max(self.size, 1), ROWS)
        self.rows = max(min(self.length, rows), 1)
        self.keys = max(min(self.size, fitting // self.rows), 1)
        heads = math.prod(self.lead)
        width = query.shape[-1] + value.shape[-1] + 64  # an exponential costs about 64 products
        self.effort = heads * self.length * self.size * width / PRODUCTS_PER_NS
        most = shared(heads, fitting // (self.rows * self.keys), self.effort)
        self.blocks = list(self._blocks(most))
        self.at_once = len(self.blocks) == 1 and self.length <= self.rows and self.size <= self.keys

    def _blocks(self, most: int) -> Iterator[_Block]:
        """The heads in order, in blocks of at most `most`."""
        axis, inner = len(self.lead), 1  # all of the axes after `axis`
        while axis and inner * self.lead[axis - 1] <= most:
            axis -= 1
            inner *= self.lead[axis]
        if not axis:
            yield _Block((), 0, inner)
            return
        step, first = max(most // max(inner, 1), 1), 0
        for outer in np.ndindex(*self.lead[: axis - 1]):
            for start in range(0, self.lead[axis - 1], step):
                stop = min(start + step, self.lead[axis - 1])
                yield _Block((*outer, slice(start, stop)), first, (stop - start) * inner)
                first += (stop - start) * inner

    def rows_and_keys(self) -> Iterator[tuple[slice, list[slice]]]:
        """Rows of queries, and the keys that they use: at least one slice, perhaps empty."""
        for start in range(0, self.length, self.rows):
            stop = min(start + self.rows, self.length)
            seen = min(stop, self.size) if self.causal else self.size
            firsts = range(0, max(seen, 1), self.keys)
            yield slice(start, stop), [slice(at, min(at + self.keys, seen)) for at in firsts]

    def scores(self, block: _Block, rows: slice, keys: slice, query: np.ndarray) -> np.ndarray:
        """The scores of a block, -inf where masked; `query` is already scaled."""
        key = self.key[block.heads][..., keys, :]
        scores: np.ndarray = np.matmul(query, key.swapaxes(-1, -2))
        if self.bias is not None:
            scores += self.bias[block.heads][..., rows, keys]
        if self.limit is not None:
            np.fmin(scores, self.limit[block.heads][..., rows, keys], out=scores)
        if self.causal and rows.start < keys.stop:  # earlier keys: all attended
            near = scores[..., max(rows.start - keys.start, 0) :]
            first = min(rows.start - keys.start, 0)
            past = np.tri(near.shape[-2], near.shape[-1], first, dtype=np.uint8)
            np.fmin(near, np.array([-np.inf, np.inf], self.dtype)[past], out=near)
        return scores

    def kept(self, block: _Block, rows: slice) -> np.ndarray:
        """The weights of some rows that dropout keeps; they do not depend on the blocks."""
        shape = (*self.query[block.heads].shape[:-2], rows.stop - rows.start, self.size)
        if rows.stop - rows.start == self.length:  # the rows of all heads are contiguous
            heads = [(block.first * self.length, block.number * self.length)]
        else:
            firsts = range(block.first, block.first + block.number)
            heads = [(n * self.length + rows.start, rows.stop - rows.start) for n in firsts]
        parts = [kept_rows(self.dropout_key, *head, self.size, self.dropout) for head in heads]
        kept = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return kept.reshape(shape)

    def for_blocks(self, work: Any) -> None:
        """Call ``work(block)`` for all blocks, in several threads if that is worthwhile."""
        blocks = self.blocks
        for_rows(len(blocks), 1, self.effort, lambda i, _: work(blocks[i]))


def attention_forward(call: Attention) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Attend.

    Returns:
        The output (H, L, W), the log-sum-exp (H, L, 1) of each query's scores, +inf if all keys
        are masked, which makes its weights 0; and the weights before dropout if all are computed at
        once, else None.
    """
    out = _heads_inside(call.lead, call.length, call.value.shape[-1], call.dtype)
    lse = np.empty((*call.lead, call.length, 1), call.dtype)
    known: list[np.ndarray] = []

    def work(block: _Block) -> None:
        for rows, parts in call.rows_and_keys():
            scaled = call.query[block.heads][..., rows, :] * call.scale
            kept = call.kept(block, rows) if call.dropout else None
            sums: _Sums | None = None
            for keys in parts:
                weights = call.scores(block, rows, keys, scaled)
                weights, top, total = exponentials(weights, weights)
                used = weights
                if kept is not None:
                    used = np.multiply(weights, kept[..., keys], None if call.at_once else weights)
                values = np.matmul(used, call.value[block.heads][..., keys, :])
                sums = _joined(sums, (top, total, values))
            assert sums is not None
            top, total, values = sums
            zero_if_masked(top, total)
            np.add(np.log(total), top, out=lse[block.heads][..., rows, :])
            if call.at_once:
                weights /= total
                known.append(weights)
            if call.dropout:
                total *= 1 - call.dropout or 1  # if all are dropped, it does not matter
            np.divide(values, total, out=out[block.heads][..., rows, :])

    call.for_blocks(work)
    return out, lse, known[0] if known else None


_Sums = tuple[Any, np.ndarray, np.ndarray]
"""For some keys: the top of each row of scores, and sums of exp(score - top), times values too."""


def _joined(sums: _Sums | None, others: _Sums) -> _Sums:
    """The sums over all keys, from those over some and over others; `sums` may be written to."""
    if sums is None:
        return others
    (top, total, values), (other, more, products) = sums, others
    if np.any(top) or np.any(other):
        highest = np.maximum(top, other)
        fall, fall_of_others = np.exp(top - highest), np.exp(other - highest)
        top, total, values = highest, total * fall, values * fall
        more, products = more * fall_of_others, products * fall_of_others
    total += more
    values += products
    return top, total, values


def attention_backward(
    call: Attention, g: np.ndarray, needed: tuple[bool, bool, bool, bool], out: np.ndarray,
    lse: np.ndarray, known: np.ndarray | None,
) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None, np.ndarray | None]:  # fmt: skip
    """The needed cotangents of query, key, value and bias, with all leading axes.

    Only the bias's cotangent has the shape of the scores. `known` are the weights, or None.
    """
    needs_query, needs_key, needs_value, needs_bias = needed
    needs_scores = needs_query or needs_key or needs_bias
    lead, length, size, dtype = call.lead, call.length, call.size, call.dtype
    widths = (call.query.shape[-1], call.key.shape[-1], call.value.shape[-1])
    grad_query = _heads_inside(lead, length, widths[0], dtype) if needs_query else None
    # Several blocks of queries add to one key, so these start at 0.
    at_once = 0 < length <= call.rows and not call.causal
    new = np.empty if at_once else np.zeros
    grad_key = _heads_inside(lead, size, widths[1], dtype, new) if needs_key else None
    grad_value = _heads_inside(lead, size, widths[2], dtype, new) if needs_value else None
    grad_bias = np.zeros((*lead, length, size), dtype) if needs_bias else None
    survive = 1 - call.dropout or 1  # if none is kept, the factor does not matter

    def work(block: _Block) -> None:
        heads = block.heads
        for rows, parts in call.rows_and_keys():
            query, pull = call.query[heads][..., rows, :] * call.scale, g[heads][..., rows, :]
            along = np.vecdot(pull, out[heads][..., rows, :])[..., None] if needs_scores else None
            kept = None
            if call.dropout:
                kept, pull = call.kept(block, rows), pull / survive
            grad_rows: Any = None
            for keys in parts:
                if known is not None:
                    weights = known[heads][..., rows, keys]
                else:
                    weights = call.scores(block, rows, keys, query)
                    weights -= lse[heads][..., rows, :]
                    np.exp(weights, out=weights)
                if grad_value is not None:
                    used = weights if kept is None else weights * kept[..., keys]
                    _add_product(used.swapaxes(-1, -2), pull, grad_value[heads], keys, at_once)
                if not needs_scores:
                    continue
                grad = np.matmul(pull, call.value[heads][..., keys, :].swapaxes(-1, -2))
                if kept is not None:
                    grad *= kept[..., keys]
                grad -= along
                grad *= weights
                if grad_bias is not None:
                    grad_bias[heads][..., rows, keys] = grad
                if grad_key is not None:
                    _add_product(grad.swapaxes(-1, -2), query, grad_key[heads], keys, at_once)
                if grad_query is not None:
                    product = np.matmul(grad, call.key[heads][..., keys, :])
                    grad_rows = product if grad_rows is None else grad_rows + product
            if grad_query is not None:
                np.multiply(grad_rows, call.scale, out=grad_query[heads][..., rows, :])

    call.for_blocks(work)
    return grad_query, grad_key, grad_value, grad_bias


def _add_product(
    a: np.ndarray, b: np.ndarray, sums: np.ndarray, keys: slice, at_once: bool
) -> None:
    """Add the contribution of a block of queries to some keys; `at_once` if it is the only one."""
    if at_once:
        np.matmul(a, b, out=sums[..., keys, :])
    else:
        sums[..., keys, :] += np.matmul(a, b)


def _heads_inside(
    lead: tuple[int, ...], length: int, width: int, dtype: Any, new: Any = np.empty
) -> np.ndarray:
    """A `new` array (H, length, width) in which the heads of a position are contiguous.

    So merging the heads, as every attention layer does next, copies nothing.
    """
    memory: np.ndarray = new((*lead[:1], length, *lead[1:], width), dtype)
    last = len(lead) + 1
    return memory.transpose(0, *range(2, last), 1, last) if lead else memory
