"""Datasets, and loaders that batch them."""

from minigrad.data.collate import default_collate
from minigrad.data.datasets import ConcatDataset, Dataset, Subset, TensorDataset, random_split
from minigrad.data.loader import DataLoader

__all__ = [
    "ConcatDataset", "DataLoader", "Dataset", "Subset", "TensorDataset", "default_collate",
    "random_split",
]  # fmt: skip
