"""`torch.fx`: there are no graphs."""

from minigrad.torch.answers import unchanged

wrap = unchanged
