"""Datasets, samplers of their order, and loaders that batch them."""

import importlib as _importlib
import typing as _typing

from minigrad.data.collate import default_collate, default_convert
from minigrad.data.datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from minigrad.data.loader import DataLoader, get_worker_info
from minigrad.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from minigrad.support.near_names import names as _names

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "default_collate",
    "default_convert", "get_worker_info", "random_split", "transforms",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from minigrad.data import transforms as transforms
else:

    def __getattr__(name):
        if name == "transforms":  # it needs minigrad.nn, which is loaded only when it is used
            return _importlib.import_module("minigrad.data.transforms")
        return _names("data", __all__)(name)
