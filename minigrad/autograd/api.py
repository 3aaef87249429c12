"""Asking for gradients: `backward` adds them to the leaves, `grad` returns them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from minigrad.autograd import mutation
from minigrad.autograd.call import leaf_of, with_history, wrap
from minigrad.autograd.dtypes import checked
from minigrad.autograd.engine import Update, copied, detach, run_backward, watch_of
from minigrad.autograd.events import effect, reading
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Edge, Leaf, Variable
from minigrad.autograd.typing import Tensor
from minigrad.support.checks import check_flag

__all__ = ["backward", "grad"]

K = TypeVar("K")
Inputs = Tensor | Sequence[Tensor] | Iterator[Tensor]

_lock = threading.RLock()


def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Add the gradients of one or several tensors to the ``.grad`` of the leaves they depend on.

    Args:
        tensors: The output to differentiate, or several, whose contributions are added.
        grad_tensors: The cotangent of each output, of its shape; 1 where omitted, for scalars only.
        retain_graph: Keep the saved values, so that the graph can be used once more; by default
            as `create_graph`.
        create_graph: Record the pass itself, so that gradients can be differentiated.
        grad_variables: The old name of `grad_tensors`.
        inputs: The only tensors whose ``.grad`` is written: one or several, leaves or not.

    Raises:
        RuntimeError: A tensor or an input has no history; one is not a scalar; a graph is used up;
            `grad_tensors` and `grad_variables` are both given.
        TypeError: A cotangent is a bool.
        ValueError: A cotangent has another shape, or there are more or fewer than tensors.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> minigrad.autograd.backward([(x * x).sum(), x.sum()])
        >>> x.grad
        tensor([3., 5.])
    """
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("backward: grad_variables is grad_tensors: give one of them")
        grad_tensors = grad_variables
    _check_flags("backward", retain_graph, create_graph)
    create = create_graph or state.get().sampled
    roots = _roots("backward", tensors, grad_tensors, create)
    owners: Any = None if inputs is None else {t._node: t for t in _inputs("backward", inputs)}
    retain = bool(retain_graph) or create

    def write(results: dict[Edge, Any], edge: Edge) -> None:
        reference: Any = edge._tensor if isinstance(edge, Leaf) else watch_of(edge).retained
        owner = owners[edge] if owners else reference()
        with _lock:
            if owner is not None and owner._node is not None:  # it may be frozen by now
                add_to_grad(owner, results, edge, create_graph)

    results = run_backward(roots, retain, create, owners, write=write)
    with _lock, np.errstate(all="ignore"):
        for edge in results:
            write(results, edge)


@overload
def grad(
    outputs: Any, inputs: Mapping[K, Tensor], grad_outputs: Any = None,
    retain_graph: bool | None = None, create_graph: bool = False, only_inputs: bool = True,
    allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> dict[K, Tensor]: ...  # fmt: skip
@overload
def grad(
    outputs: Any, inputs: Inputs, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
    is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...  # fmt: skip
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
    create_graph: bool = False, only_inputs: bool = True,  # noqa: ARG001
    allow_unused: bool | None = None, is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:  # fmt: skip
    """Compute the gradients of `outputs` with respect to `inputs`; no ``.grad`` is written.

    Args:
        outputs: A tensor, or a sequence of tensors whose contributions are added.
        inputs: A tensor, or a sequence or a dict of tensors; leaves or not.
        grad_outputs: The cotangents of the outputs; 1 where omitted, for scalars only.
        retain_graph: Keep the graph for another pass; by default as `create_graph`.
        create_graph: Record the pass itself, so that the results can be differentiated.
        only_inputs: PyTorch's; no other gradient is ever computed.
        allow_unused: Return None for an input that the outputs do not depend on; by default as
            `materialize_grads`.
        is_grads_batched: The first axis of each cotangent counts several, with a pass for each;
            so does that of the results.
        materialize_grads: Return zeros instead of None.

    Returns:
        A tuple, with a tensor for each input, of its shape and dtype; for a dict, a dict.

    Raises:
        RuntimeError: An input without history, or unused; no scalar output; a used-up graph.
        ValueError: A cotangent has another shape, or `materialize_grads` is set without
            `allow_unused`.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor(3.0, requires_grad=True)
        >>> (first,) = minigrad.autograd.grad(x**4, x, create_graph=True)
        >>> first, minigrad.autograd.grad(first, x)
        (tensor(108., grad_fn=<MulBackward0>), (tensor(108.),))
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("grad: materialize_grads=True needs allow_unused=True, or leave it out")
    _check_flags("grad", retain_graph, create_graph)
    create = create_graph or state.get().sampled
    named = isinstance(inputs, Mapping)
    variables = _inputs("grad", inputs.values() if named else inputs)
    wanted = {variable._node for variable in variables}
    retain = create if retain_graph is None else retain_graph

    def gradients(*cotangents: Any) -> tuple[Any, ...]:
        roots = _roots("grad", outputs, cotangents or None, create)
        results = run_backward(roots, retain or is_grads_batched, create, wanted)
        lost = [i for i, variable in enumerate(variables) if variable._node not in results]
        if lost and not (allow_unused or materialize_grads):
            raise RuntimeError(
                f"grad: the outputs do not depend on input {lost[0]} of shape "
                f"{tuple(variables[lost[0]].shape)}, or only by way of an op without a "
                f"derivative; pass allow_unused=True to get None for it"
            )
        return tuple([
            _owned(results, v._node, create_graph) if v._node in results
            else leaf_of(np.zeros_like(v._data), create_graph) if materialize_grads
            else None
            for v in variables
        ])  # fmt: skip

    given = [] if grad_outputs is None else _several(grad_outputs)
    if is_grads_batched:
        rows = [gradients(*row) for row in zip(*given, strict=True)]
        columns = zip(*rows, strict=True)
        found = tuple([None if column[0] is None else np.stack(column) for column in columns])
    else:
        found = gradients(*given)
    return dict(zip(inputs, found, strict=True)) if named else found


def _several(given: Any) -> list[Any]:
    """One tensor, array or number, or a sequence of them, as a list."""
    one = isinstance(given, (Variable, np.ndarray)) or not isinstance(given, Iterable)
    return [given] if one else list(given)


def _check_flags(name: str, retain_graph: Any, create_graph: Any) -> None:
    check_flag(name, "retain_graph", False if retain_graph is None else retain_graph)
    check_flag(name, "create_graph", create_graph)


def _roots(name: str, outputs: Any, cotangents: Any, create_graph: bool) -> list[tuple[Edge, Any]]:
    """The outputs, each with the cotangent to begin with."""
    tensors = _tensors(f"{name}: output", outputs)
    given = [None] * len(tensors) if cotangents is None else _several(cotangents)
    if len(given) != len(tensors):
        raise ValueError(f"{name}: {len(tensors)} outputs but {len(given)} gradients for them")
    return [
        _root(name, f"output {i}" if len(tensors) > 1 else "the output", *root, create_graph)
        for i, root in enumerate(zip(tensors, given, strict=True))
    ]


def _tensors(what: str, given: Any) -> list[Any]:
    """One tensor or several as a list; anything else is refused."""
    tensors = _several(given)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Variable):
            raise TypeError(f"{what} {i} must be a tensor, got {type(tensor).__name__}")
    return tensors


def _inputs(name: str, given: Any) -> list[Any]:
    """The tensors whose gradients are wanted, each with a history."""
    tensors = _tensors(f"{name}: input", given)
    if not tensors:
        raise RuntimeError(f"{name}: inputs are empty: at least one tensor expected")
    for i, tensor in enumerate(tensors):
        if history(tensor) is None:
            raise RuntimeError(
                f"{name}: input {i} of shape {tuple(tensor.shape)} does not require grad"
            )
    return tensors


def _root(
    name: str, which: str, tensor: Any, gradient: Any, create_graph: bool
) -> tuple[Edge, Any]:
    """An output, after all writes to it, and its cotangent, checked against it."""
    node = history(tensor)
    if node is None:
        raise RuntimeError(
            f"{name}: {which} does not require grad: no input of it did, or it was made under "
            f"no_grad, by detach, or by an op without a derivative"
        )
    if gradient is None:
        if tensor._data.size != 1:
            raise RuntimeError(
                f"{name}: grad can be created only for a scalar output; got shape "
                f"{tuple(node.shape)}; "
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
            raise ValueError(
                f"{name}: the gradient has shape {seed.shape}, {which} {tuple(node.shape)}"
            )
        if create_graph and isinstance(gradient, Variable):
            same = seed.dtype == node.dtype
            return node, gradient if same else gradient.astype(node.dtype)  # type: ignore[attr-defined]
        seed = seed.astype(node.dtype, copy=False)
    return node, wrap(seed) if create_graph else seed


def _owned(results: dict[Edge, Any], edge: Edge, create: bool) -> Any:
    """A cotangent as a tensor whose memory nothing else can see: handed over, or copied.

    Its history, if there is one, is kept if it is to be differentiated.
    """
    if isinstance(results[edge], Variable):
        tensor = results[edge]
        if tensor._node is None or not create:
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
        tensor._grad = _owned(results, edge, create)  # which hands over what nobody else holds
        return
    part = results[edge]
    if isinstance(part, Variable) and not create:
        part = detach(part)
    if isinstance(part, Update):
        tensor._grad = part.as_tensor(known) if known._node is None else known + part.dense()
    elif isinstance(part, Variable) or known._node is not None:
        tensor._grad = known + part
    else:
        tensor._grad = wrap(known._data + np.asarray(part))
