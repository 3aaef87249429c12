"""`torch.multiprocessing`: Python's own, and what people ask PyTorch's."""

from multiprocessing import *

from minigrad.torch.answers import nothing

set_sharing_strategy = nothing
