"""`torch.distributed`: a stand-in, since a model runs in one process."""

from minigrad.torch.answers import no, refusing

_refused = refusing(
    "distributed", "a model runs in one process: minigrad.distributed is for several"
)
is_available = is_initialized = no
all_gather = all_reduce = barrier = broadcast = get_rank = get_world_size = _refused
init_process_group = destroy_process_group = _refused
