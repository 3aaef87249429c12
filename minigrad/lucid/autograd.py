"""`lucid.autograd`: as in PyTorch."""

from __future__ import annotations

from typing import Any

from minigrad.autograd import checkpoint as checkpoint
from minigrad.autograd.functional import hessian as hessian
from minigrad.autograd.functional import jacobian as jacobian
from minigrad.autograd.functional import jvp as jvp
from minigrad.autograd.functional import vjp as vjp
from minigrad.lucid import build as _build
from minigrad.torch import autograd as _under

globals().update(_build.exported(_under))
_missing = _build.missing(__name__, _under)


def __getattr__(name: str) -> Any:
    return _missing(name)
