"""`torch.backends.cudnn`, and the same for the other backends that are not here."""

from minigrad.torch.answers import block, no, nothing

is_available = is_built = no
version = enable_cudnn_sdp = enable_flash_sdp = enable_math_sdp = enable_mem_efficient_sdp = nothing
flags = sdp_kernel = block
allow_tf32 = benchmark = deterministic = enabled = False


class matmul:
    """Settings that change nothing."""

    allow_tf32 = allow_bf16_reduced_precision_reduction = False
    allow_fp16_reduced_precision_reduction = False
