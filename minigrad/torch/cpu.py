"""`torch.cpu`: the one device."""

from minigrad.torch import amp as amp
from minigrad.torch.answers import nothing

synchronize = nothing


def is_available() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1
