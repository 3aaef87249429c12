"""The functions of the package einops, which work on tensors."""

try:
    from einops import *  # noqa: F403
except ModuleNotFoundError:
    raise ImportError("minigrad.einops: einops is missing: pip install einops") from None
