"""`torch.utils.data`: minigrad's datasets and loaders, which give PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minigrad import data as ours
from minigrad.data import *
from minigrad.torch.modules import missing as _missing
from minigrad.torch.tensor import adopt

__getattr__ = _missing(__name__)
__path__: list[str] = []


def _of_batch(batch: Any) -> Any:
    if isinstance(batch, dict):
        for value in batch.values():
            _of_batch(value)
    elif isinstance(batch, (tuple, list)):
        for value in batch:
            _of_batch(value)
    else:
        adopt(batch)
    return batch


def default_collate(batch: Any) -> Any:  # type: ignore[no-redef]
    """Samples as one batch of tensors."""
    return _of_batch(ours.default_collate(batch))


class DataLoader(ours.DataLoader[Any]):  # type: ignore[no-redef]
    """Batches of a data set, as PyTorch's tensors; workers are threads that read ahead."""

    def __iter__(self) -> Iterator[Any]:
        return map(_of_batch, super().__iter__())
