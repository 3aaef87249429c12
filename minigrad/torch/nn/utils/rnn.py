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
