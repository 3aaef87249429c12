"""Collating samples into a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.tensors.creation import asarray, tensor
from minigrad.tensors.tensor import Tensor


def default_collate(samples: Sequence[Any]) -> Any:
    """Collate samples of the same structure into a batch.

    Tensors and arrays are stacked along a new first axis, numbers become a tensor, strings a list.
    Tuples, lists and dicts are collated entry by entry: a batch of pairs is a pair of batches.

    Raises:
        TypeError: Samples of that type cannot be collated.
        ValueError: The samples differ in shape, length or keys.

    Example:
        >>> from minigrad.data import default_collate
        >>> default_collate([(1.5, "a"), (2.5, "b")])
        (Tensor([1.5, 2.5], dtype=float32), ['a', 'b'])
        >>> default_collate([{"x": [1, 2]}, {"x": [3, 4]}])
        {'x': [Tensor([1, 3], dtype=int64), Tensor([2, 4], dtype=int64)]}
    """
    if not isinstance(samples, Sequence) or not samples:
        raise TypeError(f"default_collate: a list of samples expected, got {samples!r}")
    first = samples[0]
    if isinstance(first, (str, bytes)):
        return list(samples)
    if isinstance(first, (Tensor, np.ndarray)):
        _check_alike("shapes", [np.shape(sample) for sample in samples])
        return ops.stack([asarray(s) for s in samples])
    if isinstance(first, (bool, int, float, np.generic)):
        return tensor(list(samples))
    if isinstance(first, Mapping):
        _check_alike("keys", [[*sample] for sample in samples])
        return {key: default_collate([sample[key] for sample in samples]) for key in first}
    if isinstance(first, (tuple, list)):
        _check_alike("lengths", [len(sample) for sample in samples])
        fields = [default_collate(field) for field in zip(*samples, strict=True)]
        return type(first)(*fields) if hasattr(first, "_fields") else type(first)(fields)
    raise TypeError(
        f"default_collate: tensors, arrays, numbers, strings, and tuples, lists and dicts of them "
        f"can be made a batch, not {type(first).__name__}; pass a collate_fn"
    )


def _check_alike(what: str, found: list[Any]) -> None:
    other = next((value for value in found if value != found[0]), None)
    if other is not None:
        raise ValueError(
            f"default_collate: samples have different {what}, {found[0]} and {other}; pass a "
            f"collate_fn"
        )
