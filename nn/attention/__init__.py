"""Attention: the layers, their masks and their caches."""
