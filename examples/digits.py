"""Train a transformer to recognise handwritten digits, with minigrad alone.

An image of 8 x 8 pixels is split into 16 patches, which are the tokens of the encoder. After
training, the gradients of the model are checked against finite differences. The output folder has
its weights, figures, compute graph and a page to step through its backward pass.

    python examples/digits.py --help
    mpiexec -n 2 python examples/digits.py    (on two ranks: pip install mpi4py mpich)
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

# For matrices this small, one BLAS thread is fastest. NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import _plots
import numpy as np
from _checkpoints import Checkpoint
from _command_line import Parser, prepare, print_files, progress, run, shown, whole

import minigrad
from minigrad import Tensor, distributed, nn, optim, viz
from minigrad.checking import directional_derivatives
from minigrad.data import DataLoader, TensorDataset
from minigrad.nn import functional as F
from minigrad.nn.utils import clip_grad_norm
from minigrad.optim.lr_scheduler import WarmupCosineLR

SIDE, PATCH, CLASSES = 8, 2, 10
GRID = SIDE // PATCH  # patches along a side

# The model


class DigitReader(nn.Module):
    """Patches after a class token, positions, an encoder, and a linear map to the classes."""

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.embed = nn.Linear(PATCH * PATCH, width)
        self.class_token = nn.Parameter(minigrad.random.normal(0.0, 0.5, (1, 1, width)))
        self.positions = nn.Parameter(minigrad.random.normal(0.0, 0.5, (GRID * GRID, width)))
        layer = nn.TransformerEncoderLayer(
            width, heads, dim_feedforward=2 * width, dropout=0.0, activation="gelu", norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, CLASSES)

    def forward(self, images: Tensor) -> Tensor:
        """The logits of the classes: (N, 8, 8) -> (N, 10)."""
        n = images.shape[0]
        x = images.reshape(n, GRID, PATCH, GRID, PATCH)  # (N, 8, 8) -> (N, 4, 2, 4, 2)
        x = x.swapaxes(2, 3)  # (N, 4, 2, 4, 2) -> (N, 4, 4, 2, 2)
        x = x.reshape(n, GRID * GRID, PATCH * PATCH)  # (N, 4, 4, 2, 2) -> (N, 16, 4)
        x = self.embed(x) + self.positions  # (N, 16, 4) -> (N, 16, W)
        first = self.class_token.broadcast_to((n, 1, x.shape[2]))  # (1, 1, W) -> (N, 1, W)
        x = minigrad.concatenate([first, x], 1)  # (N, 16, W) -> (N, 17, W)
        x = self.encoder(x)  # (N, 17, W): the class token has gathered what it needs
        scores: Tensor = self.head(x[:, 0])  # (N, 17, W) -> (N, W) -> (N, 10)
        return scores


@minigrad.no_grad()
def attention_maps(model: DigitReader, images: np.ndarray) -> np.ndarray:
    """The attention of the class token to each patch in the last layer: (N, heads, 4, 4)."""
    attention = [part for part in model.modules() if isinstance(part, nn.MultiHeadAttention)][-1]
    inputs: list[Any] = []
    remove = attention.register_forward_pre_hook(lambda _, args: inputs.append(args))
    model(minigrad.tensor(images))
    remove()
    _, weights = attention(*inputs[0], need_weights=True)  # (N, H, 17, 17)
    maps: np.ndarray = weights.numpy()[:, :, 0, 1:]  # (N, H, 17, 17) -> (N, H, 16)
    return maps.reshape(*maps.shape[:2], GRID, GRID)  # (N, H, 16) -> (N, H, 4, 4)


# The data

DATA = Path(__file__).parent / "data" / "digits.npz"  # where they are from: data/README.md
HELD_OUT = 360


class Digits(NamedTuple):
    """Images of shape (N, 8, 8) from 0 to 1, in float32, and their labels of shape (N,)."""

    images: np.ndarray
    labels: np.ndarray


def load() -> tuple[Digits, Digits]:
    """1,437 training and 360 test digits: the same split in every run."""
    with np.load(DATA) as file:
        images, labels = file["images"] / np.float32(16), file["labels"]  # (N, 8, 8), (N,)
    order = np.random.default_rng(0).permutation(len(labels))
    learned, held_out = order[HELD_OUT:], order[:HELD_OUT]
    return Digits(images[learned], labels[learned]), Digits(images[held_out], labels[held_out])


# Training

BATCH, PEAK_RATE, WARM_UP = 64, 2e-3, 0.1  # warm-up in the first tenth of the training


class Epoch(NamedTuple):
    """The results of an epoch on the training and test digits."""

    loss: float
    accuracy: float
    held_out_loss: float
    held_out_accuracy: float


def train(
    model: nn.Module, learned: Digits, held_out: Digits, epochs: int, kept: Path,
    resume: bool = False, parts: int = 1,
) -> list[Epoch]:  # fmt: skip
    """Train the model in place; Ctrl-C saves the training to a file, to be resumed.

    A batch may be split into parts that fit into memory. Their gradients add up, and the optimizer
    makes one step for all. Of several ranks, each takes its share of every batch.
    """
    comm = distributed.world()
    parallel = distributed.DistributedDataParallel(model)
    batches = DataLoader(TensorDataset(*learned), BATCH, shuffle=True)
    steps = epochs * len(batches)
    optimizer = optim.AdamW(model.parameters(), lr=PEAK_RATE, weight_decay=0.05)
    scheduler = WarmupCosineLR(optimizer, int(WARM_UP * steps), steps)
    done: dict[str, Any] = {"epochs": epochs, "history": [], "losses": [], "hits": []}
    trained = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "loader": batches}
    with Checkpoint(kept if comm.size == 1 else None, done, **trained) as checkpoint:
        if resume:
            checkpoint.load()
        rounds, say = progress(done["epochs"], "epoch", len(done["history"]), every=5)
        for _ in rounds:
            model.train()
            for batch in batches:
                optimizer.zero_grad()
                size = len(batch[1]) / comm.size  # the gradients of the ranks are averaged
                share = [np.array_split(tensor, comm.size)[comm.rank] for tensor in batch]
                cut = (np.array_split(tensor, min(parts, len(share[1]))) for tensor in share)
                for images, labels in zip(*cut, strict=True):
                    scores = parallel(images)  # (B, 8, 8) -> (B, 10)
                    loss = F.cross_entropy(scores, labels, label_smoothing=0.1)
                    (loss * (len(labels) / size)).backward()  # a weighted mean of means
                    # Of each digit, without label smoothing
                    plain = F.cross_entropy(scores.detach(), labels, reduction="none")
                    done["losses"].extend(plain.tolist())
                    done["hits"].extend((scores.numpy().argmax(axis=1) == labels.numpy()).tolist())
                clip_grad_norm(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                checkpoint.reached()
            held_out_loss, predicted = evaluate(model, held_out)
            sums = [sum(done["losses"]), sum(done["hits"]), len(done["hits"])]
            *totals, count = distributed.all_reduce(sums, "sum").tolist()
            means = tuple(total / count for total in totals)
            accuracy = float((predicted == held_out.labels).mean())
            done["history"].append((*means, held_out_loss, accuracy))
            done.update(losses=[], hits=[])
            say(f"loss {means[0]:.3f}, held-out accuracy {100 * accuracy:.1f} %")
            checkpoint.reached()
    return [Epoch(*epoch) for epoch in done["history"]]


@minigrad.no_grad()
def evaluate(model: nn.Module, digits: Digits) -> tuple[float, np.ndarray]:
    """The loss on some digits, and their predicted classes."""
    model.eval()
    scores = model(minigrad.tensor(digits.images))  # (N, 10)
    return F.cross_entropy(scores, digits.labels).item(), scores.numpy().argmax(axis=1)


# Gradient check

TOLERANCE = 1e-6


def check_gradients(model: DigitReader, digits: Digits, seed: int) -> float:
    """Compare backpropagation with finite differences; return the relative error."""
    double = copy.deepcopy(model).to(minigrad.float64).eval()
    parameters = list(double.parameters())
    images = minigrad.tensor(digits.images, dtype=minigrad.float64)
    slopes = directional_derivatives(
        lambda *_: F.cross_entropy(double(images), digits.labels),
        parameters, directions=5, seed=seed,
    )  # fmt: skip
    count = sum(parameter.numel() for parameter in parameters)
    print("gradient check in float64: the slope of the loss along random directions")
    print(f"through all {count:,} parameters")
    print(f"{'backward()':>20}  {'finite differences':>20}  {'difference':>12}")
    for analytic, numeric in slopes:
        print(f"{analytic:>20.10e}  {numeric:>20.10e}  {abs(analytic - numeric):>12.1e}")
    by_backward, by_differences = np.array(slopes).T
    return float(np.linalg.norm(by_backward - by_differences) / np.linalg.norm(by_differences))


# The results


def save(out: Path, model: DigitReader, history: list[Epoch], held_out: Digits) -> dict[str, Path]:
    """Write weights, figures and graph; return the files and their descriptions."""
    files = {
        "weights": out / "weights.npz",
        "training curve": out / "training.svg",
        "confusion matrix": out / "confusion.svg",
        "attention maps": out / "attention.svg",
        "compute graph": out / "graph.svg",
    }
    minigrad.save(model.state_dict(), files["weights"])
    _plots.training(files["training curve"], np.array(history))
    _, predicted = evaluate(model, held_out)
    _plots.confusion(files["confusion matrix"], *held_out, predicted)
    _, first = np.unique(held_out.labels, return_index=True)  # the first digit of each class
    images = held_out.images[first]
    maps = attention_maps(model, images)
    _plots.attention(
        files["attention maps"], images, held_out.labels[first], predicted[first], maps
    )
    viz.graph(model, minigrad.tensor(images[:1])).save(files["compute graph"])
    return files


def explore(path: Path, model: DigitReader, digits: Digits) -> None:
    """Write a page to step through the model's backward pass, and print its path."""
    images, labels = minigrad.tensor(digits.images[:2]), digits.labels[:2]
    with viz.trace() as traced:
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
    graph = traced.graph(loss, images=images, labels=labels)
    path.write_text(graph.to_html(title="DigitReader"), encoding="utf-8")
    size = f"{path.stat().st_size / 1000:.0f} kB"
    print(f"explorer page:    {shown(path)}, {size}: the backward pass, step by step")


# The command line


def arguments() -> argparse.Namespace:
    """Read the command line, and check that the output folder can be written to."""
    parser = Parser(
        description="Train a transformer to recognise handwritten digits. Takes about 20 seconds; "
        "with --smoke, about 5.",
        allow_abbrev=False,
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=whole(1), default=40, help="passes over the digits: 40")
    length.add_argument("--smoke", dest="epochs", action="store_const", const=2, help="only two")
    length.add_argument(
        "--resume", action="store_true", help="resume the training that Ctrl-C stopped"
    )
    parser.add_argument(
        "--parts", type=whole(1), default=1, help="parts of a batch, to save memory: 1"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    parser.add_argument("--out", type=Path, default="out/digits", help="folder: out/digits")
    args = parser.parse_args()
    args.kept = args.out / "training.npz"
    if args.resume and distributed.world().size > 1:
        parser.error("--resume runs on one rank")
    if args.resume and not args.kept.is_file():
        parser.error(f"--resume needs a training that was stopped: there is no {args.kept}")
    prepare(parser, args.out)
    return args


def main() -> None:
    """Train, check the gradients, draw, and print the path of each file."""
    args = arguments()
    minigrad.keep_freed_memory(1024)  # reuse memory between steps: docs/performance.md
    minigrad.random.seed(args.seed)
    learned, held_out = load()
    model = DigitReader()

    start = time.perf_counter()
    history = train(model, learned, held_out, args.epochs, args.kept, args.resume, args.parts)
    print(f"{len(history)} epochs in {time.perf_counter() - start:.1f} s\n")
    if distributed.world().rank:
        return  # one rank writes the files

    error = check_gradients(model, Digits(held_out.images[:100], held_out.labels[:100]), args.seed)
    if not error < TOLERANCE:
        sys.exit(
            f"digits.py: wrong gradients: relative error {error:.1e}, not below {TOLERANCE:.0e}"
        )
    print(f"relative error {error:.1e}, below {TOLERANCE:.0e}\n")

    print_files(save(args.out, model, history, held_out))
    explore(args.out / "explore.html", model, held_out)
    print(f"held-out accuracy: {100 * history[-1].held_out_accuracy:.1f} %")


if __name__ == "__main__":
    run(main)
