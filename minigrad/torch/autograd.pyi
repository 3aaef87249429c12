# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, no-redef, overload-overlap, override"
import contextlib
from collections.abc import Sequence
from typing import Any, Self, TypeVar, overload

import minigrad.autograd.grad_mode
import minigrad.transforms.custom_function
from minigrad.autograd import detect_anomaly as detect_anomaly
from minigrad.autograd import functional as functional
from minigrad.autograd import gradcheck as gradcheck
from minigrad.autograd import gradgradcheck as gradgradcheck
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.tensor import Tensor

_T = TypeVar("_T")

class Function(minigrad.transforms.custom_function.Function):
    @classmethod
    def apply(cls, *args: Any) -> Any: ...

def Variable(data: Any, requires_grad: bool = False) -> Tensor: ...
def _several(given: Any) -> tuple[Tensor, ...]: ...
def backward(
    tensors: _AnyTensor | Sequence[_AnyTensor],
    grad_tensors: _AnyTensor | Sequence[_AnyTensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: _AnyTensor | Sequence[_AnyTensor] | None = None,
) -> None: ...
def grad(
    outputs: _AnyTensor | Sequence[_AnyTensor],
    inputs: _AnyTensor | Sequence[_AnyTensor],
    grad_outputs: _AnyTensor | Sequence[_AnyTensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    only_inputs: bool = True,
) -> tuple[Tensor, ...]: ...
def inference_mode(mode: bool = True) -> set_grad_enabled: ...

class set_detect_anomaly(contextlib.ExitStack):
    running: Any
    def __init__(self, mode: bool = True, check_nan: bool = True) -> None: ...

class no_grad(minigrad.autograd.grad_mode.no_grad):
    def __call__(self, func: _T) -> _T: ...
    @overload
    def __new__(cls, func: None = None) -> Self: ...
    @overload
    def __new__(cls, func: _T) -> _T: ...

class enable_grad(minigrad.autograd.grad_mode.enable_grad):
    def __call__(self, func: _T) -> _T: ...
    @overload
    def __new__(cls, func: None = None) -> Self: ...
    @overload
    def __new__(cls, func: _T) -> _T: ...

class set_grad_enabled(minigrad.autograd.grad_mode.set_grad_enabled):
    def __call__(self, func: _T) -> _T: ...
