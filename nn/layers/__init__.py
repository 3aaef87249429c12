"""Layers: linear, convolution, normalization, recurrence, activations, losses."""
