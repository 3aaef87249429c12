"""`lucid.optim`: optimizers and schedulers with Lucid 3's arguments."""

from __future__ import annotations

from typing import Any

from minigrad.lucid import build as _build
from minigrad.lucid import table as _table
from minigrad.torch import optim as _under

_INITS = _build.constructors(_table.OPTIMIZERS)


def _kind_of(kind: Any) -> Any:
    init = _INITS.get(kind.__name__)
    return kind if init is None else _build.subclass(kind, (kind,), init, __name__)


_SCHEDULERS = _build.exported(_under.lr_scheduler, _kind_of)
globals().update(_build.exported(_under, _kind_of))
globals().update(_SCHEDULERS)
lr_scheduler: Any = _build.view("optim.lr_scheduler", **_SCHEDULERS)
_missing = _build.missing(__name__, _under)


def __getattr__(name: str) -> Any:
    return _missing(name)
