"""Exercise 26: the rule of a collective is its adjoint, on simulated ranks.

The engine differentiates the given forward functions, run on lists of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad.autograd import grad
from minigrad.learn.answer import Answer, Failure, numbers, show
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

Arrays = Sequence[np.ndarray]


def gradients(forward: Callable[..., Any], xs: Arrays, g: Arrays) -> list[np.ndarray]:
    """By the engine: the gradient of each rank's input, where g has those of the outputs."""
    tensors = [minigrad.tensor(x, requires_grad=True) for x in xs]
    found = grad(
        forward(tensors), tensors, [minigrad.tensor(part) for part in g], allow_unused=True
    )
    return [
        np.zeros_like(x) if one is None else one.numpy() for x, one in zip(xs, found, strict=True)
    ]


def compare_ranks(
    answer: Answer, function: str, got: Any, want: Arrays, mistakes: Mapping[str, Arrays]
) -> None:
    """Compare a list with one array for each rank; a mistake is known by all of them together.

    Args:
        answer: The learner's file.
        function: The name of the function that returned the list.
        got: The learner's list.
        want: The right arrays.
        mistakes: By diagnosis, what each rank gets then.

    Raises:
        Failure: The arrays differ.
    """
    if not isinstance(got, (list, tuple)) or len(got) != len(want):
        facts = f"{function} should return a list of {len(want)} arrays, one for each rank; got "
        raise Failure(answer.after(f"{facts}{show(got)}."), "form")
    made = {name: all(map(_equal, got, wrong)) for name, wrong in mistakes.items()}
    for rank, (mine, right) in enumerate(zip(got, want, strict=True)):
        answer.compare(f"the array of rank {rank}", mine, right, made)


def _equal(mine: Any, wrong: np.ndarray) -> bool:
    return np.shape(mine) == np.shape(wrong) and np.allclose(mine, wrong)


def check(answer: Answer) -> None:
    """The five collectives; what each rank has can tell any two mistakes apart."""
    random = np.random.default_rng(26)
    ranks = 3
    wide, g = ([numbers(random, 2 * ranks, 2) for _ in range(ranks)] for _ in range(2))
    xs, small = ([numbers(random, 2, 2) for _ in range(ranks)] for _ in range(2))
    total, every = sum(small), range(ranks)
    zero = np.zeros_like(total)
    _check_backward(answer, "all_reduce", xs, small, {
        "own output": small, "mean": [total / ranks] * ranks,
        "others only": [total - part for part in small],
    })  # fmt: skip
    for root in (1, 0):
        _check_backward(answer, "broadcast", xs, small, {
            "root alone": [small[r] if r == root else zero for r in every],
            "everybody": [total] * ranks, "own output": small,
            "given back": [small[root]] * ranks,
        }, root)  # fmt: skip
    _check_backward(answer, "all_gather", xs, g, {
        "own block": [part[2 * r : 2 * r + 2] for r, part in enumerate(g)],
        "not cut": [sum(g)] * ranks, "mean": [part / ranks for part in np.split(sum(g), ranks)],
    })  # fmt: skip
    _check_backward(answer, "reduce_scatter", wide, small, {
        "own output": small, "added": [total] * ranks,
        "padded": [
            np.concatenate([small[r] if r == block else zero for block in every]) for r in every
        ],
        "repeated": [np.concatenate([part] * ranks) for part in small],
    })  # fmt: skip
    _check_backward(answer, "ring_shift", xs, small, {
        "same direction": [small[r - 1] for r in every], "own output": small,
    })  # fmt: skip


def _check_backward(
    answer: Answer, name: str, xs: Arrays, g: Arrays, mistakes: Mapping[str, Any], *root: int
) -> None:
    """Compare one backward function with the engine."""
    want = gradients(lambda tensors: answer.names[name](tensors, *root), xs, g)
    got = getattr(answer, f"{name}_backward")([*g], *root)
    compare_ranks(answer, f"{name}_backward", got, want, mistakes)


def draw(answer: Answer) -> Graph:
    """The backward pass of all_reduce on three ranks."""
    return traced(
        lambda g0, g1, g2: answer.all_reduce_backward([g0, g1, g2]), "rank_0 rank_1 rank_2",
        g0=np.ones(2), g1=np.ones(2), g2=np.ones(2),
    )  # fmt: skip


EXERCISE = Exercise(
    title="collectives and their adjoints",
    chapter="many_machines",
    hints=(
        "Take two ranks and one number each. Write what each rank gets, as a formula in x0 and x1. "
        "The loss is g0 times the first plus g1 times the second. What is its slope in x0, and "
        "what in x1?",
        "An input gets a contribution from each rank that received it, and contributions add. So a "
        "copy to all ranks becomes a sum over all ranks, and a sum becomes a copy. What was passed "
        "on to the next rank comes back from the next rank. Four of the five are one of the given "
        "collectives.",
        "all_reduce_backward is all_reduce, all_gather_backward is reduce_scatter, and the other "
        "way round. broadcast_backward: sum(g) for the root, zeros for the others. "
        "ring_shift_backward: rank r gets g[(r + 1) % len(g)].",
    ),
    why="A collective is a linear op: each output is a sum of some of the inputs. Its rule is the "
    "transposed matrix, called the adjoint: where the forward pass copies, the backward pass adds, "
    "and where it adds, it copies. It is the rule of fan-out (exercise 3) and of broadcasting "
    "(exercise 6), with ranks in place of uses. All ranks take part in the backward pass too: a "
    "rank that does not get there lets the others wait for ever.",
    diagnoses={
        "own output": "Each rank gets back the gradient of its own output. But its input went to "
        "other ranks too, or came from one: who received it?",
        "mean": "This is a mean. Contributions are added, and divided by nothing.",
        "others only": "A rank's own output depends on its input as well: its own g counts too.",
        "root alone": "The root's input was used by every rank, so the gradients of all ranks add "
        "there. This is the root's own contribution alone.",
        "everybody": "The root is right. The inputs of the other ranks were not used: their "
        "gradients are zeros.",
        "given back": "The root's g went to everybody, as in the forward pass. Backward is the "
        "other way: to the root, as a sum.",
        "own block": "Each rank takes its block out of its own g. But every rank got these rows: "
        "the blocks of all ranks add.",
        "not cut": "The sum is right, but a rank's gradient has the shape of its input: the rows "
        "that it gave.",
        "padded": "Rank r got block r of a sum, to which every rank contributed all its blocks. So "
        "a rank's input also went, in the other blocks, to the other ranks.",
        "added": "The blocks are different rows of the input: they lie below each other and are "
        "not added.",
        "repeated": "Each block of the input went to another rank: block r of the gradient is the "
        "g of rank r.",
        "same direction": "The gradient was passed on in the forward direction. What rank r gave "
        "is now at rank r + 1: its gradient comes back from there.",
    },
    wrong=(
        Wrong("own output", code="return g"),
        Wrong("mean", code="return [sum(g) / len(g) for _ in g]"),
        Wrong("others only", code="return [sum(g) - part for part in g]"),
        Wrong(
            "root alone",
            code="return [x if r == root else np.zeros_like(x) for r, x in enumerate(g)]",
            gap=2,
        ),
        Wrong("everybody", code="return all_reduce(g)", gap=2),
        Wrong("own output", code="return g", gap=2),
        Wrong("given back", code="return broadcast(g, root)", gap=2),
        Wrong("own block", code="return [np.split(x, len(g))[r] for r, x in enumerate(g)]", gap=3),
        Wrong("not cut", code="return all_reduce(g)", gap=3),
        Wrong("mean", code="return [x / len(g) for x in reduce_scatter(g)]", gap=3),
        Wrong("own output", code="return g", gap=4),
        Wrong("added", code="return all_reduce(g)", gap=4),
        Wrong(
            "padded",
            code="""
            zero = np.zeros_like(g[0])
            return [
                np.concatenate([x if r == block else zero for block in range(len(g))])
                for r, x in enumerate(g)
            ]
            """,
            gap=4,
        ),
        Wrong("repeated", code="return [np.concatenate([x] * len(g)) for x in g]", gap=4),
        Wrong("same direction", code="return ring_shift(g)", gap=5),
        Wrong("own output", code="return g", gap=5),
    ),
    check=check,
    draw=draw,
)
