"""Watching the engine at work: every op as it runs, every step of a backward pass.

What looks for the origin of a NaN, for the place where a gradient was cut off, or draws what ran,
is an observer. While there is none, an op pays for asking.
"""

from collections.abc import Sequence
from typing import Any, Self

from minigrad.autograd.mode import State, state
from minigrad.autograd.node import Node, Variable, node_of
from minigrad.autograd.primitive import Primitive


class Observer:
    """A context manager that is told what the engine does in this thread while it is entered.

    Subclasses override some of its methods. What they raise passes through the op that ran.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import Observer
        >>> class Names(Observer):
        ...     def ran(self, op, arguments, result):
        ...         print(op.name, result.shape)
        >>> with Names():
        ...     y = minigrad.ones(2, 3) @ minigrad.ones(3)
        matmul (2,)
    """

    _outer: tuple[State, ...] = ()

    def __enter__(self) -> Self:
        outer = state.get()
        try:
            self._outer = (*self._outer, outer)
            state.set(State(outer.recording, outer.scope, (*outer.observers, self)))
        except BaseException:  # an interrupt; then `with` does not call __exit__
            state.set(outer)
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        state.set(self._outer[-1])
        self._outer = self._outer[:-1]

    def ran(self, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """An op was called, recorded or not.

        Args:
            op: Its record.
            arguments: What it was given, in the order of ``op.params``: tensors, arrays, numbers
                and static values; the tensors of a variadic op as one sequence.
            result: The tensor that it returns, or the tuple of them.
        """

    def wrote(self, tensor: Variable, result: Variable) -> None:
        """An op in place ended: its tensor holds from now on what the op returned.

        Args:
            tensor: The tensor that was written to.
            result: What the op returned, as `ran` was told.
        """

    def converted(self, tensor: Variable) -> None:
        """A tensor with a history gave its values as numbers or as an array (``.item()``, ...).

        Args:
            tensor: The tensor.
        """

    def looked_at(self, tensor: Variable) -> None:
        """A tensor, with a history or without, gave its values to Python or NumPy.

        Args:
            tensor: The tensor.
        """

    def began(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A function that changes what lives longer than a step is called (`minigrad._effects`).

        Args:
            function: The function.
            args: Its arguments.
            kwargs: Its keyword arguments.
        """

    def ended(self, result: Any) -> None:
        """The function that `began` last has returned.

        Args:
            result: What it returned.
        """

    def seeded(self, gradient: Any) -> None:
        """A call of ``backward`` begins.

        Args:
            gradient: The cotangent that it was given, None for 1.
        """

    def pulled(self, node: Node, cotangent: Any, parts: Sequence[Any]) -> None:
        """A backward pass ran the rules of a node.

        Args:
            node: The node, with what it saved still in place.
            cotangent: The full cotangent of its output: an array, a tensor under
                ``create_graph``, or a tuple of them for an op with several outputs.
            parts: What the rules returned, one for each edge, before un-broadcasting: an array,
                a tensor, an `Update`, or None where nothing was wanted.
        """


def new_node(op: Primitive, result: Any) -> Node | None:
    """The node of a call of `op` that just returned `result`; None if it was not recorded."""
    first = result[0] if isinstance(result, tuple) and result else result
    node = node_of(first._node) if isinstance(first, Variable) else None
    return node if isinstance(node, Node) and node.plan.op is op else None
