"""`torch.xpu`: there is no such device; everything runs on the CPU."""

from minigrad.torch.answers import no, nothing, zero

is_available, device_count = no, zero
empty_cache = manual_seed = manual_seed_all = synchronize = nothing
