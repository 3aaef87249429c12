"""`torch.nn.utils.rnn`: sequences of several lengths."""

from __future__ import annotations

from typing import Any

from minigrad.nn.utils import rnn as ours
from minigrad.nn.utils.rnn import PackedSequence as PackedSequence
from minigrad.nn.utils.rnn import pack_padded_sequence as pack_padded_sequence
from minigrad.nn.utils.rnn import pad_packed_sequence as pad_packed_sequence
from minigrad.torch.modules import missing as _missing
from minigrad.torch.tensor import adopt

__getattr__ = _missing(__name__)


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:  # fmt: skip
    """Sequences in one tensor, padded to the longest."""
    if padding_side != "right":
        raise NotImplementedError("pad_sequence: padding_side='left' is not here")
    return adopt(ours.pad_sequence(sequences, batch_first, padding_value))


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> Any:
    """Pack sequences of several lengths."""
    lengths = [len(sequence) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded tensor."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths, strict=True)]


def unpack_sequence(packed_sequences: Any) -> list[Any]:
    """The sequences of a packed one."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
