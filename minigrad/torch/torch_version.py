"""`torch.torch_version`: a version that compares by its numbers."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any


def _numbers(version: Any) -> tuple[int, ...]:
    version = getattr(version, "vstring", version)  # of distutils' LooseVersion
    parts = version.split("+")[0].split(".") if isinstance(version, str) else version
    found = [int("0" + re.sub(r"\D.*", "", str(part))) for part in parts]
    return tuple(found + [0] * (4 - len(found)))


def _by_numbers(compare: Callable[[Any, Any], bool]) -> Any:
    return lambda self, other: compare(_numbers(self), _numbers(other))


class TorchVersion(str):
    """A version that compares by its numbers, with text and with tuples of numbers."""

    __hash__ = str.__hash__
    __eq__, __ne__ = _by_numbers(operator.eq), _by_numbers(operator.ne)
    __lt__, __le__ = _by_numbers(operator.lt), _by_numbers(operator.le)
    __gt__, __ge__ = _by_numbers(operator.gt), _by_numbers(operator.ge)
