"""`torch.profiler`: `minigrad.debugging.Profile` measures a block."""

from enum import IntEnum

from minigrad.torch.answers import block, nothing

ProfilerActivity = IntEnum("ProfilerActivity", "CPU CUDA")
record_function = block
schedule = tensorboard_trace_handler = nothing
