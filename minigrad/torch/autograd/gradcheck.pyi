# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Sequence
from typing import Any

from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.autograd import *

def gradcheck(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    grad_outputs: _AnyTensor | Sequence[_AnyTensor | None] | None = None,
    **options: Any,
) -> bool: ...
