"""Attention layers, key-value caches, and collecting attention weights."""
