"""Write a page of the explorer for each system of the source documents: docs/source_documents.md.

    python examples/document_pages.py --out out/documents

Each page steps through the backward pass of one class on a sequence of four positions.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _command_line import Parser, prepare, print_files, run, whole

import minigrad
from minigrad import nn, viz

LENGTH, WIDTH, HEADS = 4, 8, 2


def query_key_value() -> tuple[Any, ...]:
    """Self-attention: three times the same sequence."""
    return (minigrad.randn(1, LENGTH, WIDTH),) * 3


def sequence() -> tuple[Any, ...]:
    return (minigrad.randn(1, LENGTH, WIDTH),)


SYSTEMS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]] = {
    "dot_product_attention": (
        lambda: nn.DotProductAttention(WIDTH, WIDTH, WIDTH, WIDTH), query_key_value,
    ),
    "multi_head_dot_product_attention": (
        lambda: nn.MultiHeadDotProductAttention(WIDTH, WIDTH, WIDTH, WIDTH, HEADS), query_key_value,
    ),
    "additive_attention": (lambda: nn.AdditiveAttention(WIDTH, WIDTH, WIDTH), query_key_value),
    "encoder_block": (lambda: nn.TransformerEncoderBlock(WIDTH, HEADS), sequence),
    "causal_self_attention": (lambda: nn.CausalSelfAttention(WIDTH, HEADS), sequence),
    "transformer_block": (lambda: nn.TransformerBlock(WIDTH, WIDTH, HEADS, WIDTH), sequence),
    "multi_head_attention": (lambda: nn.MultiHeadAttention(WIDTH, HEADS), query_key_value),
}  # fmt: skip
"""For each page a module, and what it is called with."""


def main() -> None:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--out", type=Path, default=Path("out/documents"), help="a folder (default out/documents)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="of weights and inputs")
    parser.add_argument("--smoke", action="store_true", help="the first page only")
    options = parser.parse_args()
    prepare(parser, options.out)
    files = {}
    for name, (module, inputs) in SYSTEMS.items():
        if name == "causal_self_attention" and not importlib.util.find_spec("einops"):
            print(f"{name}: left out, it needs einops: pip install einops")
            continue
        minigrad.random.seed(options.seed)
        files[name] = options.out / f"{name}.html"
        viz.explore(module(), *inputs(), path=files[name])
        if options.smoke:
            break
    print_files(files)


if __name__ == "__main__":
    run(main)
