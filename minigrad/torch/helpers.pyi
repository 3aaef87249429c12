# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from typing import Any, NoReturn

from minigrad.torch.tensor import Tensor

__all__ = [
    "NoDtype",
    "as_dtype",
    "assert_close",
    "axes",
    "pairs_of",
    "promoted",
    "refused",
    "several",
]

class NoDtype:
    name: Any
    def __init__(self, name: str) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def dtype(self) -> NoReturn: ...
    is_floating_point: Any
    itemsize: Any

def as_dtype(x: Any, dtype: Any) -> Any: ...
def assert_close(
    actual: Any, expected: Any, rtol: Any, atol: Any, nan: bool, dtypes: bool
) -> None: ...
def axes(dim: Any) -> Any: ...
def pairs_of(count: int) -> Any: ...
def promoted(one: Any, other: Any) -> Any: ...
def refused(name: str, why: str) -> NoReturn: ...
def several(given: tuple[Any, ...]) -> tuple[Tensor, ...]: ...
