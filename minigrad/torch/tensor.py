"""The class Tensor as PyTorch means it: the engine's tensor, with PyTorch's names and answers.

The functions of `minigrad.torch` become methods in `minigrad.torch.methods`. Here is the rest:
attributes, conversions, indices, and gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad
from minigrad import ops, random
from minigrad.autograd.engine import detach, watch_of, watched
from minigrad.autograd.node import Leaf, Variable, node_of
from minigrad.debugging.grad_fn import GradFn
from minigrad.support.checks import on_cpu
from minigrad.tensors.functions.arguments import sizes_of
from minigrad.tensors.inplace import assign, overwritten
from minigrad.torch.absent import not_here
from minigrad.torch.helpers import NoDtype, refused
from minigrad.torch.random import drawing

__all__ = ["Size", "Tensor", "adopt"]

KINDS = {
    "float32": "Float", "float64": "Double", "float16": "Half", "int64": "Long", "int32": "Int",
    "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
}  # fmt: skip


class Size(tuple[int, ...]):
    """A shape, with the number of elements."""

    def numel(self) -> int:
        """The number of elements.

        Example:
            >>> from minigrad import torch
            >>> torch.Size([2, 3]).numel()
            6
        """
        return int(np.prod(self, dtype=np.int64))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def adopt(value: Any) -> Any:
    """Make results PyTorch's: a fresh tensor of minigrad's own, also in tuples, lists and dicts."""
    if value.__class__ is minigrad.Tensor:
        value.__class__ = Tensor
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            adopt(part)
    return value


class Tensor(minigrad.Tensor, results=True):
    """A tensor with PyTorch's methods; ``Tensor(2, 3)`` is not filled, ``Tensor([2.0])`` is.

    Every function of `minigrad.torch` gives such tensors, and so does every op of minigrad that one
    of them goes into.

    Args:
        *data: The lengths of the axes, or one list, array or tensor, which becomes float32.

    Source: PyTorch 2.13, "torch.Tensor".

    Example:
        >>> from minigrad import torch
        >>> x = torch.tensor([[1.0, 3.0], [4.0, 2.0]])
        >>> x.max(1)[1], x.size(0)
        (Tensor([1, 0], dtype=int64), 2)
    """

    def __init__(self, *data: Any, device: Any = "cpu", requires_grad: bool = False) -> None:
        sizes = all(isinstance(part, (int, np.integer)) for part in data)
        given = np.empty(tuple(data) if len(data) > 0 else (0,)) if sizes else data[0]
        super().__init__(given, requires_grad, _default(), _named(device))

    # Attributes

    is_cuda = is_sparse = is_xpu = is_mps = is_xla = is_mkldnn = is_quantized = is_meta = False
    is_nested = is_ipu = is_mtia = is_maia = is_vulkan = is_sparse_csr = False

    @property
    def data(self) -> Any:
        """A tensor that shares the memory and has no history; writing to it is not recorded."""
        return detach(self)

    @data.setter
    def data(self, value: Any) -> None:
        minigrad.Tensor.data.fset(self, value)  # type: ignore[attr-defined]

    @property
    def shape(self) -> Any:
        """The lengths of the axes."""
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:  # type: ignore[override]
        """The lengths of the axes, or of one."""
        return Size(self._data.shape) if dim is None else self._data.shape[dim]

    @property
    def grad(self) -> Any:
        """The gradient that backward passes have added up; None before the first."""
        return adopt(super().grad)

    @grad.setter
    def grad(self, value: Any) -> None:
        minigrad.Tensor.grad.fset(self, value)  # type: ignore[attr-defined]

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def layout(self) -> str:
        """Always "torch.strided"."""
        return "torch.strided"

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self._data.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._data.nbytes

    @property
    def H(self) -> Any:
        """The transpose of a matrix."""
        return self.T

    @property
    def mH(self) -> Any:
        """The tensor with its last two axes exchanged."""
        return self.mT

    def dim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    def stride(self, dim: int | None = None) -> Any:
        """How many elements apart neighbours along each axis are."""
        steps = tuple(step // self._data.itemsize for step in self._data.strides)
        return steps if dim is None else steps[dim]

    # Indices. An integer beside an array selects first, as in PyTorch, and not with the arrays.

    def __getitem__(self, index: Any) -> Any:
        first, then = _two_steps(index, self._data.ndim)
        part = ops.getitem(self, first)
        return part if then is None else ops.getitem(part, then)

    def __setitem__(self, index: Any, value: Any) -> None:
        first, then = _two_steps(index, self._data.ndim)
        if then is None:
            super().__setitem__(first, value)
        else:
            minigrad.Tensor.__setitem__(ops.getitem(self, first), then, value)

    # Conversions

    def to(self, *target: Any, **options: Any) -> Any:
        """The tensor in another dtype; itself if it has that.

        Args:
            *target: A dtype, the device "cpu", or a tensor whose dtype is meant.
            **options: `dtype`, `device`, `copy`; `non_blocking` and `memory_format` change nothing.
        """
        dtype, copy = options.pop("dtype", None), options.pop("copy", False)
        for what in (*target, options.pop("device", None)):
            if isinstance(what, Variable):
                dtype = what._data.dtype
            elif isinstance(what, (np.dtype, type, NoDtype)):
                dtype = what
            elif what is not None and not isinstance(what, bool):
                on_cpu(_named(what))
        if unknown := options.keys() - {"non_blocking", "memory_format"}:
            raise TypeError(f"to: unknown keywords: {', '.join(sorted(unknown))}")
        if isinstance(dtype, NoDtype):
            dtype = dtype.dtype  # raises: an old NumPy would not show what it says
        if dtype is not None and np.dtype(dtype) != self._data.dtype:
            return ops.astype(self, dtype)
        return ops.clone(self) if copy else self

    def type(self, dtype: Any = None) -> Any:
        """The name of the type, such as "torch.FloatTensor"; with a dtype, the tensor in it."""
        if dtype is None:
            return f"torch.{KINDS[self._data.dtype.name]}Tensor"
        if isinstance(dtype, str):
            kind = dtype.removeprefix("torch.").removesuffix("Tensor")
            found = [name for name, known in KINDS.items() if known == kind]
            if not found:
                raise ValueError(f"type: {dtype!r} is not the name of a type of tensors")
            dtype = np.dtype(found[0])
        return self.to(getattr(dtype, "dtype", dtype))

    def cpu(self) -> Any:
        """The tensor itself: it is on the CPU."""
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Any:
        """An error: there is no GPU."""
        raise RuntimeError("cuda: minigrad runs on the CPU; ask torch.cuda.is_available() first")

    def pin_memory(self) -> Any:
        """The tensor itself."""
        return self

    def share_memory_(self) -> Any:
        """An error: processes do not share tensors."""
        refused("Tensor.share_memory_", "a model runs in one process")

    def is_pinned(self) -> bool:
        """False."""
        return False

    def is_shared(self) -> bool:
        """False."""
        return False

    def to_dense(self) -> Any:
        """The tensor itself: it is dense."""
        return self

    def storage_offset(self) -> int:
        """How many elements after the start of the memory the first one is."""
        start = self if self._base is None else self._base
        return (self._data.ctypes.data - start._data.ctypes.data) // self._data.itemsize

    def bfloat16(self) -> Any:
        """A TypeError: NumPy has no such dtype."""
        return self.to(NoDtype("bfloat16"))

    def where(self, condition: Any, other: Any) -> Any:
        """Its elements where the condition holds, others elsewhere."""
        return ops.where(condition, self, other)

    def view(self, *shape: Any) -> Any:
        """The elements in another shape."""
        if len(shape) == 1 and isinstance(shape[0], (np.dtype, type)):
            raise NotImplementedError(
                "view: bytes are not read as another dtype here; .to(dtype) converts numbers"
            )
        return self.reshape(*shape)

    # Gradients

    def detach_(self) -> Any:
        """Forget the history, in place."""
        if self._base is not None:
            raise RuntimeError("detach_: a view cannot be detached in place; use detach()")
        self._node = None
        return self

    @property
    def grad_fn(self) -> Any:
        """The op that made it, to be read step by step; None if no op was recorded."""
        found = super().grad_fn
        return None if found is None else Made(found.node)

    @property
    def retains_grad(self) -> bool:
        """Whether backward passes keep its gradient although an op made it."""
        edge = self._node
        return edge is not None and not self.is_leaf and _retained(edge)

    def __getattr__(self, name: str) -> Any:
        not_here("Tensor", name)

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Have a function called with the gradient; what it returns takes the gradient's place."""
        return super().register_hook(lambda gradient: hook(adopt(gradient)))

    # Writing in place

    def copy_(self, src: Any, non_blocking: bool = False) -> Any:
        """Write the values of another tensor, which broadcast."""
        return overwritten(self, _broadcast, src)

    def zero_(self) -> Any:
        """Write 0 everywhere."""
        return overwritten(self, _broadcast, 0)

    def _drawn(self, draw: Callable[..., Any], generator: Any = None) -> Any:
        with drawing(generator):
            values = draw(random.generator(), self._data.shape)
        drawn = np.asarray(getattr(values, "_data", values))
        assign(self, drawn.astype(self._data.dtype, copy=False), "a random fill")
        return self

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
        """Write normal random numbers."""
        dtype = self._data.dtype
        return self._drawn(lambda g, shape: random.normal(mean, std, shape, dtype), generator)

    def log_normal_(self, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
        """Write the exponentials of normal random numbers."""
        return self._drawn(lambda g, shape: g.lognormal(mean, std, shape), generator)

    def cauchy_(self, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
        """Write random numbers of a Cauchy distribution."""
        return self._drawn(lambda g, n: median + sigma * g.standard_cauchy(n), generator)

    def geometric_(self, p: float, *, generator: Any = None) -> Any:
        """Write how many draws it takes until one of probability p succeeds."""
        return self._drawn(lambda g, shape: g.geometric(p, shape), generator)

    def uniform_(self, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Any:
        """Write uniform random numbers."""
        dtype = self._data.dtype
        return self._drawn(lambda g, shape: random.uniform(from_, to, shape, dtype), generator)

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Any:
        """Write 1 with a probability, else 0."""
        return self._drawn(lambda g, shape: g.random(shape) < getattr(p, "_data", p), generator)

    def exponential_(self, lambd: float = 1.0, *, generator: Any = None) -> Any:
        """Write exponential random numbers."""
        return self._drawn(lambda g, shape: g.exponential(1 / lambd, shape), generator)

    def random_(self, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
        """Write random integers from `from_` to before `to`; from 0 if one number is given."""
        low, high = (0, from_) if to is None and from_ else (from_, to or 2**24)
        return self._drawn(lambda g, shape: g.integers(low, high, shape), generator)

    def bernoulli(self, p: Any = None, *, generator: Any = None) -> Any:
        """1 with a probability, each element's or p, else 0."""
        copied: Any = ops.clone(self)
        return copied.bernoulli_(self.detach() if p is None else p, generator=generator)

    def apply_(self, callable: Callable[[Any], Any]) -> Any:
        """Write what a function of Python gives for each element."""
        return self._drawn(lambda g, shape: np.vectorize(callable)(self._data))

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Any:
        """Write a number along the diagonal."""
        filled = self._data.copy()
        np.fill_diagonal(filled, fill_value, wrap)
        return self.copy_(filled)

    # New tensors of the same dtype

    def new_tensor(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Any:
        """A tensor of the data, by default in this one's dtype."""
        given = dtype or self._data.dtype
        return adopt(minigrad.tensor(data, requires_grad, given, _named(device)))

    def _new(self, function: Any, size: Any, *args: Any, **options: Any) -> Any:
        size = sizes_of(size)
        options["dtype"] = options.get("dtype") or self._data.dtype
        options["device"] = _named(options.get("device"))
        return adopt(function(tuple(size), *args, **options))

    def new_zeros(self, *size: Any, **options: Any) -> Any:
        """Zeros, by default in this tensor's dtype."""
        return self._new(minigrad.zeros, size, **options)

    def new_ones(self, *size: Any, **options: Any) -> Any:
        """Ones, by default in this tensor's dtype."""
        return self._new(minigrad.ones, size, **options)

    def new_empty(self, *size: Any, **options: Any) -> Any:
        """A tensor that is not filled, by default in this one's dtype."""
        return self._new(minigrad.empty, size, **options)

    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Any:
        """One number everywhere, by default in this tensor's dtype."""
        return self._new(minigrad.full, (size,), fill_value, **options)

    def new(self, *data: Any) -> Any:
        """A tensor as the constructor makes it, in this one's dtype."""
        return Tensor(*data).to(self._data.dtype)


class Made(GradFn):
    """A node of the graph: what made a tensor, with PyTorch's names of its parts."""

    def name(self) -> str:  # type: ignore[override]
        """The name of the op, such as "MultiplyBackward0"."""
        if isinstance(self.node, Leaf):
            return "torch::autograd::AccumulateGrad"
        return "".join(map(str.capitalize, self.node.plan.op.name.split("_"))) + "Backward0"

    @property
    def next_functions(self) -> Any:
        """For each argument that needs a gradient, what made it, and the number of the output."""
        return tuple([(Made(found.node), i) for found, i in super().next_functions])

    def __repr__(self) -> str:
        return f"<{self.name()}>"


def _retained(edge: Any) -> bool:
    return node_of(edge) in watched and watch_of(edge).retained is not None


def _default() -> Any:
    return minigrad.get_default_dtype()


def _named(device: Any) -> Any:
    """The name of a device, which may be an object with a type."""
    return "cpu" if device is None else str(getattr(device, "type", device))


def _broadcast(tensor: Any, values: Any) -> Any:
    given = values if isinstance(values, Variable) else minigrad.tensor(values)
    return ops.broadcast_to(given, tensor._data.shape)


_broadcast.__name__ = "copy_"


def _selects(index: Any) -> bool:
    """Whether an index is one integer."""
    if isinstance(index, (bool, np.bool_)):
        return False
    if isinstance(index, (int, np.integer)):
        return True
    array = index._data if isinstance(index, Variable) else index
    return isinstance(array, np.ndarray) and not array.ndim and array.dtype.kind in "iu"


def _two_steps(index: Any, axes: int) -> tuple[Any, Any]:
    """An index as one that NumPy's rules serve, or as two: the integers first, then the arrays."""
    if not isinstance(index, tuple):
        return index, None
    if not any(map(_is_array, index)) or not any(map(_selects, index)):
        return index, None
    rest = [slice(None)] * (axes - sum(map(_used, index)))
    full: list[Any] = []
    for each in index:
        full += rest if each is Ellipsis else [each]
    first = [int(each) if _selects(each) else slice(None) for each in full if each is not None]
    return tuple(first), tuple(each for each in full if not _selects(each))


def _is_array(index: Any) -> bool:
    """Whether an index is an array, and not one integer."""
    return isinstance(index, (list, np.ndarray, Variable)) and not _selects(index)


def _used(index: Any) -> int:
    """The number of axes of an index."""
    if index is None or index is Ellipsis:
        return 0
    array = index._data if isinstance(index, Variable) else index
    whole = np.asarray(array) if isinstance(array, (list, np.ndarray)) else None
    return whole.ndim if whole is not None and whole.dtype.kind == "b" else 1
