"""`lucid.autograd`: as in PyTorch's door."""

from __future__ import annotations

from typing import Any

from minigrad.lucid import build as _build
from minigrad.lucid.classes import Tensor, adopt, adopting
from minigrad.torch import autograd as _under
from minigrad.torch.utils import checkpoint as _checkpoint

globals().update(_build.exported(_under))
checkpoint = adopting(_checkpoint.checkpoint)
jacobian, hessian, vjp, jvp = (
    adopting(getattr(_under.functional, _name)) for _name in ("jacobian", "hessian", "vjp", "jvp")
)


class Function(_under.Function):
    """An op with a forward and a backward of one's own.

    Source: Lucid 3.8, "lucid.autograd.Function".
    """

    @staticmethod
    def _shown(tensor: Any) -> Any:
        if tensor is None or isinstance(tensor, Tensor):
            return tensor
        return adopt(_under.Function._shown(tensor))

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Run the forward, and record it."""
        return adopt(super().apply(*args))


_missing = _build.missing(__name__, _under)


def __getattr__(name: str) -> Any:
    return _missing(name)
