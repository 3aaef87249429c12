"""Checking gradients: finite differences, `gradcheck`, and which rule is wrong."""
