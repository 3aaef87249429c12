"""Collating samples into a batch."""

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.tensors.creation import asarray, tensor
from minigrad.tensors.tensor import Tensor


def default_collate(samples: Sequence[Any]) -> Any:
    """Collate samples of the same structure into a batch.

    Tensors and arrays are stacked along a new first axis, and numbers become a tensor: Python's
    floats one of float64. Strings stay as they are. Tuples, lists and dicts are collated entry by
    entry: a batch of pairs is a list of two batches.

    Args:
        samples: A list of samples.

    Raises:
        TypeError: Samples of that type cannot be collated.
        ValueError: The samples differ in shape, length or keys.

    Example:
        >>> from minigrad.data import default_collate
        >>> default_collate([(1.5, "a"), (2.5, "b")])
        [tensor([1.5000, 2.5000], dtype=minigrad.float64), ('a', 'b')]
        >>> default_collate([{"x": [1, 2]}, {"x": [3, 4]}])
        {'x': [tensor([1, 3]), tensor([2, 4])]}
    """
    if not isinstance(samples, Sequence) or not samples:
        raise TypeError(f"default_collate: a list of samples expected, got {samples!r}")
    first = samples[0]
    if isinstance(first, (str, bytes)):
        return samples
    if isinstance(first, (Tensor, np.ndarray)):
        _check_alike("shapes", [tuple(np.shape(sample)) for sample in samples])
        return ops.stack([asarray(s) for s in samples])
    if isinstance(first, (bool, int, float, np.generic)):
        python_floats = isinstance(first, float) and not isinstance(first, np.generic)
        return tensor(list(samples), dtype=np.float64 if python_floats else None)
    if isinstance(first, Mapping):
        _check_alike("keys", [sorted(sample, key=str) for sample in samples])
        return _same_mapping(
            first, {key: default_collate([sample[key] for sample in samples]) for key in first}
        )
    if isinstance(first, (tuple, list)):
        _check_alike("lengths", [len(sample) for sample in samples])
        fields = [default_collate(field) for field in zip(*samples, strict=True)]
        return type(first)(*fields) if hasattr(first, "_fields") else fields
    kinds = "tensors, arrays, numbers, strings, and tuples, lists and dicts of them"
    came = f"got {type(first).__name__}; pass a collate_fn"
    raise TypeError(f"default_collate: {kinds} expected, {came}")


def default_convert(sample: Any) -> Any:
    """Convert the arrays in one sample into tensors; what is something else stays as it is.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import default_convert
        >>> default_convert({"x": np.arange(2), "name": "a"})
        {'x': tensor([0, 1]), 'name': 'a'}
    """
    if isinstance(sample, (np.ndarray, np.generic)):
        return sample if sample.dtype.kind in "SUO" else asarray(sample)
    if isinstance(sample, Mapping):
        return _same_mapping(sample, {key: default_convert(part) for key, part in sample.items()})
    if isinstance(sample, (tuple, list)):
        parts = [default_convert(part) for part in sample]
        return type(sample)(*parts) if hasattr(sample, "_fields") else parts
    return sample


def _same_mapping(like: Mapping[Any, Any], entries: dict[Any, Any]) -> Any:
    """The entries in a mapping of the same kind, if it can be written."""
    if type(like) is dict or not isinstance(like, MutableMapping):
        return entries
    found = copy.copy(like)
    found.update(entries)
    return found


def _check_alike(what: str, found: list[Any]) -> None:
    other = next((value for value in found if value != found[0]), None)
    if other is not None:
        what = f"different {what}, {found[0]} and {other}"
        raise ValueError(f"default_collate: samples have {what}; pass a collate_fn")
