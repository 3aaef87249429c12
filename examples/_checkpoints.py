"""Ctrl-C saves a training run between two steps, so that it can be resumed."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from _command_line import shown

from minigrad.io import load_training, save_training


class Checkpoint:
    """A context manager in which Ctrl-C takes effect at the next complete step, and saves there.

    Args:
        path: The file to save to; None to leave Ctrl-C as it is.
        done: The progress of the training; changed in place, by the training and by `load`.
        **parts: Model, optimizer, scheduler, loader, for `save_training`.
    """

    def __init__(self, path: Path | None, done: dict[str, Any], **parts: Any) -> None:
        self.path, self.done, self.parts = path, done, parts
        self._asked = False
        self._outer: Callable[..., Any] | int | None = None

    def load(self) -> None:
        """Load the saved training."""
        assert self.path is not None
        self.done.update(load_training(self.path, **self.parts))

    def __enter__(self) -> Self:
        if self.path is not None:
            self._outer = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self.path is not None:
            signal.signal(signal.SIGINT, self._outer)

    def _ask(self, *_: object) -> None:
        if self._asked:  # a second Ctrl-C stops at once
            raise KeyboardInterrupt
        self._asked = True

    def reached(self) -> None:
        """Mark a step as complete; after Ctrl-C, save and end the training here."""
        if self._asked and self.path is not None:
            save_training(self.path, **self.parts, **self.done)
            raise KeyboardInterrupt(f"the training is in {shown(self.path)}, --resume goes on")
