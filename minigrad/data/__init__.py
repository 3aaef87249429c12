"""Datasets, samplers of their order, and loaders that batch them."""

import typing as _typing

from minigrad.data.collate import default_collate
from minigrad.data.datasets import (
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from minigrad.data.loader import DataLoader
from minigrad.data.samplers import RandomSampler, Sampler, SequentialSampler, WeightedRandomSampler
from minigrad.support.spelling import names as _names

__all__ = [
    "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "Subset", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "random_split",
]  # fmt: skip

if not _typing.TYPE_CHECKING:
    __getattr__ = _names("data", __all__)
