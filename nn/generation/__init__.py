"""Autoregressive generation with a cache: sampling tokens one by one, and beam search.

A model is any callable of ids (N, L) and a cache that returns logits (N, L, classes). It gets each
token once; earlier ones are in the cache, and `cache.get_seq_length()` is the position of the first
id. A model that does not write its cache gets the whole sequence in each step.

Prompts of unequal length are padded on the left: see `pad_left`. The model is then called with two
keywords more: `key_padding_mask`, bool of shape (N, S), True = padding, for all tokens so far, and
`position_ids`, int64 of shape (N, L), which count without the padding.
"""

from minigrad.nn.generation.beams import beam_search
from minigrad.nn.generation.sampling import generate, pad_left, sample, stream

__all__ = ["beam_search", "generate", "pad_left", "sample", "stream"]
