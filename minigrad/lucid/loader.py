"""`lucid.utils.data.DataLoader`, whose batches are Lucid's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minigrad.lucid.classes import adopt
from minigrad.torch.utils import data


class DataLoader(data.DataLoader):
    """Batches of a data set, as Lucid's tensors."""

    def __iter__(self) -> Iterator[Any]:
        return map(adopt, super().__iter__())
