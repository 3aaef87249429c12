"""The computation of a step of the backward pass, and its reasons."""
