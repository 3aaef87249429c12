"""`torch.nn.init`: fills tensors in place, with PyTorch's names and orders."""

from __future__ import annotations

from typing import Any

from minigrad.nn import init as ours
from minigrad.torch.modules import missing as _missing

__getattr__ = _missing(__name__)

calculate_gain = ours.calculate_gain


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform numbers from a to b."""
    return ours.uniform(tensor, a, b)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal numbers."""
    return ours.normal(tensor, mean, std)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Any = None,
) -> Any:  # fmt: skip
    """Normal numbers between two bounds."""
    return ours.trunc_normal(tensor, mean, std, a, b)


def constant_(tensor: Any, val: float) -> Any:
    """One number."""
    return ours.constant(tensor, val)


def ones_(tensor: Any) -> Any:
    """Ones."""
    return ours.ones(tensor)


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    return ours.zeros(tensor)


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform numbers after Glorot and Bengio."""
    return ours.xavier_uniform(tensor, gain)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal numbers after Glorot and Bengio."""
    return ours.xavier_normal(tensor, gain)


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: Any = "fan_in", nonlinearity: Any = "leaky_relu",
    generator: Any = None,
) -> Any:  # fmt: skip
    """Uniform numbers after He et al."""
    return ours.kaiming_uniform(tensor, mode, nonlinearity=nonlinearity, a=a)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: Any = "fan_in", nonlinearity: Any = "leaky_relu",
    generator: Any = None,
) -> Any:  # fmt: skip
    """Normal numbers after He et al."""
    return ours.kaiming_normal(tensor, mode, nonlinearity=nonlinearity, a=a)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """An orthogonal matrix."""
    return ours.orthogonal(tensor, gain)


def eye_(tensor: Any) -> Any:
    """The identity matrix."""
    return ours.eye(tensor)


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """A kernel that keeps its input."""
    return ours.dirac(tensor, groups)


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal numbers, of which some in each column are 0."""
    return ours.sparse(tensor, sparsity, std)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    return ours.fans("fans", tensor)
