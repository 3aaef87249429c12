"""Saving and loading: writes are atomic, and loading never runs code from a file."""

from minigrad.io.errors import LoadError
from minigrad.io.files import load, save
from minigrad.io.training import load_training, save_training

__all__ = ["LoadError", "load", "load_training", "save", "save_training"]
