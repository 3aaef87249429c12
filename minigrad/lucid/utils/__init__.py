"""`lucid.utils`."""

from minigrad.lucid.utils import data as data
from minigrad.torch.utils.checkpoint import checkpoint as checkpoint
