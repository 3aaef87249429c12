"""`torch.backends.cudnn`."""

from minigrad.torch.answers import block, no, nothing

is_available, version, flags = no, nothing, block
allow_tf32 = benchmark = deterministic = enabled = False
