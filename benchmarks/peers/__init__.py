"""The compared libraries: a module for each, which only its own process imports.

Each module has functions that take a size and build a `Task`; not every library has all of them:

    encoder     a stack of post-norm encoder layers without dropout, forward and backward, with
                respect to all weights and the input
    layer       one layer of another kind, forward and backward
    attention   attention without projections, forward and backward
    words       an embedding and a cross-entropy over the same table, forward and backward
    adamw       a step of AdamW with given gradients
    training    a whole training step of a model on top of such a stack
    perceptron  a whole training step of three small linear layers
    chain       a long chain of small operations, forward and backward
    nested      calls of modules within modules that do nothing
    transform   a function that is mapped or differentiated, in modules of its own: `*_functions`
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A library, and its module here.

    Attributes:
        title: Its name in tables.
        module: Its module in this folder.
        package: The package that must be installed.
    """

    title: str
    module: str
    package: str

    @property
    def installed(self) -> bool:
        """Whether the package can be imported; a mere folder of this name does not count."""
        found = importlib.util.find_spec(self.package)
        return found is not None and found.origin is not None


OURS = Peer("minigrad", "ours", "minigrad")
CAPTURED = Peer("minigrad, captured", "ours_captured", "minigrad")
PYTORCH = Peer("PyTorch", "pytorch", "torch")
PEERS = [
    OURS,
    CAPTURED,
    PYTORCH,
    Peer("PyTorch, plain attention", "pytorch_plain_attention", "torch"),
    Peer("JAX, compiled", "jax_compiled", "jax"),
    Peer("MyGrad", "mygrad_ops", "mygrad"),
    Peer("HIPS autograd", "hips_autograd", "autograd"),
]
