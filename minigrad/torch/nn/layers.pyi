# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from builtins import tuple as _tuple
from collections.abc import Sequence
from typing import Any

from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.nn import _WeightedLoss
from minigrad.torch.nn.classes import Module
from minigrad.torch.tensor import Tensor

HELPERS: Any
LAYERS: Any
__all__ = ["HELPERS", "LAYERS"]

class DataParallel(Module):
    device_ids: Any
    module: Any
    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None: ...
    def forward(self, *inputs: _AnyTensor | Sequence[_AnyTensor], **kwargs: Any) -> Tensor: ...

class DistributedDataParallel(Module):
    def __init__(self, module: Any, *args: Any, **options: Any) -> None: ...

def _conv_forward(self: Any, input: Any, weight: Any, bias: Any) -> Any: ...

_kind = _WeightedLoss

def _made(line: str) -> type: ...
def _tuple(count: int) -> Any: ...
