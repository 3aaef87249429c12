"""`torch.cuda`, `mps`, `xpu` and `accelerator`: there is no such device; all runs on the CPU."""

from minigrad.torch import amp as amp
from minigrad.torch.answers import no, nothing, zero

is_available = is_bf16_supported = is_initialized = no
_initialized = False
device_count = zero
memory_allocated = memory_reserved = max_memory_allocated = max_memory_reserved = zero
current_accelerator = reset_peak_memory_stats = nothing
empty_cache = manual_seed = manual_seed_all = synchronize = nothing
