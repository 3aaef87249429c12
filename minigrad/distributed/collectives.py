"""Collectives: ops in which all ranks of a communicator take part, each with its rule.

The derivative is that of the sum over all ranks of their outputs. A collective is linear (but for
the maximum), so its rule is its adjoint, which is a collective again:

    all_reduce      y_r = Σ_s x_s             all_reduce
    all_gather      y_r = x_0, x_1, ...       reduce_scatter
    reduce_scatter  y_r = part r of Σ_s x_s   all_gather
    broadcast       y_r = x_root              reduce to the root, 0 elsewhere
    all_to_all      part s of x_r to rank s   all_to_all, the axes exchanged
    ppermute        y_d = x_s                 ppermute back

All ranks call the same collectives in the same order, also in the backward pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.dtypes import get_default_dtype
from minigrad.autograd.grad_mode import enable_grad
from minigrad.autograd.mode import state
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.autograd.typing import Tensor
from minigrad.distributed.communicators import Call, Communicator, world
from minigrad.ops._numerics import array_of
from minigrad.ops.casting import as_tensor
from minigrad.ops.joining import along
from minigrad.support.checks import check_choice
from minigrad.tensors.inplace import assign

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "ppermute", "reduce_scatter"]

Pairs = tuple[tuple[int, int], ...]


def all_reduce(x: Any, op: str = "sum", *, comm: Communicator | None = None) -> Tensor:
    """Compute the sum, the mean or the maximum over all ranks, on every rank.

    The other collectives share `x`, `comm` and the RuntimeError.

    Args:
        x: Tensor or array, on all ranks of one shape and dtype.
        op: ``"sum"``, ``"mean"`` or ``"max"``. Ranks with equal maxima share the gradient evenly.
        comm: The ranks that take part; all if None.

    Returns:
        A tensor of the shape and dtype of `x`. A sum of bools is counted in int64; a mean of
        integers has the default dtype.

    Raises:
        RuntimeError: The ranks make different calls.
        ValueError: `op` is unknown.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.all_reduce(ones(2)).tolist()  # on one rank; on two: [2.0, 2.0]
        [1.0, 1.0]
    """
    check_choice("all_reduce", "op", op, ("sum", "mean", "max"))
    collective = _all_reduce_max if op == "max" else _all_reduce
    x = as_tensor(x)
    if op == "mean" and x.dtype.kind != "f":
        x = x.astype(get_default_dtype())
    total = run_collective(collective, [x], (), comm)
    return total / (comm or world()).size if op == "mean" else total


def all_gather(x: Any, axis: int = 0, *, comm: Communicator | None = None) -> Tensor:
    """Join the tensors of all ranks along an axis, in the order of the ranks, on every rank.

    `axis` is the axis to join along; a 0-d tensor is taken for one of shape (1,). See `all_reduce`
    for the other arguments.

    Raises:
        ValueError: The axis does not exist.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.all_gather(ones(2)).shape  # on one rank; on two: (4,)
        minigrad.Size([2])
    """
    x = as_tensor(x)
    x = x if x.ndim else x.reshape(1)
    return run_collective(_all_gather, [x], (along("all_gather", x, axis)[1],), comm)


def reduce_scatter(x: Any, axis: int = 0, *, comm: Communicator | None = None) -> Tensor:
    """Sum over all ranks, and give each rank its part along an axis.

    `axis` is the axis to divide; its length is a multiple of the number of ranks. See `all_reduce`
    for the other arguments.

    Raises:
        ValueError: The axis does not exist or cannot be divided.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.reduce_scatter(ones(4)).shape  # on one rank; on two: (2,)
        minigrad.Size([4])
    """
    x, axis, _ = along("reduce_scatter", x, axis)
    return run_collective(_reduce_scatter, [x], (axis,), comm)


def broadcast(x: Any, root: int = 0, *, comm: Communicator | None = None) -> Tensor:
    """Return the tensor of the rank `root`, on every rank; only its values count.

    See `all_reduce` for the other arguments.

    Raises:
        ValueError: There is no rank `root`.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.broadcast(ones(2)).tolist()
        [1.0, 1.0]
    """
    comm = comm or world()
    if not 0 <= root < comm.size:
        raise ValueError(f"broadcast: there is no rank {root} among {comm.size}")
    return run_collective(_broadcast, [as_tensor(x)], (root,), comm)


def all_to_all(
    x: Any, split_axis: int = 0, concat_axis: int = 0, *, comm: Communicator | None = None
) -> Tensor:
    """Divide the tensor of each rank into one part for each rank, and join what arrives.

    `split_axis` is divided; its length is a multiple of the number of ranks, and part s goes to
    rank s. What arrives is joined along `concat_axis`, in the order of the ranks. See `all_reduce`
    for the other arguments.

    Raises:
        ValueError: An axis does not exist or cannot be divided.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.all_to_all(ones((4, 6)), 1, 0).shape  # on one rank; on two: (8, 3)
        minigrad.Size([4, 6])
    """
    x, split_axis, _ = along("all_to_all", x, split_axis)
    x, concat_axis, _ = along("all_to_all", x, concat_axis)
    return run_collective(_all_to_all, [x], (split_axis, concat_axis), comm)


def ppermute(
    x: Any, perm: int | Sequence[tuple[int, int]] = 1, *, comm: Communicator | None = None
) -> Tensor:
    """Send the tensor of each rank to another rank: a ring shift, or any permutation.

    `perm` are pairs ``(source, destination)``, no rank twice in either place; a rank that is not a
    destination gets zeros. A number is a ring shift: rank r sends to rank r + `perm`. See
    `all_reduce` for the other arguments.

    Raises:
        ValueError: A pair names no rank, or a rank is named twice.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.ppermute(ones(2), 1).tolist()
        [1.0, 1.0]
        >>> distributed.ppermute(ones(2), []).tolist()
        [0.0, 0.0]
    """
    comm = comm or world()
    n = comm.size
    if isinstance(perm, int):
        perm = [(rank, (rank + perm) % n) for rank in range(n)]
    pairs = tuple([(int(source), int(target)) for source, target in perm])
    for ranks in zip(*pairs, strict=True):
        if len({*ranks}) < len(ranks) or not {*ranks} <= {*range(n)}:
            raise ValueError(
                f"ppermute: pairs (source, destination) of {n} ranks expected, none twice in "
                f"either place, got {list(pairs)}"
            )
    return run_collective(_ppermute, [as_tensor(x)], (pairs,), comm)


def run_collective(
    collective: Any, inputs: Sequence[Any], options: tuple[Any, ...], comm: Communicator | None,
    backward_of: Call | None = None,
) -> Any:  # fmt: skip
    """Call a collective, once all ranks agree on it, with tensors, or with arrays in a rule."""
    tensors = [x for x in inputs if isinstance(x, Variable)]
    recorded = state.get().recording and any(history(x) is not None for x in tensors)
    shown = [f"{x.dtype.name} {tuple(x.shape)}" for x in inputs] + [str(o) for o in options]
    what = f"{collective.op.name}({', '.join(shown)})"
    call = (comm or world()).agree(what, recorded, backward_of)
    if not tensors:
        return collective.op.forward(*inputs, *options, call)
    if not call.recorded:
        return collective(*inputs, *options, call)
    first, *others = inputs
    with enable_grad():  # another rank may record it: this one takes part in its backward pass
        first = first if recorded else first.detach().requires_grad_()
        return collective(first, *others, *options, call)


# The exchange of arrays -----------------------------------------------------------------------


def _bytes(array: np.ndarray) -> np.ndarray:
    """The memory of an array, for MPI: it knows neither bool nor float16."""
    return array.reshape(-1).view(np.uint8)


def _exchanged(method: str, x: np.ndarray, shape: tuple[int, ...], call: Call) -> np.ndarray:
    """The received values, in an array of a shape, when arrays are exchanged by a method of MPI."""
    if call.comm.size == 1:
        return x.reshape(shape)
    received = np.empty(shape, x.dtype)
    call.comm.run(call, method, _bytes(np.ascontiguousarray(x)), _bytes(received))
    return received


def reduce_arrays(
    method: str, x: np.ndarray, shape: tuple[int, ...], call: Call, **options: Any
) -> Any:
    """Add arrays up by a method of MPI; float16 in float32, bools in int64, as `sum` does."""
    dtype = np.dtype({"e": np.float32, "?": np.int64}.get(x.dtype.char, x.dtype))
    sent, total = np.ascontiguousarray(x, dtype), np.zeros(shape, dtype)
    if call.comm.size == 1:
        total[...] = x.reshape(shape)
    else:
        call.comm.run(call, method, sent.reshape(-1), total.reshape(-1), **options)
    return total.astype(np.float16, copy=False) if x.dtype == np.float16 else total


def _parts(name: str, x: np.ndarray, axis: int, comm: Communicator) -> np.ndarray:
    """The equal parts along an axis, stacked along a new first one."""
    n, length = comm.size, x.shape[axis]
    if length % n:
        raise ValueError(
            f"{name}: axis {axis} of length {length} cannot be divided among {n} ranks; its "
            f"length must be a multiple of {n}"
        )
    shape = (*x.shape[:axis], n, length // n, *x.shape[axis + 1 :])
    return np.ascontiguousarray(np.moveaxis(x.reshape(shape), axis, 0))


# The primitives -------------------------------------------------------------------------------


@primitive(arrays=1, side_effects=True)
def _all_reduce(x: Any, call: Call) -> Any:
    return reduce_arrays("Iallreduce", x, x.shape, call)


@primitive(arrays=1, side_effects=True)
def _all_reduce_max(x: Any, call: Call) -> Any:
    return np.max(_exchanged("Iallgather", x, (call.comm.size, *x.shape), call), axis=0)


@primitive(arrays=1, side_effects=True)
def _all_gather(x: Any, axis: int, call: Call) -> Any:
    return np.concatenate(_exchanged("Iallgather", x, (call.comm.size, *x.shape), call), axis)


@primitive(arrays=1, side_effects=True)
def _reduce_scatter(x: Any, axis: int, call: Call) -> Any:
    parts = _parts("reduce_scatter", x, axis, call.comm)
    return reduce_arrays("Ireduce_scatter_block", parts, parts.shape[1:], call)


@primitive(arrays=1, side_effects=True)
def _broadcast(x: Any, root: int, call: Call) -> Any:
    out = np.array(x, order="C")
    if call.comm.size > 1:
        call.comm.run(call, "Ibcast", _bytes(out), root)
    return out


@primitive(arrays=1, side_effects=True)
def _reduce_to_root(x: Any, root: int, call: Call) -> Any:
    return reduce_arrays("Ireduce", x, x.shape, call, root=root)


@primitive(arrays=1, side_effects=True)
def _all_to_all(x: Any, split_axis: int, concat_axis: int, call: Call) -> Any:
    parts = _parts("all_to_all", x, split_axis, call.comm)
    return np.concatenate(_exchanged("Ialltoall", parts, parts.shape, call), concat_axis)


@primitive(arrays=1, side_effects=True)
def _ppermute(x: Any, perm: Pairs, call: Call) -> Any:
    comm, received = call.comm, np.zeros(x.shape, x.dtype)
    if comm.size == 1:
        return x.copy() if perm else received
    from mpi4py import MPI

    target, source = (dict(pairs).get(comm.rank, MPI.PROC_NULL) for pairs in (perm, inverse(perm)))
    sent = _bytes(np.ascontiguousarray(x))
    arrives = comm._own.Irecv(_bytes(received), source)
    comm.wait(call, comm._own.Isend(sent, target), arrives)
    return received


def inverse(perm: Pairs) -> Pairs:
    """The pairs that send back what `perm` sends."""
    return tuple([(target, source) for source, target in perm])


def copy_from_root(tensors: Iterable[Tensor], comm: Communicator) -> None:
    """Give tensors the values that they have on rank 0, in place."""
    for tensor in tensors:
        assign(tensor, broadcast(tensor.detach(), comm=comm))


def reduce_to_root(x: Any, root: int = 0, *, comm: Communicator | None = None) -> Tensor:
    """The sum over all ranks, on one of them, and zeros on the others; what `broadcast` undoes."""
    return run_collective(_reduce_to_root, [as_tensor(x)], (root,), comm)


# The rules ------------------------------------------------------------------------------------


def adjoint(collective: Any, g: Any, call: Call, *options: Any) -> Any:
    """Call the collective that is the rule of a call, on the same ranks."""
    return run_collective(collective, [g], options, call.comm, call)


def _all_reduce_max_x(g: Any, x: Any, out: Any, call: Call) -> Any:
    values = array_of(x)
    attained = ((values == array_of(out)) | np.isnan(values)).astype(g.dtype)
    return adjoint(_all_reduce, g, call) * (attained / adjoint(_all_reduce, attained, call))


_all_reduce.defvjp(x=lambda g, call: adjoint(_all_reduce, g, call))
_all_reduce_max.defvjp(x=_all_reduce_max_x)
_all_gather.defvjp(x=lambda g, axis, call: adjoint(_reduce_scatter, g, call, axis))
_reduce_scatter.defvjp(x=lambda g, axis, call: adjoint(_all_gather, g, call, axis))
_broadcast.defvjp(x=lambda g, root, call: adjoint(_reduce_to_root, g, call, root))
_reduce_to_root.defvjp(x=lambda g, root, call: adjoint(_broadcast, g, call, root))
_all_to_all.defvjp(
    x=lambda g, split_axis, concat_axis, call: adjoint(
        _all_to_all, g, call, concat_axis, split_axis
    )
)
_ppermute.defvjp(x=lambda g, perm, call: adjoint(_ppermute, g, call, inverse(perm)))

_all_reduce.defformula(x="all_reduce(g)")
_all_reduce_max.defformula(
    x="""
    attained = x == out
    all_reduce(g) * attained / all_reduce(attained)  # equal maxima share
    """
)
_all_gather.defformula(x="reduce_scatter(g, axis)")
_reduce_scatter.defformula(x="all_gather(g, axis)")
_broadcast.defformula(x="reduce_to_root(g, root)")
_reduce_to_root.defformula(x="broadcast(g, root)")
_all_to_all.defformula(x="all_to_all(g, concat_axis, split_axis)")
_ppermute.defformula(x="ppermute(g, inverse(perm))")
