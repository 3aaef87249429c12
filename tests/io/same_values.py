"""Whether a value came back as it was."""

import math
from typing import Any

import numpy as np

from minigrad import Tensor


def same(found: Any, expected: Any) -> bool:
    """Whether two values are of the same types all through, and the same bit for bit."""
    if type(found) is not type(expected):
        return False
    if isinstance(expected, Tensor):
        return not found.requires_grad and same(found.numpy(), expected.numpy())
    if isinstance(expected, (np.ndarray, np.generic)):
        alike = found.dtype == expected.dtype.newbyteorder("=") and found.shape == expected.shape
        return alike and found.tobytes() == expected.astype(found.dtype).tobytes()
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, dict):
        pairs = zip(found.items(), expected.items(), strict=False)
        return len(found) == len(expected) and all(same(a, b) for a, b in pairs)
    if isinstance(expected, float):
        return found == expected or (math.isnan(found) and math.isnan(expected))
    return bool(found == expected)
