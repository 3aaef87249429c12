"""Teach an LSTM to write English, character by character: the text and the measure of char_lm.py.

A transformer sees all of its context at once; an LSTM reads one character after another, and keeps
what it needs in a state of fixed size. So it can write on for as long as it likes.

    python examples/lstm_lm.py --help
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import char_lm  # sets the number of BLAS's threads, so before NumPy
from _command_line import Parser, number, prepare, run, whole

import minigrad
from minigrad import Tensor, nn

BATCH = 32

State = tuple[Tensor, Tensor]


class Reader(nn.Module):
    """A vector for each character, an LSTM, and scores of what comes next."""

    alphabet: Tensor

    def __init__(self, alphabet: str, width: int = 64, hidden: int = 256) -> None:
        super().__init__()
        code_points = minigrad.tensor([ord(character) for character in alphabet])
        self.register_buffer("alphabet", code_points)  # so the weights know what they write
        self.characters = nn.Embedding(len(alphabet), width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(alphabet))

    def forward(self, ids: Any) -> Tensor:
        """Score what comes behind each character: (N, L) -> (N, L, characters)."""
        return self.read(ids)[0]

    def read(self, ids: Any, state: State | None = None) -> tuple[Tensor, State]:
        """The same from a state on, and the state behind the last character."""
        x = self.characters(ids)  # (N, L) -> (N, L, W)
        x, state = self.lstm(x, state)  # (N, L, W) -> (N, L, H)
        return self.head(x), state  # (N, L, H) -> (N, L, characters)


@minigrad.no_grad()
def write(model: Reader, beginning: str, length: int, **choice: float) -> Iterator[str]:
    """Continue a text, handing out each character as it is drawn.

    Args:
        model: The model.
        beginning: At least one character.
        length: How many to write.
        **choice: `temperature` and `top_p`, as in `nn.generation.sample`.
    """
    alphabet = "".join(map(chr, model.alphabet.tolist()))
    ids, state = char_lm.encode(beginning, alphabet)[None], None  # (1, L)
    for _ in range(length):
        scores, state = model.read(ids, state)  # (1, L, characters)
        ids = nn.generation.sample(scores[:, -1], **choice).numpy()[:, None]  # (1, 1)
        yield alphabet[ids.item()]


def restore(path: Path) -> Reader:
    """The model whose weights were saved."""
    return char_lm.restore(path, Reader)


def arguments() -> argparse.Namespace:
    """Read the command line, and make sure that the results can be made and written."""
    parser = Parser(
        description="Teach an LSTM to write English, character by character. Takes about 2 minutes "
        "on two cores; with --smoke, about 5 seconds.",
        allow_abbrev=False,
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--steps", type=whole(1), default=2000, help="batches to learn from: 2000")
    task.add_argument("--smoke", dest="steps", action="store_const", const=20, help="only 20")
    task.add_argument("--write", action="store_true", help="learn nothing: after a training")
    task.add_argument(
        "--resume", action="store_true", help="go on with the training that Ctrl-C has stopped"
    )
    parser.add_argument("--prompt", default="The ", help="what to continue: 'The '")
    parser.add_argument("--length", type=whole(1), default=600, help="characters to write: 600")
    parser.add_argument(
        "--temperature", type=number(0, 10), default=0.8, help="0 takes the likeliest: 0.8"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="of all random numbers: 0")
    parser.add_argument("--out", type=Path, default="out/lstm_lm", help="a folder: out/lstm_lm")
    args = parser.parse_args()
    args.weights, args.kept = args.out / "weights.npz", args.out / "training.npz"
    args.top_p = 0.95
    if not args.prompt:
        parser.error("--prompt needs a character at least")
    if args.write and not args.weights.is_file():
        parser.error(f"--write needs a training first: there is no {args.weights}")
    if args.resume and not args.kept.is_file():
        parser.error(f"--resume needs a training that was stopped: there is no {args.kept}")
    prepare(parser, args.out)
    return args


def main() -> None:
    """Teach an LSTM."""
    char_lm.teach("LSTM", Reader, write, arguments(), BATCH)


if __name__ == "__main__":
    run(main)
