"""`torch.accelerator`: there is none; everything runs on the CPU."""

from minigrad.torch.answers import no, nothing, refusing, zero

is_available, device_count, current_accelerator, synchronize = no, zero, nothing, nothing
current_device_index = refusing("accelerator", "everything runs on the CPU")
