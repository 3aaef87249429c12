"""Tensors for einops and einx, if they are installed.

This runs when minigrad is imported, because neither library can be told later, when it meets the
first tensor. The order of imports does not matter.

- einops searches the subclasses of its `AbstractBackend`; ours is below.
- einx accepts every tensor with ``__array_namespace__`` once the package array-api-compat is
  imported. The namespace is `minigrad.tensors.array_api`.
"""

import contextlib
from typing import Any

from minigrad import ops
from minigrad.tensors.creation import arange, tensor
from minigrad.tensors.tensor import Tensor

with contextlib.suppress(ImportError):
    import array_api_compat  # noqa: F401  (einx only asks whether it is loaded)

try:
    from einops._backends import AbstractBackend
except ImportError:
    pass
else:

    class EinopsBackend(AbstractBackend):
        """The backend for einops: its operations as differentiable ops.

        Example:
            >>> import einops, minigrad
            >>> x = minigrad.ones((2, 6), requires_grad=True)
            >>> einops.reduce(x, "n (h w) -> n h", "mean", h=2).sum().backward()
            >>> x.grad.shape
            minigrad.Size([2, 6])
        """

        framework_name = "minigrad"
        arange, stack_on_zeroth_dimension = staticmethod(arange), staticmethod(ops.stack)
        transpose, tile = staticmethod(ops.transpose), staticmethod(ops.tile)
        add_axis, concat = staticmethod(ops.expand_dims), staticmethod(ops.concatenate)
        einsum, to_numpy = staticmethod(ops.einsum), staticmethod(Tensor.numpy)

        def is_appropriate_type(self, tensor: Any) -> bool:
            """Whether this backend handles a tensor."""
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: Any) -> Tensor:
            """Convert an array; floats require grad, as in einops' other backends."""
            return tensor(x, requires_grad=x.dtype.kind == "f")

        def reduce(self, x: Tensor, operation: str, axes: tuple[int, ...]) -> Any:
            """Reduce along axes: "min", "max", "sum", "mean", "prod", "any" or "all"."""
            return getattr(ops, operation)(x, axes)

        def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:  # noqa: ARG002
            """Insert axes of the given lengths at the given positions, without copying."""
            x = ops.expand_dims(x, tuple(pos2len))
            shape = [pos2len.get(axis, length) for axis, length in enumerate(x.shape)]
            return ops.broadcast_to(x, tuple(shape))

        def is_float_type(self, x: Tensor) -> bool:
            """Whether the dtype is a float, so that a mean can be taken."""
            return x.dtype.kind == "f"

        def layers(self) -> Any:
            """The module that has Rearrange and Reduce."""
            from minigrad import nn

            return nn
