"""`lucid.utils.data`: data sets and loaders, which give Lucid's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import missing as _missing
from minigrad.lucid.tensor import adopt
from minigrad.torch.utils import data as _under

globals().update(_exported(_under))


class DataLoader(_under.DataLoader):
    """Batches of a data set, as Lucid's tensors."""

    def __iter__(self) -> Iterator[Any]:
        return map(adopt, super().__iter__())


__getattr__ = _missing(__name__, _under)
