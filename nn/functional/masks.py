"""Attention masks: creating, checking and combining them. The only definition of their meaning.

`attn_mask` is about pairs of a query and a key. Bool: True = **may attend**. Float: added to the
scores. Its shape, for N batches, H heads, L queries and S keys, is (L|1, S), (N|1, L|1, S) or
(N|1, H|1, L|1, S). `scaled_dot_product_attention` broadcasts it from the end, as PyTorch does.

`key_padding_mask` is about keys: bool, of shape (N, S), True = **padding**, ignored.

`is_causal` lets query i attend to keys 0 to i. With a cache, positions count from the start of the
cached sequence.

A query attends to the keys that all masks allow. Keys that attention itself appends are never
masked. A query without any allowed key gets zero weights.
"""

from __future__ import annotations

import functools
import operator
from typing import Any, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_dtypes, refuse_shapes, type_error, value_error
from minigrad.autograd.events import reading
from minigrad.nn.functional.framing import framed
from minigrad.ops._numerics import array_of
from minigrad.support.checks import check_size
from minigrad.tensors.creation import asarray, tensor
from minigrad.tensors.tensor import Tensor

__all__ = ["create_causal_mask", "create_padding_mask"]

MaskLike = Tensor | np.ndarray | None
"""The type of a mask argument."""


class Mask(NamedTuple):
    """The combined masks of one attention call, as `ops.attention` takes them."""

    bias: Tensor | None = None  # a float tensor that is added to the scores
    keep: Tensor | np.ndarray | None = None  # bool, True where a query may attend
    causal: bool = False  # whether query i may only attend to keys 0 to i


def combine(
    scores: tuple[int, ...], dtype: Any, attn_mask: MaskLike = None,
    key_padding_mask: MaskLike = None, is_causal: bool = False, extra_keys: int = 0,
    offset: int = 0, guarded: bool = False,
) -> Mask:  # fmt: skip
    """Check the masks of a call, and combine them, broadcastable to the scores.

    `scores` is their shape (..., L, S), S being the keys that were given; attention appends
    `extra_keys` to them. A float mask is converted to `dtype`. A `key_padding_mask` needs scores
    of shape (N, H, L, S). `offset` is the position of query 0 among the keys, for `is_causal`.
    A `guarded` mask that nobody's own position passes is refused: it means the opposite.
    """
    bias: Tensor | None = None
    keeps: list[Any] = []
    if attn_mask is not None:
        mask = _aligned(attn_mask, scores)
        if mask.dtype.kind == "f":
            bias = ops.astype(mask, dtype)
        else:
            keeps.append(mask)
            if guarded:
                _refuse_the_opposite(attn_mask, mask)
    if key_padding_mask is not None:
        keeps.append(~_padding(key_padding_mask, scores))
    if offset and offset >= scores[-1] - 1:  # even query 0 comes after all other keys
        is_causal = False
    backwards = is_causal and bool(extra_keys or offset)  # the kernel counts from 0
    if backwards:
        keeps.append(np.tri(scores[-2], scores[-1], offset, dtype=bool))
    keep = functools.reduce(operator.and_, keeps) if keeps else None
    bias, keep = _lengthened(bias, extra_keys, 0.0), _lengthened(keep, extra_keys, True)
    return Mask(bias, keep, is_causal and not backwards)


def _lengthened(mask: Any, extra_keys: int, value: Any) -> Any:
    """A mask with extra keys at the end, which it lets through."""
    if mask is None or not extra_keys:
        return mask
    join = ops.concatenate if isinstance(mask, Tensor) else np.concatenate
    return join([mask, np.full((*mask.shape[:-1], extra_keys), value, mask.dtype)], axis=-1)


@reading
def _refuse_the_opposite(attn_mask: Any, keep: Any) -> None:
    """Raise if nobody may attend to its own position: the mask then means the opposite."""
    shape, keep = np.shape(attn_mask), array_of(keep)
    if len(shape) == 2 and shape[0] == shape[1] > 1 and not keep.diagonal(axis1=-2, axis2=-1).any():
        meant = "True = may attend, in PyTorch's layers not: pass ~mask, or use minigrad.torch.nn"
        remedy = "if it is meant, set refuses_inverted_masks = False on the layer, or on its class"
        raise value_error(f"attn_mask: it is False on its whole diagonal. {meant}; {remedy}")


def broadcast(scores: tuple[int, ...], dtype: Any, attn_mask: MaskLike, is_causal: bool) -> Mask:
    """The mask of `scaled_dot_product_attention`: it is broadcast as PyTorch does, from the end."""
    mask = _known(attn_mask)
    shape = tuple(mask.shape)
    ends = zip(reversed(shape), reversed(scores), strict=False)
    if not 2 <= len(shape) <= len(scores) or any(n not in (1, size) for n, size in ends):
        remedy = ""
        if len(shape) == 1:
            remedy = f"; one value per key is given as attn_mask.reshape(1, {shape[0]})"
        elif len(shape) == 3 and len(scores) == 4:
            remedy = "; one mask per batch is given as attn_mask[:, None]"
        raise value_error(f"attn_mask: shape {shape} does not broadcast to scores {scores}{remedy}")
    bias = ops.astype(mask, dtype) if mask.dtype.kind == "f" else None
    return Mask(bias, mask if bias is None else None, is_causal)


def grouped(mask: Mask, groups: int) -> Mask:
    """The mask for grouped heads: (N, H, L, S) -> (N, groups, H/groups, L, S)."""

    def regroup(part: Any) -> Any:
        if part is None or part.ndim < 4:
            return part
        n, heads, *pairs = part.shape
        return part.reshape(n, *((1, 1) if heads == 1 else (groups, heads // groups)), *pairs)

    return Mask(regroup(mask.bias), regroup(mask.keep), mask.causal)


def _known(attn_mask: Any) -> Any:
    """The mask as a tensor or an array; it must hold bools or floats."""
    mask: Any = attn_mask if isinstance(attn_mask, Tensor) else np.asarray(attn_mask)
    if mask.dtype.kind not in "bf":
        wanted = "bool (True = may attend) or float (added to the scores)"
        remedy = "convert it with .astype(bool) if it has ones where a query may attend"
        raise type_error(f"attn_mask: {wanted} expected, got {mask.dtype.name}; {remedy}")
    return mask


def _aligned(attn_mask: Tensor | np.ndarray, scores: tuple[int, ...]) -> Any:
    """Check `attn_mask`; insert axes of size 1 so that it broadcasts to the scores."""
    mask = _known(attn_mask)
    *lead, queries, keys = scores
    shape = tuple(mask.shape)
    for_all_heads = len(shape) == 3 and len(lead) == 2
    leading = [] if len(shape) == 2 else lead[:1] if for_all_heads else lead
    wanted = (*leading, queries, keys)
    fits = len(shape) == len(wanted) and shape[-1] == keys
    if not fits or any(n not in (1, size) for n, size in zip(shape, wanted, strict=True)):
        raise value_error(_wrong_shape(shape, scores))
    return mask[:, None] if for_all_heads else mask  # (N, L, S) -> (N, 1, L, S)


def _wrong_shape(shape: tuple[int, ...], scores: tuple[int, ...]) -> str:
    *lead, queries, keys = scores
    axes = [*(f"{n}|1" for n in scores[:-1]), f"{keys}"]
    wanted = [f"({', '.join(axes[:i] + axes[-2:])})" for i in range(len(axes) - 1)]
    message = f"attn_mask: shape {shape} does not fit scores of shape {scores}: expected "
    message += " or ".join(wanted)
    if len(lead) == 2 and shape == (lead[0] * lead[1], queries, keys):
        message += f"; one mask per head is given as attn_mask.reshape{scores}"
    if shape == (keys,):
        message += f"; one value per key is given as attn_mask.reshape(1, {keys})"
    return message


def _padding(mask: Tensor | np.ndarray, scores: tuple[int, ...]) -> Any:
    """Check `key_padding_mask`, and give it the shape (N, 1, 1, S)."""
    padding: Any = mask if isinstance(mask, Tensor) else np.asarray(mask)
    if padding.dtype != bool:
        came = f"bool (True = padding) expected, got {padding.dtype.name}"
        remedy = ".astype(bool) if it has ones at padding, with mask < 0 if it has -inf there"
        raise type_error(f"key_padding_mask: {came}; convert it with {remedy}")
    wanted = f"shape (N, S) = {(scores[0], scores[-1])}"
    refuse_shapes(padding.shape != (scores[0], scores[-1]), "key_padding_mask", wanted, padding)
    return padding[:, None, None, :]


def create_causal_mask(seq_length: int) -> Tensor:
    """Create a causal mask, for `attn_mask`; ``is_causal=True`` has the same effect.

    It is bool, of shape (seq_length, seq_length), True on and below the diagonal.

    Example:
        >>> from minigrad.nn import functional as F
        >>> F.create_causal_mask(3)
        tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]])
    """
    seq_length = check_size("create_causal_mask", "seq_length", seq_length, least=0)
    return tensor(np.tri(seq_length, dtype=bool))


@framed
def create_padding_mask(lengths: Any, max_length: int) -> Tensor:
    """Create a padding mask from sequence lengths: True for real tokens, False for padding.

    The lengths are ints of shape (batch,), the mask bool of shape (batch, max_length). A
    `key_padding_mask` is the opposite: ``key_padding_mask=~mask``. As `attn_mask`, pass
    ``attn_mask=mask[:, None, None, :]``.

    Raises:
        TypeError: The lengths are not integers.
        ValueError: A length is negative or more than max_length.

    Example:
        >>> from minigrad import nn, randn
        >>> from minigrad.nn import functional as F
        >>> mask = F.create_padding_mask([3, 2], max_length=4)
        >>> mask
        tensor([[ True,  True,  True, False],
                [ True,  True, False, False]])
        >>> attention, x = nn.MultiHeadAttention(8, 2), randn(2, 4, 8)
        >>> attention(x, x, x, key_padding_mask=~mask).shape
        minigrad.Size([2, 4, 8])
    """
    max_length = check_size("create_padding_mask", "max_length", max_length, least=0)
    counts: Any = lengths if isinstance(lengths, Tensor) else np.asarray(lengths)
    wrong = counts.dtype.kind not in "iu" and np.size(counts)
    refuse_dtypes(wrong, "create_padding_mask", "integer lengths", counts)
    refuse_shapes(counts.ndim != 1, "create_padding_mask", "lengths of shape (batch,)", counts)
    _refuse_lengths(counts, max_length)
    real = np.arange(max_length) < counts[:, None]
    return asarray(real)


@reading
def _refuse_lengths(counts: Any, max_length: int) -> None:
    """Raise if a length is negative or too large."""
    array = array_of(counts)
    wrong = array[(array < 0) | (array > max_length)]
    if wrong.size:
        raise ValueError(f"create_padding_mask: lengths 0 to {max_length} expected, got {wrong[0]}")
