"""`torch.optim`: minigrad's optimizers."""

from minigrad.optim import *
from minigrad.torch.optim import lr_scheduler as lr_scheduler  # type: ignore[no-redef]
from minigrad.torch.optim import swa_utils as swa_utils  # type: ignore[no-redef]
