"""`torch.cuda.amp`: the old place of `torch.amp`."""

from minigrad.torch.amp import GradScaler as GradScaler
from minigrad.torch.amp import autocast as autocast
