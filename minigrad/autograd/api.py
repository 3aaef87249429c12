"""Asking for gradients: `backward` adds them to the leaves, `grad` returns them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from minigrad.autograd import mutation
from minigrad.autograd.call import with_history, without_rules, wrap
from minigrad.autograd.dtypes import checked
from minigrad.autograd.engine import Update, copied, detach, run_backward, watch_of
from minigrad.autograd.events import effect, reading
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Leaf, Variable
from minigrad.autograd.typing import Tensor

__all__ = ["backward", "grad"]

Inputs = Sequence[Tensor] | Iterator[Tensor]

_lock = threading.RLock()


def backward(
    tensor: Any, gradient: Any = None, retain_graph: bool = False, create_graph: bool = False,
    inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradient of `tensor` to the ``.grad`` of every leaf it depends on.

    Args:
        tensor: The output to differentiate, with a history.
        gradient: The cotangent of `tensor`, of its shape; 1 if omitted, for scalars only.
        retain_graph: Keep the saved values, so that the graph can be used once more.
        create_graph: Record the pass itself, so that gradients can be differentiated.
        inputs: The only tensors whose ``.grad`` is written: one or several, leaves or not.

    Raises:
        RuntimeError: The tensor or an input has no history; it is not a scalar; its graph is used
            up.
        TypeError: `gradient` is a bool.
        ValueError: `gradient` has another shape.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> minigrad.autograd.backward((x * x).sum())
        >>> x.grad
        Tensor([2., 4.], dtype=float32)
    """
    create_graph = create_graph or state.get().sampled
    seed = _seed("backward", tensor, gradient, create_graph)
    owners: Any = None if inputs is None else {t._node: t for t in _inputs("backward", inputs)}
    retain = retain_graph or create_graph

    def write(results: dict[Edge, Any], edge: Edge) -> None:
        reference: Any = edge._tensor if isinstance(edge, Leaf) else watch_of(edge).retained
        owner = owners[edge] if owners else reference()
        with _lock:
            if owner is not None:
                add_to_grad(owner, results, edge, create_graph)

    results = run_backward([(tensor._node, seed)], retain, create_graph, owners, write=write)
    with _lock, np.errstate(all="ignore"):
        for edge in results:
            write(results, edge)


@overload
def grad(
    outputs: Any, inputs: Tensor, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, allow_unused: Literal[False] = False,
) -> Tensor: ...  # fmt: skip
@overload
def grad(
    outputs: Any, inputs: Inputs, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, allow_unused: Literal[False] = False,
) -> tuple[Tensor, ...]: ...  # fmt: skip
@overload
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, allow_unused: bool = False,
) -> Any: ...  # fmt: skip
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, allow_unused: bool = False,
) -> Any:  # fmt: skip
    """Compute the gradients of `outputs` with respect to `inputs`; no ``.grad`` is written.

    Args:
        outputs: A tensor, or a sequence of tensors whose contributions are added.
        inputs: A tensor, or a sequence of tensors; leaves or not.
        grad_outputs: The cotangents of the outputs; 1 where omitted, for scalars only.
        retain_graph: Keep the graph for another pass; by default as `create_graph`.
        create_graph: Record the pass itself, so that the results can be differentiated.
        allow_unused: Return None for an input that the outputs do not depend on.

    Returns:
        A tensor for a tensor, a tuple for a sequence, each of its input's shape and dtype.

    Raises:
        RuntimeError: An input without history, or unused; no scalar output; a used-up graph.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> y = x**4
        >>> first = minigrad.autograd.grad(y, x, create_graph=True)
        >>> first, minigrad.autograd.grad(first, x)
        (Tensor(108., dtype=float32, op=multiply), Tensor(108., dtype=float32))
    """
    create_graph = create_graph or state.get().sampled
    tensors, variables = _tensors("grad: output", outputs), _inputs("grad", inputs)
    given = [grad_outputs] if isinstance(outputs, Variable) else grad_outputs
    gradients: list[Any] = [None] * len(tensors) if given is None else list(given)
    if len(gradients) != len(tensors):
        raise ValueError(f"grad: {len(tensors)} outputs but {len(gradients)} grad_outputs")
    roots = [
        (tensor._node, _seed("grad", tensor, gradient, create_graph))
        for tensor, gradient in zip(tensors, gradients, strict=True)
    ]
    wanted = {variable._node for variable in variables}
    retain = create_graph if retain_graph is None else retain_graph
    results = run_backward(roots, retain, create_graph, wanted)

    lost = [i for i, variable in enumerate(variables) if variable._node not in results]
    if lost and not allow_unused:
        raise RuntimeError(
            f"grad: the outputs do not depend on input {lost[0]} of shape "
            f"{variables[lost[0]].shape}, or only by way of {without_rules()}; pass "
            f"allow_unused=True to get None for it"
        )
    found = [_owned(results, v._node) if v._node in results else None for v in variables]
    return found[0] if isinstance(inputs, Variable) else tuple(found)


def _tensors(what: str, given: Any) -> list[Any]:
    """One tensor or several as a list; anything else is refused."""
    one = isinstance(given, Variable) or not isinstance(given, Iterable)
    tensors = [given] if one else list(given)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Variable):
            raise TypeError(f"{what} {i} must be a tensor, got {type(tensor).__name__}")
    return tensors


def _inputs(name: str, given: Any) -> list[Any]:
    """The tensors whose gradients are wanted, each with a history."""
    tensors = _tensors(f"{name}: input", given)
    for i, tensor in enumerate(tensors):
        if history(tensor) is None:
            raise RuntimeError(f"{name}: input {i} of shape {tensor.shape} does not require grad")
    return tensors


def _seed(name: str, tensor: Any, gradient: Any, create_graph: bool) -> Any:
    """The cotangent to begin with, checked against the output it belongs to."""
    node = history(tensor) if isinstance(tensor, Variable) else None
    if node is None:
        raise RuntimeError(
            f"{name}: the output does not require grad: no input of it did, or it was made under "
            f"no_grad, by detach, or by {without_rules()}"
        )
    if gradient is None:
        if tensor._data.size != 1:
            raise RuntimeError(
                f"{name}: grad can be created only for a scalar output; got shape {node.shape}; "
                f"reduce it, for example with .sum(), or pass gradient="
            )
        seed: Any = np.ones(node.shape, node.dtype)
    elif isinstance(gradient, bool):
        raise TypeError(
            f"{name}: the gradient is {gradient}; a tensor, an array or a number was expected (the "
            f"switches are keywords: retain_graph=, create_graph=)"
        )
    else:
        seed = detach(gradient)._data if isinstance(gradient, Variable) else np.array(gradient)
        checked(seed.dtype, name)
        if seed.shape != node.shape:
            came, wanted = seed.shape, node.shape
            raise ValueError(f"{name}: the gradient has shape {came}, the output {wanted}")
        if create_graph and isinstance(gradient, Variable):
            return gradient if seed.dtype == node.dtype else gradient.astype(node.dtype)  # type: ignore[attr-defined]
        seed = seed.astype(node.dtype, copy=False)
    return wrap(seed) if create_graph else seed


def _owned(results: dict[Edge, Any], edge: Edge) -> Any:
    """A cotangent as a tensor whose memory nothing else can see: handed over, or copied."""
    if isinstance(results[edge], Variable):
        tensor = results[edge]
        if tensor._node is None:
            return copied(tensor)
        return with_history(np.array(tensor._data), tensor._node)
    if isinstance(results[edge], Update):
        return results[edge].as_tensor()
    owned = mutation.uniquely_owned(results, edge)
    return wrap(results[edge]) if owned else copied(results[edge])


@reading
def grad_of(tensor: Tensor) -> Tensor | None:
    """The content of the ``.grad`` of a tensor."""
    grad: Tensor | None = tensor._grad
    return grad


@effect
def add_to_grad(tensor: Any, results: dict[Edge, Any], edge: Edge, create: bool) -> None:
    """Add a cotangent to the ``.grad`` of a tensor."""
    known = tensor._grad
    if known is None:
        tensor._grad = _owned(results, edge)  # which hands over what nobody else holds
        return
    part = results[edge]
    if isinstance(part, Update):
        tensor._grad = part.as_tensor(known) if known._node is None else known + part.dense()
    elif create or known._node is not None:
        tensor._grad = known + part
    else:
        tensor._grad = wrap(known._data + np.asarray(part))
