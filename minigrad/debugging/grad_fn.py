"""`GradFn`: a node of the graph as PyTorch shows it, to be read only."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from minigrad.autograd import dtype_class
from minigrad.autograd.call import with_history
from minigrad.autograd.node import FREED, Leaf, Node, Output
from minigrad.autograd.primitives import registry
from minigrad.autograd.scope import FunctionCall

_NAMES = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "astype": "to_copy",
    "attention": "scaled_dot_product_flash_attention_for_cpu", "batch_norm": "native_batch_norm",
    "broadcast_to": "expand", "cholesky": "linalg_cholesky_ex", "clip": "ClampBackward1",
    "concatenate": "cat", "convolution_transpose": "convolution", "cross_entropy": "nll_loss",
    "det": "linalg_det", "divide": "div", "dropout": "mul", "eigh": "linalg_eigh", "einsum": "view",
    "expand_dims": "unsqueeze", "flatten": "view", "getitem": "index",
    "group_norm": "native_group_norm", "gru": "stack", "inv": "linalg_inv_ex",
    "layer_norm": "native_layer_norm", "log1p": "Log1P", "lu": "linalg_lu_factor_ex",
    "moveaxis": "permute", "multiply": "mul", "negative": "neg", "norm": "linalg_vector_norm",
    "pad": "constant_pad_nd", "qr": "linalg_qr", "ravel": "view", "repeat": "view",
    "reshape": "view", "rms_norm": "mul", "rnn": "stack", "scatter_diagonal": "diag_embed",
    "scatter_extreme": "scatter_reduce", "setitem": "CopySlices", "slogdet": "linalg_slogdet",
    "solve": "linalg_solve_ex", "square": "pow", "subtract": "sub", "svd": "linalg_svd",
    "swapaxes": "transpose", "take": "index_select", "take_along_axis": "gather", "tile": "repeat",
    "transpose": "permute",
}  # fmt: skip
"""Ops whose nodes have another name in PyTorch."""

_FUNCTIONS = {
    name: name for name in (
        "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu", "channel_shuffle",
        "elu", "embedding_bag", "glu", "hardshrink", "hardsigmoid", "hardswish", "huber_loss",
        "leaky_relu", "mish", "mse_loss", "multi_margin_loss", "nll_loss", "pixel_shuffle",
        "pixel_unshuffle", "smooth_l1_loss", "soft_margin_loss", "softshrink", "threshold",
    )
} | {
    "adaptive_max_pool2d": "AdaptiveMaxPool2D", "affine_grid": "AffineGridGenerator",
    "avg_pool1d": "SqueezeBackward1", "avg_pool2d": "AvgPool2D", "conv_transpose1d": "Convolution",
    "conv_transpose2d": "Convolution", "dropout2d": "Mul", "fold": "Col2Im",
    "grid_sample": "GridSampler2D", "instance_norm": "View", "logsigmoid": "LogSigmoid",
    "pairwise_distance": "NormBackward1", "prelu": "PreluKernel", "rrelu": "RreluWithNoise",
    "selu": "Elu", "unfold": "Im2Col",
}  # fmt: skip
"""Functions of several ops that are one node in PyTorch."""

_CELLS = {"GRUCell": "Add", "LSTMCell": "Mul", "LSTM": "MkldnnRnnLayer", "RNNCell": ""}
"""Modules that return a part of what an op gave, and PyTorch's names of it."""


def _of_index(node: Node) -> str:
    """What PyTorch makes of an index: the last part that is not the whole axis counts."""
    if (kind := getattr(node.frame, "kind", "")) in _CELLS:
        known = getattr(node.frame, "module", None)
        return _CELLS[kind] or getattr(known, "nonlinearity", "tanh").capitalize()
    index = _saved(node).get("index", [])
    for part in reversed(index if isinstance(index, tuple) else (index,)):
        if part is not Ellipsis and (part.__class__ is not slice or part != slice(None)):
            return {int: "Select", slice: "Slice", type(None): "Unsqueeze"}.get(type(part), "Index")
    return "Slice" if isinstance(index, slice) else "Alias"


def _of_power(node: Node) -> str:
    """The digit tells where a number stands: 0 right, 2 left, 1 nowhere."""
    slot, *others = node.plan.slots
    of_tensors = others or hasattr(_saved(node).get("ba"[slot]), "dtype")
    return f"PowBackward{1 if of_tensors else 2 * slot}"


def _of_clone(node: Node) -> str:
    """PyTorch's flip is a copy; here it is a view that is copied."""
    [parent] = node.parents
    return "Flip" if isinstance(parent, Node) and parent.plan.op is registry["flip"] else "Clone"


def _saved(node: Node) -> dict[str, Any]:
    """What the node has saved, by name; nothing if it is freed."""
    return {} if node.saved is FREED else dict(zip(node.plan.saved_names, node.saved, strict=True))


def _by_axis(without: str, along: str) -> Callable[[Node], str]:
    """The name without an axis, and along one."""
    return lambda node: without if _saved(node).get("axis") is None else along


_BY_NODE: dict[str, Callable[[Node], str]] = {
    "getitem": _of_index,
    "linear": lambda node: (
        ("View" if 2 in node.plan.slots else "UnsafeView") if len(node.shape) != 2
        else "Addmm" if 2 in node.plan.slots else "Mm"
    ),
    "matmul": lambda node: ("Dot", "Mv", "Mm", "UnsafeView")[min(len(node.shape), 3)],
    "max": _by_axis("MaxBackward1", "Amax"), "min": _by_axis("MinBackward1", "Amin"),
    "mean": _by_axis("Mean", "MeanBackward1"), "prod": _by_axis("Prod", "ProdBackward1"),
    "sum": _by_axis("Sum", "SumBackward1"), "clone": _of_clone, "power": _of_power,
    "quantile": lambda n: "Median" if _saved(n).get("method") == "lower" else "SqueezeBackward4",
    "max_pool": lambda node: "SqueezeBackward1" if len(node.shape) < 4 else "MaxPool2DWithIndices",
}  # fmt: skip
"""Ops that are several in PyTorch."""


def _name_of(node: Node | Leaf) -> str:
    """The name of the class that PyTorch has for a node."""
    if isinstance(node, Leaf):
        return "AccumulateGrad"
    op, frame = node.plan.op, node.frame
    called, function = op.name, frame.name if isinstance(frame, FunctionCall) else ""
    if not op.module.startswith("minigrad."):  # a program's own
        return f"{called.rpartition('.')[2]}Backward"
    if function in _FUNCTIONS:
        name = _FUNCTIONS[function]
    elif called in _BY_NODE:
        name = _BY_NODE[called](node)
    else:
        name = _NAMES.get(called, called)
    name = "".join([word[:1].upper() + word[1:] for word in name.split("_")])
    return name if "Backward" in name or name == "CopySlices" else f"{name}Backward0"


@cache
def _class_of(name: str) -> type[GradFn]:
    """The class of the nodes of this name, which prints as PyTorch's do."""
    return type(name, (GradFn,), {"__module__": "builtins"})


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

    node: Node | Leaf
    _shown: ClassVar[WeakValueDictionary[int, GradFn]] = WeakValueDictionary()

    def __new__(cls, node: Node | Leaf) -> GradFn:
        """One object for a node, of a class of its name: so know programs that draw graphs."""
        known = cls._shown.get(id(node))
        if known is None:
            known = cls._shown[id(node)] = super().__new__(_class_of(_name_of(node)))
            known.node = node
        return known

    def __copy__(self, _: Any = None) -> GradFn:
        return self

    __deepcopy__ = __copy__

    def name(self) -> str:
        """Return the name of the op as PyTorch writes it, such as "MulBackward0"; of a leaf too."""
        space = "torch::autograd::" if isinstance(self.node, Leaf) else ""
        return space + type(self).__name__

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
        return {
            name: with_history(value, None) if hasattr(value, "shape") else value
            for name, value in _saved(self.node).items()
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

    def __repr__(self) -> str:
        place = f" object at {id(self.node):#x}" if dtype_class.shown_as == "torch" else ""
        return f"<{type(self).__name__}{place}>"
