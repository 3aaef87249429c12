"""`torch.distributed`: a stand-in, since a model runs in one process."""

from minigrad.torch.answers import no

is_available = is_initialized = no
