"""`torch.optim`: minigrad's optimizers."""

from typing import Any

from minigrad.optim import *

ParamsT = Any
required: Any = object()  # the default of an option that has none
