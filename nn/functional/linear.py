"""The affine map: the op itself."""

from minigrad.ops import linear

__all__ = ["linear"]
