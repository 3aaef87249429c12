"""The functions of the package einops, which work on tensors."""

try:
    from einops import (
        EinopsError,
        asnumpy,
        einsum,
        pack,
        parse_shape,
        rearrange,
        reduce,
        repeat,
        unpack,
    )
except ModuleNotFoundError:
    raise ImportError("minigrad.einops: einops is missing: pip install einops") from None

__all__ = [
    "EinopsError", "asnumpy", "einsum", "pack", "parse_shape", "rearrange", "reduce", "repeat",
    "unpack",
]  # fmt: skip
