r"""Character n-grams: the probability of a character after the n - 1 before it, by counting.

The smoothing is interpolated Kneser-Ney with three discounts, all read off the counts:

    p(c | h) = max(k(hc) - D(k(hc)), 0) / k(h·) + λ(h) p(c | h'),    λ(h) = Σ D(k(hc)) / k(h·)

where h' is h without its first character, and below the unigrams all classes are equally likely.
For the longest contexts k counts how often hc occurs; for shorter ones, after how many different
characters it does. D(1), D(2), and D(3) for 3 and more, follow from the numbers of n-grams that
are counted 1 to 4 times.

Source: Chen and Goodman, "An empirical study of smoothing techniques for language modeling", 1998.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class _Table(NamedTuple):
    """The table of n-grams of one length. Keys are n-grams as numbers, in ascending order."""

    grams: np.ndarray  # the keys of all n-grams seen
    counts: np.ndarray  # k(hc) - D(k(hc)) of each
    contexts: np.ndarray  # the keys of all h seen
    totals: np.ndarray  # k(h·) of each
    backoffs: np.ndarray  # λ(h) of each


class NGrams:
    """A model of the next character.

    Args:
        ids: The text to learn from: integers from 0 to classes - 1, shape (L,).
        order: n, at least 1.
        classes: The number of characters, including unseen ones.

    Raises:
        ValueError: The text is shorter than n, or classes ** n does not fit into 64 bits.
    """

    def __init__(self, ids: np.ndarray, order: int, classes: int) -> None:
        if classes**order > np.iinfo(np.int64).max:
            raise ValueError(f"NGrams: {order}-grams of {classes} classes do not fit into 64 bits")
        if len(ids) < order:
            raise ValueError(f"NGrams: there are no {order}-grams in {len(ids)} characters")
        self.classes = classes
        self._tables = []
        for n in range(1, order + 1):
            keys = self._keys(ids, n)
            if n < order:  # one for each different character before it
                keys = np.unique(self._keys(ids, n + 1)) % classes**n
            self._tables.append(self._table(keys))

    def probabilities(self, ids: np.ndarray) -> np.ndarray:
        """The probability of each character after those before it; the first ones have fewer.

        Args:
            ids: A text, integers of shape (L,).

        Returns:
            Shape (L,).
        """
        found = np.full(len(ids), 1 / self.classes)
        for n, table in enumerate(self._tables[: len(ids)], start=1):
            keys = self._keys(ids, n)
            count = _look_up(keys, table.grams, table.counts, 0.0)
            total = _look_up(keys // self.classes, table.contexts, table.totals, 1.0)
            backoff = _look_up(keys // self.classes, table.contexts, table.backoffs, 1.0)
            found[n - 1 :] = count / total + backoff * found[n - 1 :]
        return found

    def _keys(self, ids: np.ndarray, n: int) -> np.ndarray:
        """Each run of n characters as a number with n digits."""
        keys = np.zeros(max(len(ids) - n + 1, 0), np.int64)
        for place in range(n):
            keys = keys * self.classes + ids[place : place + len(keys)]
        return keys

    def _table(self, keys: np.ndarray) -> _Table:
        grams, counts = np.unique(keys, return_counts=True)
        discounts = _discounts(counts)[np.minimum(counts, 3)]
        contexts, first = np.unique(grams // self.classes, return_index=True)
        totals = np.add.reduceat(counts, first)
        backoffs = np.add.reduceat(discounts, first) / totals
        return _Table(grams, counts - discounts, contexts, totals, backoffs)


def _discounts(counts: np.ndarray) -> np.ndarray:
    """D(0) to D(3); 1/2 if the text is too small to estimate one."""
    often = np.bincount(
        np.minimum(counts, 5), minlength=6
    )  # the number of n-grams with counts 0, 1, 2 to 5
    discounts = np.array([0.0, 0.5, 0.5, 0.5])
    if often[1:5].all():
        share = often[1] / (often[1] + 2 * often[2])
        for k in (1, 2, 3):
            discounts[k] = np.clip(k - (k + 1) * share * often[k + 1] / often[k], 0.1, k)
    return discounts


def _look_up(
    keys: np.ndarray, known: np.ndarray, values: np.ndarray, otherwise: float
) -> np.ndarray:
    """The values of some keys; a default for unknown keys."""
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[places] == keys, values[places], otherwise)
