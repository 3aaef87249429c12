# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
import contextlib
from collections.abc import Sequence
from typing import Any, Self, TypeVar, overload

import minigrad.autograd.grad_mode
import minigrad.transforms.custom_function
from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.autograd import anomaly_mode as anomaly_mode
from minigrad.torch.autograd import function as function
from minigrad.torch.autograd import functional as functional
from minigrad.torch.autograd import grad_mode as grad_mode
from minigrad.torch.autograd import gradcheck as gradcheck
from minigrad.torch.autograd import graph as graph
from minigrad.torch.autograd import profiler as profiler
from minigrad.torch.autograd import variable as variable
from minigrad.torch.tensor import Tensor

_T = TypeVar("_T")

class Function(minigrad.transforms.custom_function.Function):
    @classmethod
    def apply(cls, *args: Any) -> Any: ...
    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None: ...

def Variable(data: Any, requires_grad: bool = False) -> Tensor: ...

class _Once(Function):
    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any: ...
    @staticmethod
    def forward(ctx: Any, x: _AnyTensor, *others: Any) -> Tensor: ...

def _checking(check: Any) -> Any: ...
def _several(given: Any) -> tuple[Tensor, ...]: ...
def backward(
    tensors: _AnyTensor | Sequence[_AnyTensor],
    grad_tensors: _AnyTensor | Sequence[_AnyTensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: _AnyTensor | Sequence[_AnyTensor] | None = None,
) -> None: ...
def detect_anomaly(check_nan: bool = True) -> Any: ...
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
def gradgradcheck(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    grad_outputs: _AnyTensor | Sequence[_AnyTensor | None] | None = None,
    **options: Any,
) -> bool: ...
def inference_mode(mode: bool = True) -> set_grad_enabled: ...
def once_differentiable(fn: Any) -> Any: ...

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
