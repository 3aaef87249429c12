"""Why did a parameter get no gradient: the op where its connection to the loss is lost.

A graph holds only what was recorded, so it cannot tell what is missing. The function that computes
the loss is run again under an observer, which follows every value that is computed from the
parameter by its memory. The connection is lost at the first op whose result depends on the
parameter but is not connected to it in the graph.
"""

import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad._scope import Scope, ancestry
from minigrad._views import owner
from minigrad.autograd.call import without_rules
from minigrad.autograd.mode import located, state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Leaf, Node, Variable
from minigrad.autograd.primitive import Primitive
from minigrad.debugging.lines import Conversions, user_line
from minigrad.debugging.memory import arrays, nodes_behind


def why_no_grad(parameter: Any, loss: Any) -> str:
    """Say why a parameter gets no gradient from a loss.

    Args:
        parameter: A tensor.
        loss: A function without arguments that computes the loss; it is run once. Or the loss
            itself: its graph tells less, since it does not hold the ops that were not recorded.

    Returns:
        One sentence. It says that the parameter is frozen, or unused, or where its connection to
        the loss is lost and by what (``no_grad``, ``detach``, an op without a derivative); or that
        the two are connected. Behind it stand the lines where values became numbers or arrays, if
        the function was run, or if the loss was computed in a block of `detect_anomaly`, which is
        still open.

    Raises:
        TypeError: `parameter` or the loss is no tensor.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import why_no_grad
        >>> w = minigrad.ones(3, requires_grad=True)
        >>> why_no_grad(w, lambda: (w.detach() * 2.0).sum())  # doctest: +ELLIPSIS
        'detach: the values of the parameter of shape (3,) enter multiply without their history...'
        >>> why_no_grad(w, minigrad.ones(3).sum())  # doctest: +ELLIPSIS
        'the loss has no history: nothing it was computed from requires grad, or it was made \
under no_grad, from detached tensors, or by an op without a derivative...'
    """
    if not isinstance(parameter, Variable):
        raise TypeError(f"why_no_grad: a tensor expected, got {type(parameter).__name__}")
    if parameter._node is None:
        return f"{_name(parameter)} does not require grad: it is frozen, see requires_grad_(True)"
    if isinstance(loss, Variable):
        return _from_the_graph(parameter, loss)
    if not callable(loss):
        raise TypeError(
            f"why_no_grad: a loss or a function that computes it expected, got "
            f"{type(loss).__name__}"
        )
    followed = _Followed(parameter)
    with followed:
        value = loss()
    if not isinstance(value, Variable):
        raise TypeError(
            f"why_no_grad: the function returned a {type(value).__name__}, no tensor: .item(), "
            f"float() and .numpy() leave the graph"
        )
    return followed.explain(value)


@dataclass(frozen=True)
class _Value:
    """Memory with values that were computed from the parameter."""

    array: np.ndarray  # kept alive, so that no other array gets its address
    connected: bool  # whether its tensor was connected to the parameter in the graph
    reason: str = ""  # why it was not


class _Followed(Conversions):
    """The values that are computed from a parameter."""

    def __init__(self, parameter: Any) -> None:
        super().__init__()
        self._parameter = parameter
        self._scopes: dict[Scope | None, None] = {}
        self._nodes: set[Edge] = {parameter._node}
        self._values = {id(owner(parameter._data)): _Value(owner(parameter._data), True)}

    def ran(self, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        self._scopes[state.get().scope] = None
        given = [*arguments[0], *arguments[1:]] if op.variadic else arguments
        followed = [(value, known) for value in given if (known := self._known(value)) is not None]
        if not followed:
            return
        reason = next((known.reason for _, known in followed if known.reason), "")
        connected = any(self._connected(value) for value, _ in followed)
        if not connected:
            reason = reason or f"{_detached(self._name, op)}, at {user_line()}"
        elif not state.get().recording:
            connected, reason = False, f"no_grad: {op.name} is not recorded, at {user_line()}"
        elif not op.differentiable:
            connected = False
            reason = f"{op.name} has no derivative: its result is a constant, at {user_line()}"
        for output in result if isinstance(result, tuple) else (result,):
            if connected and output._node is not None:
                self._nodes.add(output._node)
            memory = owner(output._data)
            if connected or id(memory) not in self._values:
                why = "" if connected else located(reason)
                self._values[id(memory)] = _Value(memory, connected, why)

    def converted(self, tensor: Variable) -> None:
        """Remember the line if the values depend on the parameter."""
        if self._connected(tensor) or self._known(tensor) is not None:
            super().converted(tensor)

    @property
    def _name(self) -> str:
        return _name(self._parameter, self._scopes)

    def _known(self, value: Any) -> _Value | None:
        array = value._data if isinstance(value, Variable) else value
        return self._values.get(id(owner(array))) if isinstance(array, np.ndarray) else None

    def _connected(self, value: Any) -> bool:
        return isinstance(value, Variable) and value._node in self._nodes

    def explain(self, loss: Any) -> str:
        """The answer, once the loss is known."""
        known = self._known(loss)
        if self._connected(loss) or (known and known.connected and history(loss) is not None):
            return _is_connected(self._name)
        left = _left(self.conversions)
        if known is None:
            return (
                f"unused: nothing that the loss was computed from reads {self._name}, unless its "
                f"values went through .data{left}"
            )
        shared = f"detach: the loss shares the values of {self._name}, but not its history"
        return (known.reason or shared) + left


def _from_the_graph(parameter: Any, loss: Any) -> str:
    """What the graph alone can tell."""
    watching = state.get().observers
    left = [o.conversions for o in watching if isinstance(o, Conversions)]
    possible = "".join(_left(conversions, parameter) for conversions in left)
    if history(loss) is None:
        return (
            "the loss has no history: nothing it was computed from requires grad, or it was made "
            f"under no_grad, from detached tensors, or by {without_rules()}; pass a function that "
            f"computes it to see where{possible}"
        )
    memory = owner(parameter._data)
    behind = nodes_behind(history(loss))
    nodes = [node for node in behind if isinstance(node, Node)]
    name = _name(parameter, [node.scope for node in nodes])
    if parameter._node in behind:
        return _is_connected(name)
    for node in nodes:
        if not node.freed and any(owner(array) is memory for array in arrays(node.saved)):
            return located(_detached(name, node.plan.op), node.scope) + possible
    return (
        f"the graph of the loss does not lead to {name}: it is unused, or the connection is lost "
        f"(by detach, no_grad or {without_rules()}); pass a function that computes the loss to see "
        f"where{possible}"
    )


def _left(conversions: dict[str, weakref.ref[Any]], parameter: Any = None) -> str:
    """Where values became numbers or arrays: all lines, or without those of other parameters."""
    lines = [
        line
        for line, node in conversions.items()
        if parameter is None or node() is None or parameter._node in nodes_behind(node())
    ]
    if not lines:
        return ""
    return f"; values left the graph as numbers or arrays, which may be why: {', '.join(lines)}"


def _is_connected(name: str) -> str:
    return (
        f"connected: the graph of the loss leads to {name}; its gradient arrives with backward(), "
        f"and may be zero"
    )


def _detached(name: str, op: Primitive) -> str:
    return (
        f"detach: the values of {name} enter {op.name} without their history (.detach(), .numpy() "
        f"or .data)"
    )


def _name(parameter: Any, scopes: Iterable[Scope | None] = ()) -> str:
    """A parameter, by its path in the outermost modules of some calls that has it."""
    node = parameter._node
    path = node.name if isinstance(node, Leaf) else None
    for top in dict.fromkeys(ancestry(scope)[-1] for scope in scopes if scope is not None):
        for found, one in [] if top.module is None else top.module.named_parameters():
            path = found if one is parameter else path
    return f"the parameter {f'{path!r} ' if path else ''}of shape {parameter.shape}"
