"""`Function`: an op with a derivative of its own, written as in PyTorch.

`minigrad.autograd.primitive` is the shorter way. This one moves code that has it already, and is an
exercise in what an op saves and returns.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from minigrad.autograd.call import with_history, wrap
from minigrad.autograd.engine import copied
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.mode import changed
from minigrad.autograd.mutation import written_since
from minigrad.autograd.node import Node, Output, Variable, clock, data_of
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.support.checks import module_of
from minigrad.support.tree import leaves


class FunctionContext:
    """The context from `Function.forward` to `Function.backward`; it takes other attributes too.

    Attributes:
        needs_input_grad: For each argument of `apply`, whether it requires a gradient.
    """

    def __init__(self, arguments: Sequence[Any]) -> None:
        self.needs_input_grad = tuple(
            [isinstance(x, Variable) and x._node is not None for x in arguments]
        )
        self._saved: tuple[Any, ...] = ()
        self._node: Callable[[], Node | None] = lambda: None
        self._constant: tuple[Any, ...] = ()
        self._dirty: Sequence[Any] = ()
        self._zeros, self._used = True, set[int]()
        self._tensors: tuple[bool, ...] = ()  # which outputs are tensors
        self._stamp = 0

    @property
    def _arrays(self) -> list[np.ndarray]:
        """The arrays that it keeps, saved or as attributes, for those who count memory."""
        held = [*leaves([*vars(self).values()], (Variable, np.ndarray))]
        return [data_of(one) for one in held]

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs, outputs or other tensors for the backward pass, as `saved_tensors`."""
        self._saved = tensors
        self._stamp = next(clock)

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep nothing: a derivative along a direction is two backward passes, without a `jvp`."""

    def mark_non_differentiable(self, *outputs: Tensor) -> None:
        """Say that these outputs of `forward` have no derivative."""
        self._constant = outputs

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether `backward` gets zeros, as it does at first, or None for unused outputs."""
        self._zeros = value

    def mark_dirty(self, *inputs: Tensor) -> None:
        """Say that `forward` writes to these inputs, and returns them."""
        self._dirty = inputs

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors of `save_for_backward`; inputs and outputs with their history.

        Raises:
            RuntimeError: One was written in place since.
        """
        node, found = self._node(), []
        for tensor in self._saved:
            if isinstance(tensor, _Place):
                edge = None if node is None else Output(node, tensor.at)
                tensor = with_history(tensor.array, edge)
            if isinstance(tensor, Variable) and written_since(tensor._data, self._stamp):
                since = "after save_for_backward; save a copy"
                raise RuntimeError(f"saved_tensors: a tensor was written in place {since}")
            found.append(tensor)
        return tuple(found)

    saved_variables = saved_tensors  # its name of 2017, which PyTorch still has

    def _keep(self, inputs: dict[int, Any], outputs: Sequence[Any]) -> None:
        """Put the caller's tensors, and places among the outputs, for what `forward` saw."""
        numbers = {id(output): i for i, output in enumerate(outputs)}
        written = {*map(id, self._dirty)} & numbers.keys() & inputs.keys()
        self._dirty = [(numbers[one], inputs[one]) for one in written]
        self._saved = tuple([
            inputs[id(x)] if id(x) in inputs.keys() - written
            else _Place(x._data, numbers[id(x)]) if id(x) in numbers
            else x
            for x in self._saved
        ])  # fmt: skip


class _Place(NamedTuple):
    """An output that was saved: a reference to the tensor itself would be a cycle."""

    array: np.ndarray
    at: int


class Function:
    """An op with a derivative of its own: define `forward` and `backward`, and call `apply`.

    `forward` is not recorded. `backward`, which may be called `vjp`, may be differentiated again,
    if it is made of ops. With a `setup_context`, `forward` has no argument `ctx`.

    Attributes:
        boxed_grads_call: Whether `backward` takes one list of gradients, which it may empty.

    Example:
        >>> import minigrad
        >>> class Cube(minigrad.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         ctx.save_for_backward(x)
        ...         return x**3
        ...
        ...     @staticmethod
        ...     def backward(ctx, g):
        ...         (x,) = ctx.saved_tensors
        ...         return 3 * g * x**2
        >>> x = minigrad.tensor(2.0, requires_grad=True)
        >>> Cube.apply(x).backward()
        >>> x.grad
        tensor(12.)
    """

    boxed_grads_call: ClassVar[bool] = False
    _ops: ClassVar[dict[Any, Any]]

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the output, or a tuple of outputs; tensors come without a history."""
        raise NotImplementedError("Function: define forward(ctx, ...)")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what `backward` needs, after `forward`, which then has no argument `ctx`."""

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Compute the gradient of each argument, or None, from the gradient of each output."""
        raise NotImplementedError("Function: define backward(ctx, ...)")

    vjp = backward

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call the op: what `forward` returns, tensors with a history if an argument has one."""
        if cls.setup_context is not Function.setup_context and cls.forward.__defaults__:
            try:
                bound = inspect.signature(cls.forward).bind(*args)
            except TypeError as error:
                raise TypeError(f"{cls.__name__}: {error}") from None
            bound.apply_defaults()
            args = bound.args
        places = tuple([i for i, x in enumerate(args) if isinstance(x, Variable)])
        if "_ops" not in vars(cls):
            cls._ops = {}
        if (places, len(args)) not in cls._ops:
            cls._ops[places, len(args)] = _made(cls, places, len(args))
        call = Application(cls, args, places)
        results = cls._ops[places, len(args)](*[args[place] for place in places], call=call)
        edge = results[0]._node if results else None
        if isinstance(edge, Output):
            call.context._node = weakref.ref(edge.node)
        outputs = [
            wrap(x._data) if constant else x
            for x, constant in zip(results, call.context._constant, strict=True)
        ]
        for number, tensor in call.context._dirty:
            outputs[number] = tensor._taken_over(cls.__name__, outputs[number])
            call.context._stamp = next(clock)
        call.context._dirty = ()  # a tensor holds its node, and that the context
        if not call.context._zeros:
            for number, output in enumerate(outputs):
                if output._node is not None:  # the hook notes that a gradient has reached it
                    output.register_hook(lambda _, used=call.context._used, i=number: used.add(i))
        tensors = iter(outputs)
        found = [next(tensors) if isinstance(x, Variable) else x for x in call.found]
        return tuple(found) if isinstance(call.found, tuple) else found[0]


class Application:
    """One call of a `Function`, with its arguments and the positions of the tensors among them."""

    def __init__(
        self, function: type[Function], args: tuple[Any, ...], places: tuple[int, ...]
    ) -> None:
        self.function, self.args, self.places = function, args, places
        self.context = FunctionContext(args)
        self.found: Sequence[Any] = ()  # a list, not a tuple, if forward returns one thing

    def __call__(self, arrays: tuple[np.ndarray, ...]) -> Any:
        """Run `forward` on arrays: those of the outputs, and the context."""
        function, context = self.function, self.context
        given, inputs = list(self.args), {}
        for place, array in zip(self.places, arrays, strict=True):
            if array is not given[place]._data:  # of a replay, or converted
                given[place] = wrap(array)
            inputs[id(given[place])] = self.args[place]
        with no_grad(), changed(within=context):
            if function.setup_context is Function.setup_context:
                found = function.forward(context, *given)
            else:
                found = function.forward(*given)
                function.setup_context(context, tuple(given), found)
        self.found = found if isinstance(found, tuple) else [found]
        context._tensors = tuple([isinstance(x, Variable) for x in self.found])
        outputs = [x for x in self.found if isinstance(x, Variable)]
        if not outputs:
            _check(f"{function.__name__}.forward: its output", found)
        context._keep(inputs, outputs)
        context._constant = tuple([any(x is c for c in context._constant) for x in outputs])
        # An output that is an input gets memory of its own: else a write would change both.
        with changed(within=context):
            own = [copied(x) if id(x) in inputs else x for x in outputs]
        return tuple([x._data for x in own]), context


def _check(what: str, value: Any) -> None:
    if not isinstance(value, Variable):
        raise TypeError(f"{what} is a {type(value).__name__}; a tensor was expected")


def _made(cls: type[Function], places: tuple[int, ...], count: int) -> Any:
    """The primitive of a Function for one choice of arguments that are tensors."""
    names = [f"argument_{place}" for place in places]
    if not names:
        raise TypeError(f"{cls.__name__}.apply: no argument is a tensor")
    forward = eval(f"lambda {', '.join(names)}, *, call: call(({', '.join(names)},))")
    forward.__name__ = cls.__name__
    # A Function is not one of the library's ops, even if the library defines it.
    forward.__module__ = module_of(cls).removeprefix("minigrad.")
    op = primitive(arrays=len(names), residuals=("context",), multiple_outputs=True)(forward)

    @op.defjoint(*names)
    def _rule(g: tuple[Any, ...], needed: tuple[bool, ...], context: Any) -> list[Any]:
        recorded = isinstance(g[0], Variable)
        given: Any = g if recorded else map(wrap, g)
        if not context._zeros:
            given = [x if i in context._used else None for i, x in enumerate(given)]
            context._used.clear()
        each = iter(given)
        incoming = [next(each) if one else None for one in context._tensors]
        own = [x for x in (cls.backward, cls.vjp) if x is not Function.backward]
        if len(own) > 1:
            raise RuntimeError(f"{cls.__name__}: define backward or vjp, not both")
        rule = own[0] if own else Function.backward
        found = rule(context, incoming) if cls.boxed_grads_call else rule(context, *incoming)
        grads = found if isinstance(found, tuple) else (found,)
        if len(grads) < count or any(x is not None for x in grads[count:]):
            came = f"{len(grads)} gradients; forward has {count} arguments"
            raise RuntimeError(f"{cls.__name__}.backward: {came} (None for one without)")
        parts = [grads[place] if want else None for place, want in zip(places, needed, strict=True)]
        for place, part in zip(places, parts, strict=True):
            if part is not None:
                _check(f"{cls.__name__}.backward: gradient {place}", part)
        return parts if recorded else [None if p is None else p._data for p in parts]

    return op


class _Once(Function):
    """The result of a backward that may not be differentiated."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:  # noqa: ARG004
        """Give the first one; the others are what it was computed from."""
        return tensors[0]

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:  # noqa: ARG004
        """Refuse."""
        raise RuntimeError("a backward that is marked once_differentiable is differentiated again")


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a `Function.backward` that may not be differentiated: doing so is an error.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import Function, grad, once_differentiable
        >>> class Double(Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return 2 * x
        ...
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, g):
        ...         return 2 * g
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> grad(Double.apply(x), x)
        (tensor(2.),)
    """

    @functools.wraps(fn)
    def backward(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            found = fn(ctx, *grads)
        several = found if isinstance(found, tuple) else (found,)
        marked = [x if x is None else _Once.apply(x, *grads) for x in several]
        return tuple(marked) if isinstance(found, tuple) else marked[0]

    return backward
