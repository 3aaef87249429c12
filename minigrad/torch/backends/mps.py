"""`torch.backends.mps`."""

from minigrad.torch.answers import no

is_available = is_built = no
