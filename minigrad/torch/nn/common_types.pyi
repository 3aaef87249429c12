# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from typing import Any

from minigrad.torch.tensor import Tensor

Tensor = Any
_size_1_t = Any
_size_2_t = Any
_size_3_t = Any
_size_any_t = Any
