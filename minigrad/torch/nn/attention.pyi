# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
import contextlib
import enum
from typing import Any

class SDPBackend(enum.IntEnum):
    CUDNN_ATTENTION = 4
    EFFICIENT_ATTENTION = 3
    FLASH_ATTENTION = 2
    MATH = 1
    def __new__(self, value: Any) -> Any: ...
    def __reduce_ex__(self, proto: Any) -> Any: ...

def sdpa_kernel(backends: Any, set_priority: bool = False) -> contextlib.nullcontext: ...
