"""Evaluation mode within a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.nn.module.base import Module


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode within a block, then restore each module's mode.

    Anything that is not a module is left alone.

    Example:
        >>> from minigrad import nn
        >>> model = nn.Dropout(0.5)
        >>> with nn.utils.evaluating(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    modes = {m: m.training for m in model.modules()} if isinstance(model, Module) else {}

    def put_back() -> None:
        for module, training in modes.items():
            module.training = training

    try:
        for module in modes:
            module.training = False
        yield
    finally:
        try:
            put_back()
        except BaseException:  # an interrupt
            put_back()
            raise
