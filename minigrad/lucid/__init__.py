"""Lucid 3's meaning: ``import minigrad.lucid as lucid``.

Lucid 3 means what PyTorch means, so this door uses `minigrad.torch`. Where Lucid 3 has names,
defaults or orders of its own, they are here; other names are refused in a sentence. Lucid 2's
names are those of `minigrad` itself.
"""

from typing import Any as _Any

from minigrad import io as _io
from minigrad import torch as _torch
from minigrad.lucid import build as _build
from minigrad.lucid import table as _table
from minigrad.lucid.classes import Tensor as Tensor

__version__ = "3.8.0"

globals().update(_build.exported(_torch))
_names = {"T": _torch, "F": _torch.nn.functional, "Tensor": Tensor, "io": _io}
_own = _build.lines(_table.FUNCTIONS, _names, __name__)
globals().update(_own)
bool_ = _torch.bool

for _name in ("amp", "distributions", "linalg", "special", "utils"):
    globals()[_name] = _build.view(_name)

from minigrad.lucid import autograd as autograd  # noqa: E402 - they need what is above
from minigrad.lucid import nn as nn  # noqa: E402
from minigrad.lucid import optim as optim  # noqa: E402
from minigrad.lucid.loader import DataLoader as _DataLoader  # noqa: E402

globals()["utils"].data = _build.view("utils.data", DataLoader=_DataLoader)
globals()["utils"].checkpoint = autograd.checkpoint
_missing = _build.missing(__name__, _torch)


def __getattr__(name: str) -> _Any:
    return _missing(name)
