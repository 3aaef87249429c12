# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from typing import Any

from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.tensor import Tensor

def from_dlpack(ext_tensor: Any) -> Tensor: ...
def to_dlpack(tensor: _AnyTensor) -> Tensor: ...
