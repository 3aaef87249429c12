"""Tensor: an array that remembers how it was made.

Most methods are functions, bound under their names in `minigrad.tensors.methods`; the function's
own docstring has the details. Here is what only a tensor has: attributes, gradients, conversions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Self, overload

import numpy as np

from minigrad import ops, random
from minigrad.autograd import api as gradients
from minigrad.autograd.call import leaf_of
from minigrad.autograd.dtype_class import DTYPES
from minigrad.autograd.dtype_class import dtype as DType
from minigrad.autograd.dtypes import checked, get_default_dtype, to_array
from minigrad.autograd.engine import alias, copied, detach, hooked, watch_of, watched
from minigrad.autograd.events import effect, tell
from minigrad.autograd.hooks import Removable, add_hook, add_post_hook, retain
from minigrad.autograd.lending import lend
from minigrad.autograd.mode import state, version
from minigrad.autograd.mutation import history, view_of
from minigrad.autograd.node import Leaf, Node, Variable, data_of, node_of
from minigrad.autograd.typing import OpFunction
from minigrad.autograd.views import Place, owner, read_only
from minigrad.support.checks import check_flag, on_cpu, shape_of
from minigrad.tensors import array_api, creation, dlpack, functions, numpy_functions
from minigrad.tensors.creation import CPU, STRIDED, Size
from minigrad.tensors.functions.arguments import sizes_of
from minigrad.tensors.indices import is_integer, two_steps
from minigrad.tensors.inplace import Fills, assign, read_again, set_item
from minigrad.tensors.kinds import NAMES, dtype_of_kind
from minigrad.tensors.methods import Methods, operator, reflected
from minigrad.tensors.printing import shown
from minigrad.tensors.storage import TypedStorage

if TYPE_CHECKING:
    from minigrad.debugging.grad_fn import GradFn

__all__ = ["Tensor"]

_DEVICES = ("cpu", "gpu", "cuda", "mps", "xpu", "meta")


def dtype_asked(target: tuple[Any, ...], dtype: Any) -> Any:
    """The dtype that arguments of `to` name, or None; the only device is the CPU."""
    for what in target:
        if isinstance(what, Variable):
            dtype = what._data.dtype
        elif str(getattr(what, "type", what)).split(":")[0] in _DEVICES:
            on_cpu(what)
        elif what is not None and not isinstance(what, bool):  # a bool is non_blocking
            dtype = what
    return dtype


class Tensor(Methods, Fills, Variable):
    """An n-dimensional array that can be part of a compute graph.

    ``Tensor([1, 2])`` holds floats, whatever the data are; `minigrad.tensor` keeps their dtype.

    Args:
        *data: Numbers, nested lists or an array, always copied; the lengths of the axes of a tensor
            of zeros, one by one or as a `Size`; or a tensor, whose memory, history and dtype it
            has, unless it gets another dtype or `requires_grad`: then it is a copy.
        requires_grad: Whether to compute gradients for it; floats only.
        dtype: The dtype; the default dtype (float32) if None.
        device: "cpu".

    Attributes:
        data: A tensor that shares the memory and has no history.
        grad: The accumulated gradient: a Tensor, or None before the first backward pass.

    Raises:
        OverflowError: A number does not fit into the requested integer dtype.
        RuntimeError: A list holds tensors that require a gradient, or have several elements;
            `minigrad.stack` joins them.
        TypeError: The data are not numeric, or `requires_grad` is set and the dtype is not a float.
        ValueError: A nested list is ragged, a NaN cannot become an integer, or `device` is not
            "cpu".

    Source: PyTorch 2.13, "torch.Tensor".

    Example:
        >>> from minigrad import Tensor
        >>> x = Tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        >>> Tensor(2, 3).shape == (2, 3)
        True
    """

    _grad: Tensor | None = None

    def __init__(
        self, *data: Any, requires_grad: bool = False, dtype: Any = None, device: Any = "cpu"
    ) -> None:
        on_cpu(device)
        if len(data) == 2 and isinstance(data[1], bool):  # Lucid 2's second argument
            requires_grad, data = data[1], data[:1]
        given: Any = data[0] if len(data) == 1 else None
        of_tensor = isinstance(given, Variable)
        if of_tensor and not requires_grad and (dtype is None or dtype == given.dtype):
            same = alias(given)
            self._data, self._node = same._data, same._node
            view_of(self, given)
            return
        sizes = given if isinstance(given, Size) else data
        dtype = get_default_dtype() if dtype is None else dtype
        if not of_tensor and all(map(is_integer, sizes)):
            shape = shape_of("Tensor", sizes) if len(data) else (0,)
            self._data = np.zeros(shape, checked(dtype, "Tensor"))
        elif len(data) > 1:
            raise TypeError(f"Tensor: the data or the lengths of the axes expected, got {data!r}")
        else:
            self._data = to_array(data[0], dtype, name="Tensor", of_numbers=True)
        if state.get().observers:
            tell("created", self)
        if requires_grad:
            self.requires_grad = requires_grad

    # Array attributes -----------------------------------------------------------------------------

    is_cuda = is_sparse = is_xpu = is_mps = is_xla = is_mkldnn = is_quantized = is_meta = False
    is_nested = is_ipu = is_mtia = is_maia = is_vulkan = is_sparse_csr = is_gpu = False
    is_cpu = True

    @property
    def data(self) -> Tensor:
        """A tensor that shares the memory and has no history; writing to it is not recorded."""
        return detach(self)

    @data.setter
    def data(self, value: Any) -> None:
        if not self.is_leaf:
            if isinstance(value, Variable) and Place.of_array(value._data) == Place.of_array(
                self._data
            ):
                return  # `x.data *= 2` has written already
            raise RuntimeError("data: only a leaf's data can be replaced; this is an op's result")
        version.move()
        array, known = data_of(value), self._node
        if isinstance(array, np.ndarray):
            checked(array.dtype, "data")
        else:
            array = to_array(array, name="data")
        self._data = array if known is None or array.flags.writeable else array.copy()
        if isinstance(known, Leaf) and (known.shape, known.dtype) != (array.shape, array.dtype):
            self._node = None
            self.requires_grad = True
            fresh: Any = self._node
            fresh.name, fresh.hooks, fresh.post_hooks = known.name, known.hooks, known.post_hooks
            if known in hooked:
                hooked.add(fresh)
        tell("wrote", self, value)

    @property
    def shape(self) -> Size:
        """The lengths of the axes."""
        return Size(self._data.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Size | int:
        """Return the lengths of the axes, or of one."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    def dim(self) -> int:
        """Return the number of axes."""
        return self._data.ndim

    ndimension = dim

    def stride(self, dim: int | None = None) -> Any:
        """Tell how many elements apart neighbours along each axis, or along one, are."""
        steps = tuple([step // self._data.itemsize for step in self._data.strides])
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> int:
        """Tell how many elements after the start of the memory the first one is."""
        start = self if self._base is None else self._base
        return (self._data.ctypes.data - start._data.ctypes.data) // self._data.itemsize

    def storage(self) -> TypedStorage:
        """Return the memory, which it shares with its views: a sequence of all elements."""
        return TypedStorage(functions.as_strided(self.detach(), (owner(self._data).size,), (1,), 0))

    def _is_view(self) -> bool:
        """Tell whether it views the memory of another tensor, of `_base`."""
        return self._base is not None

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Tell whether the elements lie one after the other in memory."""
        return self._data.flags.c_contiguous

    def contiguous(self, memory_format: Any = None) -> Tensor:
        """Return the tensor itself, or a copy whose elements lie one after the other in memory."""
        return self if self.is_contiguous() else ops.clone(self)

    def cpu(self, memory_format: Any = None) -> Tensor:
        """Return the tensor itself: it is dense, and on the CPU."""
        return self

    pin_memory = to_dense = cpu

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._data.ctypes.data

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self.itemsize

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self._data.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.shape.numel() * self._data.itemsize

    @property
    def layout(self) -> str:
        """Always `strided`."""
        return STRIDED

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return DTYPES[self._data.dtype]

    @property
    def device(self) -> str:
        """The device, always "cpu"."""
        return CPU

    @property
    def T(self) -> Tensor:
        """The tensor with its axes in reverse order."""
        return ops.transpose(self)

    @property
    def mT(self) -> Tensor:
        """The tensor with its last two axes exchanged."""
        return ops.swapaxes(self, -1, -2) if self._data.ndim else self

    H, mH = T, mT  # there are no complex numbers

    @property
    def real(self) -> Self:
        """The tensor itself: there are no complex numbers."""
        return self

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
                raise RuntimeError("requires_grad: stays True for an op's result; use .detach()")
        elif not value:
            self._node = None
        elif self._node is None:
            if self._data.dtype.kind != "f":
                raise TypeError(f"only floats can require grad, got {self.dtype}: convert it")
            if not self._data.flags.writeable:  # an optimizer writes to it
                self._data = copied(self)._data
            self._node = Leaf(self)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad`, in place, and return the tensor.

        Raises:
            TypeError: It does not hold floats.
            RuntimeError: It is turned off for the result of a recorded op.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).requires_grad_()
            tensor([1., 1.], requires_grad=True)
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
            value = value if isinstance(value, Tensor) else creation.tensor(value, dtype=self.dtype)
            if value.shape != self.shape:
                raise ValueError(f"grad: shape {self.shape} expected, got {value.shape}")
            if not value._data.flags.writeable:  # clipping and optimizers write to it
                value = value.clone()
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether backward passes keep its gradient although an op made it."""
        edge = history(self)
        kept = node_of(edge) in watched and watch_of(edge).retained is not None
        return kept and not self.is_leaf

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
        check_flag("zero_grad", "set_to_none", set_to_none)
        if set_to_none or grad is None:
            self._grad = None
        elif grad.requires_grad or not grad._data.flags.writeable:
            self._grad = leaf_of(np.zeros_like(grad._data), False)
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
            tensor(6.)
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
            tensor([2., 2.], requires_grad=True)
        """
        return detach(self)

    def detach_(self) -> Self:
        """Forget the history, in place.

        Raises:
            RuntimeError: It views the memory of another tensor.
        """
        if self._base is not None:
            raise RuntimeError("detach_: a view cannot be detached in place; use detach()")
        self._data = detach(self)._data  # which observers see
        self._node = None
        return self

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
            tensor(12.)
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
            tensor(60.)
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
            (None, tensor(2.4000, requires_grad=True))
        """
        node = history(self)
        if not isinstance(node, Leaf):
            what = "a leaf that requires grad expected; others have retain_grad and register_hook"
            raise RuntimeError(f"register_post_accumulate_grad_hook: {what}")
        return add_post_hook(node, hook)

    # Conversion to Python and NumPy
    # --------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """Return the values as an array that shares the memory: it sees later writes in place.

        It can be written to, unless the tensor requires a gradient. A backward pass that needs
        values that were overwritten so is refused.

        Args:
            force: Changes nothing: a tensor that requires a gradient gives an array too.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).numpy()
            array([1., 1.], dtype=float32)
        """
        tell("left", self, ".numpy()")
        return read_only(self._data) if history(self) is not None else lend(self._data)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if history(self) is not None:
            numpy_functions.refuse_loss()
        tell("left", self, "np.asarray()")
        array = np.array(self._data, dtype, copy=copy)
        return lend(array) if np.may_share_memory(array, self._data) else array

    __array_ufunc__ = numpy_functions.array_ufunc
    __array_function__ = numpy_functions.array_function
    __dlpack__ = dlpack.to_dlpack

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._data.__dlpack_device__()

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return array_api.namespace(api_version)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:  # the standard's
        """Return this tensor: it is on the only device, the CPU, as the array API standard asks."""
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
            raise ValueError(f"item: exactly one element expected, got shape {self.shape}")
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
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        return (ops.getitem(self, i) for i in range(len(self._data)))

    def __reversed__(self) -> Tensor:
        return functions.flip(self, 0) if self._data.ndim else self

    def __contains__(self, value: Any) -> bool:
        tell("left", self, "the operator in")
        return bool((self._data == data_of(value)).any())

    def __bool__(self) -> bool:
        if self._data.size != 1:
            remedy = "reduce it with .all() or .any()"
            raise ValueError(f"the truth of a tensor of shape {self.shape} is ambiguous; {remedy}")
        tell("left", self, "bool()")
        return bool(self._data.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self._data.dtype.kind not in "iu" or self._data.size != 1:
            raise TypeError(f"an index is one integer, got {self.dtype} of shape {self.shape}")
        tell("left", self, "a tensor as an index")
        return int(self._data.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec or not self._data.ndim else repr(self)

    def __repr__(self) -> str:
        tell("left", self, "repr()")
        made_by = self.grad_fn
        past = "requires_grad=True" if self.requires_grad else ""
        past = f"grad_fn=<{made_by.name()}>" if made_by else past
        return shown(self._data, self._shown_as(), past)

    def _shown_as(self) -> str:
        """The word before the values: the name of the class, of a plain tensor in small letters."""
        return "tensor" if type(self) is Tensor else type(self).__name__

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
            why = f"this is the result of {node.plan.op.name}, whose graph cannot be copied"
            raise RuntimeError(f"{what}: {why}; use .detach() first")

    # Methods that accept more forms of arguments than their op -----------------------------

    def to(
        self, *target: Any, dtype: Any = None, device: Any = None, copy: bool = False,
        non_blocking: bool = False, memory_format: Any = None,
    ) -> Tensor:  # fmt: skip
        """Convert to another dtype; the tensor itself if it has that.

        Args:
            *target: A dtype, the device "cpu", or a tensor whose dtype is meant; then
                `non_blocking` and `copy` may follow.
            dtype: The dtype.
            device: "cpu".
            copy: Whether it is copied in any case.
            non_blocking: This and `memory_format` change nothing.
            memory_format: As `non_blocking`.

        Raises:
            TypeError: The dtype is unknown.
            ValueError: Another device was asked for.

        Example:
            >>> import minigrad
            >>> minigrad.ones(2).to(minigrad.float64).dtype
            minigrad.float64
        """
        dtype = dtype_asked((*target, device), dtype)
        copy = copy or [what for what in target if isinstance(what, bool)][1:] == [True]
        if dtype is not None and checked(dtype, "to") != self._data.dtype:
            return ops.astype(self, dtype)
        return ops.clone(self) if copy else self

    def type(self, dtype: Any = None) -> Any:
        """Return the name of the type, such as "torch.FloatTensor"; with a dtype, the tensor in it.

        The dtype may be such a name too, or a class such as `minigrad.FloatTensor`.

        Raises:
            ValueError: A name is not that of a type of tensors.
        """
        if dtype is None:
            return f"torch.{NAMES[self.dtype]}"
        return self.to(dtype_of_kind(dtype))

    def type_as(self, other: Tensor) -> Tensor:
        """Convert to the dtype of another tensor."""
        return self.to(other)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> NoReturn:
        """Raise an error: there is no GPU."""
        raise RuntimeError("cuda: minigrad runs on the CPU; ask torch.cuda.is_available() first")

    def is_pinned(self) -> bool:
        """Return False: no memory is pinned, and processes do not share tensors."""
        return False

    is_shared = is_pinned

    # Shapes -----------------------------------------------------------------------------------

    def view(self, *shape: Any, size: Any = None) -> Tensor:
        """Give the elements another shape.

        Raises:
            NotImplementedError: A dtype is given: bytes are not read as another one.
        """
        if len(shape) == 1 and isinstance(shape[0], (DType, np.dtype, type)):
            raise NotImplementedError("view: bytes are not read as another dtype; see .to(dtype)")
        return ops.reshape(self, sizes_of(shape, size))

    def where(self, condition: Any, other: Any) -> Tensor:
        """Choose its elements where the condition holds, others elsewhere."""
        return ops.where(condition, self, other)

    def polygamma(self, n: int) -> Tensor:
        """Compute the nth derivative of digamma; see `minigrad.polygamma`."""
        return functions.polygamma(n, self)

    # New tensors of the same dtype ------------------------------------------------------------

    def new_tensor(
        self, data: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        """Make a leaf of the data, by default in this one's dtype; without data, copy this one."""
        data = self if data is None else data
        return creation.tensor(data, requires_grad, dtype or self.dtype, device)

    def new_zeros(self, *size: Any, **options: Any) -> Tensor:
        """Make zeros, by default in this tensor's dtype; see `minigrad.zeros`."""
        return creation.zeros(*size, **self._in_own_dtype(options))

    def new_ones(self, *size: Any, **options: Any) -> Tensor:
        """Make ones, by default in this tensor's dtype; see `minigrad.ones`."""
        return creation.ones(*size, **self._in_own_dtype(options))

    def new_empty(self, *size: Any, **options: Any) -> Tensor:
        """Make an unfilled tensor, by default in this one's dtype; see `minigrad.empty`."""
        return creation.empty(*size, **self._in_own_dtype(options))

    def new_full(self, size: Any, fill_value: Any, **options: Any) -> Tensor:
        """Make a tensor of one number, by default in this tensor's dtype; see `minigrad.full`."""
        return creation.full(size, fill_value, **self._in_own_dtype(options))

    def _in_own_dtype(self, options: dict[str, Any]) -> dict[str, Any]:
        return {**options, "dtype": options.get("dtype") or self.dtype}

    def new(self, *data: Any) -> Tensor:
        """Make a tensor as the constructor makes it, in this one's dtype."""
        return Tensor(*data, dtype=self.dtype)

    # Operators ------------------------------------------------------------------------------

    __matmul__ = operator(ops.matmul, "matmul")
    __rmatmul__ = reflected(__matmul__)
    __neg__ = ops.negative
    __invert__ = ops.invert
    # Of `object`, these give a bool.
    __eq__: OpFunction[...] = operator(ops.equal, "eq")  # type: ignore[assignment]
    __ne__: OpFunction[...] = operator(ops.not_equal, "ne")  # type: ignore[assignment]
    __lt__ = operator(ops.less, "lt")
    __le__ = operator(ops.less_equal, "le")
    __gt__ = operator(ops.greater, "gt")
    __ge__ = operator(ops.greater_equal, "ge")
    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Tensor:
        if index.__class__ is tuple and (steps := two_steps(index, self._data.ndim)):
            return ops.getitem(ops.getitem(self, steps[0]), steps[1])
        return ops.getitem(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if index.__class__ is tuple and (steps := two_steps(index, self._data.ndim)):
            set_item(ops.getitem(self, steps[0]), steps[1], value)
        else:
            set_item(self, index, value)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:  # a method, so that type checkers accept abs(t)
        return ops.abs(self)

    _read_again = read_again
    # Creation -------------------------------------------------------------------------------

    randn = staticmethod(random.randn)


Variable.result_class = Tensor
