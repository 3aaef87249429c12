"""Loaders: batches, epochs, orders, and going on in the middle of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, data
from minigrad.data import DataLoader, Subset, random_split

ahead = pytest.mark.parametrize("prefetch", [0, 1, 3])


class Counting(data.Dataset):
    """Squares; counts how often it is asked."""

    def __init__(self, n: int) -> None:
        self.n, self.asked = n, 0

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> tuple[int, float]:
        assert type(index) is int
        self.asked += 1
        return index, index**2 / 2


def lists(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


class TestBatches:
    @ahead
    @pytest.mark.parametrize("n", [0, 1, 5, 6])
    @pytest.mark.parametrize("drop_last", [False, True])
    def test_all_of_them(self, n: int, drop_last: bool, prefetch: int) -> None:
        loader = DataLoader(range(n), 3, drop_last=drop_last, prefetch=prefetch)
        expected = [[*range(i, min(i + 3, n))] for i in range(0, n, 3)]
        if drop_last:
            expected = [batch for batch in expected if len(batch) == 3]
        assert len(loader) == len(expected)
        assert lists(loader) == expected
        assert lists(loader) == expected, "a second epoch"

    @ahead
    def test_one_inside_another(self, prefetch: int) -> None:
        loader = DataLoader(range(4), 2, prefetch=prefetch)
        seen = [(a.tolist(), b.tolist()) for a in loader for b in loader]
        first, second = [0, 1], [2, 3]
        assert seen == [(first, first), (first, second), (second, first), (second, second)]
        assert [a == b for a, b in zip(lists(loader), lists(loader), strict=True)] == [True, True]

    @ahead
    def test_an_iterator_ends_for_good(self, prefetch: int) -> None:
        batches = iter(DataLoader(range(2), prefetch=prefetch))
        assert iter(batches) is batches
        assert lists(batches) == [[0], [1]]
        for _ in range(2):
            with pytest.raises(StopIteration):
                next(batches)

    @pytest.mark.parametrize("wrap", [lambda d: d, lambda d: data.Subset(d, [4, 1, 2, 0, 3])])
    def test_tensors_take_one_index(self, wrap: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """And give what sample by sample would have given."""
        x, y = np.random.default_rng(0).standard_normal((5, 2, 3)), np.arange(5)
        dataset = wrap(data.TensorDataset(x, y))
        slow = [*DataLoader(dataset, 2, collate_fn=data.default_collate)]
        monkeypatch.setattr("minigrad.data.loader.default_collate", None)
        fast = [*DataLoader(dataset, 2)]
        assert len(fast) == len(slow) == 3
        for a, b in zip(fast, slow, strict=True):
            assert type(a) is type(b) is tuple
            for left, right in zip(a, b, strict=True):
                assert isinstance(left, Tensor)
                assert left.dtype == right.dtype
                np.testing.assert_array_equal(left.numpy(), right.numpy())

    def test_a_subclass_that_changes_samples(self) -> None:
        class Doubled(data.TensorDataset):
            def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
                assert type(index) is int
                return tuple(2 * part for part in super().__getitem__(index))

        class Shifted(data.Subset):
            def __getitem__(self, index: int) -> Any:
                return super().__getitem__(index)[0] + 100

        doubled = Doubled(np.arange(4))
        assert [batch.tolist() for (batch,) in DataLoader(doubled, 3)] == [[0, 2, 4], [6]]
        assert lists(DataLoader(Shifted(doubled, [3, 1]), 2)) == [[106, 102]]

    def test_other_kinds_of_datasets(self) -> None:
        assert [*DataLoader(["a", "b", "c"], 2)] == [["a", "b"], ["c"]]
        assert lists(DataLoader(np.arange(6).reshape(3, 2), 2)) == [[[0, 1], [2, 3]], [[4, 5]]]
        assert lists(DataLoader(minigrad.arange(3), 2)) == [[0, 1], [2]]
        both = data.ConcatDataset([Counting(2), Counting(1)])
        (i, x), _ = DataLoader(both, 2)
        assert (i.tolist(), x.tolist(), x.dtype) == ([0, 1], [0.0, 0.5], np.float32)

    def test_a_collate_fn(self) -> None:
        assert [*DataLoader(range(5), 2, collate_fn=sum)] == [1, 5, 4]
        tensors = data.TensorDataset(np.arange(3))
        assert [*DataLoader(tensors, 2, collate_fn=len)] == [2, 1]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
            ({"batch_size": 2.0}, "batch_size must be an int, got 2.0"),
            ({"prefetch": -1}, "prefetch must be at least 0, got -1"),
            ({"prefetch": True}, "prefetch must be an int, got True"),
        ],
    )
    def test_refusals(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises((TypeError, ValueError), match=f"DataLoader: {message}"):
            DataLoader(range(3), **options)

    def test_no_dataset(self) -> None:
        with pytest.raises(TypeError, match=r"dataset .*len\(\).*generator"):
            DataLoader(i for i in range(3))

    @ahead
    def test_what_a_dataset_raises(self, prefetch: int) -> None:
        """StopIteration too: an epoch does not end before its time."""
        for error, raised in ((KeyError, KeyError), (StopIteration, RuntimeError)):

            class Faulty(Counting):
                error: type[Exception]

                def __getitem__(self, index: int) -> Any:
                    if index == 2:
                        raise self.error("no such thing")
                    return super().__getitem__(index)

            faulty = Faulty(4)
            faulty.error = error
            batches = iter(DataLoader(faulty, prefetch=prefetch))
            assert [next(batches)[0].item(), next(batches)[0].item()] == [0, 1]
            with pytest.raises(raised) as caught:
                next(batches)
            frames = [entry.name for entry in caught.traceback]
            if raised is KeyError:
                assert frames[-1] == "__getitem__", "the traceback shows where it happened"
            with pytest.raises(StopIteration):
                next(batches)


class TestOrder:
    def test_every_sample_once_and_anew_each_time(self) -> None:
        loader = DataLoader(range(50), 50, shuffle=True)
        first, second = lists(loader)[0], lists(loader)[0]
        assert sorted(first) == sorted(second) == [*range(50)]
        assert first != second != [*range(50)]

    @ahead
    def test_seeds(self, prefetch: int) -> None:
        def epochs(generator: Any = None) -> list[Any]:
            loader = DataLoader(range(20), 5, shuffle=True, generator=generator, prefetch=prefetch)
            return [lists(loader), lists(loader)]

        assert epochs(3) == epochs(np.random.default_rng(3)) != epochs(4)
        minigrad.random.seed(5)
        first = epochs()
        assert epochs() != first
        minigrad.random.seed(5)
        assert epochs() == first

    def test_a_generator_of_its_own_leaves_the_common_one_alone(self) -> None:
        before = minigrad.random.get_state()
        [*DataLoader(range(9), shuffle=True, generator=0)]
        [*DataLoader(range(9))]
        assert minigrad.random.get_state() == before


def make(**options: Any) -> DataLoader:
    return DataLoader(range(11), 2, **options)


LOADERS = {
    "in order": {},
    "shuffled": {"shuffle": True},
    "its own": {"shuffle": True, "generator": 3},
    "prefetched": {"shuffle": True, "generator": 3, "prefetch": 2},
    "drop last": {"shuffle": True, "drop_last": True, "prefetch": 1},
}
loaders = pytest.mark.parametrize("options", LOADERS.values(), ids=LOADERS)


def batches_of(loader: DataLoader, epochs: int) -> Iterator[Any]:
    for _ in range(epochs):
        for batch in loader:
            yield batch.tolist()


class TestGoingOn:
    @loaders
    @pytest.mark.parametrize("after", [0, 1, 4, 5, 6, 7, 13])
    def test_with_exactly_the_next_batch(self, options: dict[str, Any], after: int) -> None:
        """Saved in the middle of the loop, and loaded into another loader, another generator."""
        loader = make(**options)
        minigrad.random.seed(1)
        stream = batches_of(loader, 4)
        for _ in range(after):
            next(stream)
        state = json.loads(json.dumps([loader.state_dict(), minigrad.random.get_state()]))
        rest = [*stream]

        minigrad.random.seed(2)
        other = make(**{**options, **({"generator": 8} if "generator" in options else {})})
        [*other]
        minigrad.random.set_state(state[1])
        other.load_state_dict(state[0])
        assert other.state_dict() == state[0]
        epochs = 4 - (after - 1) // len(loader) if after else 4
        assert [*batches_of(other, epochs)] == rest
        assert other.state_dict() == loader.state_dict()

    @loaders
    def test_twice_in_a_row(self, options: dict[str, Any]) -> None:
        loader = make(**options)
        minigrad.random.seed(1)
        stream = batches_of(loader, 1)
        head = [next(stream), next(stream)]
        for _ in range(2):
            state, common = loader.state_dict(), minigrad.random.get_state()
            loader = make(**options)
            minigrad.random.set_state(common)
            loader.load_state_dict(state)
            stream = batches_of(loader, 1)
            head.append(next(stream))
        seen = [sample for batch in [*head, *stream] for sample in batch]
        assert len({*seen}) == len(seen) == (10 if loader.drop_last else 11)

    def test_between_epochs(self) -> None:
        """A loader with a generator of its own saves its state."""
        loader = make(shuffle=True, generator=3)
        [*loader]
        other = make(shuffle=True, generator=9)
        other.load_state_dict(loader.state_dict())
        assert [*batches_of(other, 2)] == [*batches_of(loader, 2)]

    def test_from_the_middle_of_another_epoch(self) -> None:
        """What the loader was about before it was told to go on elsewhere is forgotten."""
        loader = make(shuffle=True)
        state = loader.state_dict()
        next(iter(loader))
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        assert len([*loader]) == 6

    def test_the_latest_epoch_counts(self) -> None:
        loader = make()
        older, newer = iter(loader), iter(loader)
        next(newer)
        assert [len([*older]), loader.state_dict()["position"]] == [6, 1]

    def test_batches_made_ahead_are_not_counted(self) -> None:
        dataset = Counting(10)
        loader = DataLoader(dataset, prefetch=4)
        batches = iter(loader)
        next(batches)
        assert loader.state_dict()["position"] == 1

    def test_a_state_is_a_copy(self) -> None:
        loader = make(shuffle=True, generator=3)
        state = loader.state_dict()
        before = json.dumps(state)
        [*loader]
        assert json.dumps(state) == before
        loader.load_state_dict(state)
        [*loader]
        assert json.dumps(state) == before

    @pytest.mark.parametrize(
        ("spoil", "message"),
        [
            (lambda s: [], "a state has the keys"),
            (lambda s: {"position": 1}, "a state has the keys"),
            (lambda s: {**s, "samples": 12}, "loader with samples=12, this one has 11"),
            (lambda s: {**s, "batch_size": 3}, "loader with batch_size=3, this one has 2"),
            (lambda s: {**s, "shuffle": False}, "loader with shuffle=False, this one has True"),
            (lambda s: {**s, "position": 7}, "position 7 of 6 batches"),
            (lambda s: {**s, "position": 0.5}, "position 0.5 of 6 batches"),
            (lambda s: {**s, "generator": None}, "lacks the generator state"),
            (lambda s: {**s, "generator": {"bit_generator": "MT19937"}}, "must be for a PCG64"),
        ],
    )
    def test_what_does_not_fit(self, spoil: Any, message: str) -> None:
        loader = make(shuffle=True, generator=3)
        next(iter(loader))
        state = loader.state_dict()
        with pytest.raises(ValueError, match=message):
            loader.load_state_dict(spoil(state))
        assert loader.state_dict() == state


class Squares:
    """A data set of one's own."""

    def __len__(self) -> int:
        return 24

    def __getitem__(self, i: int) -> float:
        return float(i * i)


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_subset_of_ones_own_data_set_gives_its_own_samples(shuffle: bool) -> None:
    """Also a subset of a subset: the indices are translated once."""
    train, test = random_split(Squares(), [16, 8], seed=0)
    inner = Subset(test, [5, 1, 3])
    for subset in (train, test, inner):
        batches = DataLoader(subset, 4, shuffle=shuffle)
        found = sorted(value for batch in batches for value in batch.tolist())
        assert found == sorted(subset[i] for i in range(len(subset)))
