"""Linear algebra on matrices and stacks of matrices: `minigrad.linalg` exports these ops."""
