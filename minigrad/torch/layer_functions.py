"""The functions of layers that PyTorch has in `torch` too."""

from minigrad.nn.functional import *

__all__ = [
    "adaptive_avg_pool1d", "adaptive_max_pool1d", "alpha_dropout", "avg_pool1d", "bilinear", "celu",
    "celu_", "channel_shuffle", "conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d",
    "cosine_similarity", "dropout", "group_norm", "hardshrink", "layer_norm", "max_pool1d",
    "max_pool2d", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "prelu", "rms_norm",
    "rrelu", "selu", "selu_", "threshold",
]  # fmt: skip
