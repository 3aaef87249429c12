"""Teach a convolutional network to read the digits of digits.py, in the same way.

    python examples/digits_cnn.py --help

Three convolutions look at ever larger parts of an image of 8 x 8 pixels; the mean of what they
found in it is what a linear map scores.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import digits  # sets the number of BLAS's threads, so before NumPy
import numpy as np
from _command_line import Parser, prepare, print_files, run, whole

import minigrad
from minigrad import Tensor, nn, viz


class DigitCNN(nn.Module):
    """Convolutions, each normalised and rectified; pooling between them, the mean at their end."""

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
        """A convolution that keeps the size of an image, normalised and rectified."""
        convolution = nn.Conv2d(inputs, outputs, 3, padding="same", bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]

    def forward(self, images: Tensor) -> Tensor:
        """Score each class: (N, 8, 8) -> (N, 10)."""
        x = self.features(images[:, None])  # (N, 8, 8) -> (N, 1, 8, 8) -> (N, 2W)
        scores: Tensor = self.head(x)  # (N, 2W) -> (N, 10)
        return scores


def save(
    out: Path, model: DigitCNN, history: list[digits.Epoch], held_out: digits.Digits
) -> dict[str, Path]:
    """Write weights, figures and graph; return what is where."""
    import _plots  # and with it matplotlib, for which --help need not wait

    files = {
        "weights": out / "weights.npz",
        "training curve": out / "training.png",
        "confusion matrix": out / "confusion.png",
        "compute graph": out / "graph.svg",
    }
    minigrad.save(model.state_dict(), files["weights"])
    _plots.training(files["training curve"], np.array(history))
    _, predicted = digits.evaluate(model, held_out)
    _plots.confusion(files["confusion matrix"], *held_out, predicted)
    viz.graph(model, minigrad.tensor(held_out.images[:1])).save(files["compute graph"])
    return files


def arguments() -> argparse.Namespace:
    """Read the command line, and make sure that the results can be made and written."""
    parser = Parser(
        description="Teach a convolutional network to read handwritten digits. Takes about 10 "
        "seconds; with --smoke, about 3.",
        allow_abbrev=False,
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=whole(1), default=20, help="passes over the digits: 20")
    length.add_argument("--smoke", dest="epochs", action="store_const", const=2, help="only two")
    length.add_argument(
        "--resume", action="store_true", help="go on with the training that Ctrl-C has stopped"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="of all random numbers: 0")
    parser.add_argument(
        "--out", type=Path, default="out/digits_cnn", help="a folder: out/digits_cnn"
    )
    args = parser.parse_args()
    args.kept = args.out / "training.npz"
    if args.resume and not args.kept.is_file():
        parser.error(f"--resume needs a training that was stopped: there is no {args.kept}")
    prepare(parser, args.out, "sklearn", "matplotlib")
    return args


def main() -> None:
    """Train, draw, and say where everything is."""
    args = arguments()
    minigrad.keep_freed_memory(1024)  # each step makes its arrays anew: docs/performance.md
    minigrad.random.seed(args.seed)
    learned, held_out = digits.load()
    model = DigitCNN()
    count = sum(parameter.size for parameter in model.parameters())
    print(f"{count:,} parameters")

    start = time.perf_counter()
    history = digits.train(model, learned, held_out, args.epochs, args.kept, args.resume)
    print(f"{len(history)} epochs in {time.perf_counter() - start:.1f} s\n")
    print_files(save(args.out, model, history, held_out))
    print(f"held-out accuracy: {100 * history[-1].held_out_accuracy:.1f} %")


if __name__ == "__main__":
    run(main)
