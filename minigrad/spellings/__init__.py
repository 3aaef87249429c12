"""Other libraries' spellings: a model for PyTorch or Lucid runs when its imports change."""

from minigrad.spellings.lookup import (
    Spelling,
    attribute,
    importable,
    method,
    public_names,
    remedy,
    renamed,
    respelled,
    spellings,
)

__all__ = [
    "Spelling",
    "attribute",
    "importable",
    "method",
    "public_names",
    "remedy",
    "renamed",
    "respelled",
    "spellings",
]
