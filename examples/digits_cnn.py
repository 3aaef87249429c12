"""Train a convolutional network to recognise the digits of digits.py, in the same way.

    python examples/digits_cnn.py --help

Three convolutions have increasing receptive fields in an image of 8 x 8 pixels; a linear map
computes logits from the mean of their features.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import _plots
import digits  # sets the number of BLAS's threads, so before NumPy
import numpy as np
from _command_line import Parser, prepare, print_files, run, whole

import minigrad
from minigrad import Tensor, nn, viz


class DigitCNN(nn.Module):
    """Convolutions, each with normalisation and ReLU, pooling between them, and a final mean."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *self.block(1, width),
            *self.block(width, width),
            nn.MaxPool2d(2),  # (N, W, 8, 8) -> (N, W, 4, 4)
            *self.block(width, 2 * width),
            nn.AdaptiveAvgPool2d(1),  # (N, 2W, 4, 4) -> (N, 2W, 1, 1)
            nn.Flatten(),
        )
        self.head = nn.Linear(2 * width, digits.CLASSES)

    @staticmethod
    def block(inputs: int, outputs: int) -> list[nn.Module]:
        """A convolution that keeps the size of an image, with normalisation and ReLU."""
        convolution = nn.Conv2d(inputs, outputs, 3, padding="same", bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]

    def forward(self, images: Tensor) -> Tensor:
        """The logits of the classes: (N, 8, 8) -> (N, 10)."""
        x = self.features(images[:, None])  # (N, 8, 8) -> (N, 1, 8, 8) -> (N, 2W)
        scores: Tensor = self.head(x)  # (N, 2W) -> (N, 10)
        return scores


def save(
    out: Path, model: DigitCNN, history: list[digits.Epoch], held_out: digits.Digits
) -> dict[str, Path]:
    """Write weights, figures and graph; return the files and their descriptions."""
    files = {
        "weights": out / "weights.npz",
        "training curve": out / "training.svg",
        "confusion matrix": out / "confusion.svg",
        "compute graph": out / "graph.svg",
    }
    minigrad.save(model.state_dict(), files["weights"])
    _plots.training(files["training curve"], np.array(history))
    _, predicted = digits.evaluate(model, held_out)
    _plots.confusion(files["confusion matrix"], *held_out, predicted)
    viz.graph(model, minigrad.tensor(held_out.images[:1])).save(files["compute graph"])
    return files


def arguments() -> argparse.Namespace:
    """Read the command line, and check that the output folder can be written to."""
    parser = Parser(
        description="Train a convolutional network to recognise handwritten digits. Takes about 10 "
        "seconds; with --smoke, about 3.",
        allow_abbrev=False,
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=whole(1), default=20, help="passes over the digits: 20")
    length.add_argument("--smoke", dest="epochs", action="store_const", const=2, help="only two")
    length.add_argument(
        "--resume", action="store_true", help="resume the training that Ctrl-C stopped"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    parser.add_argument("--out", type=Path, default="out/digits_cnn", help="folder: out/digits_cnn")
    args = parser.parse_args()
    args.kept = args.out / "training.npz"
    if args.resume and not args.kept.is_file():
        parser.error(f"--resume needs a training that was stopped: there is no {args.kept}")
    prepare(parser, args.out)
    return args


def main() -> None:
    """Train, draw, and print the path of each file."""
    args = arguments()
    minigrad.keep_freed_memory(1024)  # reuse memory between steps: docs/performance.md
    minigrad.random.seed(args.seed)
    learned, held_out = digits.load()
    model = DigitCNN()
    count = sum(parameter.numel() for parameter in model.parameters())
    print(f"{count:,} parameters")

    start = time.perf_counter()
    history = digits.train(model, learned, held_out, args.epochs, args.kept, args.resume)
    print(f"{len(history)} epochs in {time.perf_counter() - start:.1f} s\n")
    print_files(save(args.out, model, history, held_out))
    print(f"held-out accuracy: {100 * history[-1].held_out_accuracy:.1f} %")


if __name__ == "__main__":
    run(main)
