"""`lucid.einops`: the functions of the package einops; `einsum` takes the equation first."""

from minigrad.einops import rearrange as rearrange
from minigrad.einops import reduce as reduce
from minigrad.einops import repeat as repeat
from minigrad.lucid.classes import adopting as _adopting
from minigrad.torch import einsum as _einsum

einsum = _adopting(_einsum)
