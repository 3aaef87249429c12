"""`GradFn`: a node of the graph as PyTorch shows it, to be read only."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.call import with_history
from minigrad.autograd.node import FREED, Leaf, Node, Output

_NAMES = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "astype": "to_copy", "batch_norm": "native_batch_norm",
    "broadcast_to": "expand", "clip": "clamp", "concatenate": "cat", "divide": "div",
    "expand_dims": "unsqueeze", "getitem": "index", "layer_norm": "native_layer_norm",
    "multiply": "mul", "negative": "neg", "power": "pow", "reshape": "view", "square": "pow",
    "subtract": "sub", "swapaxes": "transpose", "take_along_axis": "gather", "tile": "repeat",
    "transpose": "permute",
}  # fmt: skip
"""Ops whose nodes have another name in PyTorch."""


class GradFn:
    """The op that made a tensor, ``x.grad_fn``, for reading a graph step by step.

    Attributes:
        node: The engine's node, or the leaf at the end of a path.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        >>> y = (x * x).sum()
        >>> y.grad_fn
        <SumBackward0>
        >>> y.grad_fn.next_functions
        ((<MulBackward0>, 0),)
        >>> product = y.grad_fn.next_functions[0][0]
        >>> sorted(product.saved), product.next_functions
        (['a', 'b'], ((<AccumulateGrad>, 0), (<AccumulateGrad>, 0)))
    """

    def __init__(self, node: Node | Leaf) -> None:
        self.node = node

    def name(self) -> str:
        """Return the name of the op as PyTorch writes it, such as "MulBackward0"; of a leaf too."""
        if isinstance(self.node, Leaf):
            return "torch::autograd::AccumulateGrad"
        op = self.node.plan.op.name
        return "".join(map(str.capitalize, _NAMES.get(op, op).split("_"))) + "Backward0"

    @property
    def next_functions(self) -> tuple[tuple[GradFn, int], ...]:
        """The origin of each argument that needs a gradient, and the number of the output."""
        if isinstance(self.node, Leaf):
            return ()
        edges = self.node.edges
        return tuple([
            (GradFn(edge.node), edge.number) if isinstance(edge, Output) else (GradFn(edge), 0)
            for edge in edges
        ])  # fmt: skip

    @property
    def saved(self) -> dict[str, Any]:
        """The values that the op saved for its rules, by name; arrays as tensors without a history.

        Raises:
            RuntimeError: A backward pass freed it.
        """
        if isinstance(self.node, Leaf):
            return {}
        if self.node.saved is FREED:
            raise RuntimeError(f"{self.name()}: a backward pass freed what it saved")
        values = zip(self.node.plan.saved_names, self.node.saved, strict=True)
        return {
            name: with_history(value, None) if hasattr(value, "shape") else value
            for name, value in values
        }

    @property
    def variable(self) -> Any:
        """The tensor of a leaf, None if it is gone.

        Raises:
            AttributeError: It is not a leaf.
        """
        if isinstance(self.node, Node):
            raise AttributeError(f"variable: {self.name()} is the result of an op, not a leaf")
        return self.node.tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradFn) and other.node is self.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return f"<{self.name().rpartition(':')[2]}>"
