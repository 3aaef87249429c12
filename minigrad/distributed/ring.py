"""Ring attention: a sequence that outgrows one machine is divided among ranks by position.

Every query needs every key. So the blocks of keys and values travel once around the ring of ranks,
while each rank compares its queries with the block that it holds. Outputs of several blocks are
joined by their log-sum-exps (online softmax): the result is exact. In the backward pass the blocks
go around once more, and their gradients travel with them. No rank holds more than two blocks, nor
scores of more than one.

With `causal`, rank r has work in r + 1 of the n steps only, so the last rank decides the time.

Source: Liu, Zaharia and Abbeel, "Ring attention with blockwise transformers for near-infinite
context", 2023; Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad.autograd.mode import located
from minigrad.autograd.primitives import primitive
from minigrad.distributed.collectives import all_gather, exchange_arrays, run_collective
from minigrad.distributed.communicators import Call, Communicator
from minigrad.ops._attention_kernel import Attention, attention_backward, attention_forward
from minigrad.ops._numerics import widened
from minigrad.ops.casting import as_tensor
from minigrad.ops.dot_product_attention import attention
from minigrad.tensors.tensor import Tensor


def ring_attention(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False, scale: float | None = None,
    comm: Communicator | None = None,
) -> Tensor:  # fmt: skip
    """Compute scaled dot-product attention over a sequence that is divided among ranks.

    Rank r holds the r-th block of positions; all blocks have one length.

    Args:
        query: This rank's queries, of shape (..., L, E).
        key: This rank's keys, of shape (..., S, E); with `causal`, S is L.
        value: This rank's values, of shape (..., S, V).
        causal: A query attends to keys up to its own position in the whole sequence only.
        scale: The factor on the scores, 1/√E by default.
        comm: The ranks that take part; all if None.

    Returns:
        The outputs of this rank's queries, of shape (..., L, V).

    Raises:
        RuntimeError: The ranks make different calls, or have blocks of different shapes.
        ValueError: Shapes do not fit.

    Example:
        >>> from minigrad import distributed, randn
        >>> x = randn(2, 4, 10, 16)  # (N, H, L, E): this rank's block of L positions
        >>> distributed.ring_attention(x, x, x, causal=True).shape
        minigrad.Size([2, 4, 10, 16])
    """
    query, key, value = as_tensor(query), as_tensor(key), as_tensor(value)
    q, k, v = query.shape, key.shape, value.shape
    alike = q[:-2] == k[:-2] == v[:-2] and q[-1:] == k[-1:] and k[-2:-1] == v[-2:-1]
    if not alike or len(q) < 2 or not k[-2] or (causal and q[-2] != k[-2]):
        raise ValueError(
            located(
                f"ring_attention: query (..., L, E), key (..., S, E) and value (..., S, V) "
                f"expected, with causal=True of one length, got {q}, {k} and {v}"
            )
        )
    factor = q[-1] ** -0.5 if scale is None else float(scale)
    output: Tensor = run_collective(_ring_attention, (query, key, value), (causal, factor), comm)
    return output


@primitive(
    arrays=3, residuals=("lse",), float_inputs=True, promote=("query", "key", "value"),
    side_effects=True,
)  # fmt: skip
def _ring_attention(
    query: Any, key: Any, value: Any, causal: bool, scale: float, call: Call
) -> Any:
    out: Any = 0.0
    lse: Any = -np.inf
    for block in _blocks(query, key, value, causal, scale, call):
        if block is not None:
            own, own_lse, _ = attention_forward(block)
            joined = np.logaddexp(lse, own_lse)
            out = out * np.exp(lse - joined) + own * np.exp(own_lse - joined)
            lse = joined
    return out.astype(query.dtype, copy=False), lse


@_ring_attention.defjoint("query", "key", "value")
def _ring_attention_pull(
    g: np.ndarray, needed: tuple[bool, bool, bool], query: np.ndarray, key: np.ndarray,  # noqa: ARG001  # read by name
    value: np.ndarray, out: np.ndarray, lse: np.ndarray, causal: bool, scale: float, call: Call,
) -> tuple[Any, Any, Any]:  # fmt: skip
    call = call.comm.agree("ring_attention", backward_of=call)
    g, out = widened(g), widened(out)
    grad_query, grad_key, grad_value = (np.zeros(x.shape, g.dtype) for x in (query, key, value))
    for block in _blocks(query, key, value, causal, scale, call):
        if block is not None:
            parts: Any = attention_backward(block, g, (True, True, True, False), out, lse, None)
            for grad, part in zip((grad_query, grad_key, grad_value), parts, strict=False):
                grad += part
        grad_key, grad_value = _passed_on(grad_key, call), _passed_on(grad_value, call)
    return grad_query, grad_key, grad_value


_ring_attention.defformula(
    """
    allowed = True  # which keys of all ranks each query may attend
    P = where(allowed, exp(scale * (query @ key.mT) - lse), 0)
    A = g @ value.mT
    D = P * (A - sum(A * P, -1))
    """,
    query="scale * (D @ key)",
    key="scale * (D.mT @ query)",
    value="P.mT @ g",
)


def _blocks(
    query: np.ndarray, key: np.ndarray, value: np.ndarray, causal: bool, scale: float, call: Call
) -> Iterator[Attention | None]:
    """Attention to the block that is here at each step; None where all of its keys are later."""
    query, key, value = widened(query), widened(key), widened(value)
    rank, size = call.comm.rank, call.comm.size
    for step in range(size):
        if step:
            key, value = _passed_on(key, call), _passed_on(value, call)
        source = (rank - step) % size
        later = causal and source > rank
        own = causal and source == rank
        yield None if later else Attention(query, key, value, causal=own, scale=scale)


def _passed_on(x: np.ndarray, call: Call) -> np.ndarray:
    """Send an array to the next rank of the ring; returns the one that comes."""
    ring = tuple([(rank, (rank + 1) % call.comm.size) for rank in range(call.comm.size)])
    arrived: np.ndarray = exchange_arrays(x, ring, call)
    return arrived


@_ring_attention.defdecomposition
def _ring_attention_decomposition(
    query: Any, key: Any, value: Any, causal: bool, scale: float, call: Call
) -> Any:
    """With all keys on every rank: for higher derivatives, without the saving of memory."""
    length = query.shape[-2]
    keys, values = (all_gather(x, x.ndim - 2, comm=call.comm) for x in (key, value))
    keep = np.tri(length, length * call.comm.size, length * call.comm.rank, dtype=bool)
    return attention(query, keys, values, None, keep if causal else None, scale=scale)
