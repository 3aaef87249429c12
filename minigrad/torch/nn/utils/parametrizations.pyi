# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Sequence
from typing import Any, NoReturn

from minigrad.torch.tensor import Tensor

def orthogonal(module: Any, name: str = "weight", **options: Any) -> NoReturn: ...
def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | Sequence[int] | None = None,
) -> Tensor: ...
def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Tensor: ...
