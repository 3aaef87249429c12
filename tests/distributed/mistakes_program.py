"""What goes wrong on some ranks: the argument says what."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from typing import Any

import minigrad
from minigrad import distributed, nn, optim
from minigrad.distributed import all_gather, all_reduce

WORLD = distributed.world()
RANK = WORLD.rank
x = minigrad.ones(3, requires_grad=True)
all_reduce(x)
mistake = sys.argv[1]


def data_parallel(*layers: nn.Module) -> Any:
    """A model on all ranks, with batches of their own."""
    return distributed.DistributedDataParallel(nn.Sequential(*layers or [nn.Linear(3, 1)]))


def steps(model: Any, optimizer: Any, count: int) -> None:
    """Training steps."""
    for number in range(count):
        optimizer.zero_grad()
        model(minigrad.ones(4, 3) * (RANK + number + 1)).square().mean().backward()
        optimizer.step()


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
    WORLD.timeout = 0.5
    if RANK == 1:
        time.sleep(60)
    all_reduce(x)
elif mistake == "slow":
    distributed.waiting.WARN_AFTER = 0.2
    if RANK == 1:
        time.sleep(1)
    all_reduce(x)
    print("passed")
elif mistake == "ended, with another communicator":
    if RANK == 0:
        all_reduce(x, comm=distributed.Communicator(WORLD.mpi))
elif mistake == "exit":
    if RANK == 1:
        sys.exit(3)
    all_reduce(x)
elif mistake == "collected":
    model = data_parallel()
    model.itself = [model]  # only a garbage collection finds it
    steps(model, optim.SGD(model.parameters(), lr=0.01), 2)
    del model
    if RANK == 0:
        gc.collect()
    print("passed")
elif mistake == "one evaluates a divided model":
    layer = distributed.parallelize(nn.TransformerEncoderLayer(8, 4, dim_feedforward=16))
    if RANK == 0:
        layer(minigrad.ones(2, 3, 8))
elif mistake == "one works on":
    if RANK == 0:
        time.sleep(0.5)
    print("passed")
elif mistake == "stopped at the end":
    WORLD.timeout = 0.5
    if RANK == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
elif mistake == "models":
    data_parallel(nn.Linear(3, 2), nn.Linear(2, 1 + RANK))
elif mistake == "rate":
    model = data_parallel()
    steps(model, optim.AdamW(model.parameters(), lr=0.01 * (RANK + 1)), 2)
elif mistake == "schedule":
    model = data_parallel()
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    for number in range(12):
        steps(model, optimizer, 1)
        if number == 4 and RANK:
            optimizer.param_groups[0]["lr"] = 0.02
elif mistake == "loaded on one":
    model = data_parallel()
    if RANK == 0:
        model.module.load_state_dict(nn.Sequential(nn.Linear(3, 1)).state_dict())
    steps(model, optim.SGD(model.parameters(), lr=0.01), 1)
elif mistake == "module called":
    model = data_parallel()
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    steps(model, optimizer, 1)
    for _ in range(9):
        model(minigrad.ones(4, 3)).mean().backward()
        steps(model.module, optimizer, 1)
    steps(model, optimizer, 1)
elif mistake == "added":
    model = data_parallel(nn.Linear(3, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    steps(model, optimizer, 1)
    model.module.append(nn.Linear(2, 1))
    steps(model, optimizer, 1)
elif mistake == "unfrozen":
    model = data_parallel(nn.Linear(3, 2).requires_grad_(False), nn.Linear(2, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    steps(model, optimizer, 1)
    model.requires_grad_()
    steps(model, optimizer, 1)
elif mistake == "divided rate":
    layer = distributed.parallelize(nn.TransformerEncoderLayer(8, 2, dim_feedforward=16))
    optimizer = optim.SGD(layer.parameters(), lr=0.01 * (RANK + 1))
    for _ in range(2):
        layer(minigrad.ones(2, 3, 8)).square().mean().backward()
        optimizer.step()
elif mistake == "waits":
    print("ready", flush=True)
    if RANK == 1:
        time.sleep(60)
    all_reduce(x)
else:
    raise ValueError(mistake)
