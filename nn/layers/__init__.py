"""Layers: linear, convolution, normalization, recurrence and the like."""
