"""`torch.utils`."""

from minigrad.torch.utils import checkpoint as checkpoint
from minigrad.torch.utils import data as data
