"""Other libraries' spellings: a model written for PyTorch or Lucid runs after its imports change."""

from minigrad.spellings.lookup import Spelling, attribute, method, renamed, respelled, spellings

__all__ = ["Spelling", "attribute", "method", "renamed", "respelled", "spellings"]
