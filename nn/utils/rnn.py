"""Sequences of unequal length: padded with a constant, or packed without padding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partialmethod
from typing import Any, Literal, NamedTuple

import numpy as np

from minigrad import ops
from minigrad.autograd.errors import refuse_shapes, value_error
from minigrad.ops._numerics import values_of
from minigrad.ops.casting import as_tensor
from minigrad.ops.indexing import integers
from minigrad.support.checks import check_choice, check_size
from minigrad.tensors.creation import full, tensor
from minigrad.tensors.tensor import Tensor

__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence(NamedTuple):
    """Sequences of unequal length, step by step: made by `pack_padded_sequence`, read by `nn.LSTM`.

    Attributes:
        data: The elements of step 0 of all sequences, then those of step 1 and so on, of shape
            (sum of the lengths, ...); in each step the longest sequence comes first.
        batch_sizes: How many sequences each step has, a tensor of int64.
        sorted_indices: The position of each sorted sequence in the batch; None if it was sorted.
        unsorted_indices: The position of each sequence of the batch among the sorted ones.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Convert the data as `Tensor.to` does: to a dtype, or to the CPU."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)


KINDS = {
    "double": np.float64, "float": np.float32, "half": np.float16, "long": np.int64,
    "int": np.int32, "short": np.int16, "char": np.int8, "byte": np.uint8, "cpu": "cpu",
}  # fmt: skip
"""The conversions of a packed sequence that are methods."""
for _name, _kind in KINDS.items():
    setattr(PackedSequence, _name, partialmethod(PackedSequence.to, _kind))
PackedSequence.is_cuda = False  # type: ignore[attr-defined]


class Packing:
    """Where the elements of a `PackedSequence` lie among steps (rows) and sequences (columns).

    `order` is the position in the batch of each sequence, the longest first.

    Attributes:
        steps: The step of each element.
        columns: The sequence of each element, as a position in the batch.
        lengths: The length of each sequence of the batch.
    """

    def __init__(self, batch_sizes: np.ndarray, order: Tensor | None) -> None:
        starts = np.cumsum(batch_sizes) - batch_sizes
        total, count = int(batch_sizes.sum()), int(batch_sizes.max(initial=0))
        self.shape = len(batch_sizes), count
        self.steps = np.arange(len(batch_sizes)).repeat(batch_sizes)
        ranks = np.arange(total) - starts.repeat(batch_sizes)
        self.columns = ranks if order is None else values_of(order)[ranks]
        self.lengths = np.bincount(self.columns, minlength=count)

    @property
    def backwards(self) -> np.ndarray:
        """The step of each element, counted from the end of its sequence."""
        return self.lengths[self.columns] - 1 - self.steps

    def spread(self, data: Tensor, steps: np.ndarray, value: float = 0.0) -> Tensor:
        """Put packed elements into a tensor (L, N, ...) at their steps; `value` elsewhere."""
        blank = full((*self.shape, *data.shape[1:]), value, dtype=data.dtype)
        return ops.setitem(blank, (steps, self.columns), data)

    def gathered(self, x: Tensor, steps: np.ndarray) -> Tensor:
        """Read packed elements from a tensor (L, N, ...) at their steps, undoing `spread`."""
        rows = x.reshape(x.shape[0] * x.shape[1], *x.shape[2:])
        return ops.take(rows, steps * x.shape[1] + self.columns, 0)


def packing_of(packed: PackedSequence) -> Packing:
    """Return where the elements of a packed sequence lie."""
    sizes, total = integers(packed.batch_sizes, "batch_sizes"), len(packed.data)
    falls = sizes.size and sizes[-1] > 0 and np.all(np.diff(sizes) <= 0)
    if not falls or sizes.sum() != total:
        wanted = f"batch_sizes must be positive, never grow, and add up to {total} elements"
        raise value_error(f"PackedSequence: {wanted}; got {sizes.tolist()}")
    return Packing(sizes, packed.sorted_indices)


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0,
    padding_side: Literal["right", "left"] = "right",
) -> Tensor:  # fmt: skip
    """Stack sequences of unequal length, padded to the longest.

    Args:
        sequences: N tensors of shapes (L_i, ...), equal but for the first axis.
        batch_first: Whether the batch is the first axis of the result, or the second.
        padding_value: The number that fills the rest.
        padding_side: "right" or "left": where it is.

    Returns:
        Shape (L, N, ...), with `batch_first` (N, L, ...), L being the largest length.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.utils.rnn.pad_sequence([tensor([1, 2]), tensor([3])], batch_first=True).tolist()
        [[1, 2], [3, 0]]
    """
    shapes = [x.shape for x in sequences]
    if not shapes or () in shapes or len({shape[1:] for shape in shapes}) > 1:
        wanted = "tensors of shapes (L_i, ...), equal but for the first axis,"
        raise value_error(f"pad_sequence: {wanted} expected, got {shapes}")
    check_choice("pad_sequence", "padding_side", padding_side, ("right", "left"))
    lengths = np.array([shape[0] for shape in shapes])
    columns = np.arange(len(lengths)).repeat(lengths)
    steps = np.concatenate([np.arange(n) for n in lengths])
    if padding_side == "left":
        steps = steps + (lengths.max() - lengths)[columns]
    whole = ops.concatenate(list(sequences))
    places = (columns, steps) if batch_first else (steps, columns)
    sizes = (len(lengths), lengths.max()) if batch_first else (lengths.max(), len(lengths))
    return ops.setitem(full((*sizes, *shapes[0][1:]), padding_value, dtype=whole.dtype),
                       places, whole)  # fmt: skip


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences, so that a recurrent layer stops at the end of each.

    Args:
        input: Shape (L, N, ...), with `batch_first` (N, L, ...).
        lengths: The length of each sequence, N integers from 1 to L.
        batch_first: Whether the batch is the first axis.
        enforce_sorted: Whether lengths must not grow; otherwise sequences are sorted, and come
            back in their own order.

    Raises:
        ValueError: A length does not fit, or the lengths rise though `enforce_sorted`.

    Example:
        >>> from minigrad import nn, tensor
        >>> x = tensor([[1.0, 2.0], [3.0, 0.0]])
        >>> packed = nn.utils.rnn.pack_padded_sequence(x, [2, 1], batch_first=True)
        >>> packed.data.tolist(), packed.batch_sizes.tolist()
        ([1.0, 3.0, 2.0], [2, 1])
    """
    owner = "pack_padded_sequence"
    counts = integers(lengths, f"{owner}: lengths")
    refuse_shapes(input.ndim < 2, owner, "an input of shape (L, N, ...)", input)
    x = as_tensor(input.swapaxes(0, 1) if batch_first else input)
    longest, batch = x.shape[:2]
    if counts.shape != (batch,) or not batch or counts.min() < 1 or counts.max() > longest:
        wanted = f"{batch} lengths from 1 to {longest} for an input of shape {tuple(input.shape)}"
        raise value_error(f"{owner}: {wanted} expected, got {counts.tolist()}")
    order = unsorted_indices = None
    if not enforce_sorted:
        places = np.argsort(-counts, kind="stable")
        order, unsorted_indices = tensor(places), tensor(np.argsort(places))
    elif np.any(np.diff(counts) > 0):
        remedy = "pass enforce_sorted=False to have the sequences sorted"
        raise value_error(f"{owner}: lengths must not grow, got {counts.tolist()}; {remedy}")
    sizes = (counts > np.arange(counts.max())[:, None]).sum(axis=1)
    packing = Packing(sizes, order)
    elements = packing.gathered(x, packing.steps)
    return PackedSequence(elements, tensor(sizes), order, unsorted_indices)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of unequal length: `pad_sequence`, then `pack_padded_sequence`.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.utils.rnn.pack_sequence([tensor([1, 2]), tensor([3])]).data.tolist()
        [1, 3, 2]
    """
    lengths = [len(x) for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Undo `pack_padded_sequence`.

    `total_length` is L, at least the largest length, which is the default; `batch_first` and
    `padding_value` are those of `pad_sequence`.

    Returns:
        The sequences, of shape (L, N, ...), with `batch_first` (N, L, ...), and their lengths, of
        shape (N,), both in the order of the batch.

    Example:
        >>> from minigrad import nn, tensor
        >>> packed = nn.utils.rnn.pack_sequence([tensor([1, 2]), tensor([3])])
        >>> padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
        >>> padded.tolist(), lengths.tolist()
        ([[1, 2], [3, 0]], [2, 1])
    """
    packing = packing_of(sequence)
    if total_length is not None:
        check_size("pad_packed_sequence", "total_length", total_length, least=packing.shape[0])
        packing.shape = total_length, packing.shape[1]
    padded = packing.spread(sequence.data, packing.steps, padding_value)
    return padded.swapaxes(0, 1) if batch_first else padded, tensor(packing.lengths)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Any, batch_first: bool = False
) -> list[Tensor]:
    """Undo `pad_sequence`: the first elements of each sequence.

    The arguments are those of `pack_padded_sequence`, the lengths in any order.

    Source: PyTorch 2.13, "torch.nn.utils.rnn.unpad_sequence".

    Example:
        >>> from minigrad import nn, tensor
        >>> padded = tensor([[1, 2], [3, 0]])
        >>> [x.tolist() for x in nn.utils.rnn.unpad_sequence(padded, [2, 1], batch_first=True)]
        [[1, 2], [3]]
    """
    rows = padded_sequences if batch_first else ops.swapaxes(padded_sequences, 0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths, strict=True)]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Undo `pack_sequence`.

    Example:
        >>> from minigrad import nn, tensor
        >>> packed = nn.utils.rnn.pack_sequence([tensor([1, 2]), tensor([3])])
        >>> [x.tolist() for x in nn.utils.rnn.unpack_sequence(packed)]
        [[1, 2], [3]]
    """
    padded, lengths = pad_packed_sequence(packed_sequences)
    return unpad_sequence(padded, lengths)
