"""Programs drawn by number: the same number, the same program."""

from __future__ import annotations

import numpy as np
from arithmetic_moves import (
    along_an_axis,
    binary,
    bounded,
    choice,
    clip,
    contraction,
    einsum,
    fused,
    normalisation,
    product,
    reduction,
    residual,
    unary,
    with_number,
)
from arranging_moves import (
    arrangement,
    gathering,
    in_place,
    join,
    pieces,
    reading,
    view,
    writing,
)
from program_drafts import Draft
from programs import Program

MOVES = {
    unary: 5, bounded: 3, binary: 6, residual: 5, with_number: 2, choice: 2, clip: 1, reduction: 4,
    along_an_axis: 3, normalisation: 2, product: 4, contraction: 2, einsum: 2, fused: 1,
    view: 5, reading: 5, gathering: 2, join: 3, pieces: 2, arrangement: 2, writing: 4, in_place: 3,
}  # fmt: skip
"""The moves, and how often each is drawn."""

_moves = list(MOVES)
_odds = np.array([*MOVES.values()]) / sum(MOVES.values())


def draw(number: int) -> Program:
    """The program with a number: 5 to 40 steps, but for those that have no part in its result."""
    draft = Draft(np.random.default_rng([23, number]))
    length = draft.rng.integers(5, 41)
    while len(draft.steps) < length:
        move = _moves[draft.rng.choice(len(_moves), p=_odds)]
        for step in move(draft):
            if not draft.accept(step):
                break
    return draft.program()
