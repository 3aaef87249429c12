"""The class Tensor, and what makes one: creation, writes in place, NumPy's functions, DLPack."""
