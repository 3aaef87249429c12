"""What datasets, samplers, batches and loaders refuse: what came, what was expected, the remedy."""

import numpy as np
import pytest
from printed import gist

from minigrad import data

NAN, INF, ABC, ONES = float("nan"), float("inf"), "abcdef", np.ones(2)


class Stream(data.IterableDataset):
    def __iter__(self) -> object:
        return iter(range(3))


STREAM, NOTHING = Stream(), type("Nothing", (data.Dataset,), {})()
REFUSALS: dict[type[Exception], dict[str, str]] = {
    ValueError: {
        # datasets and their parts
        "TensorDataset()": "TensorDataset: ... equal length",
        "TensorDataset(ONES, np.ones(3))": "TensorDataset: ... equal length",
        "TensorDataset(np.float64(1.0))": "TensorDataset: ... equal length",
        "ConcatDataset([])": "there is no dataset",
        "StackDataset()": "StackDataset: datasets expected, either in order or by name",
        "StackDataset('ab', 'abc')": "datasets of equal length expected, got [2, 3]",
        "random_split(range(10), [])": "lengths of 0 samples, the dataset has 10",
        "random_split(range(10), [4, 5])": "lengths of 9 samples, the dataset has 10",
        "random_split(range(10), [0.5, 0.4])": "fractions of sum 1, expected, got [0.5, 0.4]",
        "random_split(range(10), [5, 0.5])": "integers, or fractions of sum 1",
        "random_split(range(10), [-1, 11])": "each of lengths must be ... of at least 0.0, got -1",
        "random_split(range(10), [1.5, -0.5])": "each of lengths",
        "random_split(range(3), [NAN, 1.0])": "random_split: ",
        "random_split(range(3), [INF])": "random_split: ",
        "random_split(range(3), ['x'])": "random_split: each of lengths ... 'x'",
        # batches
        "default_collate([ONES, np.ones(3)])":
            "default_collate: ... different shapes, (2,) and (3,); pass a collate_fn",
        "default_collate([(1, 2), (1,)])": "default_collate: ... different lengths, 2 and 1",
        "default_collate([{'a': 1}, {'b': 1}])": "different keys, ['a'] and ['b']",
        # samplers
        "RandomSampler('abc', False, 0)": "num_samples must be at least",
        "RandomSampler('abc', False, None, -1)": "RandomSampler: generator",
        "WeightedRandomSampler([1.0], 0)": "WeightedRandomSampler: num_samples must be at",
        "WeightedRandomSampler([[1.0]], 1)": "weights of shape (n,) ... (1, 1)",
        "WeightedRandomSampler([-1.0, 2.0], 1)": "WeightedRandomSampler: finite weights",
        "WeightedRandomSampler([NAN, 2.0], 1)": "WeightedRandomSampler: finite weights",
        "WeightedRandomSampler([0.0, 0.0], 1)": "1 indices cannot ... 0 weights above 0",
        "WeightedRandomSampler([0.0, 2.0], 2, False)": "2 indices ... without ... 1 weights",
        # loaders
        "DataLoader(STREAM, shuffle=True)": "shuffle chooses samples; a stream says",
        "DataLoader(STREAM, sampler=[0])": "sampler chooses samples; a stream says",
    },
    TypeError: {
        "TensorDataset(None)": "TensorDataset: ",
        "TensorDataset('text')": "TensorDataset: ",
        "Subset(ABC, [0.5])": "Subset: ... numbers",
        "Subset(ABC, [[1]])": "Subset: ... numbers",
        "Subset(ABC, [True])": "Subset: ... numbers",
        "default_collate([None, None])": "default_collate: ... NoneType ... collate_fn",
        "RandomSampler('abc', 'no')": "RandomSampler: replacement",
        "DataLoader(range(3), 2.0)": "DataLoader: batch_size must be an int, got 2.0",
        "DataLoader(range(3), shuffle='False')": "DataLoader: shuffle",
        "DataLoader(range(3), drop_last=NAN)": "DataLoader: drop_last",
        "DataLoader(None)": "DataLoader: ",
        "Subset(3, [1])": "Subset: ", "ConcatDataset([3])": "ConcatDataset: ",
        "random_split(3, [1, 2])": "random_split: ", "default_collate([])": "default_collate: ",
        "default_collate(None)": "default_collate: ",
        "DataLoader(iter(range(3)))": "DataLoader: ... a dataset ... len() ... range_iterator",
        "DataLoader(range(3), sampler=3)": "DataLoader: ... sampler must be iterable, got 3",
        # streams
        "[*ChainDataset([[1]])]": "ChainDataset: streams expected, got list",
        "Subset(STREAM, [0])": "Subset: Stream is a stream",
        "random_split(STREAM, [3])": "random_split: Stream is a stream",
    },
    IndexError: {
        "Subset(ABC, [1, 6])": "sample 6 ... 6",
        "Subset(ABC, [1, -7])": "sample -7 ... 6",
        "ConcatDataset(['ab', '', 'cde'])[5]": "sample 5 ... 5",
        "ConcatDataset(['ab', '', 'cde'])[-6]": "sample -6 ... 5",
    },
    NotImplementedError: {
        "iter(Sampler())": "Sampler does not define __iter__",
        "NOTHING[0]": "Nothing ... __getitem__",
    },
}  # fmt: skip
CASES = [(error, *row) for error, rows in REFUSALS.items() for row in rows.items()]


@pytest.mark.parametrize(("error", "call", "message"), CASES)
def test_it_says_what_came(error: type[Exception], call: str, message: str) -> None:
    with pytest.raises(error, match=gist(message)):
        eval(call, vars(data) | globals())
