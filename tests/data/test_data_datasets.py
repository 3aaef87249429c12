"""Datasets, splitting them, and making batches of samples."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import data


def test_tensors() -> None:
    """Arrays are copied."""
    values = np.array([1.0, 2.0, 3.0, 4.0])
    dataset = data.TensorDataset(minigrad.arange(12).reshape(4, 3), values)
    values[:] = 5
    assert len(dataset) == len([*dataset]) == 4
    x, y = dataset[-1]
    assert (x.tolist(), y.item()) == ([9, 10, 11], 4.0)
    x, y = dataset[1:3]
    assert (x.shape, y.tolist()) == ((2, 3), [2.0, 3.0])
    with pytest.raises(IndexError):
        dataset[4]


def test_subset() -> None:
    subset = data.Subset("abcdef", [5, 0, 0, -2])
    assert [*subset] == ["f", "a", "a", "e"]
    assert len(subset) == 4
    assert subset[-1] == "e"
    assert len(data.Subset("abc", [])) == 0
    assert [*data.Subset(subset, range(2))] == ["f", "a"]


def test_one_behind_the_other() -> None:
    both = data.ConcatDataset(["ab", "", "cde"])
    assert len(both) == 5
    assert [both[i] for i in range(-5, 5)] == [*"abcdeabcde"]


SHARES = [
    (10, [0.5, 0.5], [5, 5]), (10, [0.33, 0.33, 0.34], [4, 3, 3]),
    (11, [0.25] * 4, [3, 3, 3, 2]), (7, [1.0], [7]), (5, [0.1, 0.1, 0.8], [1, 0, 4]),
    (0, [0.5, 0.5], [0, 0]),
]  # fmt: skip


class TestSplits:
    def test_lengths(self) -> None:
        parts = data.random_split(range(10), [6, 0, 4])
        assert [len(part) for part in parts] == [6, 0, 4]
        assert sorted(sample for part in parts for sample in part) == [*range(10)]

    @pytest.mark.parametrize(("n", "shares", "lengths"), SHARES)
    def test_shares(self, n: int, shares: list[float], lengths: list[int]) -> None:
        assert [len(part) for part in data.random_split(range(n), shares)] == lengths

    def test_random_numbers(self) -> None:
        def split(generator: Any = None) -> list[int]:
            return [*data.random_split(range(50), [25, 25], generator)[0]]

        assert split(3) == split(np.random.default_rng(3)) != split(4)
        minigrad.random.seed(7)
        first = split()
        second = split()
        minigrad.random.seed(7)
        assert split() == first != second

    def test_lucids_seed_is_a_seed(self) -> None:
        first, second = data.random_split(range(50), [25, 25], seed=3)
        assert [*first] == [*data.random_split(range(50), [25, 25], generator=3)[0]]
        assert [*first] == [*data.random_split(range(50), [25, 25], 3)[0]] != [*second]
        with pytest.raises(TypeError, match="generator and seed were given"):
            data.random_split(range(50), [25, 25], 3, seed=3)


def test_gradients_pass_through_a_batch() -> None:
    x = minigrad.ones(3, requires_grad=True)
    data.default_collate([x * 2, x * 3]).sum().backward()
    assert x.grad.tolist() == [5.0] * 3
