"""Several machines: collectives as ops with rules, on MPI (``pip install mpi4py mpich``).

Importing it under `mpiexec` starts MPI, so that from then on a rank that fails ends all.

Read it in this order: `communicators` (who takes part) with the `start_guard` beside it, `waiting`
(no wait is for ever), `collectives` (the ops and their rules), `data_parallel` (the model on every
rank, the data divided) with its `reducer` and `replicas`, `sync_batch_norm`, `tensor_parallel`
(layers divided among ranks), `plan` (a whole model), `zero_redundancy` (optimizers), `saving`.
"""

from minigrad.distributed.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    ppermute,
    reduce_scatter,
)
from minigrad.distributed.communicators import Communicator, start, world
from minigrad.distributed.data_parallel import DistributedDataParallel, DistributedSampler
from minigrad.distributed.plan import parallelize
from minigrad.distributed.saving import load_training, save_training
from minigrad.distributed.sync_batch_norm import SyncBatchNorm
from minigrad.distributed.tensor_parallel import (
    ColumnParallelLinear,
    RowParallelLinear,
    copy_to_parts,
    sum_of_parts,
)
from minigrad.distributed.zero_redundancy import ZeroRedundancyOptimizer

__all__ = [
    "ColumnParallelLinear", "Communicator", "DistributedDataParallel", "DistributedSampler",
    "RowParallelLinear", "SyncBatchNorm", "ZeroRedundancyOptimizer", "all_gather", "all_reduce",
    "all_to_all", "broadcast", "copy_to_parts", "load_training", "parallelize", "ppermute",
    "reduce_scatter", "save_training", "sum_of_parts", "world",
]  # fmt: skip

start()
