"""Sizes that depend on the inputs' sizes, found from several runs and written as polynomials.

A model computes shapes with Python integers, which cannot be traced. But the values of one integer
in several runs with inputs of different sizes show how it depends on them: 10, 12, 21 for batches
of 2, 3, 3 and lengths of 5, 4, 7 is batch · length. An integer that fits no polynomial is refused.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Size(NamedTuple):
    """A whole number that depends on symbols: the sum of ``terms`` and a constant."""

    terms: tuple[tuple[int, tuple[str, ...]], ...]  # pairs of a factor and symbols to multiply
    constant: int = 0  # the constant term

    @property
    def symbol(self) -> str | None:
        """The symbol, if the size is one symbol plus a constant."""
        (factor, symbols), *more = self.terms
        return symbols[0] if factor == 1 and len(symbols) == 1 and not more else None

    def __str__(self) -> str:
        parts = [
            "*".join([*([str(factor)] if factor != 1 else []), *symbols])
            for factor, symbols in self.terms
        ]
        return " + ".join([*parts, *([str(self.constant)] if self.constant else [])])


def fit(values: Sequence[int], sizes: Sequence[Mapping[str, int]]) -> int | Size | None:
    """Find how the numbers of several runs depend on the sizes of symbols there.

    The number if it is the same in all runs; a `Size`; or None if no simple polynomial fits.
    """
    if len(set(values)) == 1:
        return values[0]
    symbols = list(sizes[0])
    monomials = [symbols_ for n in (1, 2, 3) for symbols_ in itertools.combinations(symbols, n)]
    sums = [[m] for m in monomials] + [[(a,), (b,)] for a, b in itertools.combinations(symbols, 2)]
    for terms in sums:
        columns = [[math.prod(run[s] for s in term) for run in sizes] for term in terms]
        matrix = np.array([*columns, [1] * len(sizes)], float).T
        if len(sizes) <= len(terms) + 1 or np.linalg.matrix_rank(matrix) <= len(terms):
            continue
        found = np.rint(np.linalg.lstsq(matrix, np.array(values, float))[0]).astype(int).tolist()
        if np.array_equal(matrix @ found, values) and all(found[:-1]):
            *factors, constant = found
            return Size(tuple(zip(factors, terms, strict=True)), constant)
    return None
