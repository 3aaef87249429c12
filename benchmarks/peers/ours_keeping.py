"""minigrad, keeping 1,024 MiB of freed memory instead of the default."""

import minigrad
from peers.ours import encoder, perceptron, training

__all__ = ["encoder", "perceptron", "training"]

minigrad.keep_freed_memory(1024)
