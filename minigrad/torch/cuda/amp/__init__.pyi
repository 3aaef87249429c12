# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from typing import Any

from minigrad.torch.amp import *
from minigrad.torch.cuda.amp import autocast_mode as autocast_mode
from minigrad.torch.cuda.amp import grad_scaler as grad_scaler

def custom_bwd(function: Any = None, *args: Any, **options: Any) -> Any: ...
def custom_fwd(function: Any = None, *args: Any, **options: Any) -> Any: ...
