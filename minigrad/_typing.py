"""`Tensor` for annotations, in modules that cannot import it since `_tensor.py` imports them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ForwardRef

__all__ = ["Tensor"]

if TYPE_CHECKING:
    from minigrad._tensor import Tensor
else:
    # A name that `typing.get_type_hints` replaces by the class, once that exists.
    Tensor = ForwardRef("_tensor.Tensor", module="minigrad")
