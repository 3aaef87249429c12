"""Every collective on several ranks: values, derivatives, dtypes, sub-communicators."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, distributed, no_grad
from minigrad.autograd import grad
from minigrad.distributed import (
    all_gather,
    all_reduce,
    all_to_all,
    broadcast,
    ppermute,
    reduce_scatter,
)

WORLD = distributed.world()
RANK, SIZE = WORLD.rank, WORLD.size
PAIR = WORLD.split(RANK // 2)
assert PAIR is not None

CALLS: dict[str, Callable[..., Tensor]] = {
    "all_reduce": all_reduce,
    "all_reduce mean": lambda x, **k: all_reduce(x, "mean", **k),
    "all_reduce max": lambda x, **k: all_reduce(x, "max", **k),
    "all_gather": all_gather,
    "all_gather axis 1": lambda x, **k: all_gather(x, -2, **k),
    "reduce_scatter": reduce_scatter,
    "reduce_scatter axis 2": lambda x, **k: reduce_scatter(x, 2, **k),
    "broadcast": lambda x, comm: broadcast(x, comm.size - 1, comm=comm),
    "all_to_all": all_to_all,
    "all_to_all axes": lambda x, **k: all_to_all(x, 2, 1, **k),
    "ppermute": ppermute,
    "ppermute back": lambda x, **k: ppermute(x, -1, **k),
    "ppermute one": lambda x, comm: ppermute(x, [(0, comm.size - 1)], comm=comm),
    "nested": lambda x, **k: all_reduce(all_gather(reduce_scatter(x, 2, **k).sin(), 0, **k), **k),
}


def expected(name: str, xs: list[np.ndarray], rank: int) -> np.ndarray:
    """What NumPy makes of the tensors of all ranks."""
    n = len(xs)
    total = np.add.reduce([x.astype(int) if x.dtype == bool else x for x in xs])
    zeros = np.zeros_like(xs[0])
    return {
        "all_reduce": lambda: total,
        "all_reduce mean": lambda: np.mean(xs, axis=0),
        "all_reduce max": lambda: np.max(xs, axis=0),
        "all_gather": lambda: np.concatenate(xs),
        "all_gather axis 1": lambda: np.concatenate(xs, 1),
        "reduce_scatter": lambda: np.split(total, n)[rank],
        "reduce_scatter axis 2": lambda: np.split(total, n, 2)[rank],
        "broadcast": lambda: xs[-1],
        "all_to_all": lambda: np.concatenate([np.split(x, n)[rank] for x in xs]),
        "all_to_all axes": lambda: np.concatenate([np.split(x, n, 2)[rank] for x in xs], 1),
        "ppermute": lambda: xs[rank - 1],
        "ppermute back": lambda: xs[(rank + 1) % n],
        "ppermute one": lambda: xs[0] if rank == n - 1 else zeros,
        "nested": lambda: n * np.concatenate(np.sin(np.split(total, n, 2))),
    }[name]()


def arrays(dtype: str, shape: tuple[int, ...], n: int) -> list[np.ndarray]:
    """One array for each rank, in an awkward layout."""
    rng = np.random.default_rng(7)
    draws = [rng.integers(0, 3, shape[::-1]).astype(dtype) for _ in range(n)]
    return [draw.T[::-1] if rank else draw.T for rank, draw in enumerate(draws)]


for comm in (WORLD, PAIR):
    n = comm.size
    for dtype in ("float64", "float32", "float16", "int64", "int32", "int8", "uint8", "bool"):
        for shape in ((2 * n, 3, n), (0, 3, n), (n, 0, n)):
            xs = arrays(dtype, shape, n)
            for name, call in CALLS.items():
                if name != "nested" or dtype == "float64":
                    got = call(minigrad.asarray(xs[comm.rank]), comm=comm)
                    want = expected(name, xs, comm.rank)
                    rtol = {"float16": 2e-3, "float64": 1e-14}.get(dtype, 3e-7)
                    np.testing.assert_allclose(got.numpy(), want, rtol, err_msg=name)
                    summed = "reduce" in name and "max" not in name
                    kept = "int64" if summed and dtype == "bool" else dtype
                    mean = name == "all_reduce mean" and np.dtype(dtype).kind != "f"
                    assert got.dtype == ("float32" if mean else kept), (name, dtype, got.dtype)

numbers = all_gather(minigrad.tensor(float(RANK), requires_grad=True))
assert numbers.tolist() == [*range(SIZE)]
assert numbers.requires_grad
assert all_reduce(RANK).item() == sum(range(SIZE))
assert all_reduce(True).item() == SIZE
x = np.zeros(3)
x[1] = np.nan if RANK == 1 else -np.inf
assert np.isnan(all_reduce(x, "max").numpy()).tolist() == [False, True, False]


def total(value: float) -> float:
    """The sum over all ranks, by mpi4py itself."""
    return WORLD.mpi.allreduce(value)


def local(call: Callable[..., Tensor], x: Tensor, comm: Any) -> Tensor:
    """A function of x on this rank that is not linear, other on each rank."""
    y = call(x.sin() + x * x, comm=comm)
    weight = minigrad.tensor(np.cos(np.arange(y.numel()) + 2 * RANK).reshape(y.shape))
    return (weight * y * y.cos()).sum() * (1 + RANK)


def slope(
    call: Callable[..., Tensor], at: np.ndarray, way: np.ndarray, comm: Any
) -> tuple[float, np.ndarray, np.ndarray]:
    """The local value, the gradient, and the derivative of the latter along `way`."""
    x = minigrad.tensor(at, requires_grad=True)
    y = local(call, x, comm)
    (first,) = grad(y, [x], create_graph=True)
    (second,) = grad((first * way).sum(), [x])
    return y.item(), first.detach().numpy(), second.numpy()


rng = np.random.default_rng(RANK)
for comm in (WORLD, PAIR):
    n = comm.size
    for name, call in CALLS.items():
        values, direction, way = (rng.normal(size=(2 * n, 3, n)) for _ in range(3))
        _, first, second = slope(call, values, way, comm)
        for moving in (None, *range(SIZE)):  # all ranks move, or one alone
            step = 1e-5 * direction * (moving is None or moving == RANK)
            up, up_first, _ = slope(call, values + step, way, comm)
            down, down_first, _ = slope(call, values - step, way, comm)
            measured, rule = total(up - down), total((first * 2 * step).sum())
            np.testing.assert_allclose(measured, rule, rtol=1e-6, atol=1e-9, err_msg=name)
            measured = total(((up_first - down_first) * way).sum())
            rule = total((second * 2 * step).sum())
            np.testing.assert_allclose(measured, rule, rtol=1e-6, atol=1e-9, err_msg=name)

x = minigrad.tensor([1.0, 1.0, float(RANK)], requires_grad=True)
all_reduce(x, "max").sum().backward()
np.testing.assert_allclose(x.grad.numpy(), [1, 1, SIZE * (RANK == SIZE - 1)])

# Whether a call is recorded is the same on all ranks.
frozen = minigrad.ones(2, requires_grad=RANK == 0)
y = all_reduce(frozen)
assert y.requires_grad
y.sum().backward()
assert (frozen.grad is None) == (RANK > 0)
assert RANK or frozen.grad.tolist() == [SIZE, SIZE]
with no_grad() if RANK else minigrad.enable_grad():
    y = all_reduce(minigrad.ones(2, requires_grad=True))
assert y.requires_grad
y.sum().backward()
with no_grad():
    assert not all_reduce(minigrad.ones(2, requires_grad=True)).requires_grad
assert not all_reduce(minigrad.ones(2)).requires_grad

assert (WORLD.split(None if RANK else 3) is None) == (RANK > 0)
order = WORLD.split(0, -RANK)
assert order is not None
assert order.rank == SIZE - 1 - RANK
assert all_gather(RANK, comm=order).tolist() == [*range(SIZE)][::-1]
WORLD.barrier()
for bad in (
    lambda: reduce_scatter(minigrad.ones(2 * SIZE + 1)),
    lambda: all_to_all(minigrad.ones(3, 2 * SIZE + 1), 1),
    lambda: all_gather(minigrad.ones(3), 1),
    lambda: broadcast(minigrad.ones(3), SIZE),
    lambda: ppermute(minigrad.ones(3), [(0, 1), (0, 0)]),
    lambda: all_reduce(minigrad.ones(3), "min"),
):
    with pytest.raises(ValueError, match=f"{SIZE}|axis 1|min"):
        bad()

print("passed")
