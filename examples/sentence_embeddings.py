"""How alike sentences are in meaning, by a model of sentence-transformers in a local folder.

    python examples/sentence_embeddings.py FOLDER "A cat sat." "A dog ran."

The folder is as the library sentence-transformers, or the Hugging Face hub, has it. Nothing is
downloaded.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from _command_line import Parser, run

from minigrad.pretrained import load_sentence_encoder


def arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line."""
    parser.add_argument("folder", type=Path, help="with modules.json, config.json and so on")
    parser.add_argument("sentence", nargs="+", help="two or more sentences")
    args = parser.parse_args()
    if len(args.sentence) < 2:
        parser.error("two sentences at least are needed, to compare")
    return args


def print_table(sentences: list[str], similarities: np.ndarray) -> None:
    """Print the sentences by number, and under each number how alike the others are."""
    width = max(map(len, sentences))
    print(" " * (width + 5), *(f"{number:>6}" for number in range(1, len(sentences) + 1)))
    for number, (sentence, row) in enumerate(zip(sentences, similarities, strict=True), 1):
        print(f"{number:>3}  {sentence:<{width}}", *(f"{value:6.3f}" for value in row))


def main() -> None:
    parser = Parser(description="Print how alike sentences are in meaning.", allow_abbrev=False)
    args = arguments(parser)
    try:
        model = load_sentence_encoder(args.folder)
    except (ImportError, OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    vectors = model.encode(args.sentence)
    print_table(args.sentence, model.similarity(vectors, vectors).numpy())


if __name__ == "__main__":
    run(main)
