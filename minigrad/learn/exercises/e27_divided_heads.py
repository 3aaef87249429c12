"""Exercise 27: tensor parallelism: attention whose heads are divided among simulated ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, Failure, numbers, show
from minigrad.learn.drawing import traced
from minigrad.learn.exercises.e26_collectives import compare_ranks
from minigrad.learn.solutions import e18_attention_backward
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

Weights = Mapping[str, np.ndarray]
NAMES = ("W_Q", "W_K", "W_V", "W_O")
one_machine: Any = e18_attention_backward
"""`multi_head` and `multi_head_backward`, written as a learner does, without types."""


def cut(p: Weights, ranks: int) -> list[dict[str, np.ndarray]]:
    """The weights of each rank: columns, and rows of W_O."""
    cuts = {name: np.split(p[name], ranks, axis=int(name != "W_O")) for name in NAMES}
    return [{name: cuts[name][rank] for name in NAMES} for rank in range(ranks)]


def check(answer: Answer) -> None:
    """The three functions, on inputs at which any two mistakes give different values."""
    random = np.random.default_rng(27)
    ranks, heads, width = 2, 4, 8
    p = {name: numbers(random, width, width) / 4 for name in NAMES}
    x, g = numbers(random, 2, 3, width), numbers(random, 2, 3, width)
    bias = numbers(random, width)
    _check_divide(answer, p, ranks)
    parts = cut(p, ranks)
    output, cache = one_machine.multi_head(x, p, heads)
    own = [one_machine.multi_head(x, part, heads // ranks) for part in parts]
    outputs, caches = answer.unpack(
        answer.forward(x, parts, bias, heads), "the outputs", "the caches"
    )
    narrow = sum(one_machine.multi_head(x, part, heads)[0] for part in parts)
    compare_ranks(answer, "forward", outputs, [output + bias] * ranks, {
        "not reduced": [out + bias for out, _ in own],
        "bias on each": [output + ranks * bias] * ranks, "no bias": [output] * ranks,
        "all heads": [narrow + bias] * ranks,
        "mean": [output / ranks + bias] * ranks,
    })  # fmt: skip
    _check_backward(answer, g, p, cache, [inner for _, inner in own])
    answer.require(
        len(caches) == ranks and all("merged" in one for one in caches),
        f"forward should return {ranks} caches, one for each rank; got {show(caches)}.", "form",
    )  # fmt: skip


def _check_divide(answer: Answer, p: Weights, ranks: int) -> None:
    got = answer.divide(p, ranks)
    keys = [{*one} if isinstance(one, Mapping) else None for one in got]
    if keys != [{*NAMES}] * ranks:
        facts = f"divide should return {ranks} dicts with {', '.join(NAMES)}; got {show(got)}."
        raise Failure(answer.after(facts), "form")
    for name in NAMES:
        axis = int(name != "W_O")
        for rank, right in enumerate(cut(p, ranks)):
            other = np.split(p[name], ranks, axis=1 - axis)[rank]
            every = np.take(p[name], range(rank, len(p[name]), ranks), axis=axis)
            mistakes = {
                "not divided": p[name], "every other": every,
                "rows of W_O" if name == "W_O" else "columns": other,
            }  # fmt: skip
            answer.compare(f'rank {rank}\'s "{name}"', got[rank][name], right[name], mistakes)


def _check_backward(
    answer: Answer, g: np.ndarray, p: Weights, cache: Any, caches: Sequence[Any]
) -> None:
    ranks, parts = len(caches), cut(p, len(caches))
    grad_x, grads = one_machine.multi_head_backward(g, p, cache)
    of_ranks = cut(grads, ranks)
    own = [one_machine.multi_head_backward(g, *pair)[0] for pair in zip(parts, caches, strict=True)]
    got_x, got_grads, got_bias = answer.unpack(
        answer.backward(g, parts, caches), "grad_x", "the gradients of the weights", "grad_b_O"
    )
    compare_ranks(answer, "backward", got_x, [grad_x] * ranks, {
        "own path": own, "counted again": [ranks * grad_x] * ranks,
        "g reduced": [ranks * part for part in own], "mean": [grad_x / ranks] * ranks,
    })  # fmt: skip
    answer.require(
        len(got_grads) == ranks,
        f"There should be {ranks} dicts of gradients, one for each rank; got {len(got_grads)}.",
        "form",
    )
    for rank, right in enumerate(of_ranks):
        for name in NAMES:
            mistakes = {
                "counted again": ranks * right[name],
                "weights reduced": sum(one[name] for one in of_ranks),
            }  # fmt: skip
            answer.compare(f'rank {rank}\'s "{name}"', got_grads[rank][name], right[name], mistakes)
    bias = g.sum(axis=(0, 1))
    answer.compare("grad_b_O", got_bias, bias, {
        "counted again": ranks * bias, "batch": (g, g.sum(axis=0), g.sum(axis=1)),
    })  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The forward pass on two ranks."""
    half = {name: np.ones((2, 1)) for name in NAMES} | {"W_O": np.ones((1, 2))}

    def run(x: Any, b_O: Any) -> Any:
        return tuple(answer.forward(x, [half, half], b_O, 2)[0])

    return traced(run, "rank_0 rank_1", x=np.ones((1, 2, 2)), b_O=np.ones(2))


EXERCISE = Exercise(
    title="attention heads on several ranks",
    chapter="many_machines",
    hints=(
        "Without the bias, the output is a sum over the heads: each head's output times its rows "
        "of W_O. Which head needs which columns of W_Q? Which part of this sum can a rank "
        "compute alone?",
        "forward: each rank calls multi_head with its own weights and heads // ranks heads; then "
        "all_reduce, and the bias once, after the sum. backward: each output rank has the full g "
        "already; each rank calls multi_head_backward; its grad_x is the path through its own "
        "heads, so these are added.",
        "columns: np.split(p[name], ranks, axis=1); rows: np.split(p['W_O'], ranks, axis=0). "
        "grad_x = all_reduce([the first result of multi_head_backward on each rank]). The "
        "gradients of the weights stay where the weights are. grad_b_O = g.sum(axis=(0, 1)).",
    ),
    why="Where x enters the divided part, every rank uses it: forward nothing is sent, backward "
    "the contributions are added. Where the parts leave as a sum, forward they are added, and "
    "backward nothing is sent: the gradient of a sum goes to each term as it is, and each rank "
    "has it. The two are adjoint to each other. The weights and their gradients never move. "
    "`distributed.parallelize` divides the layers of a transformer in this way (Shoeybi et al., "
    "2019).",
    diagnoses={
        "columns": "Cut into rows. A head is a block of columns of W_Q, W_K and W_V: "
        "x @ W_Q[:, :4] are the first four features of the queries.",
        "rows of W_O": "Cut into columns. The concatenated heads are multiplied by W_O from the "
        "left, so a head meets its own rows of W_O.",
        "every other": "Every second one was taken. A head is a block of neighbours.",
        "not divided": "This is the whole matrix. Each rank holds its own part only.",
        "not reduced": "This is the rank's own part of the output. The parts of all ranks add.",
        "bias on each": "Each rank added the bias to its part: the sum has it once for each rank. "
        "Add it once, after the sum.",
        "no bias": "The bias b_O is missing.",
        "all heads": "A rank has only heads // ranks heads. With all of them, its columns are cut "
        "into heads that are too narrow.",
        "mean": "This is a mean. The parts are terms of a sum.",
        "own path": "This is the path through the rank's own heads. x went to all ranks: the "
        "contributions of all of them add.",
        "counted again": "Too large by the number of ranks: the ranks hold copies of one output, "
        "and its gradient counts once. A gradient that is equal on all ranks needs no sum.",
        "g reduced": "g was added over the ranks, but it is the same on all of them and counts "
        "once. The sum that is needed is that of grad_x.",
        "weights reduced": "The gradients of different weights were added. Each rank has weights "
        "of its own: their gradients stay there.",
        "batch": "A bias is used at every position of every sequence: sum over both axes.",
    },
    wrong=(
        Wrong("columns", ("ranks, axis=1) for", "ranks, axis=0) for")),
        Wrong("rows of W_O", ("ranks, axis=0)\n    return", "ranks, axis=1)\n    return")),
        Wrong("not divided", code="return [dict(p) for _ in range(ranks)]"),
        Wrong(
            "every other",
            code="""
            return [
                {name: w[r::ranks] if name == "W_O" else w[:, r::ranks] for name, w in p.items()}
                for r in range(ranks)
            ]
            """,
        ),
        Wrong(
            "not reduced",
            (
                "total = all_reduce([output for output, _ in results])",
                "total = [output for output, _ in results]",
            ),
        ),
        Wrong(
            "bias on each",
            ("all_reduce([output for", "all_reduce([output + b_O for"),
            ("return [output + b_O for output in total]", "return [output for output in total]"),
        ),
        Wrong("no bias", ("[output + b_O for output in total]", "[output for output in total]")),
        Wrong("all heads", ("heads // ranks", "heads")),
        Wrong(
            "mean",
            ("[output + b_O for output in total]", "[output / ranks + b_O for output in total]"),
        ),
        Wrong(
            "own path",
            (
                "grad_x = all_reduce([own for own, _ in results])",
                "grad_x = [own for own, _ in results]",
            ),
        ),
        Wrong(
            "mean",
            (
                "all_reduce([own for own, _ in results])",
                "all_reduce([own / len(parts) for own, _ in results])",
            ),
        ),
        Wrong(
            "g reduced",
            (
                "grad_x = all_reduce([own for own, _ in results])",
                "grad_x = [len(parts) * own for own, _ in results]",
            ),
        ),
        Wrong(
            "counted again",
            (
                "        multi_head_backward(g, part, cache)",
                "        multi_head_backward(len(parts) * g, part, cache)",
            ),
        ),
        Wrong(
            "weights reduced",
            (
                "[grads for _, grads in results], g.sum",
                "[{name: sum(one[name] for _, one in results) for name in grads}"
                " for _, grads in results], g.sum",
            ),
        ),
        Wrong("counted again", ("g.sum(axis=(0, 1))", "sum(g.sum(axis=(0, 1)) for _ in parts)")),
        Wrong("batch", ("g.sum(axis=(0, 1))", "g.sum(axis=0)")),
    ),
    check=check,
    draw=draw,
)
