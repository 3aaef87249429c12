"""`lucid.optim`: optimizers and schedulers with Lucid 3's arguments."""

from __future__ import annotations

from typing import Any

from minigrad.lucid.build import constructors as _constructors
from minigrad.lucid.build import exported as _exported
from minigrad.lucid.build import missing as _missing
from minigrad.lucid.build import subclass as _subclass
from minigrad.lucid.table import OPTIMIZERS as _OPTIMIZERS
from minigrad.torch import optim as _under

_INITS = _constructors(_OPTIMIZERS)


def _kind_of(kind: Any) -> Any:
    init = _INITS.get(kind.__name__)
    return kind if init is None else _subclass(kind, (kind,), init, __name__)


globals().update(_exported(_under, _kind_of))
globals().update(_exported(_under.lr_scheduler, _kind_of))

from minigrad.lucid.optim import lr_scheduler as lr_scheduler  # noqa: E402 - it lists these

__getattr__ = _missing(__name__, _under)
