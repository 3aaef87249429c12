"""`torch.backends.cuda`."""

from minigrad.torch.answers import block, no, nothing

is_built, sdp_kernel = no, block
enable_cudnn_sdp = enable_flash_sdp = enable_math_sdp = enable_mem_efficient_sdp = nothing


class matmul:
    """Settings that change nothing."""

    allow_tf32 = allow_bf16_reduced_precision_reduction = False
    allow_fp16_reduced_precision_reduction = False
