"""Attention and transformer classes exactly as the source documents define them.

For new models use `MultiHeadAttention` and `TransformerEncoder`: docs/source_documents.md.
"""
