"""What goes wrong on some ranks: the argument says what."""

from __future__ import annotations

import sys
import time

import minigrad
from minigrad import distributed, nn
from minigrad.distributed import all_gather, all_reduce

WORLD = distributed.world()
RANK = WORLD.rank
x = minigrad.ones(3, requires_grad=True)
all_reduce(x)
mistake = sys.argv[1]

if mistake == "shape":
    all_reduce(minigrad.ones(3 + RANK))
elif mistake == "dtype":
    all_reduce(minigrad.ones(3).astype("int64" if RANK else "float32"))
elif mistake == "collective":
    all_gather(x) if RANK else all_reduce(x)
elif mistake == "group":
    pair = WORLD.split(0)
    all_reduce(x, comm=pair) if RANK else WORLD.barrier()
elif mistake == "unused":
    y = all_reduce(x)
    (x.sum() if RANK else y.sum()).backward()
    all_reduce(x)
elif mistake == "unused at the end":
    y = all_reduce(x)
    (x.sum() if RANK else y.sum()).backward()
elif mistake == "no backward pass":
    model = distributed.DistributedDataParallel(nn.Linear(3, 1))
    for step in range(2):
        loss = model(x).sum()
        if RANK == 0 or step:
            loss.backward()
elif mistake == "ended":
    if RANK == 0:
        all_reduce(x)
elif mistake == "exception":
    if RANK == 1:
        raise LookupError("rank 1 does not find it")
    all_reduce(x)
elif mistake == "late":
    WORLD.timeout = 1.0
    if RANK == 1:
        time.sleep(60)
    all_reduce(x)
elif mistake == "slow":
    distributed.communicators.WARN_AFTER = 1.5
    if RANK == 1:
        time.sleep(3)
    all_reduce(x)
    print("passed")
elif mistake == "waits":
    print("ready", flush=True)
    if RANK == 1:
        time.sleep(60)
    all_reduce(x)
else:
    raise ValueError(mistake)
