"""Samplers, and loaders that take their order or their samples from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import data
from minigrad.data import (
    DataLoader,
    RandomSampler,
    Sampler,
    SequentialSampler,
    WeightedRandomSampler,
)


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


def lists(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


DRAWN: dict[str, Any] = {
    "random": lambda g: RandomSampler(range(8), generator=g),
    "replacement": lambda g: RandomSampler(range(8), replacement=True, num_samples=12, generator=g),
    "longer": lambda g: RandomSampler(range(8), num_samples=20, generator=g),
    "weighted": lambda g: WeightedRandomSampler(np.arange(8.0), 12, generator=g),
    "weighted, each once": lambda g: WeightedRandomSampler([0.5] * 8, 7, False, generator=g),
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
        shares = np.bincount([*WeightedRandomSampler(weights, n, generator=0)], minlength=4) / n
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

    @pytest.mark.parametrize("n", [0, 1, 5, 6])
    @pytest.mark.parametrize("drop_last", [False, True])
    def test_batches(self, n: int, drop_last: bool) -> None:
        loader = DataLoader(range(n), 3, drop_last=drop_last)
        expected = [[*range(i, min(i + 3, n))] for i in range(0, n, 3)]
        if drop_last:
            expected = [batch for batch in expected if len(batch) == 3]
        assert lists(loader) == lists(loader) == expected
        assert len(loader) == len(expected)

    def test_refusals(self) -> None:
        once = WeightedRandomSampler
        for make, error, message in (
            (lambda: SequentialSampler(iter("abc")), TypeError, r"SequentialSampler: .*len\(\)"),
            (lambda: RandomSampler(3), TypeError, "RandomSampler: .*got int"),
            (
                lambda: RandomSampler("abc", num_samples=0),
                ValueError,
                "num_samples must be at least",
            ),
            (lambda: RandomSampler("abc", "no"), TypeError, "RandomSampler: replacement"),
            (lambda: RandomSampler("abc", generator=-1), ValueError, "RandomSampler: generator"),
            (lambda: once([1.0], 0), ValueError, "WeightedRandomSampler: num_samples must be at"),
            (lambda: once([[1.0]], 1), ValueError, r"weights of shape \(n,\) .* \(1, 1\)"),
            (lambda: once([-1.0, 2.0], 1), ValueError, "WeightedRandomSampler: finite weights"),
            (lambda: once([np.nan, 2.0], 1), ValueError, "WeightedRandomSampler: finite weights"),
            (lambda: once([0.0, 0.0], 1), ValueError, "1 indices cannot .*0 weights above 0"),
            (lambda: once([0.0, 2.0], 2, False), ValueError, "2 indices .*without.*1 weights"),
            (lambda: iter(Sampler()), NotImplementedError, "Sampler does not define __iter__"),
        ):
            with pytest.raises(error, match=message):
                make()


class TestLoaders:
    def test_a_sampler_says_the_order(self) -> None:
        loader = DataLoader("abcdef", 2, sampler=[5, 0, 0, 3, 1])
        assert [*loader] == [*loader] == [["f", "a"], ["a", "d"], ["b"]]
        assert len(loader) == 3
        assert len(DataLoader("abcdef", 2, sampler=[5, 0, 3], drop_last=True)) == 1
        assert [*DataLoader("abc", sampler=[])] == []
        assert lists(DataLoader(range(9), 2, sampler=minigrad.tensor([4, 2, 0]))) == [[4, 2], [0]]

    def test_keys_that_are_no_numbers(self) -> None:
        table = {"a": 1, "b": 2, "c": 3}
        assert lists(DataLoader(table, 2, sampler=["c", "a", "b"])) == [[3, 1], [2]]

    def test_a_dataset_without_length(self) -> None:
        class Powers:
            def __getitem__(self, index: int) -> int:
                return 2**index

        assert lists(DataLoader(Powers(), 2, sampler=[0, 5])) == [[1, 32]]
        with pytest.raises(TypeError, match="DataLoader: a dataset has"):
            DataLoader(Powers(), 2)

    @pytest.mark.parametrize("options", [{}, {"prefetch": 2}, {"num_workers": 1}], ids=str)
    def test_streams(self, options: dict[str, Any]) -> None:
        for stream in (Stream(5), SizedStream(5)):
            loader = DataLoader(stream, 2, **options)
            for _ in range(2):
                batches = [(i.tolist(), x.tolist()) for i, x in loader]
                assert batches == [([0, 1], [0, 0.5]), ([2, 3], [1, 1.5]), ([4], [2])]
            assert len([*DataLoader(stream, 2, drop_last=True, **options)]) == 2
            assert [*DataLoader(Stream(0), 2, **options)] == []
        assert len(DataLoader(SizedStream(5), 2)) == 3
        with pytest.raises(TypeError, match="Stream: a stream has no length"):
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

    def test_workers_are_a_thread(self) -> None:
        loader = DataLoader(range(5), 2, num_workers=2, pin_memory=True)
        assert (loader.prefetch, lists(loader)) == (4, [[0, 1], [2, 3], [4]])
        assert DataLoader(range(5), num_workers=2, prefetch=1).prefetch == 1

    def test_a_generator_is_what_a_sampler_draws_from(self) -> None:
        def epochs() -> list[Any]:
            loader = DataLoader(range(8), 4, sampler=Mixed(8), generator=5)
            return [lists(loader), lists(loader)]

        before = minigrad.random.get_state()
        first, second = epochs()
        assert first != second
        assert epochs() == [first, second]
        assert minigrad.random.get_state() == before

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"sampler": [0], "shuffle": True}, "sampler says the order; leave shuffle out"),
            ({"dataset": Stream(3), "shuffle": True}, "shuffle chooses samples; a stream says"),
            ({"dataset": Stream(3), "sampler": [0]}, "sampler chooses samples; a stream says"),
            ({"num_workers": -1}, "num_workers must be at least 0, got -1"),
        ],
    )
    def test_options_that_contradict(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=f"DataLoader: .*{message}"):
            DataLoader(**{"dataset": range(3), **options})

    def test_what_is_no_sampler_and_what_no_stream_can_do(self) -> None:
        stream = Stream(3)
        for call, message in (
            (lambda: DataLoader(range(3), sampler=3), "sampler must be iterable, got 3"),
            (lambda: stream[0], "Stream: a stream has no samples by index"),
            (lambda: stream + stream, "Stream: streams are not concatenated"),
            (lambda: data.Subset(stream, [0]), "Subset: Stream is a stream"),
            (lambda: data.random_split(stream, [3]), "random_split: Stream is a stream"),
        ):
            with pytest.raises(TypeError, match=message):
                call()


LOADERS: dict[str, Any] = {
    **{name: lambda g, make=make: DataLoader(range(8), 3, sampler=make(g))
       for name, make in DRAWN.items()},
    "own": lambda g: DataLoader(range(8), 3, sampler=Mixed(8)),
    "own, with a generator": lambda g: DataLoader(range(8), 3, sampler=Mixed(8), generator=g),
    "in order": lambda g: DataLoader(range(8), 3, sampler=[4, 2, 0, 1, 7, 5, 3]),
    "stream": lambda g: DataLoader(Stream(8), 3, collate_fn=minigrad.tensor),
    "stream, prefetched": lambda g: DataLoader(
        SizedStream(8), 3, collate_fn=minigrad.tensor, prefetch=2
    ),
}  # fmt: skip


class TestGoingOn:
    @pytest.mark.parametrize("make", LOADERS.values(), ids=LOADERS)
    @pytest.mark.parametrize("seeds", [(None, None), (3, 8)], ids=["common", "own"])
    @pytest.mark.parametrize("after", [0, 1, 2, 5])
    def test_with_exactly_the_next_batch(self, make: Any, seeds: Any, after: int) -> None:
        minigrad.random.seed(1)
        loader = make(seeds[0])

        def stream(loader: Any, batches: int) -> Iterator[Any]:
            while batches:
                for batch in loader:
                    yield batch.tolist()
                    batches -= 1
                    if not batches:
                        break

        batches = stream(loader, 12)
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
        assert [*stream(other, 12 - after)] == rest
        assert other.state_dict() == loader.state_dict()

    def test_another_sampler(self) -> None:
        state = DataLoader(range(8), 3, sampler=Mixed(8)).state_dict()
        with pytest.raises(ValueError, match="sampler=Mixed, this one has list"):
            DataLoader(range(8), 3, sampler=[0, 1]).load_state_dict(state)
        with pytest.raises(ValueError, match="a state has the keys"):
            DataLoader(range(8), 3).load_state_dict(state)

    def test_an_order_without_end(self) -> None:
        loader = DataLoader("abcde", 3, sampler=Endless())
        next(iter(loader))
        with pytest.raises(TypeError, match=r"Endless has no len\(\), .*define __len__"):
            loader.state_dict()
