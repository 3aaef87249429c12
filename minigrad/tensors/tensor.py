"""Tensor: an array that remembers how it was made.

Nearly every method is an op, bound under its name; the op's own docstring has the details.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from inspect import getattr_static
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from minigrad import ops, random
from minigrad.autograd import api as gradients
from minigrad.autograd.call import made
from minigrad.autograd.dtypes import checked, to_array
from minigrad.autograd.engine import detach, hooked
from minigrad.autograd.events import effect, tell
from minigrad.autograd.hooks import Removable, add_hook, add_post_hook, retain
from minigrad.autograd.mode import state, version
from minigrad.autograd.mutation import history, view_of
from minigrad.autograd.node import Leaf, Node, Variable, node_of
from minigrad.autograd.views import read_only
from minigrad.support.checks import check_flag, on_cpu
from minigrad.support.pytorch_names import METHODS, Elsewhere
from minigrad.tensors import array_api, creation, dlpack, numpy_functions
from minigrad.tensors.inplace import assign, inplace, read_again, set_item

if TYPE_CHECKING:
    from minigrad.debugging.grad_fn import GradFn

__all__ = ["Tensor"]


def _operator(op: Callable[..., Any]) -> Callable[[Tensor, Any], Tensor]:
    """An operator method; Pyright takes no op for one where a protocol asks, as `sum` does."""
    return op


def _reflected(op: Callable[..., Any]) -> Callable[[Tensor, Any], Tensor]:
    """The reflected operator method: ``other op tensor``."""

    def method(self: Tensor, other: Any) -> Tensor:
        result: Tensor = op(other, self)
        return result

    return method


class Tensor(Variable, results=True):
    """An n-dimensional array that can be part of a compute graph.

    Args:
        data: Numbers, nested lists, an array or another tensor; always copied. Python floats
            become the default dtype (float32), integers int64; arrays keep their dtype.
        requires_grad: Whether to compute gradients for it; floats only.
        dtype: The dtype; None for the rule above.
        device: "cpu".

    Attributes:
        data: The array itself. Writing to it bypasses the graph and the mutation checks.
        grad: The accumulated gradient: a Tensor, or None before the first backward pass.

    Raises:
        OverflowError: A number does not fit into the requested integer dtype.
        RuntimeError: A list holds tensors that require a gradient; `minigrad.stack` joins them.
        TypeError: The data are not numeric, or `requires_grad` is set and the dtype is not a float.
        ValueError: A nested list is ragged, a NaN cannot become an integer, or `device` is not
            "cpu".

    Example:
        >>> from minigrad import Tensor
        >>> x = Tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        Tensor([2., 4.], dtype=float32)
    """

    _grad: Tensor | None = None

    def __init__(
        self, data: Any, requires_grad: bool = False, dtype: Any = None, device: str = "cpu"
    ) -> None:
        on_cpu(device)
        self._data = to_array(data, dtype, name="Tensor")
        if state.get().observers:
            tell("created", self)
        if requires_grad:
            if not isinstance(requires_grad, (bool, np.bool_)):
                raise TypeError(
                    f"Tensor: requires_grad must be a bool, got {requires_grad!r}; "
                    f"a tensor of a shape that is not filled is minigrad.empty(*shape)"
                )
            self.requires_grad = True

    # Array attributes -----------------------------------------------------------------------------

    @property
    def data(self) -> np.ndarray:
        """The array itself. Writing to it bypasses the graph and the mutation checks."""
        if state.get().observers:  # not to call `tell`: this is read often
            tell("left", self, ".data")
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        if not self.is_leaf:
            raise RuntimeError(
                "data: only a leaf's data can be replaced; this tensor is the result of an op"
            )
        version.move()
        array = value._data if isinstance(value, Variable) else value
        if isinstance(array, np.ndarray):
            checked(array.dtype, "data")
        self._data = array if isinstance(array, np.ndarray) else to_array(array, name="data")
        known = self._node
        if known is not None and not self._data.flags.writeable:
            self._data = self._data.copy()
        if known is not None and (known.shape, known.dtype) != (self.shape, self.dtype):
            self._node = None
            self.requires_grad = True
            fresh = self._node
            assert isinstance(known, Leaf)
            assert isinstance(fresh, Leaf)
            fresh.name, fresh.hooks, fresh.post_hooks = known.name, known.hooks, known.post_hooks
            if known in hooked:
                hooked.add(fresh)
        tell("wrote", self, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return self._data.dtype

    @property
    def device(self) -> str:
        """The device, always "cpu"."""
        return creation.CPU

    @property
    def T(self) -> Tensor:
        """The tensor with its axes in reverse order."""
        return ops.transpose(self)

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes exchanged."""
        return ops.swapaxes(self, -1, -2)

    # Autograd -----------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to or through it; can be set on leaves."""
        return history(self) is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        check_flag("Tensor", "requires_grad", value)
        version.move()
        if not self.is_leaf:
            if not value:
                raise RuntimeError(
                    "requires_grad: cannot be turned off for the result of an op; use .detach()"
                )
        elif not value:
            self._node = None
        elif self._node is None:
            if self._data.dtype.kind != "f":
                raise TypeError(f"only floats can require grad, this tensor is {self.dtype}")
            if not self._data.flags.writeable:  # an optimizer writes to it
                self._data = self._data.copy()
            self._node = Leaf(self)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad`, in place, and return the tensor.

        Raises:
            TypeError: It does not hold floats.
            RuntimeError: It is turned off for the result of a recorded op.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).requires_grad_()
            Tensor([1., 1.], dtype=float32, requires_grad=True)
        """
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it is not the result of a recorded op."""
        return not isinstance(node_of(history(self)), Node)

    @property
    def grad_fn(self) -> GradFn | None:
        """The op that made it, to be read step by step; None if no op was recorded."""
        from minigrad.debugging.grad_fn import GradFn

        node = node_of(history(self))
        return GradFn(node) if isinstance(node, Node) else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by backward passes; None before the first."""
        return gradients.grad_of(self)

    @grad.setter
    @effect
    def grad(self, value: Any) -> None:
        if value is not None:
            value = value if isinstance(value, Tensor) else Tensor(value, dtype=self.dtype)
            if value.shape != self.shape:
                raise ValueError(f"grad: shape {self.shape} expected, got {value.shape}")
            if not value._data.flags.writeable:  # clipping and optimizers write to it
                value = value.clone()
        self._grad = value

    @effect
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradient to None.

        Args:
            set_to_none: Whether ``.grad`` becomes None. If not, a gradient that is there becomes
                zeros in its own memory, unless it has a history.

        Example:
            >>> import minigrad
            >>> x = minigrad.ones(2, requires_grad=True)
            >>> x.sum().backward()
            >>> x.zero_grad()
            >>> x.grad is None
            True
        """
        grad = self._grad
        if set_to_none or grad is None:
            self._grad = None
        elif grad.requires_grad or not grad._data.flags.writeable:
            self._grad = made(np.zeros_like(grad._data), False)
        else:
            assign(grad, 0)

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
        inputs: Any = None,
    ) -> None:  # fmt: skip
        """Add the gradient of this tensor to the ``.grad`` of every leaf it depends on.

        Args:
            gradient: The cotangent of this tensor; may be omitted for scalars, where it is 1.
            retain_graph: Keep saved tensors, so that the graph can be used again.
            create_graph: Record the pass itself, so that gradients can be differentiated.
            inputs: The only tensors whose ``.grad`` is written: one or several, leaves or not.

        Raises:
            RuntimeError: It or an input has no history, it is not a scalar, or its graph was freed
                by an earlier pass.
            ValueError: `gradient` has another shape.

        Example:
            >>> import minigrad
            >>> x = minigrad.tensor(3.0, requires_grad=True)
            >>> (x**2).backward()
            >>> x.grad
            Tensor(6., dtype=float32)
        """
        given = None if gradient is None else (gradient,)
        gradients.backward(self, given, retain_graph, create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """Return a leaf without history that shares the memory: writes in place reach both.

        A write is recorded in the history of the tensor that is written to, and of no other one. A
        backward pass that needs the old values is refused.

        Example:
            >>> import minigrad
            >>> x = minigrad.ones(2, requires_grad=True)
            >>> x.detach().add_(1).requires_grad
            False
            >>> x
            Tensor([2., 2.], dtype=float32, requires_grad=True)
        """
        return detach(self)

    def retain_grad(self) -> None:
        """Store the gradient of this intermediate tensor in ``.grad`` during backward passes.

        Raises:
            RuntimeError: It does not require grad.

        Example:
            >>> import minigrad
            >>> x = minigrad.tensor(3.0, requires_grad=True)
            >>> y = 2 * x
            >>> y.retain_grad()
            >>> (y * y).backward()
            >>> y.grad
            Tensor(12., dtype=float32)
        """
        if not self.requires_grad:
            raise RuntimeError("retain_grad: this tensor does not require grad")
        retain(self)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Removable:
        """Call `hook` with the full gradient of this tensor in each backward pass.

        Args:
            hook: Called with the gradient; a result other than None replaces it.

        Returns:
            A handle; calling it or its ``.remove()`` removes the hook.

        Raises:
            RuntimeError: It does not require grad.

        Example:
            >>> import minigrad
            >>> x = minigrad.tensor(3.0, requires_grad=True)
            >>> handle = x.register_hook(lambda g: 10 * g)
            >>> (x * x).backward()
            >>> handle.remove()
            >>> x.grad
            Tensor(60., dtype=float32)
        """
        node = history(self)
        if node is None:
            raise RuntimeError("register_hook: this tensor does not require grad")
        return add_hook(node, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], object]) -> Removable:
        """Call `hook` with this tensor in each backward pass, as soon as its ``.grad`` is complete.

        That is while the pass still runs, so that an update can be made and the gradient be freed:
        then the gradients of a model are never all in memory at once.

        Args:
            hook: Called with this tensor, after ``.grad`` is written.

        Returns:
            A handle; calling it or its ``.remove()`` removes the hook.

        Raises:
            RuntimeError: The tensor does not require grad, or an op has made it.

        Example:
            >>> import minigrad
            >>> def update(x):
            ...     with minigrad.no_grad():
            ...         x -= 0.1 * x.grad
            ...     x.grad = None
            >>> x = minigrad.tensor(3.0, requires_grad=True)
            >>> handle = x.register_post_accumulate_grad_hook(update)
            >>> (x * x).backward()
            >>> x.grad, x
            (None, Tensor(2.4, dtype=float32, requires_grad=True))
        """
        node = history(self)
        if not isinstance(node, Leaf):
            raise RuntimeError(
                "register_post_accumulate_grad_hook: a tensor that requires grad and that no op "
                "has made is expected; see retain_grad and register_hook for others"
            )
        return add_post_hook(node, hook)

    # Conversion to Python and NumPy
    # --------------------------------------------------------------------

    def numpy(self) -> np.ndarray:
        """Return the values as a read-only array; it sees later in-place writes.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).numpy()
            array([1., 1.], dtype=float32)
        """
        tell("left", self, ".numpy()")
        return read_only(self._data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if history(self) is not None:
            numpy_functions.refuse_loss()
        tell("left", self, "np.asarray()")
        if dtype is not None and np.dtype(dtype) != self.dtype:
            if copy is False:
                raise ValueError(
                    f"a {self.dtype} tensor cannot be viewed as {dtype} without a copy"
                )
            return self._data.astype(dtype)
        return self._data.copy() if copy else read_only(self._data)

    __array_ufunc__ = numpy_functions.array_ufunc
    __array_function__ = numpy_functions.array_function
    __dlpack__ = dlpack.to_dlpack

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._data.__dlpack_device__()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return array_api.namespace(api_version)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:  # noqa: ARG002  # the standard's
        """Return this tensor: it is on the only device, the CPU, as the array API standard asks.

        Raises:
            ValueError: It is another device.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).to_device("cpu")
            Tensor([1., 1.], dtype=float32)
        """
        on_cpu(device)
        return self

    def item(self) -> float | int | bool:
        """Return the only element, as a Python number.

        Raises:
            ValueError: There is not exactly one element.

        Example:
            >>> import minigrad
            >>> minigrad.tensor([2.5]).item()
            2.5
        """
        if self._data.size != 1:
            raise ValueError(f"item: exactly one element expected, the shape is {self.shape}")
        tell("left", self, ".item()")
        value: float | int | bool = self._data.item()
        return value

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers, or one number for a 0-d tensor.

        Example:
            >>> import minigrad
            >>> minigrad.arange(3).tolist()
            [0, 1, 2]
        """
        tell("left", self, ".tolist()")
        return self._data.tolist()

    def __len__(self) -> int:
        if not self._data.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._data.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (ops.getitem(self, i) for i in range(len(self._data)))

    def __contains__(self, value: Any) -> bool:
        tell("left", self, "the operator in")
        return bool((self._data == (value._data if isinstance(value, Variable) else value)).any())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            raise ValueError(
                f"the truth of a tensor of shape {self.shape} is ambiguous; reduce it with .all() "
                f"or .any()"
            )
        tell("left", self, "bool()")
        return bool(self._data.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iu" or self._data.size != 1:
            raise TypeError(f"an index is one integer, got {self.dtype} of shape {self.shape}")
        tell("left", self, "a tensor as an index")
        return int(self._data.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else repr(self)

    def __repr__(self) -> str:
        tell("left", self, "repr()")
        values = np.array2string(self._data, separator=", ", prefix="Tensor(")
        suffix = ""
        node = node_of(history(self))
        if isinstance(node, Leaf):
            suffix = ", requires_grad=True"
        elif node is not None:
            suffix = f", op={node.plan.op.name}"
        return f"{type(self).__name__}({values}, dtype={self.dtype}{suffix})"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from minigrad.viz.page.notebook import mimebundle

        return mimebundle(self)

    # Copies ---------------------------------------------------------------------------------

    def __copy__(self) -> Tensor:
        if not self.is_leaf:
            return self[...]  # a view with the same history
        twin = object.__new__(type(self))
        twin.__setstate__(self.__getstate__())
        view_of(twin, self)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        self._refuse_result("deepcopy")
        memo[id(self)] = twin = copy(self)
        twin._data, twin._base = twin._data.copy(), None
        if self._grad is not None:
            twin._grad = self._grad.detach().clone()
        return twin

    def __getstate__(self) -> dict[str, Any]:
        self._refuse_result("pickle")
        tell("left", self, "pickle or a copy")
        name = self._node.name if isinstance(self._node, Leaf) else None
        return {"data": self._data, "requires_grad": self.requires_grad, "name": name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        data = state["data"]
        self._data = data.astype(data.dtype.type, copy=False)
        if state["requires_grad"]:
            self._node = Leaf(self)
            self._node.name = state["name"]

    def _refuse_result(self, what: str) -> None:
        node = node_of(history(self))
        if isinstance(node, Node):
            raise RuntimeError(
                f"{what}: this tensor is the result of {node.plan.op.name}, whose graph cannot "
                f"be copied; use .detach() first"
            )

    # Methods that accept more forms of arguments than their op -----------------------------

    def astype(self, dtype: Any) -> Tensor:
        """Convert to another dtype; see `minigrad.astype`."""
        return ops.astype(self, dtype)

    def to(self, target: Any) -> Tensor:
        """Convert to a dtype; the device "cpu" is accepted and changes nothing.

        Raises:
            ValueError: Another device was asked for.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).to(minigrad.float64).dtype
            dtype('float64')
        """
        if isinstance(target, str) and target.split(":")[0] in ("cpu", "gpu", "cuda", "mps"):
            on_cpu(target)
            return self
        return ops.astype(self, checked(target, "to"))

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """Change the shape; see `minigrad.reshape`."""
        return ops.reshape(self, _one_tuple(shape))

    def transpose(self, *axes: int | Sequence[int] | None) -> Tensor:
        """Reorder the axes, or reverse them; see `minigrad.transpose`."""
        chosen = _one_tuple(axes)
        return ops.transpose(self, chosen if chosen and chosen != (None,) else None)

    def broadcast_to(self, *shape: int | Sequence[int]) -> Tensor:
        """Repeat along axes of length 1; see `minigrad.broadcast_to`."""
        return ops.broadcast_to(self, _one_tuple(shape))

    # Operators ------------------------------------------------------------------------------

    __add__ = _operator(ops.add)
    __sub__ = ops.subtract
    __mul__ = ops.multiply
    __truediv__ = ops.divide
    __floordiv__ = ops.floor_divide
    __mod__ = ops.remainder
    __pow__ = ops.power
    __matmul__ = ops.matmul
    __and__ = ops.bitwise_and
    __or__ = ops.bitwise_or
    __xor__ = ops.bitwise_xor
    __lshift__ = ops.left_shift
    __rshift__ = ops.right_shift
    __radd__ = _reflected(ops.add)
    __rsub__ = _reflected(ops.subtract)
    __rmul__ = _reflected(ops.multiply)
    __rtruediv__ = _reflected(ops.divide)
    __rfloordiv__ = _reflected(ops.floor_divide)
    __rmod__ = _reflected(ops.remainder)
    __rpow__ = _reflected(ops.power)
    __rmatmul__ = _reflected(ops.matmul)
    __rand__ = _reflected(ops.bitwise_and)
    __ror__ = _reflected(ops.bitwise_or)
    __rxor__ = _reflected(ops.bitwise_xor)
    __rlshift__ = _reflected(ops.left_shift)
    __rrshift__ = _reflected(ops.right_shift)
    __neg__ = ops.negative
    __invert__ = ops.invert
    __lt__ = ops.less
    __le__ = ops.less_equal
    __gt__ = ops.greater
    __ge__ = ops.greater_equal
    __hash__ = object.__hash__
    __getitem__ = ops.getitem
    __setitem__ = set_item

    # Not a tensor for None and strings: `t == None` is False. `object` declares a bool.
    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return NotImplemented if other is None or isinstance(other, str) else ops.equal(self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        if other is None or isinstance(other, str):
            return NotImplemented
        return ops.not_equal(self, other)

    def __pos__(self) -> Tensor:
        return ops.clone(self)

    def __abs__(self) -> Tensor:  # a method, so that type checkers accept abs(t)
        return ops.abs(self)

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return ops.floor_divide(self, other), ops.remainder(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return ops.floor_divide(other, self), ops.remainder(other, self)

    # Methods --------------------------------------------------------------------------------

    abs = ops.abs
    add = ops.add
    all = ops.all
    allclose = ops.allclose
    any = ops.any
    arccos = ops.arccos
    arccosh = ops.arccosh
    arcsin = ops.arcsin
    arcsinh = ops.arcsinh
    arctan = ops.arctan
    arctan2 = ops.arctan2
    arctanh = ops.arctanh
    argmax = ops.argmax
    argmin = ops.argmin
    argsort = ops.argsort
    argwhere = ops.argwhere
    bincount = ops.bincount
    cbrt = ops.cbrt
    ceil = ops.ceil
    chunk = ops.chunk
    clip = ops.clip
    clone = ops.clone
    copysign = ops.copysign
    cos = ops.cos
    cosh = ops.cosh
    count_nonzero = ops.count_nonzero
    cummax = ops.cummax
    cummin = ops.cummin
    cumprod = ops.cumprod
    cumsum = ops.cumsum
    deg2rad = ops.deg2rad
    diag = ops.diag
    diag_embed = ops.diag_embed
    diagonal = ops.diagonal
    diff = ops.diff
    digamma = ops.digamma
    divide = ops.divide
    dot = ops.dot
    dsplit = ops.dsplit
    erf = ops.erf
    erfc = ops.erfc
    erfinv = ops.erfinv
    exp = ops.exp
    exp2 = ops.exp2
    expand = ops.expand
    expand_dims = ops.expand_dims
    expm1 = ops.expm1
    flatten = ops.flatten
    flip = ops.flip
    floor = ops.floor
    floor_divide = ops.floor_divide
    fmax = ops.fmax
    fmin = ops.fmin
    fmod = ops.fmod
    gather = ops.gather
    gelu = ops.gelu
    histogram = ops.histogram
    hsplit = ops.hsplit
    hypot = ops.hypot
    index_add = ops.index_add
    index_fill = ops.index_fill
    inner = ops.inner
    isclose = ops.isclose
    isfinite = ops.isfinite
    isinf = ops.isinf
    isnan = ops.isnan
    lgamma = ops.lgamma
    log = ops.log
    log1p = ops.log1p
    log2 = ops.log2
    log10 = ops.log10
    log_softmax = ops.log_softmax
    logaddexp = ops.logaddexp
    logcumsumexp = ops.logcumsumexp
    logical_and = ops.logical_and
    logical_not = ops.logical_not
    logical_or = ops.logical_or
    logical_xor = ops.logical_xor
    logit = ops.logit
    logsumexp = ops.logsumexp
    masked_fill = ops.masked_fill
    masked_select = ops.masked_select
    matmul = ops.matmul
    max = ops.max
    maximum = ops.maximum
    mean = ops.mean
    median = ops.median
    min = ops.min
    minimum = ops.minimum
    moveaxis = ops.moveaxis
    multiply = ops.multiply
    nan_to_num = ops.nan_to_num
    nanmean = ops.nanmean
    nansum = ops.nansum
    negative = ops.negative
    nonzero = ops.nonzero
    norm = ops.norm
    outer = ops.outer
    pad = ops.pad
    power = ops.power
    prod = ops.prod
    quantile = ops.quantile
    rad2deg = ops.rad2deg
    ravel = ops.ravel
    reciprocal = ops.reciprocal
    relu = ops.relu
    remainder = ops.remainder
    repeat = ops.repeat
    roll = ops.roll
    round = ops.round
    rsqrt = ops.rsqrt
    scatter = ops.scatter
    scatter_add = ops.scatter_add
    scatter_reduce = ops.scatter_reduce
    sigmoid = ops.sigmoid
    sign = ops.sign
    silu = ops.silu
    sin = ops.sin
    sinh = ops.sinh
    softmax = ops.softmax
    softplus = ops.softplus
    sort = ops.sort
    split = ops.split
    sqrt = ops.sqrt
    square = ops.square
    squeeze = ops.squeeze
    std = ops.std
    subtract = ops.subtract
    sum = ops.sum
    swapaxes = ops.swapaxes
    take = ops.take
    take_along_axis = ops.take_along_axis
    tan = ops.tan
    tanh = ops.tanh
    tile = ops.tile
    topk = ops.topk
    trace = ops.trace
    tril = ops.tril
    triu = ops.triu
    trunc = ops.trunc
    unbind = ops.unbind
    unfold = ops.unfold
    unique = ops.unique
    unsqueeze = ops.expand_dims
    var = ops.var
    vsplit = ops.vsplit

    # In place -------------------------------------------------------------------------------

    _read_again = read_again
    __iadd__ = inplace(ops.add, "__iadd__")
    __isub__ = inplace(ops.subtract, "__isub__")
    __imul__ = inplace(ops.multiply, "__imul__")
    __itruediv__ = inplace(ops.divide, "__itruediv__")
    __ifloordiv__ = inplace(ops.floor_divide, "__ifloordiv__")
    __imod__ = inplace(ops.remainder, "__imod__")
    __ipow__ = inplace(ops.power, "__ipow__")
    __iand__ = inplace(ops.bitwise_and, "__iand__")
    __ior__ = inplace(ops.bitwise_or, "__ior__")
    __ixor__ = inplace(ops.bitwise_xor, "__ixor__")
    __ilshift__ = inplace(ops.left_shift, "__ilshift__")
    __irshift__ = inplace(ops.right_shift, "__irshift__")
    add_ = inplace(ops.add, "add_")
    sub_ = inplace(ops.subtract, "sub_")
    mul_ = inplace(ops.multiply, "mul_")
    div_ = inplace(ops.divide, "div_")
    power_ = inplace(ops.power, "power_")
    neg_ = inplace(ops.negative, "neg_")
    abs_ = inplace(ops.abs, "abs_")
    sign_ = inplace(ops.sign, "sign_")
    reciprocal_ = inplace(ops.reciprocal, "reciprocal_")
    square_ = inplace(ops.square, "square_")
    sqrt_ = inplace(ops.sqrt, "sqrt_")
    exp_ = inplace(ops.exp, "exp_")
    log_ = inplace(ops.log, "log_")
    log2_ = inplace(ops.log2, "log2_")
    sin_ = inplace(ops.sin, "sin_")
    cos_ = inplace(ops.cos, "cos_")
    tan_ = inplace(ops.tan, "tan_")
    arcsin_ = inplace(ops.arcsin, "arcsin_")
    arccos_ = inplace(ops.arccos, "arccos_")
    arctan_ = inplace(ops.arctan, "arctan_")
    sinh_ = inplace(ops.sinh, "sinh_")
    cosh_ = inplace(ops.cosh, "cosh_")
    tanh_ = inplace(ops.tanh, "tanh_")
    round_ = inplace(ops.round, "round_")
    floor_ = inplace(ops.floor, "floor_")
    ceil_ = inplace(ops.ceil, "ceil_")
    maximum_ = inplace(ops.maximum, "maximum_")
    minimum_ = inplace(ops.minimum, "minimum_")
    clip_ = inplace(ops.clip, "clip_")

    # Creation -------------------------------------------------------------------------------

    arange = staticmethod(creation.arange)
    empty = staticmethod(creation.empty)
    eye = staticmethod(creation.eye)
    full = staticmethod(creation.full)
    linspace = staticmethod(creation.linspace)
    ones = staticmethod(creation.ones)
    rand = staticmethod(random.rand)
    randint = staticmethod(random.randint)
    randn = staticmethod(random.randn)
    zeros = staticmethod(creation.zeros)


def _one_tuple(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as one tuple, for ``f(2, 3)`` and ``f((2, 3))``."""
    return tuple(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else args


def _own_names(tensor: Tensor) -> list[str]:
    """The names that ``dir(tensor)`` lists."""
    kind, names = type(tensor), object.__dir__(tensor)
    return [n for n in names if not isinstance(getattr_static(kind, n, None), Elsewhere)]


Tensor.__dir__ = _own_names  # type: ignore[assignment, method-assign]
for _theirs, _ours in METHODS.items():
    setattr(Tensor, _theirs, Elsewhere(_theirs, _ours))
