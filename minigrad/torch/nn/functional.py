"""`torch.nn.functional`: minigrad's own functions, whose results are PyTorch's tensors."""

from __future__ import annotations

from minigrad.nn import functional as _own
from minigrad.torch.build import adopting as _adopting
from minigrad.torch.modules import missing as _missing

__all__ = _own.__all__
globals().update({_name: _adopting(getattr(_own, _name)) for _name in __all__})
__getattr__ = _missing(__name__)
