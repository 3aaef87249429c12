"""Train an LSTM to write English, on the text and with the evaluation of char_lm.py.

A transformer sees its whole context at once; an LSTM reads one character after another, and keeps a
state of fixed size. So it can generate text of any length.

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
    """An embedding of each character, an LSTM, and logits of the next character."""

    alphabet: Tensor

    def __init__(self, alphabet: str, width: int = 64, hidden: int = 256) -> None:
        super().__init__()
        code_points = minigrad.tensor([ord(character) for character in alphabet])
        self.register_buffer("alphabet", code_points)  # stored with the weights
        self.characters = nn.Embedding(len(alphabet), width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, len(alphabet))

    def forward(self, ids: Any) -> Tensor:
        """The logits of the next character at each position: (N, L) -> (N, L, characters)."""
        return self.read(ids)[0]

    def read(self, ids: Any, state: State | None = None) -> tuple[Tensor, State]:
        """The same from a given state; also returns the state after the last character."""
        x = self.characters(ids)  # (N, L) -> (N, L, W)
        x, state = self.lstm(x, state)  # (N, L, W) -> (N, L, H)
        return self.head(x), state  # (N, L, H) -> (N, L, characters)


@minigrad.no_grad()
def write(model: Reader, beginning: str, length: int, **choice: Any) -> Iterator[str]:
    """Continue a text, and yield each character as it is sampled.

    Args:
        model: The model.
        beginning: At least one character.
        length: The number of characters to write.
        **choice: `temperature` and `top_p`, as in `nn.generation.sample`.
    """
    alphabet = "".join(map(chr, model.alphabet.tolist()))
    ids, state = char_lm.encode(beginning, alphabet)[None], None  # (1, L)
    for _ in range(length):
        scores, state = model.read(ids, state)  # (1, L, characters)
        ids = nn.generation.sample(scores[:, -1], **choice).numpy()[:, None]  # (1, 1)
        yield alphabet[ids.item()]


def restore(path: Path) -> Reader:
    """Load the saved model."""
    return char_lm.restore(path, Reader)


def arguments() -> argparse.Namespace:
    """Read the command line, and check that packages and the output folder are available."""
    parser = Parser(
        description="Train an LSTM to write English, character by character. Takes about 2 minutes "
        "on two cores; with --smoke, about 5 seconds.",
        allow_abbrev=False,
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--steps", type=whole(1), default=2000, help="training steps: 2000")
    task.add_argument("--smoke", dest="steps", action="store_const", const=20, help="only 20")
    task.add_argument("--write", action="store_true", help="only generate, with a saved model")
    task.add_argument(
        "--resume", action="store_true", help="continue the training that Ctrl-C stopped"
    )
    parser.add_argument("--prompt", default="The ", help="what to continue: 'The '")
    parser.add_argument("--length", type=whole(1), default=600, help="characters to write: 600")
    parser.add_argument("--temperature", type=number(0, 10), default=0.8, help="0 is greedy: 0.8")
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    parser.add_argument("--out", type=Path, default="out/lstm_lm", help="folder: out/lstm_lm")
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
    """Train an LSTM."""
    char_lm.teach("LSTM", Reader, write, arguments(), BATCH)


if __name__ == "__main__":
    run(main)
