"""`torch.multiprocessing`: Python's own, and what people ask PyTorch's."""

from multiprocessing import *

from minigrad.torch.answers import nothing, refusing

set_sharing_strategy = nothing
spawn = refusing(
    "multiprocessing.spawn", "a model runs in one process: minigrad.distributed is for several"
)
