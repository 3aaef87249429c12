"""Running means of adaptive optimizers."""

import numpy as np


def average(mean: np.ndarray, new: np.ndarray, kept: float, work: np.ndarray) -> None:
    """Update a running mean in place: mean ← kept · mean + (1 - kept) · new."""
    mean *= kept
    mean += np.multiply(new, 1.0 - kept, out=work)


def average_square(mean: np.ndarray, new: np.ndarray, kept: float, work: np.ndarray) -> None:
    """Update a running mean of squares in place: mean ← kept · mean + (1 - kept) · new²."""
    mean *= kept
    np.multiply(new, new, out=work)
    work *= 1.0 - kept
    mean += work
