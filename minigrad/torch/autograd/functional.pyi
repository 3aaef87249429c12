# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from collections.abc import Sequence
from typing import Any

from minigrad.tensors.tensor import Tensor as _AnyTensor
from minigrad.torch.tensor import Tensor

def _given(inputs: Any) -> tuple[Tensor, ...]: ...
def _like(inputs: Any, found: Any) -> Any: ...
def hessian(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Tensor: ...
def hvp(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Tensor: ...
def jacobian(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor: ...
def jvp(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Tensor: ...
def vhp(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Tensor: ...
def vjp(
    func: Any,
    inputs: _AnyTensor | Sequence[_AnyTensor],
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> Tensor: ...
