"""Files: what is saved is whole or not there, and what is loaded runs nothing."""

from minigrad.io.errors import LoadError
from minigrad.io.files import load, save
from minigrad.io.training import load_training, save_training

__all__ = ["LoadError", "load", "load_training", "save", "save_training"]
