"""Tensor parallelism of a whole model: its transformer layers are replaced by divided ones."""

from collections.abc import Iterator
from typing import Any, TypeVar

from minigrad import random
from minigrad.distributed.collectives import copy_from_root
from minigrad.distributed.communicators import Communicator, world
from minigrad.distributed.replicas import Replicas
from minigrad.distributed.tensor_parallel import (
    ColumnParallelLinear,
    ParallelDropout,
    ParallelMultiHeadAttention,
    RowParallelLinear,
    VocabularyParallelEmbedding,
    divided_parameters,
)
from minigrad.nn import Embedding, Linear, Module, MultiHeadAttention, Parameter, SwiGLU
from minigrad.nn.module.registry import replaced
from minigrad.nn.transformers.layers import Layer

M = TypeVar("M", bound=Module)


def parallelize(model: M, comm: Communicator | None = None) -> M:
    """Divide the weights of a transformer among ranks; it computes the same numbers as before.

    All ranks make the same model and call this; the values on rank 0 count, also the state of
    `minigrad.random`. Divided are

    - in each `nn.MultiHeadAttention`, the heads;
    - in each transformer layer and `nn.SwiGLU`, the hidden units of the feed-forward network;
    - an `nn.Embedding` and an `nn.Linear` that share their weight, by token.

    Other modules, such as normalizations, are the same on all ranks. So are the inputs of the
    model, its outputs, and the loss, from which every rank starts its own backward pass. The
    gradient of a parameter that is not divided is the same on all ranks too. Dropout inside the
    divided parts differs between ranks.

    Before the first training step, after steps 1, 10, 100, ..., and when they are saved, the ranks
    compare the weights that all of them have, and the options of their optimizers. A difference is
    an error that names it; at the end of the program it is a warning. Copies are not compared.

    Load weights before, and make the optimizer after; hooks of divided modules are lost.

    Args:
        model: The model; it is changed. A module that is divided itself is replaced.
        comm: The ranks among which it is divided; all if None.

    Returns:
        The model.

    Raises:
        ValueError: The number of ranks does not divide a number of heads or of hidden units, or
            there is nothing to divide.

    Example:
        >>> from minigrad import distributed, nn, randn
        >>> layer = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32)
        >>> encoder = distributed.parallelize(nn.TransformerEncoder(layer, 2))
        >>> encoder(randn(2, 5, 16)).shape
        minigrad.Size([2, 5, 16])
    """
    if not isinstance(model, Module):
        raise TypeError(f"parallelize: a module expected, got {type(model).__name__}")
    comm = comm or world()
    parts = [*_parts(model, comm)]
    if not parts:
        raise ValueError(
            f"parallelize: {type(model).__name__} has no transformer layer, no attention and no "
            f"embedding whose weight is shared: nothing to divide"
        )
    tied: dict[int, Parameter] = {}
    for module, part in parts:
        for name, axis in getattr(part, "divided", {}).items():
            whole = getattr(module, name)
            if axis == 0 and whole is not None:
                setattr(part, name, tied.setdefault(id(whole), getattr(part, name)))
    found: Any = replaced(model, {id(module): part for module, part in parts})
    divided = {id(parameter) for _, parameter, _ in divided_parameters(found)}
    tensors = (*found.parameters(), *found.buffers())
    copy_from_root([tensor for tensor in tensors if id(tensor) not in divided], comm)
    if comm.size > 1:
        drawing = random.get_state(), random.get_stream()
        state, stream = comm.all_gather_object(drawing)[0]
        random.set_state(state)
        random.set_stream(stream)
        Replicas("parallelize", found, comm)
    return found


def _parts(model: Module, comm: Communicator) -> Iterator[tuple[Module, Module]]:
    """The modules that are to be divided, each with this rank's part of it."""
    tables = {id(m.weight) for m in model.modules() if type(m) is Embedding}
    tied = tables & {id(m.weight) for m in model.modules() if type(m) is Linear}
    for module in model.modules():
        if type(module) is MultiHeadAttention:
            yield module, ParallelMultiHeadAttention(module, comm)
        elif isinstance(module, Layer):
            if isinstance(module.activation, Module) and [*module.activation.parameters()]:
                raise ValueError(
                    f"parallelize: the activation of {type(module).__name__} has parameters, "
                    f"which would be used by each rank for its own units only"
                )
            yield module.linear1, ColumnParallelLinear(module.linear1, comm)
            yield module.dropout, ParallelDropout(module.dropout, comm)
            yield module.linear2, RowParallelLinear(module.linear2, comm)
        elif type(module) is SwiGLU:
            yield module.gate_proj, ColumnParallelLinear(module.gate_proj, comm)
            yield module.up_proj, ColumnParallelLinear(module.up_proj, comm)
            yield module.down_proj, RowParallelLinear(module.down_proj, comm)
        elif type(module) is Embedding and id(module.weight) in tied:
            yield module, VocabularyParallelEmbedding(module, comm)
        elif type(module) is Linear and id(module.weight) in tied:
            yield module, ColumnParallelLinear(module, comm, gather_output=True)
