"""Several machines: collectives as ops with rules, on MPI (``pip install mpi4py mpich``).

Read it in this order: `communicators` (who takes part), `collectives` (the ops and their rules),
`data_parallel` (the model on every rank, the data divided).
"""

from minigrad.distributed.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    ppermute,
    reduce_scatter,
)
from minigrad.distributed.communicators import Communicator, world
from minigrad.distributed.data_parallel import (
    DistributedDataParallel,
    DistributedSampler,
    SyncBatchNorm,
)

__all__ = [
    "Communicator", "DistributedDataParallel", "DistributedSampler", "SyncBatchNorm", "all_gather",
    "all_reduce", "all_to_all", "broadcast", "ppermute", "reduce_scatter", "world",
]  # fmt: skip
