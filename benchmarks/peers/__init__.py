"""The compared libraries: a module for each, which only its own process imports.

Each module has functions that take a size and build a `Task`; not every library has all of them:

    encoder     a stack of post-norm encoder layers without dropout, forward and backward, with
                respect to all weights and the input
    layer       one layer of another kind, forward and backward
    attention   attention without projections, forward and backward
    words       an embedding and a cross-entropy over the same table, forward and backward
    table       a step that reads few rows of a large table, with a sparse gradient
    adamw       a step of AdamW with given gradients
    training    a whole training step of a model on top of such a stack
    perceptron  a whole training step of three small linear layers
    product     a product of two matrices
    chain       a long chain of small operations, forward and backward
    nested      calls of modules within modules that do nothing
    transform   a function that is mapped or differentiated, in modules of its own: `*_functions`
"""

import importlib.util
import shutil
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A library, and its module here.

    Attributes:
        title: Its name in tables.
        module: Its module in this folder.
        package: The package that must be installed.
        compiler: The program that must be there.
    """

    title: str
    module: str
    package: str
    compiler: str | None = None

    @property
    def installed(self) -> bool:
        """Whether the package can be imported; a mere folder of this name does not count."""
        if self.compiler is not None and shutil.which(self.compiler) is None:
            return False
        found = importlib.util.find_spec(self.package)
        return found is not None and found.origin is not None


OURS = Peer("minigrad", "ours", "minigrad")
CAPTURED = Peer("minigrad, captured", "ours_captured", "minigrad")
KEEPING = Peer("minigrad, 1,024 MiB kept", "ours_keeping", "minigrad")
PYTORCH = Peer("PyTorch", "pytorch", "torch")
COMPILED = Peer("PyTorch, compiled", "pytorch_compiled", "torch", compiler="c++")
JAX = Peer("JAX, compiled", "jax_compiled", "jax")
TRAINED = [OURS, CAPTURED, KEEPING, PYTORCH, COMPILED, JAX]
"""Those that have whole training steps."""
PEERS = [
    *TRAINED,
    Peer("PyTorch, plain attention", "pytorch_plain_attention", "torch"),
    Peer("MyGrad", "mygrad_ops", "mygrad"),
    Peer("HIPS autograd", "hips_autograd", "autograd"),
]
