"""Datasets, samplers and loaders beside PyTorch's: what each gives."""

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from minigrad import data

torch = pytest.importorskip("torch")
theirs = torch.utils.data

Pair = namedtuple("Pair", "x y")


def plain(value: Any) -> Any:
    """Tensors as their dtype and numbers, in containers as they are."""
    if hasattr(value, "detach"):
        return str(value.dtype).rpartition(".")[2], value.tolist()
    if isinstance(value, dict):
        return type(value), [(key, plain(part)) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [plain(part) for part in value]
    return value


COLLATED: dict[str, Any] = {
    "floats": [1.5, 2.5],
    "floats and integers": [1.5, 2],
    "integers and floats": [2, 1.5],
    "integers": [1, 2],
    "bools": [True, False],
    "NumPy's numbers": [np.float32(1), np.float32(2)],
    "texts": ["a", "b"],
    "pairs": [(1, 2.0, "a"), (3, 4.0, "b")],
    "lists": [[1, 2], [3, 4]],
    "dicts": [{"x": 1.0, "y": "a"}, {"y": "b", "x": 2.0}],
    "ordered dicts": [OrderedDict(x=1), OrderedDict(x=2)],
    "named tuples": [Pair(1, "a"), Pair(2, "b")],
    "small numbers": [np.uint8(1), np.uint8(2)],
    "arrays": [np.ones(2), np.zeros(2)],
    "small arrays": [np.ones(2, np.float16)] * 2,
    "nested": [{"x": (i, [np.full(2, i), "ab"[i]]), "y": Pair(0.5, b"c")} for i in range(2)],
}


@pytest.mark.parametrize("samples", COLLATED.values(), ids=COLLATED)
def test_what_a_batch_is(samples: Any) -> None:
    assert plain(data.default_collate(samples)) == plain(theirs.default_collate(samples))


@pytest.mark.parametrize(
    "sample", [np.arange(3), (np.ones(2), "a"), {"x": np.float32(1)}, Pair(1, np.ones(1)), [2.0]]
)
def test_what_a_single_sample_is(sample: Any) -> None:
    assert plain(data.default_convert(sample)) == plain(theirs.default_convert(sample))


class Wanted:
    """A data set that is asked for a batch at once."""

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> Any:
        raise AssertionError("one by one")

    def __getitems__(self, indices: list[int]) -> list[int]:
        return [10 * i for i in indices]


LOADERS: dict[str, Any] = {
    "the 4th argument": lambda d: d.DataLoader(range(4), 2, False, [3, 1, 0]),
    "the 5th argument": lambda d: d.DataLoader(range(4), 1, None, None, [[3], [1, 0]]),
    "the 6th to 9th": lambda d: d.DataLoader(range(5), 2, None, None, None, 0, sum, False, True),
    "a batch sampler": lambda d: d.DataLoader(
        range(5), batch_sampler=d.BatchSampler(d.SequentialSampler(range(5)), 2, True)
    ),
    "single samples": lambda d: d.DataLoader([np.ones(2), 3.5, "a"], batch_size=None),
    "a batch at once": lambda d: d.DataLoader(Wanted(), 2),
    "floats": lambda d: d.DataLoader([0.5, 1.5, 2.5], 2),
    "pairs": lambda d: d.DataLoader([(1, 0.5), (2, 1.5)], 2),
    "stacked": lambda d: d.DataLoader(d.StackDataset([1, 2], [0.5, 1.5]), 2),
    "stacked by name": lambda d: d.DataLoader(d.StackDataset(x=[1, 2], y="ab"), 2),
    "a subset": lambda d: d.DataLoader(d.Subset(range(9), [5, -1, 2]), 2),
}


@pytest.mark.parametrize("make", LOADERS.values(), ids=LOADERS)
def test_what_a_loader_gives(make: Any) -> None:
    ours, other = make(data), make(theirs)
    assert [plain(batch) for batch in ours] == [plain(batch) for batch in other]
    assert len(ours) == len(other)
    assert (ours.batch_size, ours.drop_last) == (other.batch_size, other.drop_last)
    assert (ours.batch_sampler is None) == (other.batch_sampler is None)


def test_tensors_are_batched_as_lists() -> None:
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3)
    ours = data.TensorDataset(x, y)
    other = theirs.TensorDataset(torch.tensor(x), torch.tensor(y))
    for make in (lambda d, s: d.DataLoader(s, 2), lambda d, s: d.DataLoader(d.Subset(s, [2, 0]))):
        found = [plain(batch) for batch in make(data, ours)]
        assert found == [plain(batch) for batch in make(theirs, other)]


def test_indices_of_parts_are_lists() -> None:
    parts = data.random_split(range(10), [7, 3], np.random.default_rng(0))
    assert [type(part.indices) for part in parts] == [list, list]
    assert sorted(parts[0].indices + parts[1].indices) == [*range(10)]
    assert data.Subset("abc", [0, -1]).indices == theirs.Subset("abc", [0, -1]).indices


def test_streams_are_chained() -> None:
    def chained(d: Any) -> Any:
        class Count(d.IterableDataset):
            def __iter__(self) -> Any:
                return iter(range(2))

            def __len__(self) -> int:
                return 2

        return Count() + Count()

    ours, other = chained(data), chained(theirs)
    assert type(ours).__name__ == type(other).__name__ == "ChainDataset"
    assert ([*ours], len(ours)) == ([*other], len(other))


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("batch_sampler", {"batch_sampler": [[0]], "batch_size": 2}),
    ("batch_sampler", {"batch_sampler": [[0]], "shuffle": True}),
    ("batch_sampler", {"batch_sampler": [[0]], "drop_last": True}),
    ("batch_sampler", {"batch_sampler": [[0]], "sampler": [0]}),
    ("drop_last", {"batch_size": None, "drop_last": True}),
    ("sampler", {"sampler": [0], "shuffle": True}),
    ("prefetch_factor", {"prefetch_factor": 2}),
]


@pytest.mark.parametrize(("named", "options"), WRONG, ids=str)
def test_options_that_contradict_each_other(named: str, options: dict[str, Any]) -> None:
    for loader in (data.DataLoader, theirs.DataLoader):
        with pytest.raises(ValueError, match=named):
            loader(range(3), **options)
