"""Train a transformer to spell numbers out: 3481 is "three thousand four hundred eighty-one".

The encoder reads the digits. The decoder writes letter by letter: each letter attends to the
letters before it, and to the digits. After training it spells held-out numbers, and a picture shows
which digits each letter attended to.

    python examples/seq2seq.py --help
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import string
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

# For matrices this small, one BLAS thread is fastest. NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import _plots
import numpy as np
from _command_line import Parser, prepare, print_files, progress, run, whole

import minigrad
from minigrad import Tensor, nn, optim, viz
from minigrad.nn import functional as F
from minigrad.nn.utils import clip_grad_norm

# Numbers and their names

MOST_DIGITS = 6
ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spell(number: int) -> str:
    """The name of a number below a million, which the model must learn."""
    if number < 20:
        return ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    count, rest = divmod(number, size)
    return f"{spell(count)} {name}" + (f" {spell(rest)}" if rest else "")


def split(seed: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Training and held-out numbers, by length: arrays for 1 to 6 digits.

    A tenth of each length is held out, but at most 300. Zero is in the training set, because no
    other number contains its name.
    """
    rng = np.random.default_rng(seed)
    learned, held_out = [np.array([0])], []
    for digits in range(1, MOST_DIGITS + 1):
        numbers = rng.permutation(np.arange(10 ** (digits - 1), 10**digits))
        count = min(math.ceil(len(numbers) / 10), 300)
        held_out.append(numbers[:count])
        learned.append(numbers[count:])
    return [np.concatenate(learned[:2]), *learned[2:]], held_out


# Text as tokens

PAD, START, END = "_<>"
CHARACTERS = PAD + START + END + string.digits + string.ascii_lowercase + " -"
LONGEST = len(spell(777_777))  # no name is longer


def tokens(texts: Sequence[str]) -> np.ndarray:
    """The characters of some texts as ids: (N, length of the longest), padded at the end."""
    length = max(map(len, texts))
    return np.array([[CHARACTERS.index(c) for c in text.ljust(length, PAD)] for text in texts])


# The model


class Speller(nn.Module):
    """Embeddings of characters and positions, an encoder, a decoder, and a linear map."""

    def __init__(self, width: int = 64, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(CHARACTERS), width)
        self.positions = nn.SinusoidalPosEmbedding()
        self.transformer = nn.Transformer(
            width, heads, layers, layers, dim_feedforward=2 * width, dropout=0.0, norm_first=True
        )
        self.head = nn.Linear(width, len(CHARACTERS))

    def encode(self, digits: np.ndarray) -> tuple[Tensor, np.ndarray]:
        """Encode the digits: ids (N, S) -> memory (N, S, W), and its padding mask (N, S)."""
        padding = digits == CHARACTERS.index(PAD)
        x = self.positions(self.characters(digits))  # (N, S) -> (N, S, W)
        return self.transformer.encoder(x, src_key_padding_mask=padding), padding

    def decode(
        self, letters: Any, memory: Tensor, padding: np.ndarray, cache: nn.Cache | None = None
    ) -> Tensor:
        """The logits of the next letter at each position: ids (N, T) -> (N, T, characters).

        With a cache, the letters are those after the cached ones. Padding at the end of a text
        needs no mask here: no letter attends to later ones.
        """
        start = 0 if cache is None else cache.get_seq_length()
        x = self.positions(self.characters(letters), offset=start)  # (N, T) -> (N, T, W)
        x = self.transformer.decoder(
            x, memory, mem_key_padding_mask=padding, tgt_is_causal=True,
            kv_cache=cache, use_cache=cache is not None,
        )  # fmt: skip
        scores: Tensor = self.head(x)  # (N, T, W) -> (N, T, characters)
        return scores

    def forward(self, digits: np.ndarray, letters: np.ndarray) -> Tensor:
        """The logits of all letters, in training: (N, S) and (N, T) -> (N, T, characters)."""
        return self.decode(letters, *self.encode(digits))


class Spelling(NamedTuple):
    """A number, and the name that the model wrote for it."""

    number: int
    name: str

    @property
    def right(self) -> bool:
        return self.name == spell(self.number)

    def __str__(self) -> str:
        line = f"{self.number:>8}  {'right' if self.right else 'wrong'}  {self.name}"
        return line if self.right else f"{line}\n{'expected':>15}  {spell(self.number)}"


@minigrad.no_grad()
def write(model: Speller, numbers: Sequence[int]) -> list[Spelling]:
    """Spell numbers letter by letter, always with the most likely letter."""
    model.eval()
    memory, padding = model.encode(tokens([str(number) for number in numbers]))
    written = nn.generation.generate(
        lambda letters, cache: model.decode(letters, memory, padding, cache),
        tokens([START] * len(numbers)), max_new_tokens=LONGEST + 1,
        temperature=0, stop=CHARACTERS.index(END), cache=nn.EncoderDecoderCache(),
    ).numpy()  # fmt: skip
    texts = ["".join(CHARACTERS[i] for i in row[1:]) for row in written]  # without START
    return [Spelling(n, text.partition(END)[0]) for n, text in zip(numbers, texts, strict=True)]


def cross_attention(model: Speller, spelling: Spelling) -> np.ndarray:
    """The attention of each letter, and of the end, to each digit: (layers, heads, T + 1, S)."""
    given = tokens([str(spelling.number)]), tokens([START + spelling.name])
    maps = viz.attention(model.eval(), *given, layers=["*multihead_attn"])
    return np.concatenate([found.weights for found in maps.values()])


# Training

BATCH, PEAK_RATE, WARM_UP = 64, 3e-3, 0.05


def learning_rate(done: float) -> float:
    """Warm-up in the first twentieth of the training, then cosine decay to 0."""
    return PEAK_RATE * min(done / WARM_UP, 0.5 * (1 + math.cos(math.pi * done)))


def train(model: Speller, learned: list[np.ndarray], steps: int) -> None:
    """Train the model in place, with equally many numbers of each length."""
    optimizer = optim.AdamW(model.parameters())
    draw = minigrad.random.generator()
    model.train()
    losses = []
    batches, say = progress(steps, "step")
    for step in batches:
        lengths = draw.integers(len(learned), size=BATCH)
        numbers = [int(draw.choice(learned[length])) for length in lengths]
        digits = tokens([str(number) for number in numbers])  # (B, S)
        letters = tokens([START + spell(number) + END for number in numbers])  # (B, T + 1)
        scores = model(digits, letters[:, :-1])  # (B, T, characters)
        loss = F.cross_entropy(
            scores.swapaxes(1, 2), letters[:, 1:], ignore_index=CHARACTERS.index(PAD)
        )
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = learning_rate((step + 1) / steps)
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % 100 == 0 or step + 1 == steps:
            say(f"loss {np.mean(losses[-100:]):.4f}")


# The results


def examine(model: Speller, held_out: list[np.ndarray]) -> list[Spelling]:
    """Spell the held-out numbers, and print the accuracy; return the spellings."""
    by_length = [write(model, numbers.tolist()) for numbers in held_out]
    print("numbers that were held out:")
    for some in by_length:
        print(*some[:2], sep="\n")
    spellings = [*itertools.chain(*by_length)]
    wrong = [spelling for spelling in spellings if not spelling.right]
    if wrong:
        print(f"\nthe first of {len(wrong)} that are wrong:", *wrong[:5], sep="\n")
    print("\ndigits  right")
    for digits, some in enumerate(by_length, start=1):
        print(f"{digits:>6}  {sum(spelling.right for spelling in some)} of {len(some)}")
    right = 100 * (1 - len(wrong) / len(spellings))
    print(f"exact match: {right:.1f} % of {len(spellings):,} held-out numbers\n")
    return spellings


def draw(path: Path, model: Speller, spelling: Spelling) -> None:
    """Draw the cross-attention of a name's letters."""
    weights = cross_attention(model, spelling)
    _plots.cross_attention(path, str(spelling.number), spelling.name, weights)


# The command line


def arguments() -> argparse.Namespace:
    """Read the command line, and check that the output folder can be written to."""
    parser = Parser(
        description="Train a transformer to spell numbers out, up to 999999. Takes about 2 "
        "minutes; with --smoke, about 5 seconds.",
        allow_abbrev=False,
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--steps", type=whole(1), default=1200, help="training steps: 1200")
    task.add_argument("--smoke", dest="steps", action="store_const", const=20, help="only 20")
    task.add_argument("--number", type=whole(0), help="spell this with the saved model")
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    parser.add_argument("--out", type=Path, default="out/seq2seq", help="folder: out/seq2seq")
    args = parser.parse_args()
    args.weights = args.out / "weights.npz"
    if args.number is not None and args.number >= 10**MOST_DIGITS:
        parser.error(f"--number {args.number} has more than {MOST_DIGITS} digits")
    if args.number is not None and not args.weights.is_file():
        parser.error(f"--number needs a training first: there is no {args.weights}")
    prepare(parser, args.out)
    return args


def main() -> None:
    """Train, evaluate, draw, and print the path of each file; or spell one number."""
    args = arguments()
    minigrad.keep_freed_memory(1024)  # reuse memory between steps: docs/performance.md
    minigrad.random.seed(args.seed)
    model = Speller()
    if args.number is None:
        learned, held_out = split(args.seed)
        start = time.perf_counter()
        train(model, learned, args.steps)
        print(f"{args.steps} steps in {time.perf_counter() - start:.1f} s\n")
        spelling = examine(model, held_out)[-1]
        minigrad.save(model.state_dict(), args.weights)
    else:
        model.load_state_dict(minigrad.load(args.weights))
        (spelling,) = write(model, [args.number])
        print(spelling)
    picture = args.out / f"attention-{spelling.number}.svg"
    draw(picture, model, spelling)
    print_files({"weights": args.weights, "cross-attention": picture})


if __name__ == "__main__":
    run(main)
