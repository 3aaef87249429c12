"""Transformers: encoder, decoder, and both."""
