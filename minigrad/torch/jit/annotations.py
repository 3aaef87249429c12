"""`torch.jit.annotations`: Python's own types."""

from typing import *
