"""`torch.backends.openmp`."""

from minigrad.torch.answers import no

is_available = no
