# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Iterable, Sequence
from typing import Any

from minigrad.nn.utils import remove_weight_norm as remove_weight_norm
from minigrad.nn.utils import vector_to_parameters as vector_to_parameters
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.nn.utils import clip_grad as clip_grad
from minigrad.torch.nn.utils import convert_parameters as convert_parameters
from minigrad.torch.nn.utils import parametrizations as parametrizations
from minigrad.torch.nn.utils import parametrize as parametrize
from minigrad.torch.nn.utils import rnn as rnn
from minigrad.torch.nn.utils import spectral_norm as spectral_norm
from minigrad.torch.nn.utils import stateless as stateless
from minigrad.torch.nn.utils import weight_norm as weight_norm
from minigrad.torch.tensor import Tensor

def clip_grad_norm(
    parameters: _AnyTensor | Iterable[_AnyTensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Tensor: ...
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
def clip_grads_with_norm_(
    parameters: _AnyTensor | Iterable[_AnyTensor],
    max_norm: float,
    total_norm: Any,
    foreach: Any = None,
) -> None: ...
def get_total_norm(
    tensors: Sequence[_AnyTensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Tensor: ...
def parameters_to_vector(parameters: _AnyTensor | Iterable[_AnyTensor]) -> Tensor: ...
