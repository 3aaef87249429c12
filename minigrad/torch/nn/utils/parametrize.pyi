# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
import contextlib
from typing import Any

from minigrad.torch.tensor import Tensor

def cached() -> contextlib.nullcontext: ...
def is_parametrized(module: Any, tensor_name: Any = None) -> bool: ...
def register_parametrization(
    module: Any, tensor_name: Any, parametrization: Any, *, unsafe: bool = False
) -> Tensor: ...
def remove_parametrizations(
    module: Any, tensor_name: Any, leave_parametrized: bool = True
) -> Tensor: ...
