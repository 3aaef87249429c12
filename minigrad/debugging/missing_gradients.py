"""Why did a parameter get no gradient: the op where its connection to the loss is lost.

A graph holds only recorded ops, so it cannot tell which are missing. The function that computes
the loss is run again under an observer, which follows every value that is computed from the
parameter by its memory. The connection is lost at the first op whose result depends on the
parameter but is not connected to it in the graph.
"""

from collections.abc import Iterable
from typing import Any

from minigrad.autograd.api import add_to_grad, grad_of
from minigrad.autograd.engine import DETACH
from minigrad.autograd.events import undecorated
from minigrad.autograd.mode import located
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Node, Variable, node_of, nodes_behind
from minigrad.autograd.primitives import Primitive
from minigrad.autograd.scope import Scope, ancestry
from minigrad.autograd.views import owner
from minigrad.debugging.memory import arrays
from minigrad.tracing import Step, Trace

_READING, _ADDING = undecorated(grad_of), undecorated(add_to_grad)


def why_no_grad(parameter: Any, loss: Any) -> str:
    """Say why a parameter gets no gradient from a loss.

    Args:
        parameter: A tensor.
        loss: A function without arguments that computes the loss; it is run once. Or the loss
            itself: its graph tells less, since it does not hold the ops that were not recorded.

    Returns:
        One sentence. It says that the parameter is frozen, or unused, or where its connection to
        the loss is lost and by what (``no_grad``, ``detach``, an op without a derivative); or that
        the two are connected. If the function was run, then come the lines where values became
        numbers or arrays.

    Raises:
        TypeError: `parameter` or the loss is not a tensor.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd import why_no_grad
        >>> w = minigrad.ones(3, requires_grad=True)
        >>> why_no_grad(w, lambda: (w.detach() * 2.0).sum())  # doctest: +ELLIPSIS
        'detach: the values of the parameter of shape (3,) go on without their history...'
        >>> why_no_grad(w, minigrad.ones(3).sum())  # doctest: +ELLIPSIS
        'the loss has no history: nothing it was computed from requires grad, or it was made \
under no_grad, from detached tensors, or by an op without a derivative...'
    """
    if not isinstance(parameter, Variable):
        raise TypeError(f"why_no_grad: a tensor expected, got {type(parameter).__name__}")
    leaves, value = {parameter._node}, loss
    if not isinstance(loss, Variable):
        if not callable(loss):
            raise TypeError(f"why_no_grad: the loss, or a function of it, expected, got {loss!r}")
        trace = Trace(lines=True)
        trace.value(parameter)
        with trace:
            value = loss()
        leaves.add(parameter._node)  # the function may freeze or thaw it
    if parameter._node is None:
        return f"{_name(parameter)} does not require grad: it is frozen, see requires_grad_(True)"
    if value is loss:
        return _from_the_graph(parameter, loss)
    if not isinstance(value, Variable):
        raise TypeError(
            f"why_no_grad: the function returned a {type(value).__name__}, not a tensor: .item(), "
            f"float() and .numpy() leave the graph"
        )
    return _explained(parameter, leaves - {None}, trace, value)


def _explained(parameter: Any, leaves: set[Any], trace: Trace, loss: Any) -> str:
    """Follow the values that depend on the parameter from step to step, and their nodes."""
    name = _name(parameter, [step.scope for step in trace.steps])
    connected = {*leaves}
    reasons = {trace.value(parameter): ""}  # why the graph does not lead from a value to it
    inner: dict[int, list[str]] = {}  # of a step by id: the reasons of its parts
    gradients: dict[Any, list[str]] = {}  # the same for gradients added to the .grad of a tensor
    left: dict[str, None] = {}  # the lines where values became numbers or arrays
    for step in trace.steps:
        known = [reasons[value] for value in step.reads if value in reasons]
        known += inner.get(id(step), [])
        if step.function in (_ADDING, _READING):
            tensor = step.arguments["args"][0]
            known = gradients.setdefault(tensor, []) + known
            gradients[tensor] = list(filter(None, known))
        node = step.node if step.phase == "forward" else None
        linked = node is not None and not connected.isdisjoint(map(node_of, node.edges))
        if step.phase == "left" and known:
            left[step.line] = None
        elif known:
            reason = "" if linked else next(filter(None, known), "")
            if linked:
                connected.add(node)
            elif not reason and step.function is _READING:
                continue  # what it reads is the tensor, and what it returns is not computed from it
            elif not reason:
                reason = located(f"{_cut(name, step)}, at {step.line}", step.scope)
            for value in filter(None, step.outputs):
                reasons.setdefault(value, reason)
                if step.inside is not None:
                    inner.setdefault(id(step.inside), []).append(reason)
    end = node_of(history(loss))
    why = reasons.get(trace.value(loss))
    if end in connected:
        return _is_connected(name)
    lost = f"; values left the graph as numbers or arrays, which may be why: {', '.join(left)}"
    lost = lost if left else ""
    if why is None:
        return (
            f"unused: nothing that the loss was computed from reads {name}, unless its values went "
            f"through .data{lost}"
        )
    return (why or f"detach: the loss shares the values of {name}, but not its history") + lost


def _cut(name: str, step: Step) -> str:
    """Why the result of a step, which reads the parameter, is not connected to it."""
    if step.phase == "backward":
        return f"backward: the gradients of {step.what} are not recorded without create_graph=True"
    if step.function is not None:
        return f"{step.what}: what it computes from {name} is not recorded"
    if step.op is not None and not step.grad_mode:
        return f"no_grad: {step.what} is not recorded"
    if step.op is DETACH:
        return f"detach: the values of {name} go on without their history"
    if step.op is not None and not step.op.differentiable:
        return f"{step.what} has no derivative: its result is a constant"
    if step.op is None:
        return f"{step.what}: the values of {name} are copied, which is not recorded"
    return _detached(name, step.op)


def _from_the_graph(parameter: Any, loss: Any) -> str:
    """The answer of the graph alone."""
    if history(loss) is None:
        return (
            "the loss has no history: nothing it was computed from requires grad, or it was made "
            "under no_grad, from detached tensors, or by an op without a derivative; pass a "
            "function that computes it to see where"
        )
    memory = owner(parameter._data)
    behind = [*nodes_behind(history(loss))]
    nodes = [node for node in behind if isinstance(node, Node)]
    name = _name(parameter, [node.scope for node in nodes])
    if parameter._node in behind:
        return _is_connected(name)
    for node in nodes:
        if not node.freed and any(owner(array) is memory for array in arrays(node.saved)):
            return located(_detached(name, node.plan.op), node.scope)
    return (
        f"the graph of the loss does not lead to {name}: it is unused, or the connection is lost "
        f"(by detach, no_grad or an op without a derivative); pass a function that computes the "
        f"loss to see where"
    )


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
    return f"the parameter {f'{path!r} ' if path else ''}of shape {tuple(parameter.shape)}"
