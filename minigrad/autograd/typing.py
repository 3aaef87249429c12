"""Types for annotations below `minigrad.tensors`: `Tensor` and ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ForwardRef,
    ParamSpec,
    Protocol,
    TypeVar,
    overload,
)

__all__ = ["ExplainError", "F", "Forward", "OpFunction", "P", "R", "Tensor"]

if TYPE_CHECKING:
    from minigrad.autograd.primitives import Primitive
    from minigrad.tensors.tensor import Tensor
else:
    # A forward reference, which `typing.get_type_hints` resolves to the class.
    Tensor = ForwardRef("tensors.tensor.Tensor", module="minigrad")

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
Forward = Callable[Concatenate[Any, P], Any]
ExplainError = Callable[..., str | None]


class OpFunction(Protocol[P]):
    """The callable that `primitive` makes from a forward function; it also binds as a method."""

    op: Primitive
    __name__: str

    def defvjp(self, /, **rules: Callable[..., Any]) -> None: ...
    def defjoint(self, *names: str) -> Callable[[F], F]: ...
    def defdecomposition(self, decomposition: F) -> F: ...
    def defformula(self, shared: str = "", /, **formulas: str) -> None: ...
    def __call__(self, first: Any, /, *args: P.args, **kwargs: P.kwargs) -> Tensor: ...
    @overload
    def __get__(self, instance: None, owner: Any) -> OpFunction[P]: ...
    @overload
    def __get__(self, instance: object, owner: Any) -> Callable[P, Tensor]: ...
