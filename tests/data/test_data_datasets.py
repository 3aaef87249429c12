"""Datasets, splitting them, and making batches of samples."""

from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, data

Pair = namedtuple("Pair", "x y")


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


@pytest.mark.parametrize("tensors", [(), (np.ones(2), np.ones(3)), (np.float64(1.0),)])
def test_tensors_of_unequal_length(tensors: Any) -> None:
    with pytest.raises(ValueError, match="TensorDataset: .*equal length"):
        data.TensorDataset(*tensors)


def test_subset() -> None:
    subset = data.Subset("abcdef", [5, 0, 0, -2])
    assert [*subset] == ["f", "a", "a", "e"]
    assert len(subset) == 4
    assert subset[-1] == "e"
    assert len(data.Subset("abc", [])) == 0
    assert [*data.Subset(subset, range(2))] == ["f", "a"]


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        *(([1, i], IndexError, f"sample {i} .*6") for i in (6, -7)),
        *((indices, TypeError, "Subset: .*numbers") for indices in ([0.5], [[1]], [True])),
    ],
)
def test_subset_of_what_is_not_there(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        data.Subset("abcdef", wrong)


def test_one_behind_the_other() -> None:
    both = data.ConcatDataset(["ab", "", "cde"])
    assert len(both) == 5
    assert [both[i] for i in range(-5, 5)] == [*"abcdeabcde"]
    for wrong in (5, -6):
        with pytest.raises(IndexError, match=f"sample {wrong} .*5"):
            both[wrong]
    with pytest.raises(ValueError, match="there is no dataset"):
        data.ConcatDataset([])


def test_a_dataset_says_what_it_is() -> None:
    nothing = type("Nothing", (data.Dataset,), {})()
    with pytest.raises(NotImplementedError, match="Nothing .*__getitem__"):
        nothing[0]


class TestSplits:
    def test_lengths(self) -> None:
        parts = data.random_split(range(10), [6, 0, 4])
        assert [len(part) for part in parts] == [6, 0, 4]
        assert sorted(sample for part in parts for sample in part) == [*range(10)]

    @pytest.mark.parametrize(
        ("n", "shares", "lengths"),
        [
            (10, [0.5, 0.5], [5, 5]), (10, [0.33, 0.33, 0.34], [4, 3, 3]),
            (11, [0.25] * 4, [3, 3, 3, 2]), (7, [1.0], [7]), (5, [0.1, 0.1, 0.8], [1, 0, 4]),
            (0, [0.5, 0.5], [0, 0]),
        ],
    )  # fmt: skip
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

    @pytest.mark.parametrize(
        ("lengths", "message"),
        [
            ([], "non-negative"),
            ([4, 5], "add up to 9, but the dataset has 10 samples"),
            ([0.5, 0.4], "must sum to 1"),
            ([5, 0.5], "numbers of samples must be integers"),
            ([-1, 11], "non-negative"),
            ([1.5, -0.5], "non-negative"),
        ],
    )
    def test_what_does_not_add_up(self, lengths: list[float], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            data.random_split(range(10), lengths)


class TestCollate:
    @pytest.mark.parametrize(
        ("samples", "dtype"),
        [
            ([np.uint8(1), np.uint8(2)], np.uint8),
            ([np.ones(2, np.float16)] * 2, np.float16),
            ([minigrad.ones(2, dtype=np.float64)] * 2, np.float64),
        ],
    )
    def test_dtypes(self, samples: Any, dtype: Any) -> None:
        batch = data.default_collate(samples)
        assert isinstance(batch, Tensor)
        assert batch.dtype == dtype
        np.testing.assert_array_equal(batch.numpy(), np.stack([np.asarray(s) for s in samples]))

    def test_nested(self) -> None:
        samples = [{"x": (i, [np.full(2, i), "ab"[i]]), "y": Pair(0.5, b"c")} for i in range(2)]
        batch = data.default_collate(samples)
        assert [*batch] == ["x", "y"]
        numbers, (arrays, names) = batch["x"]
        kinds = [type(part) for part in (batch["x"], batch["x"][1], batch["y"])]
        assert kinds == [list, list, Pair]
        assert (numbers.tolist(), arrays.tolist()) == ([0, 1], [[0, 0], [1, 1]])
        assert names == ("a", "b")
        assert (batch["y"].x.tolist(), batch["y"].y) == ([0.5, 0.5], (b"c", b"c"))

    def test_gradients_pass(self) -> None:
        x = minigrad.ones(3, requires_grad=True)
        data.default_collate([x * 2, x * 3]).sum().backward()
        assert x.grad.tolist() == [5.0] * 3

    @pytest.mark.parametrize(
        ("samples", "error", "message"),
        [
            ([np.ones(2), np.ones(3)], ValueError,
             r"different shapes, \(2,\) and \(3,\); pass a collate_fn"),
            ([(1, 2), (1,)], ValueError, "different lengths, 2 and 1"),
            ([{"a": 1}, {"b": 1}], ValueError, r"different keys, \['a'\] and \['b'\]"),
            ([None, None], TypeError, "NoneType.*collate_fn"),
        ],
    )  # fmt: skip
    def test_samples_that_differ(self, samples: Any, error: Any, message: str) -> None:
        with pytest.raises(error, match=f"default_collate: .*{message}"):
            data.default_collate(samples)
