"""`torch.mps`: there is no such device; everything runs on the CPU."""

from minigrad.torch.answers import nothing, zero

device_count = zero
empty_cache = manual_seed = synchronize = nothing
