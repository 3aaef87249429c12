"""Other libraries' spellings: a model for PyTorch or Lucid runs when its imports change."""
