# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from typing import Any

from minigrad.torch import *

Device = Any
Number = Any
