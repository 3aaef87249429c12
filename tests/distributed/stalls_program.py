"""Rank 1 is stopped in a call, after all ranks have agreed on it: the argument says in which."""

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import minigrad
from minigrad import distributed, nn

WORLD = distributed.world()
x = minigrad.ones(WORLD.size, 1000, requires_grad=True)
model = distributed.DistributedDataParallel(nn.Linear(1000, 1))
output = model(x).sum()
WORLD.barrier()
if WORLD.rank == 0:  # rank 1 may have to wait for rank 0 on a busy machine
    WORLD.timeout = model.comm.timeout = 0.5

CALLS: dict[str, Callable[[], Any]] = {
    "all_reduce": lambda: distributed.all_reduce(x),
    "maximum": lambda: distributed.all_reduce(x, "max"),
    "all_gather": lambda: distributed.all_gather(x),
    "reduce_scatter": lambda: distributed.reduce_scatter(x),
    "broadcast": lambda: distributed.broadcast(x, 1),
    "all_to_all": lambda: distributed.all_to_all(x, 0, 1),
    "ppermute": lambda: distributed.ppermute(x, 1),
    "all_gather_object": lambda: WORLD.all_gather_object(x.tolist()),
    "split": lambda: WORLD.split(0),
    "save_training": lambda: distributed.save_training(tempfile.mkdtemp(), model=model),
    "backward": output.backward,
    "barrier": WORLD.barrier,
}


def stops(method: Any) -> Any:
    """The method, at whose end rank 1 is stopped."""

    def call(*args: Any, **options: Any) -> Any:
        result = method(*args, **options)
        os.kill(os.getpid(), signal.SIGSTOP)
        return result

    return call


if WORLD.rank == 1 and sys.argv[1] == "barrier":
    os.kill(os.getpid(), signal.SIGSTOP)
elif WORLD.rank == 1:
    distributed.Communicator.compare = stops(  # type: ignore[method-assign]
        distributed.Communicator.compare
    )
if WORLD.rank == 0:
    print(time.time(), flush=True)
CALLS[sys.argv[1]]()
