"""Ctrl-C saves a training between two of its steps, and it can go on from there."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Self

from _command_line import shown

from minigrad.io import load_training, save_training


class Checkpoint:
    """Inside its block Ctrl-C waits for the next point that is reached, and is kept there.

    Args:
        path: Where; None to leave Ctrl-C as it is.
        done: What has come of the training so far; changed in place, by the training and `load`.
        **parts: Model, optimizer, scheduler, loader, for `save_training`.
    """

    def __init__(self, path: Path | None, done: dict[str, Any], **parts: Any) -> None:
        self.path, self.done, self.parts = path, done, parts
        self._asked = False
        self._outer: Callable[..., Any] | int | None = None

    def load(self) -> None:
        """Go on from what was saved."""
        assert self.path is not None
        self.done.update(load_training(self.path, **self.parts))

    def __enter__(self) -> Self:
        if self.path is not None:
            self._outer = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self.path is not None:
            signal.signal(signal.SIGINT, self._outer)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self._asked:  # the second time it is meant
            raise KeyboardInterrupt
        self._asked = True

    def reached(self) -> None:
        """Say that a step is complete: if Ctrl-C has asked for it, the training ends here."""
        if self._asked and self.path is not None:
            save_training(self.path, **self.parts, **self.done)
            raise KeyboardInterrupt(f"the training is in {shown(self.path)}, --resume goes on")
