"""Train a small GPT to write English, character by character, with minigrad alone.

The text is the help that comes with Python. The model is evaluated in bits per character on
held-out text, and compared with character n-grams. Then it generates text.

    python examples/char_lm.py --help
    mpiexec -n 2 python examples/char_lm.py    (on two ranks: pip install mpi4py mpich)
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

# Our own threads run in parallel, so BLAS needs only one thread in each. NumPy reads this when it
# is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import _plots
import numpy as np
from _checkpoints import Checkpoint
from _command_line import Parser, number, prepare, print_files, progress, run, whole
from _ngrams import NGrams

import minigrad
from minigrad import Tensor, distributed, nn, optim
from minigrad.nn import functional as F
from minigrad.nn.utils import clip_grad_norm

# The text

UNKNOWN = "\N{REPLACEMENT CHARACTER}"
HELD_OUT = 0.1


class Text(NamedTuple):
    """A text as numbers: the index of each character in an alphabet."""

    alphabet: str  # the characters of the training part, then UNKNOWN for all others
    ids: np.ndarray  # shape (L,)
    cut: int  # where the training part ends and the held-out part begins


def load() -> Text:
    """Load the topics of Python's help in order, with the last tenth held out.

    Chapters are topics, and so are many of their sections. So only the first occurrence of a
    paragraph is used; otherwise much of the held-out text would also be in the training text.
    Paragraphs are compared by their words. The text depends a little on Python's version.
    """
    from pydoc_data.topics import topics

    seen = {""}
    texts = []
    for topic in topics.values():
        kept = []
        for paragraph in re.split(r"\n\s*\n", topic):
            words = " ".join(re.findall(r"\w+", paragraph))
            if words not in seen:
                kept.append(paragraph.strip("\n"))
                seen.add(words)
        if kept:
            texts.append("\n\n".join(kept) + "\n\n\n")
    ends = np.cumsum([len(text) for text in texts])
    cut = int(ends[np.abs(ends - (1 - HELD_OUT) * ends[-1]).argmin()])
    whole_text = "".join(texts)
    alphabet = "".join(sorted({*whole_text[:cut]})) + UNKNOWN
    return Text(alphabet, encode(whole_text, alphabet), cut)


def encode(text: str, alphabet: str) -> np.ndarray:
    """The indices of the characters in the alphabet, the last index for unknown ones: (L,)."""
    places = {character: place for place, character in enumerate(alphabet)}
    return np.array([places.get(character, len(alphabet) - 1) for character in text], np.int64)


# The model

CONTEXT = 64  # characters


class Writer(nn.Module):
    """Embeddings of characters and positions, causal pre-norm layers, and logits.

    One table turns characters into vectors and vectors into scores: Press and Wolf, "Using the
    output embedding to improve language models", 2017.
    """

    alphabet: Tensor

    def __init__(self, alphabet: str, width: int = 96, heads: int = 4, layers: int = 3) -> None:
        super().__init__()
        code_points = minigrad.tensor([ord(character) for character in alphabet])
        self.register_buffer("alphabet", code_points)  # stored with the weights
        self.characters = nn.Embedding(len(alphabet), width)
        nn.init.normal(self.characters.weight, std=0.1)  # initial logits of about 1
        self.positions = nn.LearnedPosEmbedding(CONTEXT, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, dropout=0.0, activation=squared_relu, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(width))

    def forward(self, ids: Any, cache: nn.KVCache | None = None) -> Tensor:
        """The logits of the next character at each position: (N, L) -> (N, L, characters).

        With a cache, the characters are those after the cached ones.
        """
        start = 0 if cache is None else cache.get_seq_length()
        x = self.positions(self.characters(ids), offset=start)  # (N, L) -> (N, L, W)
        x = self.layers(x, is_causal=True, kv_cache=cache, use_cache=cache is not None)
        return F.linear(x, self.characters.weight)  # (N, L, W) -> (N, L, characters)


def squared_relu(x: Tensor) -> Tensor:
    """The square of ReLU: So et al., "Primer: searching for efficient transformers", 2021."""
    return F.relu(x) ** 2


# Evaluation


@minigrad.no_grad()
def bits_per_character(model: nn.Module, text: Text) -> float:
    """The mean of -log2 p over all held-out characters.

    The windows have the length of the context and overlap by half. Only their second halves count:
    so each character counts once, after at least half a context.
    """
    half, count = CONTEXT // 2, len(text.ids) - text.cut
    starts = np.arange(text.cut - 1 - half, len(text.ids) - 1 - half, half)
    ids = np.pad(text.ids, (0, half))  # causal: no character sees later ones
    windows = ids[starts[:, None] + np.arange(CONTEXT + 1)]  # (windows, CONTEXT + 1)
    losses = []
    for some in np.array_split(windows, math.ceil(len(windows) / 64)):
        scores = model(some[:, :-1])[:, half:]  # (B, half, characters)
        targets = some[:, 1 + half :]  # (B, half)
        loss = F.cross_entropy(scores.swapaxes(1, 2), targets, reduction="none")
        losses.append(loss.numpy().ravel())
    return float(np.concatenate(losses)[:count].mean()) / math.log(2)


def ngram_bits(text: Text, order: int) -> float:
    """The same for a table of n-grams of the training part."""
    table = NGrams(text.ids[: text.cut], order, len(text.alphabet))
    found = table.probabilities(text.ids[text.cut - (order - 1) :])[order - 1 :]
    return float(-np.log2(found).mean())


def print_bits(bits: dict[str, float], text: Text) -> None:
    held_out = text.ids[text.cut :]
    unknown = np.count_nonzero(held_out == len(text.alphabet) - 1)
    print(f"bits per character, {len(held_out):,} held-out characters ({unknown} unknown):")
    for name, value in bits.items():
        print(f"{name:>14}  {value:.3f}")
    print()


# Training

BATCH, THREADS, PEAK_RATE, WARM_UP = 16, 2, 3e-3, 0.05


def learning_rate(done: float) -> float:
    """Warm-up in the first twentieth of the training, then cosine decay to 0."""
    return PEAK_RATE * min(done / WARM_UP, 0.5 * (1 + math.cos(math.pi * done)))


def learn(model: nn.Module, threads: int, windows: np.ndarray) -> float:
    """Add the gradients of one thread's share of a batch, (B, CONTEXT + 1); return its loss."""
    scores = model(windows[:, :-1])  # (B, CONTEXT, characters)
    loss = F.cross_entropy(scores.reshape(-1, scores.shape[-1]), windows[:, 1:].reshape(-1))
    (loss / threads).backward()
    return loss.item()


class Point(NamedTuple):
    """Bits per character after some steps of training."""

    step: int
    learned: float  # the mean since the previous point
    held_out: float


def train(
    model: nn.Module, text: Text, steps: int, batch: int = BATCH, kept: Path | None = None,
    resume: bool = False,
) -> tuple[list[Point], bool]:  # fmt: skip
    """Train the model in place, and evaluate it regularly. Ctrl-C ends the training early.

    Two threads process the halves of a batch, because NumPy lets them run in parallel. Their
    gradients add up in the parameters. Of several ranks, each takes its share of a batch, in one
    thread. Ctrl-C saves the training in the file `kept`, if there is one, from which `resume`
    continues it; on several ranks it ends the program.

    Returns:
        The evaluations, and whether the training is complete.
    """
    optimizer = optim.AdamW(model.parameters(), betas=(0.9, 0.99), weight_decay=0.1)
    draw = minigrad.random.generator().integers
    done: dict[str, Any] = {"steps": steps, "losses": [], "history": []}
    comm = distributed.world()
    parallel = distributed.DistributedDataParallel(model)
    threads = THREADS if comm.size == 1 else 1
    checkpoint = Checkpoint(
        kept if comm.size == 1 else None, done, model=model, optimizer=optimizer
    )
    if resume:
        checkpoint.load()
    steps, losses, history = done["steps"], done["losses"], done["history"]
    every = max(steps // 10, 100)

    def measure() -> str:
        learned = float(np.mean(losses[-every:])) / math.log(2)
        held_out = bits_per_character(model, text)
        history.append((len(losses), learned, held_out))
        return f"{learned:.3f} bits per character, held out {held_out:.3f}"

    rounds, say = progress(steps, "step", len(losses))
    try:
        with checkpoint, ThreadPoolExecutor(THREADS) as pool:
            for step in rounds:
                starts = draw(text.cut - CONTEXT, size=batch)
                windows = text.ids[starts[:, None] + np.arange(CONTEXT + 1)]
                optimizer.zero_grad()
                share = np.split(windows, comm.size)[comm.rank]
                shares = pool.map(partial(learn, parallel, threads), np.split(share, threads))
                losses.append(distributed.all_reduce(np.mean([*shares]), "mean").item())
                clip_grad_norm(model.parameters(), 1.0)
                optimizer.param_groups[0]["lr"] = learning_rate((step + 1) / steps)
                optimizer.step()
                if (step + 1) % every == 0 or step + 1 == steps:
                    say(measure())
                checkpoint.reached()
    except KeyboardInterrupt as stop:
        if not losses:
            raise
        print(f"\nstopped after {len(losses)} of {steps} steps: {measure()}", *stop.args, sep="\n")
    return [Point(*point) for point in history], len(losses) == steps


# Generation


def write(model: Writer, beginning: str, length: int, **choice: Any) -> Iterator[str]:
    """Continue a text, and yield each character as it is sampled.

    The model has positions for one context. When it is full, its second half starts a new context.

    Args:
        model: The model.
        beginning: At least one character.
        length: The number of characters to write.
        **choice: `temperature` and `top_p`, as in `nn.generation.sample`.
    """
    alphabet = "".join(map(chr, model.alphabet.tolist()))
    ids = encode(beginning, alphabet).tolist()
    while length > 0:
        ids = ids[-CONTEXT // 2 :]
        steps = min(length, CONTEXT - len(ids) + 1)  # the last character needs no position
        for drawn in nn.generation.stream(model, [ids], steps, **choice):
            ids.append(drawn.item())
            yield alphabet[ids[-1]]
        length -= steps


def save(model: nn.Module, path: Path) -> None:
    """Save the weights and the alphabet."""
    minigrad.save(model.state_dict(), path)


def restore(path: Path, kind: Any = Writer) -> Any:
    """Load the saved model."""
    state = minigrad.load(path)
    model = kind("".join(map(chr, state["alphabet"].tolist())))
    model.load_state_dict(state)
    return model


# The command line


def arguments() -> argparse.Namespace:
    """Read the command line, and check that the output folder can be written to."""
    parser = Parser(
        description="Train a transformer to write English, character by character. Takes about 3 "
        "minutes on two cores; with --smoke, about 5 seconds.",
        allow_abbrev=False,
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument("--steps", type=whole(1), default=5000, help="training steps: 5000")
    task.add_argument("--smoke", dest="steps", action="store_const", const=20, help="only 20")
    task.add_argument("--write", action="store_true", help="only generate, with a saved model")
    task.add_argument(
        "--resume", action="store_true", help="continue the training that Ctrl-C stopped"
    )
    parser.add_argument("--prompt", default="The ", help="what to continue: 'The '")
    parser.add_argument("--length", type=whole(1), default=600, help="characters to write: 600")
    parser.add_argument("--temperature", type=number(0, 10), default=0.8, help="0 is greedy: 0.8")
    parser.add_argument(
        "--top-p", type=number(0.01, 1), default=0.95, help="nucleus sampling: 0.95"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    parser.add_argument("--out", type=Path, default="out/char_lm", help="folder: out/char_lm")
    args = parser.parse_args()
    args.weights, args.kept = args.out / "weights.npz", args.out / "training.npz"
    if not args.prompt:
        parser.error("--prompt needs a character at least")
    if args.write and not args.weights.is_file():
        parser.error(f"--write needs a training first: there is no {args.weights}")
    if args.resume and distributed.world().size > 1:
        parser.error("--resume runs on one rank")
    if args.resume and not args.kept.is_file():
        parser.error(f"--resume needs a training that was stopped: there is no {args.kept}")
    prepare(parser, args.out)
    return args


def main() -> None:
    """Train a transformer."""
    teach("transformer", Writer, write, arguments(), BATCH)


def teach(name: str, kind: Any, write: Any, args: argparse.Namespace, batch: int) -> None:
    """Count n-grams, train, generate, and print bits per character on the held-out text.

    Args:
        name: The name of the model in the table.
        kind: A function that creates a model for an alphabet.
        write: A function that continues a text with a model, like `write` above.
        args: The command line.
        batch: The number of windows in a batch.
    """
    minigrad.keep_freed_memory(1024)  # reuse memory between steps: docs/performance.md
    minigrad.random.seed(args.seed)
    if args.write:
        show(restore(args.weights, kind), write, args)
        return

    text = load()
    bits = {f"{n}-gram": ngram_bits(text, n) for n in range(1, 6)}
    print_bits(bits, text)
    model = kind(text.alphabet)
    start = time.perf_counter()
    history, whole = train(model, text, args.steps, batch, args.kept, args.resume)
    print(f"{history[-1].step} steps in {time.perf_counter() - start:.1f} s\n")
    if distributed.world().rank:
        return  # one rank writes the files
    files = {"weights": args.weights}
    save(model, args.weights)
    show(model, write, args)
    files["training curve"] = args.out / "training.svg"
    _plots.bits_per_character(files["training curve"], np.array(history), bits)
    print_bits({**bits, name: history[-1].held_out}, text)
    print_files(files)
    if not whole:
        sys.exit(130)  # the exit code of Ctrl-C


def show(model: nn.Module, write: Any, args: argparse.Namespace) -> None:
    """Print the characters while the model generates them."""
    print(args.prompt, end="", flush=True)
    for character in write(
        model, args.prompt, args.length, temperature=args.temperature, top_p=args.top_p
    ):
        print(character, end="", flush=True)
    print("\n")


if __name__ == "__main__":
    run(main)
