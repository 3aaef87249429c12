"""Evaluation mode for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.nn.module.base import Module


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Evaluation mode for as long as it lasts, then each module's own mode again.

    Args:
        model: A module; anything else is left alone.
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
