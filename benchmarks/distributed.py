"""Data parallelism on 1, 2 and 4 ranks of one machine, beside PyTorch's DDP on gloo.

Both train the same encoder, each rank on a batch of its own. For each number of ranks, both
libraries have processes of their own, which take turns: in every round each library makes a few
steps with communication, and a few without (`no_sync`). Then messages of several sizes are timed,
and a model of latency α and bandwidth 1/β is fitted to them:

    time of an all_reduce of b bytes on n ranks = 2 (n - 1) α + 2 (n - 1) / n b β

It is checked by leaving one point out, and drawn for 1 to 1,024 machines, for BERT-base and a GPT
of 7 billion parameters, data, tensor and pipeline parallel. Written are distributed.csv and
distributed.png.

    python benchmarks/distributed.py --quick
"""

import argparse
import copy
import csv
import functools
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

RANKS = (1, 2, 4)
SIZES = [1 << power for power in range(10, 25, 2)]  # bytes of a message
WIDTH, HEADS, LAYERS, BATCH, LENGTH = 256, 8, 4, 8, 64
ROUNDS, STEPS = 8, 3


# The work of a rank ---------------------------------------------------------------------------


class Work(NamedTuple):
    """The work of a library on a rank: a step with and without communication, and a message."""

    step: Callable[[bool], None]
    all_reduce: Callable[[int], Callable[[], object]]
    bytes_sent: int


def minigrad_work(_rank: int, ranks: int) -> Work:
    """Our encoder in `DistributedDataParallel`."""
    import numpy as np

    import minigrad
    from minigrad import distributed, nn, optim

    minigrad.keep_freed_memory(1024)
    minigrad.random.seed(0)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, norm_first=True)
    model = distributed.DistributedDataParallel(nn.TransformerEncoder(layer, LAYERS))
    optimizer = optim.SGD(model.parameters(), lr=1e-3)
    x = minigrad.randn(BATCH, LENGTH, WIDTH)
    comm = distributed.world()

    def step(sends: bool) -> None:
        optimizer.zero_grad()
        if sends:
            model(x).square().mean().backward()
        else:
            with model.no_sync():
                model(x).square().mean().backward()
        optimizer.step()

    def all_reduce(size: int) -> Callable[[], object]:
        sent, received = np.ones(size // 4, np.float32), np.empty(size // 4, np.float32)
        return lambda: comm.mpi.Allreduce(sent, received)

    parameters = sum(parameter.numel() for parameter in model.parameters())
    return Work(step, all_reduce, 2 * (ranks - 1) * 4 * parameters // ranks)


def torch_work(rank: int, ranks: int) -> Work:
    """PyTorch's encoder in its `DistributedDataParallel`."""
    from contextlib import nullcontext

    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    layer = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True
    )
    encoder = torch.nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    model = torch.nn.parallel.DistributedDataParallel(encoder)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(BATCH, LENGTH, WIDTH)

    def step(sends: bool) -> None:
        optimizer.zero_grad()
        with nullcontext() if sends else model.no_sync():
            model(x).square().mean().backward()
        optimizer.step()

    parameters = sum(parameter.numel() for parameter in model.parameters())
    return Work(
        step, lambda size: lambda: torch.distributed.all_reduce(torch.ones(size // 4)),
        2 * (ranks - 1) * 4 * parameters // ranks,
    )  # fmt: skip


def divided_bytes() -> list[int]:
    """The bytes on this rank of divided weights, and of the states of a divided optimizer."""
    import minigrad
    from minigrad import distributed, nn, optim

    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, norm_first=True)
    whole = nn.TransformerEncoder(layer, LAYERS)
    divided = distributed.parallelize(copy.deepcopy(whole))
    inner = optim.AdamW(whole.parameters())
    optimizer = distributed.ZeroRedundancyOptimizer(inner)
    whole(minigrad.randn(1, 2, WIDTH)).mean().backward()
    optimizer.step()
    states = [value for state in inner.state.values() for value in state.values()]
    return [
        sum(parameter.data.nbytes for parameter in divided.parameters()),
        sum(value.nbytes for value in states if hasattr(value, "nbytes")),
    ]


def serve(library: str, rank: int, ranks: int, turns: socket.socket) -> None:
    """Work when the parent says so, and report the seconds of each step."""
    work = {"minigrad": minigrad_work, "PyTorch": torch_work}[library](rank, ranks)
    with turns, turns.makefile("rw") as parent:
        for line in parent:
            command = json.loads(line)
            answer: Any
            if command[0] == "step":
                answer = timed(functools.partial(work.step, command[1]), STEPS)
            elif command[0] == "message":
                answer = timed(work.all_reduce(command[1]), 30)
            elif command[0] == "divided":
                answer = divided_bytes()
            else:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                answer = [work.bytes_sent, peak]
            parent.write(json.dumps(answer) + "\n")
            parent.flush()


def timed(call: Callable[[], object], times: int) -> list[float]:
    """The seconds of each of some calls, after one that is not timed."""
    call()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


# The processes --------------------------------------------------------------------------------


class Group:
    """The ranks of one library, which work when they are told to."""

    def __init__(self, library: str, ranks: int) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        names = [__file__, "--serve", library, str(listener.getsockname()[1])]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        mpiexec = str(Path(sys.executable).parent / "mpiexec")
        command = [mpiexec, "-n", str(ranks), sys.executable, *names]
        self._process = subprocess.Popen(command, env=environment)
        listener.settimeout(120)
        files = [listener.accept()[0].makefile("rw") for _ in range(ranks)]
        listener.close()
        self._ranks = files

    def ask(self, *command: Any) -> list[Any]:
        """Send all ranks a command; the answer of each."""
        for file in self._ranks:
            file.write(json.dumps(command) + "\n")
            file.flush()
        return [json.loads(file.readline()) for file in self._ranks]

    def slowest(self, *command: Any) -> list[float]:
        """The seconds of each call, on the rank that took longest."""
        return [max(times) for times in zip(*self.ask(*command), strict=True)]

    def close(self) -> None:
        """End the ranks."""
        for file in self._ranks:
            file.close()
        self._process.wait(timeout=60)


def measure(ranks: int, rounds: int) -> tuple[list[dict[str, Any]], list[tuple[int, float]]]:
    """The rows of both libraries on some ranks, and the times of our messages."""
    groups = {library: Group(library, ranks) for library in ("minigrad", "PyTorch")}
    times: dict[tuple[str, bool], list[float]] = {}
    for _ in range(rounds):
        for library, group in groups.items():
            for sends in (True, False):
                seconds = statistics.median(group.slowest("step", sends))
                times.setdefault((library, sends), []).append(seconds)
    rows = []
    for library, group in groups.items():
        with_, without = times[library, True], times[library, False]
        ratios = [ours / theirs for ours, theirs in zip(with_, times["PyTorch", True], strict=True)]
        sent, peak = group.ask("report")[-1]
        overheads = [a / b for a, b in zip(with_, without, strict=True)]
        row = {
            "ranks": ranks, "library": library, "step_ms": 1e3 * statistics.median(with_),
            "without_communication_ms": 1e3 * statistics.median(without),
            "communication_ratio": statistics.median(overheads),
            "ratio_to_pytorch": statistics.median(ratios),
            "mebibytes_sent": sent / 2**20, "peak_mebibytes": peak,
        }  # fmt: skip
        rows.append(row)
    ours = groups["minigrad"]
    weights, states = ours.ask("divided")[0]
    print(f"{ranks} ranks, divided: weights {weights / 2**20:.1f} MiB on a rank", end=", ")
    print(f"states of AdamW {states / 2**20:.1f} MiB")
    # The shortest: what else the machine does only makes a message slower.
    messages = [(size, min(ours.slowest("message", size))) for size in SIZES if ranks > 1]
    for group in groups.values():
        group.close()
    return rows, messages


# The model of latency and bandwidth -----------------------------------------------------------


class Link(NamedTuple):
    """Seconds for a message of no length, and seconds for a byte."""

    alpha: float
    beta: float

    def all_reduce(self, size: float, ranks: float) -> float:
        """A ring: each of 2 (n - 1) messages has 1/n of the bytes."""
        return 2 * (ranks - 1) * (self.alpha + size / ranks * self.beta)


def fit(points: list[tuple[int, int, float]]) -> Link:
    """Least squares of the relative errors over (ranks, bytes, seconds); neither is negative."""
    import numpy as np

    rows = [[2 * (n - 1) / t, 2 * (n - 1) / n * size / t] for n, size, t in points]
    matrix, wanted = np.array(rows), np.ones(len(rows))
    alpha, beta = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    if alpha < 0:
        alpha, beta = 0.0, matrix[:, 1] @ wanted / (matrix[:, 1] @ matrix[:, 1])
    return Link(float(alpha), float(beta))


def left_out(points: list[tuple[int, int, float]]) -> list[float]:
    """For each point, the relative error of the model that is fitted to the others."""
    errors = []
    for i, (ranks, size, seconds) in enumerate(points):
        link = fit([*points[:i], *points[i + 1 :]])
        errors.append(link.all_reduce(size, ranks) / seconds - 1)
    return errors


class Shape(NamedTuple):
    """A model, and its batch on one machine."""

    parameters: float
    layers: int
    width: int
    tokens: int


SHAPES = {
    "BERT-base": Shape(110e6, 12, 768, 8 * 512),
    "GPT, 7 billion": Shape(7e9, 32, 4096, 1 * 2048),
}


def step_times(shape: Shape, machines: int, link: Link, speed: float) -> dict[str, float]:
    """Seconds of a step for a batch of `machines` times the tokens of one, on float32.

    Computing takes 6 operations for a parameter and token. Data parallel sends all gradients;
    tensor parallel the activations of all tokens, four times for a layer; a pipeline of four
    micro-batches a machine sends activations between neighbours, and is empty at its ends.
    """
    tokens = shape.tokens * machines
    compute = 6 * shape.parameters * tokens / machines / speed
    activations = 4.0 * tokens * shape.width
    parts = 4 * machines
    hop = link.alpha + activations / parts * link.beta
    return {
        "data": compute + link.all_reduce(4 * shape.parameters, machines),
        "tensor": compute + 4 * shape.layers * link.all_reduce(activations, machines),
        "pipeline": (compute + 2 * parts * hop * (machines > 1)) * (1 + (machines - 1) / parts),
    }


def draw(link: Link, points: list[tuple[int, int, float]], speed: float, path: Path) -> None:
    """Draw the measurements with the model, and the throughput of 1 to 1,024 machines."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for ranks in sorted({n for n, _, _ in points}):
        some = [(size, t) for n, size, t in points if n == ranks]
        (line,) = axes[0].loglog(*zip(*some, strict=True), "o", label=f"{ranks} ranks, measured")
        model = [link.all_reduce(size, ranks) for size, _ in some]
        axes[0].loglog([size for size, _ in some], model, color=line.get_color(), label="model")
    axes[0].set(xlabel="bytes", ylabel="seconds", title="all_reduce on this machine")
    axes[0].legend()
    machines = [2**k for k in range(11)]
    for panel, (name, shape) in zip(axes[1:], SHAPES.items(), strict=True):
        alone = step_times(shape, 1, link, speed)["data"]
        for kind in ("data", "tensor", "pipeline"):
            most = {"data": 1024, "tensor": shape.width // 64, "pipeline": shape.layers}[kind]
            some = [n for n in machines if n <= most]  # a part has a head, or a layer, at least
            times = [step_times(shape, n, link, speed)[kind] for n in some]
            panel.semilogx(some, [alone / t for t in times], "o-", base=2, label=kind)
        panel.set(xlabel="machines", ylabel="efficiency", title=f"{name}: model", ylim=(0, 1.05))
        panel.legend()
    figure.savefig(path, dpi=120)


def shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# The command line -----------------------------------------------------------------------------


def main() -> None:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="two rounds: does it work at all?")
    made.add_argument("--out", type=Path, default=Path("out/bench"))
    made.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = made.parse_args()
    if options.serve:
        library, port = options.serve
        parent = socket.create_connection(("127.0.0.1", int(port)))
        serve(library, int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"]), parent)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    rows, points = [], []
    for ranks in RANKS[:2] if options.quick else RANKS:
        some, messages = measure(ranks, 2 if options.quick else ROUNDS)
        rows += some
        points += [(ranks, size, seconds) for size, seconds in messages]
        for row in some:
            print("  ".join(f"{name} {shown(value)}" for name, value in row.items()))
    with open(options.out / "distributed.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    inside = [point for point in points if point[0] <= (os.cpu_count() or 1)]
    link = fit(inside)
    errors = sorted(map(abs, left_out(inside)))
    print(f"latency {1e6 * link.alpha:.1f} µs, bandwidth {1e-9 / link.beta:.2f} GB/s")
    middle = statistics.median(errors)
    print(f"one point left out: median error {middle:.0%}, largest {errors[-1]:.0%}")
    operations = 6 * 12 * LAYERS * WIDTH**2 * BATCH * LENGTH
    speed = operations / (rows[0]["without_communication_ms"] / 1e3)
    print(f"a rank computes {speed / 1e9:.0f} Gflop/s")
    draw(link, points, speed, options.out / "distributed.png")


if __name__ == "__main__":
    main()
