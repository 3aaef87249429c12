# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Sequence
from typing import Any

from minigrad.nn.utils.rnn import PackedSequence as PackedSequence
from minigrad.nn.utils.rnn import pack_padded_sequence as pack_padded_sequence
from minigrad.nn.utils.rnn import pad_packed_sequence as pad_packed_sequence
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.tensor import Tensor

def pack_sequence(sequences: Sequence[_AnyTensor], enforce_sorted: bool = True) -> Tensor: ...
def pad_sequence(
    sequences: Sequence[_AnyTensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor: ...
def unpack_sequence(packed_sequences: Any) -> list[Any]: ...
def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]: ...
