"""`torch.nn.attention`: which implementation to take, where there is one."""

from enum import IntEnum

from minigrad.torch.answers import block

SDPBackend = IntEnum("SDPBackend", "MATH FLASH_ATTENTION EFFICIENT_ATTENTION CUDNN_ATTENTION")
sdpa_kernel = block
