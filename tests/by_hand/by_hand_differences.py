"""Central differences of plain NumPy functions: what gradients derived by hand are held against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEP = 1e-6


def slopes(loss: Callable[[], float], array: np.ndarray) -> np.ndarray:
    """The derivative of a number with respect to each entry of an array, which is moved in place.

    Args:
        loss: Computes the number, reading `array`.
        array: A float64 array.
    """
    result = np.empty(array.shape)
    for index in np.ndindex(array.shape):
        before = array[index]
        array[index] = before + STEP
        above = loss()
        array[index] = before - STEP
        below = loss()
        array[index] = before
        result[index] = (above - below) / (2 * STEP)
    return result


def assert_slopes(
    function: Callable[[], np.ndarray], cotangent: np.ndarray, gradients: dict[str, tuple]
) -> None:
    """Compare gradients with slopes.

    Args:
        function: Computes an array.
        cotangent: By what that is multiplied and summed to the number of the slopes.
        gradients: For each name an array that the number depends on, and its gradient.
    """
    loss = lambda: float((function() * cotangent).sum())
    for name, (array, gradient) in gradients.items():
        assert gradient.shape == array.shape, name
        np.testing.assert_allclose(gradient, slopes(loss, array), 1e-6, 1e-7, err_msg=name)
