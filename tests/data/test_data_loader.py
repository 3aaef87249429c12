"""Loaders and samplers: batches, epochs, orders, streams, and going on in the middle of one."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, data
from minigrad.data import DataLoader, RandomSampler, Sampler, SequentialSampler, random_split
from minigrad.data import WeightedRandomSampler as weighted


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


class Mixed(Sampler[int]):
    """An order that is drawn piece by piece from the common generator."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[int]:
        for start in range(0, self.n, 4):
            yield from (start + minigrad.random.permutation(4)).tolist()


class Endless(Sampler[int]):
    def __iter__(self) -> Iterator[int]:
        i = 0
        while True:
            yield i % 5
            i += 1


class Stream(data.IterableDataset):
    def __init__(self, n: int) -> None:
        self.n, self.given = n, 0

    def __iter__(self) -> Iterator[tuple[int, float]]:
        for i in range(self.n):
            self.given += 1
            yield i, i / 2


class SizedStream(Stream):
    def __len__(self) -> int:
        return self.n


def lists(batches: Any) -> list[Any]:
    return [batch.tolist() for batch in batches]


class TestBatches:
    @pytest.mark.parametrize("n", [0, 1, 5, 6])
    @pytest.mark.parametrize("drop_last", [False, True])
    def test_all_of_them(self, n: int, drop_last: bool) -> None:
        loader = DataLoader(range(n), 3, drop_last=drop_last)
        expected = [[*range(i, min(i + 3, n))] for i in range(0, n, 3)]
        if drop_last:
            expected = [batch for batch in expected if len(batch) == 3]
        assert len(loader) == len(expected)
        assert lists(loader) == expected
        assert lists(loader) == expected, "a second epoch"

    def test_one_inside_another(self) -> None:
        loader = DataLoader(range(4), 2)
        seen = [(a.tolist(), b.tolist()) for a in loader for b in loader]
        first, second = [0, 1], [2, 3]
        assert seen == [(first, first), (first, second), (second, first), (second, second)]
        assert [a == b for a, b in zip(lists(loader), lists(loader), strict=True)] == [True, True]

    def test_an_iterator_ends_for_good(self) -> None:
        batches = iter(DataLoader(range(2)))
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
            assert type(a) is type(b) is list
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
        assert (i.tolist(), x.tolist(), x.dtype) == ([0, 1], [0.0, 0.5], np.float64)

    def test_a_collate_fn(self) -> None:
        assert [*DataLoader(range(5), 2, collate_fn=sum)] == [1, 5, 4]
        tensors = data.TensorDataset(np.arange(3))
        assert [*DataLoader(tensors, 2, collate_fn=len)] == [2, 1]

    @pytest.mark.parametrize(
        ("error", "raised"), [(KeyError, KeyError), (StopIteration, RuntimeError)]
    )
    def test_what_a_dataset_raises(self, error: Any, raised: Any) -> None:
        """StopIteration too: an epoch does not end before its time."""

        class Faulty(Counting):
            def __getitem__(self, index: int) -> Any:
                if index == 2:
                    raise error("no such thing")
                return super().__getitem__(index)

        batches = iter(DataLoader(Faulty(4)))
        assert [next(batches)[0].item(), next(batches)[0].item()] == [0, 1]
        with pytest.raises(raised) as caught:
            next(batches)
        if raised is KeyError:
            assert caught.traceback[-1].name == "__getitem__", "it shows where it happened"
        with pytest.raises(StopIteration):
            next(batches)


def test_a_generator_of_its_own_leaves_the_common_one_alone() -> None:
    before = minigrad.random.get_state()
    [*DataLoader(range(9), shuffle=True, generator=0)]
    [*DataLoader(range(9))]
    assert minigrad.random.get_state() == before


DRAWN: dict[str, Any] = {
    "random": lambda g: RandomSampler(range(8), generator=g),
    "replacement": lambda g: RandomSampler(range(8), replacement=True, num_samples=12, generator=g),
    "longer": lambda g: RandomSampler(range(8), num_samples=20, generator=g),
    "weighted": lambda g: weighted(np.arange(8.0), 12, generator=g),
    "weighted, each once": lambda g: weighted([0.5] * 8, 7, False, generator=g),
}
drawn = pytest.mark.parametrize("make", DRAWN.values(), ids=DRAWN)


class TestSamplers:
    @drawn
    def test_seeds(self, make: Any) -> None:
        first = make(3)
        orders = [[*first], [*first]]
        assert all(type(i) is int for i in orders[0])
        assert len(orders[0]) == len(first)
        assert orders[0] != orders[1]
        other = make(np.random.default_rng(3))
        assert [[*other], [*other]] == orders
        minigrad.random.seed(3)
        common = make(None)
        assert [[*common], [*common]] == orders
        before = minigrad.random.get_state()
        [*make(0)]
        assert minigrad.random.get_state() == before

    def test_which_samples_come(self) -> None:
        assert [*SequentialSampler("abc")] == [0, 1, 2]
        assert sorted(DRAWN["random"](0)) == [*range(8)]
        longer = [*DRAWN["longer"](0)]
        assert sorted(longer[:8]) == sorted(longer[8:16]) == [*range(8)]
        assert longer[:8] != longer[8:16]
        assert len({*longer[16:]}) == 4
        assert len({*DRAWN["weighted, each once"](0)}) == 7
        for sampler in (RandomSampler([]), RandomSampler([], True, 3)):
            assert [len(sampler), *sampler] == [0]

    def test_how_often_they_come(self) -> None:
        n = 40_000
        weights = np.array([1.0, 0.0, 2.0, 5.0])
        shares = np.bincount([*weighted(weights, n, generator=0)], minlength=4) / n
        np.testing.assert_allclose(shares, weights / 8, atol=0.01)
        shares = np.bincount([*RandomSampler(range(4), True, n, generator=0)]) / n
        np.testing.assert_allclose(shares, 0.25, atol=0.01)

    def test_a_dataset_that_grows(self) -> None:
        growing = [1, 2]
        samplers = SequentialSampler(growing), RandomSampler(growing)
        growing.append(3)
        for sampler in samplers:
            assert len(sampler) == 3
            assert sorted(sampler) == [0, 1, 2]


class TestLoaders:
    def test_a_sampler_says_the_order(self) -> None:
        loader = DataLoader("abcdef", 2, sampler=[5, 0, 0, 3, 1])
        assert [*loader] == [*loader] == [["f", "a"], ["a", "d"], ["b"]]
        assert len(loader) == 3
        assert len(DataLoader("abcdef", 2, sampler=[5, 0, 3], drop_last=True)) == 1
        assert [*DataLoader("abc", sampler=[])] == []
        assert lists(DataLoader(range(9), 2, sampler=minigrad.tensor([4, 2, 0]))) == [[4, 2], [0]]

    def test_a_dataset_needs_no_numbers_and_no_length(self) -> None:
        table = {"a": 1, "b": 2, "c": 3}
        assert lists(DataLoader(table, 2, sampler=["c", "a", "b"])) == [[3, 1], [2]]
        powers = type("Powers", (), {"__getitem__": lambda self, index: 2**index})()
        assert lists(DataLoader(powers, 2, sampler=[0, 5])) == [[1, 32]]
        with pytest.raises(TypeError, match="DataLoader: a dataset has"):
            DataLoader(powers, 2)

    def test_streams(self) -> None:
        for stream in (Stream(5), SizedStream(5)):
            loader = DataLoader(stream, 2)
            for _ in range(2):
                batches = [(i.tolist(), x.tolist()) for i, x in loader]
                assert batches == [([0, 1], [0, 0.5]), ([2, 3], [1, 1.5]), ([4], [2])]
            assert len([*DataLoader(stream, 2, drop_last=True)]) == 2
            assert [*DataLoader(Stream(0), 2)] == []
        assert len(DataLoader(SizedStream(5), 2)) == 3
        with pytest.raises(TypeError, match="Stream' has no len"):
            len(DataLoader(Stream(5)))

    def test_no_more_is_read_than_asked_for(self) -> None:
        stream = Stream(10)
        batches = iter(DataLoader(stream, 2))
        assert stream.given == 0
        next(batches)
        assert stream.given == 2
        endless = iter(DataLoader("abcde", 3, sampler=Endless()))
        assert [next(endless) for _ in range(3)] == [
            ["a", "b", "c"], ["d", "e", "a"], ["b", "c", "d"],
        ]  # fmt: skip

    def test_workers_are_accepted(self) -> None:
        loader = DataLoader(range(5), 2, num_workers=2, prefetch_factor=4, pin_memory=True)
        assert (loader.num_workers, lists(loader)) == (2, [[0, 1], [2, 3], [4]])

    def test_a_generator_is_what_a_sampler_draws_from(self) -> None:
        def epochs() -> list[Any]:
            loader = DataLoader(range(8), 4, sampler=Mixed(8), generator=5)
            return [lists(loader), lists(loader)]

        before = minigrad.random.get_state()
        first, second = epochs()
        assert first != second
        assert epochs() == [first, second]
        assert minigrad.random.get_state() == before


def make(**options: Any) -> DataLoader:
    return DataLoader(range(11), 2, **options)


def of_eight(**options: Any) -> DataLoader:
    return DataLoader(range(8), 3, **options)


def in_batches(generator: Any) -> DataLoader:
    """The generator is that of the sampler inside."""
    inner = RandomSampler(range(9), generator=generator)
    return DataLoader(range(9), batch_sampler=data.BatchSampler(inner, 2, False))


LOADERS: dict[str, Any] = {
    "in order": lambda g: make(),
    "shuffled": lambda g: make(shuffle=True),
    "its own": lambda g: make(shuffle=True, generator=g),
    "drop last": lambda g: make(shuffle=True, drop_last=True),
    **{name: lambda g, draw=draw: of_eight(sampler=draw(g)) for name, draw in DRAWN.items()},
    "own": lambda g: of_eight(sampler=Mixed(8)),
    "own, with a generator": lambda g: of_eight(sampler=Mixed(8), generator=g),
    "batches": lambda g: in_batches(g),
    "in an order": lambda g: of_eight(sampler=[4, 2, 0, 1, 7, 5, 3]),
    "stream": lambda g: DataLoader(Stream(8), 3, collate_fn=minigrad.tensor),
    "stream with a length": lambda g: DataLoader(SizedStream(8), 3, collate_fn=minigrad.tensor),
}


def some_of(loader: DataLoader, count: int) -> Iterator[Any]:
    """So many batches, of as many epochs as that takes."""
    while count:
        for batch in loader:
            yield batch.tolist()
            count -= 1
            if not count:
                break


SPOILED = [
    (lambda s: [], "a state has the keys"),
    (lambda s: {"position": 1}, "a state has the keys"),
    (lambda s: {**s, "samples": 12}, "loader with samples=12, this one has 11"),
    (lambda s: {**s, "batch_size": 3}, "loader with batch_size=3, this one has 2"),
    (lambda s: {**s, "shuffle": False}, "loader with shuffle=False, this one has True"),
    (lambda s: {**s, "position": 7}, "position 7 of 6 batches"),
    (lambda s: {**s, "position": 0.5}, "position 0.5 of 6 batches"),
    (lambda s: {**s, "generator": None}, "lacks the generator state"),
    (lambda s: {**s, "generator": {"bit_generator": "MT19937"}}, "must be for a PCG64"),
]


class TestGoingOn:
    @pytest.mark.parametrize("make", LOADERS.values(), ids=LOADERS)
    @pytest.mark.parametrize("seeds", [(None, None), (3, 8)], ids=["common", "own"])
    def test_with_exactly_the_next_batch(self, make: Any, seeds: Any) -> None:
        """Saved in the middle of the loop, and loaded into another loader, another generator."""
        for after in (0, 1, 2, 4, 5, 6, 7, 13):
            minigrad.random.seed(1)
            loader = make(seeds[0])
            batches = some_of(loader, 24)
            for _ in range(after):
                next(batches)
            state = json.loads(json.dumps([loader.state_dict(), minigrad.random.get_state()]))
            rest = [*batches]

            minigrad.random.seed(2)
            other = make(seeds[1])
            next(iter(other))
            minigrad.random.set_state(state[1])
            other.load_state_dict(state[0])
            assert other.state_dict() == state[0]
            assert [*some_of(other, 24 - after)] == rest
            assert other.state_dict() == loader.state_dict()

    def test_the_latest_epoch_counts(self) -> None:
        loader = make()
        older, newer = iter(loader), iter(loader)
        next(newer)
        newer.close()
        assert [*newer] == []
        assert [len([*older]), loader.state_dict()["position"]] == [6, 1]

    def test_a_state_is_a_copy(self) -> None:
        loader = make(shuffle=True, generator=3)
        state = loader.state_dict()
        before = json.dumps(state)
        for _ in range(2):
            [*loader]
            assert json.dumps(state) == before
            loader.load_state_dict(state)

    @pytest.mark.parametrize(("spoil", "message"), SPOILED)
    def test_what_does_not_fit(self, spoil: Any, message: str) -> None:
        loader = make(shuffle=True, generator=3)
        next(iter(loader))
        state = loader.state_dict()
        with pytest.raises(ValueError, match=message):
            loader.load_state_dict(spoil(state))
        assert loader.state_dict() == state

    def test_another_sampler(self) -> None:
        state = of_eight(sampler=Mixed(8)).state_dict()
        with pytest.raises(ValueError, match="sampler=Mixed, this one has list"):
            of_eight(sampler=[0, 1]).load_state_dict(state)
        with pytest.raises(ValueError, match="a state has the keys"):
            of_eight().load_state_dict(state)

    def test_an_order_without_end(self) -> None:
        loader = DataLoader("abcde", 3, sampler=Endless())
        next(iter(loader))
        with pytest.raises(TypeError, match=r"Endless has no len\(\), .*define __len__"):
            loader.state_dict()


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_subset_of_ones_own_data_set_gives_its_own_samples(shuffle: bool) -> None:
    """Also a subset of a subset: the indices are translated once."""
    train, test = random_split(Counting(24), [16, 8], seed=0)
    inner = data.Subset(test, [5, 1, 3])
    for subset in (train, test, inner):
        batches = DataLoader(subset, 4, shuffle=shuffle)
        found = sorted(value for _, squares in batches for value in squares.tolist())
        assert found == sorted(subset[i][1] for i in range(len(subset)))


class TestBatchSamplers:
    def test_a_list_of_batches_and_one_without_length(self) -> None:
        assert [*DataLoader("abc", batch_sampler=[[2, 0], [1]])] == [["c", "a"], ["b"]]
        endless = DataLoader("abc", batch_sampler=iter([[0], [2, 1]]))
        assert [*endless] == [["a"], ["c", "b"]]
        with pytest.raises(TypeError, match="cannot be saved; define __len__"):
            endless.state_dict()

    def test_very_many_indices_are_drawn_as_they_are_needed(self) -> None:
        sampler = RandomSampler(range(4), replacement=True, num_samples=int(1e10))
        for loader in (
            DataLoader(range(4), 3, sampler=sampler),
            DataLoader(range(4), batch_sampler=data.BatchSampler(sampler, 3, True)),
        ):
            assert next(iter(loader)).shape == (3,)
            with pytest.raises(TypeError, match="draws as it is read"):
                loader.state_dict()

    def test_some_indices(self) -> None:
        sampler = data.SubsetRandomSampler([7, 3, 5], generator=0)
        assert sorted(sampler) == [3, 5, 7]
        assert len(sampler) == 3
        assert [*data.SubsetRandomSampler([7, 3, 5], generator=0)] == [
            *data.SubsetRandomSampler([7, 3, 5], generator=np.random.default_rng(0))
        ]
