"""Programs drawn by number: the same number, the same program."""

from contextlib import suppress

import arithmetic_moves as sums
import arranging_moves as places
import numpy as np
from program_drafts import Draft, NothingFits
from programs import Program

MOVES = {
    sums.unary: 5, sums.bounded: 3, sums.binary: 6, sums.residual: 5, sums.with_number: 2,
    sums.choice: 2, sums.clip: 1, sums.reduction: 4, sums.along_an_axis: 3, sums.normalisation: 2,
    sums.product: 4, sums.contraction: 2, sums.einsum: 2, sums.fused: 1, places.view: 5,
    places.reading: 5, places.gathering: 2, places.join: 3, places.pieces: 2, places.arrangement: 2,
    places.writing: 4, places.in_place: 3,
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
        with suppress(NothingFits):
            for step in move(draft):
                if not draft.accept(step):
                    break
    return draft.program()
