"""`torch.torch_version`: a version that compares by its numbers."""

from __future__ import annotations

import re
from typing import Any


def _numbers(version: Any) -> tuple[int, ...]:
    parts = version.split("+")[0].split(".") if isinstance(version, str) else version
    found = [int("0" + re.sub(r"\D.*", "", str(part))) for part in parts]
    return tuple(found + [0] * (4 - len(found)))


class TorchVersion(str):
    """A version that compares by its numbers, with text and with tuples of numbers."""

    __hash__ = str.__hash__

    def __eq__(self, other: Any) -> bool:
        return _numbers(self) == _numbers(other)

    def __ne__(self, other: Any) -> bool:
        return _numbers(self) != _numbers(other)

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return _numbers(self) <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return _numbers(self) > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return _numbers(self) >= _numbers(other)
