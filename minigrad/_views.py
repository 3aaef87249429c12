"""Arrays that share memory: who owns it, and views that cannot be written to."""

import numpy as np

__all__ = ["owner", "read_only"]


def owner(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of `array`: the last along ``.base``, or itself."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that cannot be written to, and follows what is written otherwise."""
    view = array.view()
    view.flags.writeable = False
    return view
