"""Datasets, samplers of their order, and loaders that batch them."""

import importlib as _importlib
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
from minigrad.support.near_names import names as _names

__all__ = [
    "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "Subset", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "random_split", "transforms",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from minigrad.data import transforms as transforms
else:

    def __getattr__(name):
        if name == "transforms":  # it needs minigrad.nn, which is loaded only when it is used
            return _importlib.import_module("minigrad.data.transforms")
        return _names("data", __all__)(name)
