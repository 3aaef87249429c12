# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, no-redef, overload-overlap, override"
from collections.abc import Iterable
from typing import Any

from minigrad.nn.utils import remove_weight_norm as remove_weight_norm
from minigrad.nn.utils import vector_to_parameters as vector_to_parameters
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.nn.utils import rnn as rnn
from minigrad.torch.tensor import Tensor

def clip_grad_norm_(
    parameters: _AnyTensor | Iterable[_AnyTensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Tensor: ...
def clip_grad_value_(
    parameters: _AnyTensor | Iterable[_AnyTensor], clip_value: float, foreach: Any = None
) -> None: ...
def parameters_to_vector(parameters: _AnyTensor | Iterable[_AnyTensor]) -> Tensor: ...
def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any: ...
def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any: ...
