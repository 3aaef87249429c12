"""Saving and resuming a training run on several ranks: run, resume, and be killed while saving."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import distributed, nn, optim, pretrained
from minigrad.data import DataLoader, TensorDataset

WORLD = distributed.world()
RANK, SIZE = WORLD.rank, WORLD.size
MODE, FOLDER = sys.argv[1], Path(sys.argv[2])
rng = np.random.default_rng(0)


class Run:
    """A divided GPT-2, a model with divided optimizer states, and all that belongs to them."""

    def __init__(self, seed: int, divide: bool = True) -> None:
        minigrad.random.seed(seed)
        config = pretrained.GPT2Config(
            vocab_size=17, n_positions=8, n_embd=24, n_layer=2, n_head=12, n_inner=24,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip
        self.gpt = pretrained.GPT2(config).double()
        if divide:
            self.gpt = distributed.parallelize(self.gpt)
        self.optimizer = optim.SGD(self.gpt.parameters(), lr=0.1, momentum=0.9)
        self.schedule = optim.lr_scheduler.StepLR(self.optimizer, 2, 0.5)
        texts = [np.arange(i, i + 7) % 17 for i in range(12)]
        self.loader = DataLoader(texts, batch_size=2, shuffle=True, generator=seed)
        self.linear = nn.Linear(5, 3).double()
        self.zero = distributed.ZeroRedundancyOptimizer(optim.AdamW(self.linear.parameters()))

    @property
    def parts(self) -> dict[str, Any]:
        return {
            "gpt": self.gpt, "optimizer": self.optimizer, "schedule": self.schedule,
            "loader": self.loader, "linear": self.linear, "zero": self.zero,
        }  # fmt: skip

    def train(self, batches: Any, steps: int) -> list[float]:
        losses = []
        for _ in range(steps):
            ids = next(batches).numpy()
            logits = self.gpt(ids[:, :-1]).reshape(-1, 17)
            loss = nn.functional.cross_entropy(logits, ids[:, 1:].reshape(-1))
            second = (self.linear(minigrad.ones(2, 5, dtype="float64")) ** 2).mean()
            for value, optimizer in ((loss, self.optimizer), (second, self.zero)):
                optimizer.zero_grad()
                value.backward()
                optimizer.step()
            self.schedule.step()
            losses += [loss.item(), second.item()]
        return losses


def weights(run: Run) -> dict[str, np.ndarray]:
    models = {"gpt": run.gpt, "linear": run.linear}
    return {f"{k}.{n}": t.numpy() for k, m in models.items() for n, t in m.state_dict().items()}


def killed_at(moment: int, original: Any, calls: list[int]) -> Any:
    """A function of `os` that kills this process, if it is the call of that number."""

    def call(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*args, **kwargs)

    return call


if MODE == "run":
    run = Run(seed=1)
    batches = iter(run.loader)
    run.train(batches, 3)
    minigrad.random.seed(100 + RANK)  # as of data parallel dropout: another on each rank
    distributed.save_training(FOLDER, **run.parts, step=3)
    expected = {
        "losses": run.train(batches, 3), "weights": weights(run),
        "draw": minigrad.random.rand(1).item(),
    }  # fmt: skip
    minigrad.save(expected, FOLDER.parent / f"expected{RANK}.npz")
    if RANK == 0:
        names = sorted(path.name for path in FOLDER.iterdir())
        assert (len(names), names[-1]) == (SIZE + 1, "index.npz"), names
        # What is equal on all ranks is written once
        written = [minigrad.load(path) for path in FOLDER.glob("*.rank*.npz")]
        assert sum("states.linear.weight" in part for part in written) == 1
        assert sum("states.gpt.head.weight" in part for part in written) == SIZE
elif MODE in ("resume", "whole"):
    run = Run(seed=2, divide=MODE == "resume")
    values = distributed.load_training(FOLDER, **run.parts)
    assert values == {"step": 3}
    losses = run.train(iter(run.loader), 3)
    expected = minigrad.load(FOLDER.parent / f"expected{min(RANK, int(sys.argv[3]) - 1)}.npz")
    draw = minigrad.random.rand(1).item()
    if int(sys.argv[3]) == SIZE:
        assert losses == expected["losses"]
        assert draw == expected["draw"]
        for name, array in weights(run).items():
            assert array.tobytes() == expected["weights"][name].tobytes(), name
    else:
        np.testing.assert_allclose(losses, expected["losses"], rtol=1e-11)
    run.linear = nn.Linear(5, 4)
    before = weights(run)
    # what does not fit on any rank changes nothing on any other
    with pytest.raises((RuntimeError, ValueError), match="linear"):
        distributed.load_training(FOLDER, **{**run.parts, "linear": nn.Linear(5, 3 + (RANK == 0))})
    assert all((array == before[name]).all() for name, array in weights(run).items())
elif MODE in ("run data", "resume data"):  # data parallel, in the middle of an epoch
    samples = TensorDataset(*[minigrad.tensor(rng.normal(size=(24, w))) for w in (3, 1)])
    minigrad.random.seed(1 if MODE == "run data" else 2)
    model = distributed.DistributedDataParallel(nn.Linear(3, 1).double())
    optimizer = distributed.ZeroRedundancyOptimizer(optim.AdamW(model.parameters(), lr=0.1))
    sampler = distributed.DistributedSampler(samples, seed=5)
    sampler.set_epoch(3 if MODE == "run data" else 0)
    loader = DataLoader(samples, batch_size=8 // SIZE, sampler=sampler)
    parts = {"model": model, "optimizer": optimizer, "sampler": sampler, "loader": loader}

    def train(batches: Any) -> None:
        x, y = next(batches)
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()

    if MODE == "run data":
        batches = iter(loader)
        train(batches)
        train(batches)
        distributed.save_training(FOLDER, **parts)
        train(batches)
        minigrad.save({"weight": model.module.weight.detach()}, FOLDER.parent / "data.npz")
    else:
        distributed.load_training(FOLDER, **parts)
        train(iter(loader))
        expected = minigrad.load(FOLDER.parent / "data.npz")["weight"].numpy()
        found = model.module.weight.detach().numpy()
        np.testing.assert_allclose(found, expected, rtol=0 if SIZE == 2 else 1e-12)
elif MODE == "statistics":  # running ones, of ranks with other batches
    model = distributed.DistributedDataParallel(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    if not FOLDER.exists():
        model(minigrad.randn(8, 3) * (RANK + 1)).square().mean().backward()
        assert np.ptp(WORLD.mpi.allgather(model.module[1].running_var.numpy()), axis=0).max() == 0
        distributed.save_training(FOLDER, model=model)
    else:
        distributed.load_training(FOLDER, model=model)
        assert model.module[1].num_batches_tracked == 1
elif MODE == "grid":  # pairs of ranks share a model; every other rank has the same part of it
    group = WORLD.split(RANK // 2)
    minigrad.random.seed(0)
    model = distributed.parallelize(nn.MultiHeadAttention(12, 6).double(), group)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = minigrad.ones(1, 3, 12, dtype="float64") * np.arange(12)
    if SIZE == 4:
        (model(x, x, x) ** 2).mean().backward()
        optimizer.step()
        distributed.save_training(FOLDER, model=model, optimizer=optimizer)
        minigrad.save({"output": model(x, x, x).detach()}, FOLDER.parent / f"grid{RANK}.npz")
    else:
        distributed.load_training(FOLDER, model=model, optimizer=optimizer)
        expected = minigrad.load(FOLDER.parent / "grid3.npz")["output"].numpy()
        np.testing.assert_allclose(model(x, x, x).numpy(), expected, rtol=1e-12)
elif MODE == "kill":
    # Each run finds a whole save, and is killed before a certain step of writing the next one.
    victim, moment = int(sys.argv[3]), int(sys.argv[4])
    model = distributed.parallelize(nn.MultiHeadAttention(12, 6, bias=False))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    step = 0
    if (FOLDER / "index.npz").exists():
        step = distributed.load_training(FOLDER, model=model, optimizer=optimizer)["step"]
        assert all((p.data == step).all() for p in model.parameters()), "weights of another save"
        states = [s["momentum_buffer"] for s in optimizer.state.values()]
        assert len(states) == 4
        assert all((state == 10 * step).all() for state in states)
    for parameter in model.parameters():
        parameter.data[...] = step + 1
        optimizer.state[parameter] = {"momentum_buffer": 10 * parameter.numpy()}
    print(f"found {step}", flush=True)
    WORLD.barrier()
    calls = [0]
    for name in ("fsync", "replace", "unlink"):
        setattr(os, name, killed_at(moment if victim == RANK else 0, getattr(os, name), calls))
    distributed.save_training(FOLDER, model=model, optimizer=optimizer, step=step + 1)
    assert RANK or len([*FOLDER.iterdir()]) == SIZE + 1, "left over"
print("passed")
