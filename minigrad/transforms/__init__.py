"""Functions of functions: derivatives of every kind, and checkpointing."""
