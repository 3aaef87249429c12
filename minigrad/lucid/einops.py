"""`lucid.einops`: the functions of the package einops; `einsum` takes the equation first."""

from minigrad.einops import rearrange as rearrange
from minigrad.einops import reduce as reduce
from minigrad.einops import repeat as repeat
from minigrad.tensors.functions import einsum as einsum
