"""Attention and transformer blocks as single texts define them.

`MultiHeadAttention` and `TransformerEncoder` are the general ones.
"""
