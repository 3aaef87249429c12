"""Registers tensors with einops and einx, if they are installed.

This runs when minigrad is imported, because neither library can be told later, when it meets the
first tensor. It takes about 1 ms for each. The order of imports does not matter.

- einops searches the subclasses of its `AbstractBackend`; ours is below.
- einx accepts every tensor with ``__array_namespace__`` once the package array-api-compat is
  imported. The namespace is `minigrad.tensors.array_api`. A backend of our own, which is registered
  when einx is imported, comes before einx's for NumPy and takes arrays beside tensors.
"""

import contextlib
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import ops
from minigrad.tensors.creation import arange, tensor
from minigrad.tensors.tensor import Tensor

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object  # importing it takes as long as a third of minigrad

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

        def is_appropriate_type(self, tensor: Any) -> bool:
            """Whether this backend handles a tensor."""
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: Any) -> Tensor:
            """Convert an array; floats require grad, as in einops' other backends."""
            return tensor(x, requires_grad=x.dtype.kind == "f")

        def to_numpy(self, x: Tensor) -> Any:
            """The values: a read-only view."""
            return x.numpy()

        def arange(self, start: int, stop: int) -> Tensor:
            """Consecutive integers."""
            return arange(start, stop)

        def stack_on_zeroth_dimension(self, tensors: Sequence[Tensor]) -> Tensor:
            """Join a list along a new first axis."""
            return ops.stack(tensors)

        def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
            """Put the axes in another order."""
            return ops.transpose(x, axes)

        def reduce(self, x: Tensor, operation: str, axes: tuple[int, ...]) -> Tensor:
            """Reduce along axes: "min", "max", "sum", "mean", "prod", "any" or "all"."""
            reduced: Tensor = getattr(ops, operation)(x, axes)
            return reduced

        def add_axis(self, x: Tensor, new_position: int) -> Tensor:
            """Insert an axis of length 1."""
            return ops.expand_dims(x, new_position)

        def tile(self, x: Tensor, repeats: tuple[int, ...]) -> Tensor:
            """Repeat along each axis."""
            return ops.tile(x, repeats)

        def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:  # noqa: ARG002
            """Insert axes of the given lengths at the given positions, without copying."""
            x = ops.expand_dims(x, tuple(pos2len))
            shape = [pos2len.get(axis, length) for axis, length in enumerate(x.shape)]
            return ops.broadcast_to(x, tuple(shape))

        def concat(self, tensors: Sequence[Tensor], axis: int) -> Tensor:
            """Join along an axis."""
            return ops.concatenate(tensors, axis)

        def is_float_type(self, x: Tensor) -> bool:
            """Whether the dtype is a float, so that a mean can be taken."""
            return x.dtype.kind == "f"

        def einsum(self, pattern: str, *x: Tensor) -> Tensor:
            """Einstein summation."""
            return ops.einsum(pattern, *x)

        def layers(self) -> Any:
            """The module that has Rearrange and Reduce."""
            from minigrad import nn

            return nn


def register_with_einx() -> None:
    """Register einx's backend for the standard again, for our tensors with arrays beside them."""
    tracer: Any = importlib.import_module("einx._src.tracer")
    backends: Any = importlib.import_module("einx._src.frontend.backend")
    theirs = importlib.import_module("einx._src.frontend.impl.arrayapi").create_backend()
    kinds, python = tracer.signature.classical, tracer.signature.python
    others = (np.ndarray, np.generic, bool, int, float)

    def as_tensor(x: Any) -> Any:
        """In the function that einx writes, the conversion of an array or a number."""
        if isinstance(x, kinds.ConvertibleTensor) and issubclass(x.concrete.type, others):
            made = python.call(python.constant(tensor), args=[x])
            return tracer.cast(made, lambda origin: kinds.Tensor(origin, shape=x.shape))
        return x

    def on_tensors(op: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(op)
        def call(*args: Any, **kwargs: Any) -> Any:
            return op(*map(as_tensor, args), **kwargs)

        return call

    backends.registry.register(
        backends.Backend(
            {name: on_tensors(op) for name, op in theirs.ops.items()},
            name="minigrad",
            priority=0,  # of NumPy's it is -1
            optimizations=theirs.optimizations,
            compiler=theirs.compiler,
            is_supported_tensor=lambda x: isinstance(x, Tensor),
            get_shape=theirs.get_shape,
        )
    )


class _OnceImported(Loader):
    """Registers with einx when it has been imported: importing it takes half a second."""

    loader: Loader

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == "einx" else None
        if spec is not None and spec.loader is not None:
            self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> Any:
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        sys.meta_path.remove(self)
        module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        _try_to_register()


def _try_to_register() -> None:
    # Another version of einx may have other parts: then it takes tensors through the standard only.
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        register_with_einx()


if "einx" in sys.modules:
    _try_to_register()
else:
    sys.meta_path.insert(0, _OnceImported())
