"""Files of PyTorch, read and written without it: `torch.save`'s zip archives."""

from minigrad.io.pt.reading import read
from minigrad.io.pt.writing import pack, write

__all__ = ["pack", "read", "write"]
