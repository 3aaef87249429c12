"""Data parallelism on several ranks, beside one process with all the data."""

import copy
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, distributed, nn, optim, random
from minigrad.autograd import grad
from minigrad.distributed import DistributedDataParallel, DistributedSampler, SyncBatchNorm

WORLD = distributed.world()
RANK, SIZE = WORLD.rank, WORLD.size
minigrad.set_default_dtype(minigrad.float64)


def gathered(array: Any) -> list[Any]:
    """A value of every rank, by mpi4py itself."""
    return WORLD.mpi.allgather(np.asarray(array))


def close(got: Any, want: Any, rtol: float = 1e-12, atol: float = 0.0, **more: Any) -> None:
    got, want = (np.asarray(x.detach() if isinstance(x, Tensor) else x) for x in (got, want))
    np.testing.assert_allclose(got, want, rtol, atol, **more)


def same_on_all(model: nn.Module) -> bool:
    """Whether parameters, buffers and gradients are the same on all ranks, bit for bit."""
    values = [t.numpy() for t in model.state_dict().values()]
    values += [p.grad.numpy() for p in model.parameters() if p.grad is not None]
    every = gathered(np.concatenate([value.ravel() for value in values]))
    return all(np.array_equal(one, every[0]) for one in every)


class Net(nn.Module):
    """A model with a shared, a frozen and unused parameters; it runs as rank `rank` would."""

    def __init__(self) -> None:
        super().__init__()
        self.never = nn.Linear(2, 2)
        self.first = nn.Linear(5, 8)
        self.norm = nn.LayerNorm(8)
        self.tied = nn.Linear(8, 8, bias=False)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)
        self.even, self.odd = nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x: Tensor, rank: int) -> Tensor:
        x = self.tied(minigrad.tanh(self.tied(self.norm(self.first(x)))))
        return (self.odd if rank % 2 else self.even)(self.frozen(x))


rng = np.random.default_rng(0)
data = [minigrad.tensor(rng.normal(size=(4 * SIZE, 5))) for _ in range(4)]
labels = minigrad.tensor(rng.integers(0, 3, 4 * SIZE))
share = slice(4 * RANK, 4 * RANK + 4)


def train(model: Any, whole: bool, steps: int = 3) -> list[float]:
    """Some steps with clipping; on all data as one process does, or on this rank's share."""
    optimizer = optim.AdamW(model.parameters(), lr=0.05)
    norms = []
    for batch in data[:steps]:
        optimizer.zero_grad()
        if whole:
            parts = [model(batch[4 * r : 4 * r + 4], r) for r in range(SIZE)]
            loss = nn.functional.cross_entropy(minigrad.concatenate(parts), labels)
        else:
            loss = nn.functional.cross_entropy(model(batch[share], RANK), labels[share])
        loss.backward()
        norms.append(float(nn.utils.clip_grad_norm(model.parameters(), 0.1)))
        optimizer.step()
    return norms


# One process with the whole batch, or the shares of all ranks: the same numbers.
random.seed(RANK)
model = Net()
parallel = DistributedDataParallel(model, bucket_size=0.0003)
assert same_on_all(model)
alone = copy.deepcopy(model)
before = copy.deepcopy(model)
expected = train(alone, whole=True)
close(train(parallel, whole=False), expected)
assert same_on_all(model)
for (name, one), other in zip(model.named_parameters(), alone.parameters(), strict=True):
    close(one, other, atol=1e-12, err_msg=name)
    assert (one.grad is None) == (other.grad is None), name
    if one.grad is not None:
        scale = abs(other.grad.numpy()).max()
        close(one.grad, other.grad, 0, 1e-12 * scale, err_msg=name)
assert model.never.weight.grad is model.frozen.weight.grad is None

# The same once more, bit for bit, and with one large bucket.
for size in (0.0003, 25):
    again = DistributedDataParallel(copy.deepcopy(before), bucket_size=size)
    train(again, whole=False)
    for one, other in zip(again.parameters(), model.parameters(), strict=True):
        close(one, other, *(0, 0) if size < 1 else (1e-12, 1e-12))

# Buckets start while the pass runs.
started: list[int] = []
handle = model.first.bias.register_hook(lambda g: started.append(parallel._reducer.started))
model.zero_grad()
parallel(data[3][share], 0).sum().backward()
buckets = parallel._reducer.buckets
assert 0 < started[0] < len(buckets), started
handle.remove()

# Accumulated gradients are averaged with the last.
model.zero_grad()
with parallel.no_sync():
    for batch in data[:2]:
        parallel(batch[share], RANK).square().mean().backward()
kept = model.first.weight.grad.numpy().copy()
assert not np.array_equal(*gathered(kept)[:2]), "no_sync has averaged"
parallel(data[2][share], RANK).square().mean().backward()
reference = copy.deepcopy(model)
reference.zero_grad()
for r in range(SIZE):
    for batch in data[:3]:
        (reference(batch[4 * r : 4 * r + 4], r).square().mean() / SIZE).backward()
for one, other in zip(model.parameters(), reference.parameters(), strict=True):
    if other.grad is not None:
        close(one.grad, other.grad, 1e-11, 1e-14)
assert same_on_all(model)
held = model.first.weight.grad
snapshot = held.numpy().copy()
model.zero_grad()
parallel(data[3][share], RANK).mean().backward()
np.testing.assert_array_equal(held.numpy(), snapshot)  # a gradient that is kept stays

# grad() returns this rank's gradient; backward of the inner module stays on this rank.
(own,) = grad(parallel(data[0][share], RANK).square().mean(), [model.first.weight])
assert not np.array_equal(*gathered(own.numpy())[:2])
model.zero_grad()
model(data[0][share], RANK).square().mean().backward()
np.testing.assert_array_equal(model.first.weight.grad.numpy(), own.numpy())
with pytest.raises(RuntimeError, match="create_graph=True"):
    parallel(data[0][share], RANK).square().mean().backward(create_graph=True)

# Tensors in objects.


@dataclass
class Result:
    scores: Tensor


class Both:
    __slots__ = ("rest", "result")

    def __init__(self, result: Any) -> None:
        self.result, self.rest = result, {"itself": self}


class Returning(nn.Module):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.inner, self.kind = nn.Linear(5, 1), kind

    def forward(self, x: Tensor) -> Any:
        return self.kind(self.inner(x))


for kind, reach in {
    Result: lambda out: out.scores,
    Both: lambda out: out.result,
    lambda y: Both(Result(y)): lambda out: out.result.scores,
    lambda y: SimpleNamespace(all=[(y,)]): lambda out: out.all[0][0],
}.items():
    returning = DistributedDataParallel(Returning(kind))
    out = returning(data[0][share])
    assert isinstance(out, (Result, Both, SimpleNamespace))
    reach(out).square().mean().backward()
    assert same_on_all(returning.module)
    assert abs(returning.module.inner.weight.grad.numpy()).max()

# Running statistics are those of rank 0; what the backward pass did not change is not sent.
normed = DistributedDataParallel(nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1)))
normed.module.register_buffer("scale", minigrad.ones(3))
own = copy.deepcopy(normed.module)
for batch in data[:3]:
    normed(batch[share]).square().mean().backward()
    own(batch[share])
    assert same_on_all(normed.module)
root = gathered(own[0].running_var.numpy())[0]
np.testing.assert_array_equal(normed.module[0].running_var.numpy(), root)
assert normed.module[0].num_batches_tracked == 3
kept = DistributedDataParallel(copy.deepcopy(own), broadcast_buffers=False)
kept(data[3][share]).square().mean().backward()
assert not np.array_equal(*gathered(kept.module[0].running_var.numpy())[:2])

# A model of which nothing is trained passes gradients on, and its statistics are kept alike.
frozen = DistributedDataParallel(nn.BatchNorm1d(5).requires_grad_(False))
x = data[0][share].detach().requires_grad_()
frozen(x).square().sum().backward()
assert x.grad is not None
assert same_on_all(frozen.module)
plain_frozen = DistributedDataParallel(nn.Linear(5, 1).requires_grad_(False))
plain_frozen(x).sum().backward()

# A deep copy is trained alone, and one rank may copy without the others.
twin = copy.deepcopy(normed)
if RANK == 0:
    with minigrad.no_grad():
        copy.deepcopy(normed)(data[0][share])
before_twin = [p.numpy().copy() for p in normed.parameters()]
optimizer = optim.SGD(twin.parameters(), lr=0.1)
for batch in data[:2]:
    optimizer.zero_grad()
    (twin(batch[share]).square().mean() + normed(batch[share]).mean()).backward()
    optimizer.step()
    assert same_on_all(twin.module)
    assert same_on_all(normed.module)
assert twin.comm is not normed.comm
assert twin._reducer is not normed._reducer
for one, other in zip(normed.parameters(), before_twin, strict=True):
    np.testing.assert_array_equal(one.numpy(), other)
assert not np.array_equal(twin.module[1].weight.numpy(), before_twin[2])

# A captured step with a model on several ranks runs as it is, and a warning says why.
stepped = DistributedDataParallel(nn.Linear(5, 1))
optimizer = optim.SGD(stepped.parameters(), lr=0.1)


@minigrad.capture
def step(x: Tensor) -> Tensor:
    optimizer.zero_grad()
    loss = stepped(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    captured = [step(data[0][share]).item() for _ in range(3)]
assert "step runs plainly from now on: the step calls a collective" in str(caught[0].message)
assert captured[0] > captured[1] > captured[2]
assert same_on_all(stepped.module)

# A rank whose loss uses no parameter at all.
small = DistributedDataParallel(nn.Linear(2, 1, bias=False))
x = minigrad.ones(3, 2, requires_grad=True)
((small(x) * (0 if RANK else 1)).sum() + x.sum()).backward()
close(small.module.weight.grad, [[3 / SIZE, 3 / SIZE]], 1e-7)

# A sum over unequal counts, divided by the global count.
counts = [3 + r for r in range(SIZE)]
rows = np.random.default_rng(1).normal(size=(sum(counts), 2))
mine = rows[sum(counts[:RANK]) :][: counts[RANK]]
small.zero_grad()
errors = small(minigrad.tensor(mine)).square()
count = distributed.all_reduce(float(errors.numel()))
(errors.sum() * SIZE / count).backward()
weight = small.module.weight.detach().requires_grad_()
(minigrad.tensor(rows) @ weight.T).square().mean().backward()
close(small.module.weight.grad, weight.grad)

# Dropout differs between ranks, and is the same in each run.
masks = []
for _ in range(2):
    random.seed(5)
    drop = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)))
    masks.append(drop(minigrad.ones(64, 4)).numpy() == 0)
np.testing.assert_array_equal(*masks)
assert not np.array_equal(*gathered(masks[0])[:2])
np.testing.assert_array_equal(*gathered(minigrad.randn(3).numpy())[:2])

# Every sample once, and batches of all ranks together are those of one process.
sampler = DistributedSampler(range(4 * SIZE + 1), seed=3)
sampler.set_epoch(1)
parts = gathered([*sampler])
assert {len(part) for part in parts} == {5} == {len(sampler)}
assert {*np.concatenate(parts).tolist()} == {*range(4 * SIZE + 1)}
short = DistributedSampler(range(4 * SIZE + 1), drop_last=True, shuffle=False)
assert [*short] == [*range(RANK, 4 * SIZE, SIZE)]
sampler.set_epoch(2)
assert [*sampler] != parts[RANK].tolist()

# Batch normalization over all ranks, with batches of unequal sizes.
random.seed(0)
convolution = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU())
plain = nn.Sequential(convolution, nn.Flatten(), nn.Linear(27, 2))
synced = SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(plain))
assert isinstance(synced[0][1], SyncBatchNorm)
shared = nn.BatchNorm1d(2)  # under a key that is a digit, and twice in the model
keyed = nn.ModuleDict({"7": shared, "list": nn.ModuleList([shared])})
SyncBatchNorm.convert_sync_batchnorm(keyed)
assert list(keyed) == ["7", "list"]
assert isinstance(keyed["7"], SyncBatchNorm)
assert keyed["list"][0] is keyed["7"]
images = np.random.default_rng(2).normal(size=(sum(counts), 2, 5, 5))
mine = images[sum(counts[:RANK]) :][: counts[RANK]]
for _ in range(2):
    plain.zero_grad()
    synced.zero_grad()
    plain(minigrad.tensor(images)).square().sum().backward()
    synced(minigrad.tensor(mine)).square().sum().backward()
    for one, other in zip(synced.parameters(), plain.parameters(), strict=True):
        close(WORLD.mpi.allreduce(one.grad.numpy()), other.grad, 1e-9, 1e-11)
for one, other in zip(synced.buffers(), plain.buffers(), strict=True):
    close(one, other)
x = minigrad.tensor(mine)
close(synced.eval()(x), plain.eval()(x))

# float16 gradients are added in float32.
half = DistributedDataParallel(nn.Linear(2, 1).half())
half(minigrad.ones(1, 2, dtype=minigrad.float16)).sum().backward()
grad_of_half = half.module.weight.grad
assert (grad_of_half.dtype, grad_of_half.tolist()) == (np.float16, [[1, 1]])

# Models that differ are refused by all.
differ = r"DistributedDataParallel\(Linear\): the ranks differ; the first difference is weight"
with pytest.raises(RuntimeError, match=differ):
    DistributedDataParallel(nn.Linear(2, 1 + RANK))

print("passed")
