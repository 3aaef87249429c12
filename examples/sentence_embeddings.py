"""Print the similarity of sentences, with a sentence-transformers model in a local folder.

    python examples/sentence_embeddings.py FOLDER "A cat sat." "A dog ran."

The folder has the layout of the library sentence-transformers or the Hugging Face hub. Nothing is
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
    """Print the numbered sentences, and a table of their similarities."""
    width = max(map(len, sentences))
    print(" " * (width + 5), *(f"{number:>6}" for number in range(1, len(sentences) + 1)))
    for number, (sentence, row) in enumerate(zip(sentences, similarities, strict=True), 1):
        print(f"{number:>3}  {sentence:<{width}}", *(f"{value:6.3f}" for value in row))


def main() -> None:
    parser = Parser(description="Print the similarity of sentences.", allow_abbrev=False)
    args = arguments(parser)
    try:
        model = load_sentence_encoder(args.folder)
    except (ImportError, OSError, ValueError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    vectors = model.encode(args.sentence)
    print_table(args.sentence, model.similarity(vectors, vectors).numpy())


if __name__ == "__main__":
    run(main)
