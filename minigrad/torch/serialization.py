"""`torch.save` and `torch.load`: minigrad's, whose tensors are PyTorch's."""

from __future__ import annotations

from typing import Any

from minigrad import io
from minigrad.io import save as save
from minigrad.nn import Parameter as _Parameter
from minigrad.torch.modules import missing as _missing
from minigrad.torch.nn.classes import Parameter
from minigrad.torch.tensor import adopt

__getattr__ = _missing(__name__)

__all__ = ["load", "save"]


def load(f: Any, map_location: Any = None, pickle_module: Any = None, **options: Any) -> Any:
    """As `minigrad.load`."""
    return _of_door(io.load(f, map_location, pickle_module, **options))


def _of_door(value: Any) -> Any:
    """The same value with PyTorch's tensors."""
    if value.__class__ is _Parameter:
        value.__class__ = Parameter
    elif isinstance(value, dict):
        for part in value.values():
            _of_door(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            _of_door(part)
    return adopt(value)
