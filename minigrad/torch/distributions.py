"""`torch.distributions`: minigrad's distributions, whose samples are PyTorch's tensors."""

from __future__ import annotations

import functools
from typing import Any

from minigrad import distributions as ours
from minigrad.torch.build import adopting
from minigrad.torch.modules import missing as _missing
from minigrad.torch.tensor import adopt

__getattr__ = _missing(__name__)
__path__: list[str] = []


def _door(kind: Any) -> Any:
    """The class with methods that give PyTorch's tensors."""
    names = ("sample", "rsample", "log_prob", "entropy", "cdf", "icdf", "enumerate_support")
    methods = {name: adopting(getattr(kind, name)) for name in names if hasattr(kind, name)}

    @functools.wraps(kind.__init__)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        kind.__init__(self, *args, **kwargs)
        adopt(vars(self))

    return type(kind.__name__, (kind,), {"__doc__": kind.__doc__, "__init__": init, **methods})


kl_divergence = adopting(ours.kl_divergence)
globals().update(
    {name: _door(getattr(ours, name)) for name in ours.__all__ if name != "kl_divergence"}
)
