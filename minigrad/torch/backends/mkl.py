"""`torch.backends.mkl`."""

from minigrad.torch.answers import no

is_available = no
