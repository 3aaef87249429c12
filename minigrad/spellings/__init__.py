"""Other libraries' spellings: a model for PyTorch or Lucid runs when its imports change."""

from minigrad.spellings.lookup import (
    Spelling,
    attribute,
    method,
    remedy,
    renamed,
    respelled,
    spellings,
)

__all__ = ["Spelling", "attribute", "method", "remedy", "renamed", "respelled", "spellings"]
