"""In-place writes: ``x[i] = v``, ``x += y``, methods with a trailing underscore, and fills.

A write changes the memory, so every view sees it. A write is recorded if grad mode is on and the
tensor or the value has a history; the tensor then gets a new node in the graph. A recorded write to
a view is recorded as a write to its base, the tensor that owns the memory. Other views of that base
get their new history when they are next read (autograd/mutation.py).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Self

import numpy as np

from minigrad import ops, random
from minigrad.autograd.dtypes import operand, to_array
from minigrad.autograd.engine import detach, watch_of, watched
from minigrad.autograd.events import tell
from minigrad.autograd.grad_mode import enable_grad, is_grad_enabled, no_grad
from minigrad.autograd.hooks import retain
from minigrad.autograd.mode import located, state
from minigrad.autograd.mutation import history, mark_part, mark_written, rewrote
from minigrad.autograd.node import Leaf, Node, Variable, clock, data_of, node_of, nodes_behind
from minigrad.autograd.typing import P, Tensor
from minigrad.autograd.views import Place, owner
from minigrad.ops.indexing import getitem, normalized, write
from minigrad.support.tree import leaves
from minigrad.tensors.indices import is_integer


def set_item(tensor: Any, index: Any, value: Any, name: str = "setitem") -> Any:
    """Write ``tensor[index] = value``, and return the tensor; errors name the function `name`."""
    if isinstance(value, Variable) and value._data.ndim and value._data.size == 1:
        parts = index if isinstance(index, tuple) else (index,)
        if len(parts) == tensor._data.ndim and all(map(is_integer, parts)):
            value = ops.reshape(value, ())  # NumPy writes no array with axes to one element
    index = None if index is True else normalized(index)  # NumPy writes few shapes to x[True]
    recorded = _prepare(name, tensor, value)
    try:
        if recorded:
            _write_part(tensor, index, value)
        elif state.get().observers:  # they are told of an op
            with no_grad():
                _write_part(tensor, index, value)
        else:
            data = tensor._data
            if isinstance(value, Variable):
                data[index] = value._data
            elif data.dtype.kind in "iu" and not isinstance(value, np.ndarray):
                data[index] = to_array(value, data.dtype, name=name)  # checks the range
            else:
                data[index] = operand(value, name)
            parts = index if isinstance(index, tuple) else (index,)
            if data.base is None or np.ndarray in map(type, parts):
                mark_written(data)
            else:
                # With an ellipsis NumPy gives a view, even of one element.
                mark_part(data, data[parts if Ellipsis in parts else (*parts, ...)])
    except (IndexError, ValueError) as error:
        message, shapes = str(error), f"{getattr(value, 'shape', ())} into shape {tensor.shape}"
        if not message.startswith(f"{name}:"):
            message = f"{name}: cannot write shape {shapes}: {message}"
        raise type(error)(message) from None
    return tensor


def inplace(op: Callable[P, Any], name: str = "") -> Callable[P, Tensor]:
    """The in-place method, such as ``add_``, of an op whose result has its tensor's shape.

    The method changes its tensor and returns it. Its name is that of the op and ``_``, or `name`.
    """
    name = name or f"{op.__name__}_"

    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        recorded = _prepare(name, self, *args, *keywords.values())
        before = next(clock)
        with np.errstate(all="ignore"), nullcontext() if recorded else no_grad():
            result = op(self, *args, **keywords)
        if result is NotImplemented:
            return result
        if result.shape != self.shape:
            raise ValueError(f"{name}: the result has shape {result.shape}, not {self.shape}")
        if not recorded and _KINDS[result.dtype.kind] > _KINDS[self.dtype.kind]:
            raise TypeError(f"{name}: the result is {result.dtype}, the tensor {self.dtype}")
        if result._data.dtype != self._data.dtype:
            result = result.astype(self.dtype)
        if recorded:
            _keep_old_values(result._node, before, owner(self._data))
            _overwrite(self, result)
        elif state.get().observers and _base(self) is not self:
            with no_grad():
                _write_part(self, ..., result)
        elif _changes(self._data, result._data):
            np.copyto(self._data, result._data)
            written(self, result)
        else:
            tell("wrote", self, result)
        return self

    return _named(method, name, f"Compute `{op.__name__}` in place, and return this tensor.")


_KINDS = {"b": 0, "u": 1, "i": 1, "f": 2}
"""A tensor takes results of its own kind, bool, integer or float, and of a lower one."""


def _changes(array: np.ndarray, values: np.ndarray) -> bool:
    """Whether a write changes a view without history; elsewhere that is taken for granted.

    ``w.data *= mask`` between a forward and a backward pass may write what is there already.
    """
    return array.base is None or not np.array_equal(array, values)


def _named(method: Any, name: str, doc: str) -> Any:
    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    return method


def overwritten(tensor: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Overwrite the tensor with ``function(tensor, *args)`` and return it."""
    return inplace(function, function.__name__)(tensor, *args)


def reshaping(function: Callable[P, Any], name: str = "") -> Callable[P, Tensor]:
    """The method, such as ``squeeze_``, that gives a tensor itself another shape."""
    name = name or f"{function.__name__}_"

    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        if is_grad_enabled() and isinstance(history(self), Leaf):
            raise RuntimeError(f"{name}: a leaf that requires grad cannot be changed")
        known = history(self)
        if isinstance(known, Leaf):  # nothing is recorded: it stays a leaf
            self.data = function(detach(self), *args, **keywords)
            return self
        with nullcontext() if known is None else enable_grad():
            result = function(self, *args, **keywords)
        self._data, self._node = result._data, result._node
        return self

    return _named(method, name, f"Give the tensor the shape of what `{function.__name__}` returns.")


def conversion(name: str, dtype: str) -> Callable[..., Tensor]:
    """The method `name`, such as ``long``, that converts to a dtype."""

    def method(self: Any, memory_format: Any = None) -> Any:
        return self.to(dtype)

    return _named(method, name, f"Convert to {dtype}; see `Tensor.to`.")


def assign(tensor: Any, values: Any, name: str = "assign") -> None:
    """Overwrite a tensor, leaf or not, with values that broadcast, without recording.

    Errors name the function `name`.
    """
    _refuse_read_only(name, tensor)
    np.copyto(tensor._data, data_of(values), casting="same_kind")
    written(tensor, values)


def written(tensor: Any, values: Any = None) -> None:
    """Note that a tensor was just overwritten, with `values` if they are known."""
    mark_written(tensor._data)
    tell("wrote", tensor, tensor._data if values is None else values)


def all_written(tensors: Sequence[Any]) -> None:
    """Note that tensors were just overwritten."""
    mark_written(*[tensor._data for tensor in tensors])
    for tensor in tensors:
        tell("wrote", tensor, tensor._data)


def read_again(view: Any) -> None:
    """Update a view's history after a recorded write to its base."""
    with enable_grad():
        result: Any = getitem(view._base, _index_in_base(view, ...))
    _rebind(view, result._node)
    view._current = next(clock)


def _rebind(tensor: Variable, edge: Any) -> None:
    """Give a tensor another node after an in-place op; what it retains goes with it."""
    before, tensor._node = tensor._node, edge
    if node_of(before) in watched and watch_of(before).retained is not None:
        watch_of(before).retained = None
        retain(tensor)


def _prepare(name: str, tensor: Any, *values: Any) -> bool:
    """Whether the write will be recorded; raises if its gradient could be wrong."""
    _refuse_read_only(name, tensor)
    if not is_grad_enabled():
        return False
    base = _base(tensor)
    if isinstance(history(base), Leaf):
        what = "a leaf" if base is tensor else "a view of a leaf"
        why = f"{what} that requires grad cannot be written in place while ops are recorded"
        raise RuntimeError(f"{name}: {why}; use minigrad.no_grad(), or write to a copy: .clone()")
    written = (base, tensor, *values)
    if all(not isinstance(v, Variable) or history(v) is None for v in written):
        return False
    if tensor._data.dtype.kind != "f":
        raise TypeError(f"{name}: a {tensor.dtype} tensor cannot take a value that requires grad")
    return True


def _refuse_read_only(name: str, tensor: Any) -> None:
    if not tensor._data.flags.writeable:
        made_by = "broadcast_to, a function transform or a checkpoint"
        what = f"this tensor is a read-only view of another one (made by {made_by})"
        raise RuntimeError(f"{name}: {what}; write to a copy: .clone()")


def _write_part(tensor: Any, index: Any, value: Any) -> None:
    """Write into part of a tensor's memory, and record it."""
    base = _base(tensor)
    watched_write = bool(state.get().observers)  # then the old values can still be seen
    if base is not tensor and base.ndim:
        if watched_write and next(leaves(index, np.ndarray), None) is not None:
            value, index = write(tensor, index, value, in_place=False), ...  # they see the index
        index = _index_in_base(tensor, index)
    elif base is not tensor:  # the base is 0-d: all or nothing is written
        if not np.ones(tensor.shape, bool)[index].any():
            return
        index = ...
    result = write(base, index, value, in_place=not watched_write)
    if watched_write:
        np.copyto(base._data, result._data)
    if is_grad_enabled():
        _rebind(base, result._node)
        rewrote(base)
    written(base, result)


def _overwrite(tensor: Any, result: Any) -> None:
    """Overwrite all elements of a tensor with a result; a constant has no history of its own."""
    if _base(tensor) is not tensor or result._node is None:
        return _write_part(tensor, ..., result)
    np.copyto(tensor._data, result._data)
    _rebind(tensor, result._node)
    rewrote(tensor)
    written(tensor, result)


def _base(tensor: Any) -> Any:
    """The base of a view: the tensor that owns its memory; otherwise the tensor itself."""
    base = tensor._base
    return tensor if base is None or owner(base._data) is not owner(tensor._data) else base


def _index_in_base(view: Any, index: Any) -> tuple[Any, ...]:
    """An index into the base that selects the elements of ``view[index]``."""
    memory, base, array = owner(view._data), view._base._data, view._data
    if not base.ndim:
        return (None,) * array.ndim
    part = array[index]
    if isinstance(part, np.ndarray) and owner(part) is memory:
        found = Place.of_array(base).index_of(Place.of_array(part))
        if found is not None:
            return found
    number = np.empty(memory.nbytes // array.itemsize, np.intp)  # flat index in base
    number[_offsets(base, memory).ravel()] = np.arange(base.size)
    return tuple([i[index] for i in np.unravel_index(number[_offsets(array, memory)], base.shape)])


def _offsets(array: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """The offset of each element from the start of the memory, in elements."""
    start = Place.of_array(memory).start
    return np.asarray(Place.of_array(array).addresses() - start) // array.itemsize


def _keep_old_values(node: Any, since: int, memory: np.ndarray) -> None:
    """Copy saved arrays in memory that is about to be overwritten: rules need the old values."""
    for each in nodes_behind(node, since=since):
        if isinstance(each, Node) and each.stamp > since:
            each.saved = tuple(
                array.copy() if isinstance(array, np.ndarray) and owner(array) is memory else array
                for array in each.saved
            )


def _check_positive(name: str, parameter: str, value: Any) -> None:
    """Raise a ValueError for a number that is not above 0; a tensor or an array may be anything."""
    if isinstance(value, (int, float)) and not value > 0:
        raise ValueError(f"{name}: {parameter} must be a number above 0, got {value}")


class Fills(Variable):
    """Methods that write over a whole tensor; random ones draw from `generator` if it is given."""

    bernoulli = random.bernoulli
    multinomial = random.multinomial

    def copy_(self, src: Any, non_blocking: bool = False) -> Self:
        """Write the values of another tensor, or of an array, in this one's shape and dtype."""
        return set_item(self, ..., src, "copy_")

    def _hold(self, name: str, result: Any) -> Self:
        """Hold the result of a function, whose `out` this is; it gets the shape of the result."""
        this: Any = self
        if is_grad_enabled() and (history(self) or history(result)):
            why = "out= records no gradient, and an argument requires one"
            raise RuntimeError(f"{name}: {why}; use minigrad.no_grad(), or leave out= away")
        if _KINDS[result.dtype.kind] > _KINDS[this.dtype.kind]:
            raise RuntimeError(f"{name}: the result is {result.dtype}, and out is {this.dtype}")
        if this.shape != result.shape:
            if self._data.size:
                told = f"out of shape {this.shape} is resized to {result.shape}"
                told = located(f"{name}: {told}; call out.resize_(0) first")
                warnings.warn(told, stacklevel=4)
            self._resized(result.shape)
        return set_item(self, ..., result, name)

    def _taken_over(self, name: str, result: Any) -> Self:
        """Become the result of a function that has written to this tensor already."""
        if _prepare(name, self, result):
            _overwrite(self, result)
        else:
            written(self, result)
        return self

    def fill_(self, value: Any) -> Self:
        """Write one number everywhere."""
        return set_item(self, ..., value, "fill_")

    def resize_(self, *sizes: Any, memory_format: Any = None) -> Self:
        """Give this tensor itself another shape: the elements from its first one on in its memory.

        Where the memory ends, it gets a new one, which ends in zeros.

        Raises:
            RuntimeError: It requires a gradient.
        """
        if history(self) is not None:
            raise RuntimeError("resize_: a tensor that requires grad is not resized; use reshape")
        shape = tuple(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)
        return self if shape == self._data.shape else self._resized(shape)

    def _resized(self, shape: tuple[int, ...]) -> Self:
        """Take another shape, whether or not it requires a gradient: see `resize_`."""
        count, known = math.prod(shape), self._data.reshape(-1)
        whole = owner(self._data) if self._base is None else self._base._data
        offset = Place.of_array(self._data).start - Place.of_array(whole).start
        ascends = min((*whole.strides, *self._data.strides), default=0) >= 0
        if whole.dtype == known.dtype and whole.flags.forc and ascends and offset >= 0:
            known = whole.ravel("K")[offset // whole.itemsize :]
        if count > known.size:
            known = np.concatenate([known, np.zeros(count - known.size, known.dtype)])
        this: Any = self
        this.data = known[:count].reshape(shape)
        return self

    def resize_as_(self, the_template: Any, memory_format: Any = None) -> Self:
        """`resize_` to the shape of another tensor."""
        return self.resize_(the_template.shape, memory_format=memory_format)

    def zero_(self) -> Self:
        """Write 0 everywhere."""
        return set_item(self, ..., 0, "zero_")

    def zero(self) -> Self:
        """Write 0 everywhere, to a leaf too and without recording: Lucid 2's method."""
        assign(self, 0, "zero")
        return self

    def fill_diagonal_(self, fill_value: float, wrap: bool = False) -> Self:
        """Write a number along the diagonal."""
        on_diagonal = np.zeros(self._data.shape, bool)
        np.fill_diagonal(on_diagonal, True, wrap)
        return set_item(self, on_diagonal, fill_value, "fill_diagonal_")

    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Write what a function of Python gives for each element; of constants only.

        Raises:
            RuntimeError: The tensor requires a gradient.
        """
        if history(self) is not None:
            raise RuntimeError("apply_: a function of Python has no gradient; use .detach()")
        return self._filled(np.vectorize(callable)(self._data))

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Self:
        """Write normal random numbers."""
        return self._filled(self._drawn(random.normal, mean, std, generator=generator))

    def uniform_(self, from_: float = 0.0, to: float = 1.0, *, generator: Any = None) -> Self:
        """Write uniform random numbers."""
        return self._filled(self._drawn(random.uniform, from_, to, generator=generator))

    def log_normal_(self, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Self:
        """Write the exponentials of normal random numbers."""
        _check_positive("log_normal_", "std", std)
        return self._filled(self._drawn("lognormal", mean, std, generator=generator))

    def cauchy_(self, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Self:
        """Write random numbers of a Cauchy distribution."""
        _check_positive("cauchy_", "sigma", sigma)
        return self._filled(self._drawn("standard_cauchy", generator=generator) * sigma + median)

    def geometric_(self, p: float, *, generator: Any = None) -> Self:
        """Write how many draws it takes until one of probability p succeeds."""
        return self._filled(self._drawn("geometric", p, generator=generator))

    def exponential_(self, lambd: float = 1.0, *, generator: Any = None) -> Self:
        """Write exponential random numbers."""
        _check_positive("exponential_", "lambd", lambd)
        return self._filled(self._drawn("exponential", 1 / lambd, generator=generator))

    def random_(
        self, from_: int | None = None, to: int | None = None, *, generator: Any = None
    ) -> Self:
        """Write random integers from `from_` to before `to`; from 0 if one number is given.

        Without a number they reach the largest one of the dtype, or of those before which a float
        has all integers.

        Raises:
            ValueError: There is none between the two, or the dtype has no such integers.
        """
        dtype = self._data.dtype
        if dtype.kind == "f":
            info = np.finfo(dtype)
            least, most, last = int(info.min), int(info.max), 2 ** (info.nmant + 1)
        elif dtype.kind == "b":
            least, most, last = 0, 1, 1
        else:
            least, most, last = np.iinfo(dtype).min, np.iinfo(dtype).max, np.iinfo(dtype).max
        low, end = (0, from_) if to is None else (from_ or 0, to)
        end = last + 1 if end is None else end
        if not least <= low < end <= most + 1:
            told = f"from {low} to before {end} does not fit into {dtype}"
            raise ValueError(f"random_: {told}, which has {least} to {most}")
        return self._filled(self._drawn("integers", low, end, generator=generator))

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Self:
        """Write 1 with a probability, else 0."""
        drawn = self._drawn("random", generator=generator, dtype=np.float64)
        plain = p.__class__ is float and 0 <= p <= 1
        if plain or (isinstance(p, Variable) and state.get().observers):  # these follow no check
            return self._filled(drawn < p)
        return self._filled(drawn < random.chances("bernoulli_", p))

    def _drawn(self, draw: Any, *parameters: Any, generator: Any, dtype: Any = None) -> Any:
        """Numbers for this tensor, by a function or from a distribution of NumPy's generator."""
        draw = partial(random.drawn, draw) if isinstance(draw, str) else draw
        options = {"size": self._whole_shape, "dtype": dtype or self._data.dtype}
        return self._own_part(draw(*parameters, **options, generator=generator))

    @property
    def _whole_shape(self) -> tuple[int, ...]:
        """The shape in which numbers are drawn; of a part of a parameter, that of the whole."""
        return self._data.shape

    def _own_part(self, values: Any) -> Any:
        """What belongs into this tensor of an array of the whole shape."""
        return values

    def _filled(self, values: Any) -> Self:
        values = ops.astype(values, self._data.dtype)._data
        if is_grad_enabled() and isinstance(node_of(history(self)), Node):
            return self.copy_(values)
        assign(self, values, "a random fill")
        return self
