"""Tensor parallelism: the weights of transformer layers are divided among ranks.

Source: Shoeybi et al., "Megatron-LM: training multi-billion parameter language models using model
parallelism", 2019.

Outside of the divided parts of a model, all ranks compute the same: they hold copies of the same
tensors, and copies of one loss, which counts once. Two ops are at the ends of a divided part;
each is the other's rule:

    copy_to_parts   forward: nothing                 backward: the gradients of all parts are added
    sum_of_parts    forward: all parts are added     backward: nothing

`all_reduce` has another rule, since there every rank has a loss of its own.

Left out: pipelines (each rank has some of the layers; they take a schedule of micro-batches, and
sends between neighbours that carry gradients back) and fully sharded parameters (each weight is
gathered before a layer uses it and freed after; they take hooks around every module, in the forward
and in the backward pass).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from minigrad import ops, random
from minigrad.autograd.mode import located
from minigrad.autograd.node import Variable
from minigrad.autograd.primitives import primitive
from minigrad.distributed.collectives import adjoint, broadcast, reduce_arrays, run_collective
from minigrad.distributed.communicators import Call, Communicator, world
from minigrad.nn import Dropout, Embedding, Linear, Module, MultiHeadAttention, Parameter
from minigrad.nn import functional as F
from minigrad.nn.functional import MaskLike
from minigrad.nn.module.registry import join
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import check_divisible
from minigrad.tensors.tensor import Tensor

# The two ends of a divided part ---------------------------------------------------------------


def copy_to_parts(x: Any, *, comm: Communicator | None = None) -> Tensor:
    """Let a tensor that is the same on all ranks enter a divided part of the model.

    Args:
        x: Tensor or array, the same on all ranks.
        comm: The ranks that take part; all if None.

    Returns:
        The same values. In the backward pass, the gradients of all ranks are added.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.copy_to_parts(ones(2)).tolist()
        [1.0, 1.0]
    """
    return run_collective(_copy_to_parts, [as_tensor(x)], (), comm)


def sum_of_parts(x: Any, *, comm: Communicator | None = None) -> Tensor:
    """Add the tensors of all ranks: the end of a divided part of the model.

    The arguments `x` and `comm` are those of `all_reduce`.

    Returns:
        The sum, on every rank. In the backward pass, each rank's tensor gets its gradient as it
        is: the ranks hold copies of one sum.

    Example:
        >>> from minigrad import distributed, ones
        >>> distributed.sum_of_parts(ones(2)).tolist()  # on one rank; on two: [2.0, 2.0]
        [1.0, 1.0]
    """
    return run_collective(_sum_of_parts, [as_tensor(x)], (), comm)


@primitive(arrays=1, side_effects=True)
def _copy_to_parts(x: Any, call: Call) -> Any:  # noqa: ARG001  # for its rule
    return x


@primitive(arrays=1, side_effects=True)
def _sum_of_parts(x: Any, call: Call) -> Any:
    return reduce_arrays("Iallreduce", x, x.shape, call)


_copy_to_parts.defvjp(x=lambda g, call: adjoint(_sum_of_parts, g, call))
# An array needs no message to be passed on; a recorded gradient enters the parts.
_sum_of_parts.defvjp(
    x=lambda g, call: adjoint(_copy_to_parts, g, call) if isinstance(g, Variable) else g
)
_copy_to_parts.defformula(x="sum_of_parts(g)")
_sum_of_parts.defformula(x="copy_to_parts(g)")


def _joined(part: Tensor, axis: int, size: int, comm: Communicator) -> Tensor:
    """The parts of all ranks along an axis as one tensor: zeros where other ranks' are."""
    start, end = share(size, comm)
    border = [(0, 0)] * part.ndim
    border[axis] = (start, size - end)
    return sum_of_parts(ops.pad(part, border), comm=comm)


def share(size: int, comm: Communicator) -> tuple[int, int]:
    """The first index and the end of this rank's part of `size` rows, in the order of the ranks."""
    return size * comm.rank // comm.size, size * (comm.rank + 1) // comm.size


def along(axis: int, start: int, end: int) -> tuple[slice, ...]:
    """The index of the part of an array from `start` to `end` along an axis."""
    return (slice(None),) * axis + (slice(start, end),)


def _own_random_numbers(comm: Communicator, drop: bool) -> AbstractContextManager[None]:
    """Where elements are dropped: a block in which the ranks draw different numbers.

    After it they draw the same ones again.
    """
    if not drop:
        return nullcontext()
    return random.drawing_from(np.random.default_rng([random.key(), comm.rank]))


# The layers -----------------------------------------------------------------------------------


class DividedParameter(Parameter):
    """A parameter of which each rank holds a part; `whole` are the values of all."""

    def __init__(
        self, whole: np.ndarray, axis: int, comm: Communicator, *, requires_grad: bool = True
    ) -> None:
        part = along(axis, *share(whole.shape[axis], comm))
        super().__init__(whole[part], requires_grad=requires_grad)
        self.divided_among, self._division = comm, (whole.shape, part)

    def __copy__(self) -> Tensor:
        twin = super().__copy__()
        if isinstance(twin, DividedParameter):
            twin.divided_among, twin._division = self.divided_among, self._division
        return twin

    @property
    def _whole_shape(self) -> tuple[int, ...]:
        return self._division[0]

    def _own_part(self, values: Any) -> Any:
        return values[self._division[1]] if np.ndim(values) else values


class Divided(Module):
    """A module of which each rank holds a part, made from the whole one.

    Args:
        whole: The undivided module. The values on rank 0 count.
        comm: The ranks among which it is divided; all if None.

    Attributes:
        divided: By the name of a parameter, the axis along which it is divided.
        whole_sizes: By the name of a parameter, the size of that axis in the undivided module.
    """

    divided: ClassVar[dict[str, int]] = {}

    def __init__(self, whole: Module, comm: Communicator | None = None) -> None:
        Module.__init__(self)
        self.comm = comm or world()
        self.whole_sizes: dict[str, int] = {}
        own = dict(whole._own_parameters())
        for name, value in vars(whole).items():
            if name in own:
                values = broadcast(value.detach(), comm=self.comm).numpy()
                trained = value.requires_grad
                made = Parameter(values, requires_grad=trained)
                if name in self.divided:
                    axis = self.divided[name]
                    self.whole_sizes[name] = values.shape[axis]
                    made = DividedParameter(values, axis, self.comm, requires_grad=trained)
                setattr(self, name, made)
            elif not name.startswith("_"):
                store = setattr if name in whole._registered else object.__setattr__
                store(self, name, value)

    def reset_parameters(self) -> None:
        """Raise an error: a part alone cannot be initialized."""
        raise NotImplementedError(
            f"{type(self).__name__}: initialize the undivided model, and divide it then"
        )


def divided_parameters(model: Module) -> Iterator[tuple[str, Parameter, Divided]]:
    """Iterate over (path, parameter, module that it belongs to) of the divided parameters."""
    for path, module in model.named_modules():
        if isinstance(module, Divided):
            for name in module.whole_sizes:
                yield join(path, name), getattr(module, name), module


class ColumnParallelLinear(Divided, Linear):
    """A `nn.Linear` of which each rank computes its part of the outputs.

    Its input is the same on all ranks. On rank r of n, `weight` and `bias` have the rows from
    r · out_features // n on.

    Args:
        linear: The undivided layer. The values on rank 0 count.
        comm: The ranks among which it is divided; all if None.
        gather_output: Whether every rank gets the outputs of all ranks; by default its own part.
        copy_input: Whether the input goes through `copy_to_parts`. False if it already has: where
            several layers share an input, that saves messages.

    Example:
        >>> from minigrad import distributed, nn, ones
        >>> layer = distributed.ColumnParallelLinear(nn.Linear(4, 6))
        >>> layer(ones(2, 4)).shape  # on one rank; on two: (2, 3)
        minigrad.Size([2, 6])
    """

    divided: ClassVar[dict[str, int]] = {"weight": 0, "bias": 0}

    def __init__(
        self, linear: Linear, comm: Communicator | None = None, *, gather_output: bool = False,
        copy_input: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(linear, comm)
        self.gather_output, self.copy_input = gather_output, copy_input

    def forward(self, input: Tensor) -> Tensor:
        """Map a tensor of shape (..., in_features) to this rank's outputs, or to all."""
        x = copy_to_parts(input, comm=self.comm) if self.copy_input else input
        output = F.linear(x, self.weight, self.bias)
        return _joined(output, -1, self.out_features, self.comm) if self.gather_output else output


class RowParallelLinear(Divided, Linear):
    """A `nn.Linear` of which each rank has the weights of its part of the inputs.

    Its input is divided among the ranks, as a `ColumnParallelLinear` leaves it, whose arguments
    `linear` and `comm` it shares. The output, the sum over all ranks, and the bias are the same on
    all ranks.

    Raises:
        ValueError: The number of ranks does not divide in_features.

    Example:
        >>> from minigrad import distributed, nn, ones
        >>> layer = distributed.RowParallelLinear(nn.Linear(4, 6))
        >>> layer(ones(2, 4)).shape  # on one rank; on two, it takes (2, 2)
        minigrad.Size([2, 6])
    """

    divided: ClassVar[dict[str, int]] = {"weight": 1}

    def __init__(self, linear: Linear, comm: Communicator | None = None) -> None:
        super().__init__(linear, comm)
        check_divisible("RowParallelLinear", in_features=self.in_features, ranks=self.comm.size)

    def forward(self, input: Tensor) -> Tensor:
        """Map this rank's part of the inputs to the outputs, of shape (..., out_features)."""
        output = sum_of_parts(F.linear(input, self.weight), comm=self.comm)
        return output if self.bias is None else output + self.bias


class ParallelMultiHeadAttention(Divided, MultiHeadAttention):
    """A `nn.MultiHeadAttention` of which each rank computes its part of the heads.

    Inputs and outputs are the same on all ranks. Caches hold the heads of their own rank.
    """

    divided: ClassVar[dict[str, int]] = {"bias_k": 2, "bias_v": 2}

    def __init__(self, attention: MultiHeadAttention, comm: Communicator | None = None) -> None:
        super().__init__(attention, comm)
        for name in ("num_heads", "num_kv_heads"):
            whole, ranks = getattr(self, name), self.comm.size
            check_divisible("ParallelMultiHeadAttention", **{name: whole, "ranks": ranks})
            setattr(self, name, whole // ranks)
        for name in ("q_proj", "k_proj", "v_proj"):
            projection = getattr(attention, name)
            setattr(self, name, ColumnParallelLinear(projection, self.comm, copy_input=False))
        self.out_proj = RowParallelLinear(attention.out_proj, self.comm)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: MaskLike = None,
        attn_mask: MaskLike = None, *args: Any, need_weights: bool = False, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """Apply attention; the arguments are those of `nn.MultiHeadAttention`."""
        # Each distinct tensor enters once: self-attention adds up one gradient, and not three.
        distinct = {id(x): x for x in (query, key, value)}
        entered = {i: copy_to_parts(x, comm=self.comm) for i, x in distinct.items()}
        with _own_random_numbers(self.comm, self.training and self.dropout > 0):
            result = super().forward(
                entered[id(query)], entered[id(key)], entered[id(value)], key_padding_mask,
                self._own_heads(attn_mask), *args, need_weights=need_weights, **kwargs,
            )  # fmt: skip
        if not need_weights:
            return result
        output, weights = result
        return output, _joined(weights, 1, self.num_heads * self.comm.size, self.comm)

    def _own_heads(self, mask: MaskLike) -> MaskLike:
        """The part of a mask that is for the heads of this rank."""
        if isinstance(mask, Tensor) and mask.requires_grad:
            mask = copy_to_parts(mask, comm=self.comm)
        if mask is None or mask.ndim != 4 or mask.shape[1] == 1:
            return mask
        start, end = share(mask.shape[1], self.comm)
        return mask[:, start:end]

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, on rank {self.comm.rank} of {self.comm.size}"


class ParallelDropout(Divided, Dropout):
    """A `nn.Dropout` inside a divided part: each rank drops elements of its own."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply dropout in training mode."""
        with _own_random_numbers(self.comm, self.training and self.p > 0):
            return super().forward(input)


class VocabularyParallelEmbedding(Divided, Embedding):
    """A `nn.Embedding` of which each rank holds some of the vectors, those of neighbouring indices.

    Indices and output are the same on all ranks. The numbers of vectors differ by at most one.
    """

    divided: ClassVar[dict[str, int]] = {"weight": 0}

    def __init__(self, embedding: Embedding, comm: Communicator | None = None) -> None:
        super().__init__(embedding, comm)
        if self.max_norm is not None or self.num_embeddings < self.comm.size:
            raise ValueError(
                f"VocabularyParallelEmbedding: {embedding} cannot be divided among "
                f"{self.comm.size} ranks: at least one vector for each expected, and no max_norm"
            )

    def forward(self, input: Tensor | np.ndarray) -> Tensor:
        """Look up vectors: integers of any shape get an axis of size embedding_dim at the end."""
        ids = np.asarray(input)
        size = self.num_embeddings
        if ids.size and not 0 <= ids.min() <= ids.max() < size:
            raise IndexError(
                located(
                    f"VocabularyParallelEmbedding: indices 0 to {size - 1} expected, got "
                    f"{ids.min()} to {ids.max()}"
                )
            )
        start, end = share(size, self.comm)
        own = (start <= ids) & (ids < end)
        local = np.where(own, ids - start, 0)
        padding = self.padding_idx
        padding = padding - start if padding is not None and start <= padding < end else None
        vectors = F.embedding(local, self.weight, padding)
        return sum_of_parts(ops.where(own[..., None], vectors, 0.0), comm=self.comm)
