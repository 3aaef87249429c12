"""Linear algebra on matrices and stacks of matrices; imported from `minigrad.linalg`."""
