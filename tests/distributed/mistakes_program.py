"""What goes wrong on some ranks: the argument says what."""

import gc
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import minigrad
from minigrad import distributed, nn, optim
from minigrad.autograd import grad
from minigrad.distributed import all_gather, all_reduce
from minigrad.func import functional_call

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


def trained(*layers: nn.Module, number: int = 1) -> tuple[Any, Any]:
    """A model and an optimizer after some steps."""
    model = data_parallel(*layers)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    steps(model, optimizer, number)
    return model, optimizer


match mistake:
    case "shape":
        all_reduce(minigrad.ones(3 + RANK))
    case "dtype":
        all_reduce(minigrad.ones(3).astype("int64" if RANK else "float32"))
    case "collective":
        all_gather(x) if RANK else all_reduce(x)
    case "group":
        pair = WORLD.split(0)
        all_reduce(x, comm=pair) if RANK else WORLD.barrier()
    case "unused" | "unused at the end":
        y = all_reduce(x)
        (x.sum() if RANK else y.sum()).backward()
        if mistake == "unused":
            all_reduce(x)
    case "no backward pass":
        model = distributed.DistributedDataParallel(nn.Linear(3, 1))
        for step in range(2):
            loss = model(x).sum()
            if RANK == 0 or step:
                loss.backward()
    case "ended":
        if RANK == 0:
            all_reduce(x)
    case "exception":
        if RANK == 1:
            raise LookupError("rank 1 does not find it")
        all_reduce(x)
    case "late":
        WORLD.timeout = 0.5
        if RANK == 1:
            time.sleep(600)
        all_reduce(x)
    case "threads" | "a thread each":
        comms = [WORLD.split(0) if mistake == "a thread each" else WORLD for _ in range(2)]

        def work(comm: Any) -> None:
            for _ in range(100):
                all_reduce(x.detach(), comm=comm)

        with ThreadPoolExecutor(2) as pool:
            [*pool.map(work, comms)]
        print("passed")
    case "slow":
        distributed.waiting.WARN_AFTER = 0.2
        if RANK == 1:
            time.sleep(1)
        all_reduce(x)
        print("passed")
    case "ended, with another communicator":
        if RANK == 0:
            all_reduce(x, comm=distributed.Communicator(WORLD.mpi))
    case "exit":
        if RANK == 1:
            sys.exit(3)
        all_reduce(x)
    case "collected":
        model, _ = trained(number=2)
        model.itself = [model]  # only a garbage collection finds it
        del model, _
        if RANK == 0:
            gc.collect()
        print("passed")
    case "one evaluates a divided model":
        layer = distributed.parallelize(nn.TransformerEncoderLayer(8, 4, dim_feedforward=16))
        if RANK == 0:
            layer(minigrad.ones(2, 3, 8))
    case "one works on":
        if RANK == 0:
            time.sleep(0.5)
        print("passed")
    case "stopped at the end":
        WORLD.timeout = 0.5
        if RANK == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
    case "models":
        data_parallel(nn.Linear(3, 2), nn.Linear(2, 1 + RANK))
    case "rate":
        model = data_parallel()
        steps(model, optim.AdamW(model.parameters(), lr=0.01 * (RANK + 1)), 2)
    case "schedule":
        model, optimizer = trained(number=5)
        if RANK:
            optimizer.param_groups[0]["lr"] = 0.02
        steps(model, optimizer, 7)
    case "loaded on one":
        model = data_parallel()
        if RANK == 0:
            model.module.load_state_dict(nn.Sequential(nn.Linear(3, 1)).state_dict())
        steps(model, optim.SGD(model.parameters(), lr=0.01), 1)
    case "module called":
        model, optimizer = trained()
        for _ in range(9):
            model(minigrad.ones(4, 3)).mean().backward()
            steps(model.module, optimizer, 1)
        steps(model, optimizer, 1)
    case "gradients taken" | "told to some" | "never averaged" | "saved" | "at the end":
        model = data_parallel()
        optimizer = optim.SGD(model.parameters(), lr=0.01)
        for _ in range(2 if mistake not in {"saved", "at the end"} else 1):
            with model.no_sync() if mistake == "never averaged" else nullcontext():
                loss = model(minigrad.ones(4, 3) * (RANK + 1)).square().mean()
            if mistake == "told to some":
                loss.backward(inputs=[*model.parameters()])
            elif mistake == "never averaged":
                loss.backward()
            else:
                params = [*model.parameters()]
                for param, gradient in zip(params, grad(loss, params), strict=True):
                    param.grad = gradient
            optimizer.step()
        if mistake == "saved":
            distributed.save_training(sys.argv[2], model=model)
        print("passed")
    case "functional_call":
        model = data_parallel()
        zeros = {name: minigrad.zeros(*p.shape) for name, p in model.named_parameters()}
        assert functional_call(model, zeros, minigrad.ones(4, 3)).sum() == 0
        layer = distributed.parallelize(nn.TransformerEncoderLayer(8, 2, dim_feedforward=16))
        zeros = {name: minigrad.zeros(*p.shape) for name, p in layer.named_parameters()}
        functional_call(layer, zeros, minigrad.ones(2, 3, 8))
        print("passed")
    case "added":
        model, optimizer = trained(nn.Linear(3, 2))
        model.module.append(nn.Linear(2, 1))
        steps(model, optimizer, 1)
    case "unfrozen":
        frozen = nn.Linear(3, 2).requires_grad_(False)
        model, optimizer = trained(frozen, nn.Linear(2, 1))
        model.requires_grad_()
        steps(model, optimizer, 1)
    case "divided rate":
        layer = distributed.parallelize(nn.TransformerEncoderLayer(8, 2, dim_feedforward=16))
        optimizer = optim.SGD(layer.parameters(), lr=0.01 * (RANK + 1))
        for _ in range(2):
            layer(minigrad.ones(2, 3, 8)).square().mean().backward()
            optimizer.step()
    case "waits":
        print("ready", flush=True)
        if RANK == 1:
            time.sleep(600)
        all_reduce(x)
    case _:
        raise ValueError(mistake)
