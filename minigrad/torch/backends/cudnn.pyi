# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
import contextlib
from typing import Any

allow_tf32: bool
benchmark: bool
deterministic: bool
enabled: bool

def flags(*args: Any, **kwargs: Any) -> contextlib.nullcontext: ...
def is_available() -> bool: ...
def version() -> None: ...
