"""Events: what the engine tells those who watch it.

- `ran`: an op ran;
- `pulled`: a backward pass ran the rules of a node;
- `wrote`: a tensor was written to;
- `left`: the values of a tensor went to Python or to another library;
- `effect`: a function ran that changes, or depends on, what lives longer than a step.

Two more say where things begin: `created`, a tensor that no op made, and `entered`, a module that
was called. `guarded` says that a rule took an infinite slope as 0.

Whoever looks for the origin of a NaN, draws what ran or writes it down is an observer. While there
are no observers, an op pays for one test.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from minigrad.autograd.mode import State, StateChange, changed, state
from minigrad.autograd.scope import Frame, Scope, module_call
from minigrad.autograd.typing import P, R

if TYPE_CHECKING:
    from minigrad.autograd.node import Node, Variable
    from minigrad.autograd.primitives import Primitive

__all__ = ["Call", "Observer", "Pull", "effect", "reading", "tell", "undecorated"]


class Call(NamedTuple):
    """One call of an op.

    Attributes:
        op: Its record.
        arguments: What it was given, in the order of ``op.params``: tensors, arrays, numbers and
            static values; the tensors of a variadic op as one sequence.
        values: What its forward function computed with, in the same order: the arrays after
            conversion and promotion.
        outputs: The tensors that it returns.
        residuals: What else its forward function returned, for its rules.
        node: Its node in the graph; None if it was not recorded.
        frame: The innermost call in which it ran, of a module or of a function; None outside.
    """

    op: Primitive
    arguments: Sequence[Any]
    values: Sequence[Any]
    outputs: tuple[Any, ...]
    residuals: tuple[Any, ...]
    node: Node | None
    frame: Frame | None

    @property
    def scope(self) -> Scope | None:
        """The module call in which it ran; None outside of modules."""
        return module_call(self.frame)

    @property
    def result(self) -> Any:
        """The tensor that the op returns, or the tuple of them."""
        return self.outputs if self.op.multiple_outputs else self.outputs[0]

    @property
    def given(self) -> list[Any]:
        """The arguments in one list, with the tensors of a variadic op one by one."""
        first, *rest = self.arguments
        return [*first, *rest] if self.op.variadic else [first, *rest]


class Pull(NamedTuple):
    """One run of the rules of a node.

    Attributes:
        node: The node, with what it saved still in place.
        cotangent: The full cotangent of its output: an array, a tensor under ``create_graph``, or
            a tuple of them for an op with several outputs.
        parts: What the rules returned, one for each edge: an array, a tensor, an `Update`, or None
            where nothing was wanted.
        contributions: The same in the shape and dtype of the edge.
        before: For each edge the sum of the earlier contributions in this pass; None for the first.
        totals: For each edge the sum of both; None for the first.
    """

    node: Node
    cotangent: Any
    parts: Sequence[Any]
    contributions: Sequence[Any]
    before: Sequence[Any]
    totals: Sequence[Any]


class Observer(StateChange):
    """A context manager that is told what the engine does in this thread while it is entered.

    Subclasses override some of its methods. What they raise passes through the op that ran.

    Attributes:
        opened: Fused ops that run as the ops of their decompositions while it is entered.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import Observer
        >>> class Names(Observer):
        ...     def ran(self, call):
        ...         print(call.op.name, call.result.shape)
        >>> with Names():
        ...     y = minigrad.ones(2, 3) @ minigrad.ones(3)
        matmul minigrad.Size([2])
    """

    opened: Collection[Primitive] = ()

    def _state_inside(self, outer: State) -> State:
        return outer._replace(observers=(*outer.observers, self))

    def ran(self, call: Call) -> None:
        """See an op that ran, recorded or not.

        A detached tensor, a custom Function and a checkpoint are ops too.
        """

    def pulled(self, pull: Pull) -> None:
        """See a backward pass that ran the rules of a node."""

    def wrote(self, tensor: Variable, values: Any) -> None:
        """See a write: by an op in place, a fill, a copy, ``.data``, an optimizer.

        `values` are what it holds from now on: the result of an op, an array or a number. A write
        to a part of a tensor is an op, ``setitem``, whose result is then written.
        """

    def left(self, tensor: Variable, door: str) -> None:
        """See values that went to Python or elsewhere, by ``".item()"``, ``"bool()"`` ..."""

    def decomposed(self, op: Primitive, values: Sequence[Any], result: Any, frame: Frame) -> None:
        """See a fused op that ran as its parts, in a frame of its name, and their result."""

    def entered(self, module: Any) -> None:
        """See a call of a module, whether it runs an op or not, or a read of a container."""

    def created(self, tensor: Variable) -> None:
        """See a tensor that was made of numbers or of an array, by no op."""

    def guarded(self, node: Any, where: Any) -> None:
        """See a rule that takes slopes that are not finite as 0, since their cotangents are 0.

        `node` is the one whose rules run, and `where` is True at these elements.
        """

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """See a call that changes, or depends on, what lives longer than a step.

        Such are random numbers, optimizers, running statistics, hooks, and ``.grad``. This is a
        generator: it runs to its ``yield`` before the call, which gives it the result.

        Args:
            function: The function. It can be called again.
            args: Its arguments.
            kwargs: Its keyword arguments.
        """
        yield


def tell(event: str, *args: Any) -> None:
    """Tell every observer of an event other than an effect."""
    outer = state.get()
    if outer.observers:
        try:
            state.set(outer.unobserved())  # nobody is told of what an observer does when told
            for observer in outer.observers:
                getattr(observer, event)(*args)
        finally:
            state.set(outer)


def effect(function: Callable[P, R]) -> Callable[P, R]:
    """Have observers told of each call of the function, as an `effect` (a decorator)."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        observers = state.get().observers
        if not observers:
            return function(*args, **kwargs)
        given: Any = [list(part) if isinstance(part, Iterator) else part for part in args]
        effects = [observer.effect(function, tuple(given), dict(kwargs)) for observer in observers]
        try:
            with changed(observers=()):
                for generator in effects:
                    next(generator)
            result = function(*given, **kwargs)
            with changed(observers=()):
                for generator in effects:
                    with suppress(StopIteration):
                        generator.send(result)
        finally:
            for generator in effects:
                generator.close()
        return result

    return call


def reading(function: Callable[P, R]) -> Callable[P, R]:
    """As `effect`, for a function that only depends on what lives longer, and changes nothing."""
    function.changes_nothing = True  # type: ignore[attr-defined]
    return effect(function)


def only_reads(function: Any) -> bool:
    """Whether a function that observers are told of has `reading`."""
    return hasattr(function, "changes_nothing")


def unrepeatable(why: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As `effect`, for a function that cannot be called again alone, and why (a decorator)."""

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        function.unrepeatable = why  # type: ignore[attr-defined]
        return effect(function)

    return mark


def undecorated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of a function with `effect` or `reading`, what observers are told of."""
    inner: Callable[..., Any] = vars(function)["__wrapped__"]
    return inner
