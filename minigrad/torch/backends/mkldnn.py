"""`torch.backends.mkldnn`."""

from minigrad.torch.answers import no

is_available, enabled = no, False
