"""Building an ONNX graph: nodes, initializers and names.

Equal nodes are made once: two layers that compute the length of the input share the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.onnx.program import Value
from minigrad.onnx.sizes import Size
from minigrad.support.checks import optional_package

if TYPE_CHECKING:
    import onnx


OPSET = 20  # the first opset with Gelu
IR_VERSION = 10  # the IR version of that opset


def package() -> Any:
    """Import the package onnx, on the first export."""
    return optional_package("onnx.export", "onnx", install="onnx onnxruntime")


class Graph:
    """Nodes and initializers, in the order of their creation.

    ``graph.Add(a, b)`` adds a node of ONNX's operator Add and returns the name of its result. An
    operand is such a name, a list of sizes, or else a value or a number, in `dtype`.

    `constant` makes a tensor for a value that no op computed. `path` is the module call to which
    the next nodes belong, `dtype` that of its result, `limits` the largest size of a symbol for
    which the file has tables.
    """

    dtype: Any

    def __init__(
        self, inputs: Mapping[str, Value], axes: Mapping[str, Mapping[int, str]],
        constant: Callable[[Graph, Value], str],
    ) -> None:  # fmt: skip
        onnx = package()
        self._helper, self._array = onnx.helper, onnx.numpy_helper.from_array
        self.inputs, self.axes = inputs, axes
        self.path = ""
        self.limits: dict[str, int] = {}
        self._constant = constant
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}
        self._stored: dict[Any, str] = {}  # names of initializers
        self._nodes_made: dict[Any, Sequence[str]] = {}  # their outputs
        self._names: dict[int, str] = {value.number: name for name, value in inputs.items()}
        self._taken = set(inputs)
        self._symbols = {
            symbol: (name, axis) for name, known in axes.items() for axis, symbol in known.items()
        }

    # Tensors ------------------------------------------------------------------------------------

    def known(self, value: Value, name: str) -> None:
        """Register the tensor that holds a value."""
        self._names[value.number] = name

    def tensor(self, value: Any, dtype: Any = None) -> str:
        """The name of the tensor of a value, a number (which needs a dtype) or a size."""
        if isinstance(value, Size):
            number = self.Squeeze(self.length(value))
            return number if dtype in (None, np.int64) else self.cast(number, dtype)
        if not isinstance(value, Value):
            return self.initializer(np.asarray(value, dtype))
        if value.number not in self._names:
            self._names[value.number] = self._constant(self, value)
        name = self._names[value.number]
        return name if dtype is None or value.dtype == dtype else self.cast(name, dtype)

    def initializer(self, array: np.ndarray, name: str | None = None) -> str:
        """Store an array in the file; equal unnamed arrays are stored once."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        key = name or (array.dtype.str, array.shape, array.tobytes())
        if key not in self._stored:
            unique = self._unique(name or "constant", always=name is None)
            self._initializers[unique] = self._array(array, unique)
            self._stored[key] = unique
        return self._stored[key]

    def cast(self, tensor: str, dtype: Any) -> str:
        """Cast a tensor to another dtype."""
        return self.Cast(tensor, to=self._kind(dtype))

    # Sizes --------------------------------------------------------------------------------------

    def length(self, size: int | Size) -> str:
        """A size as a tensor of shape (1,)."""
        if not isinstance(size, Size):
            return self.initializer(np.array([size], np.int64))
        parts = []
        for factor, symbols in size.terms:
            factors = [self.length(factor)] if factor != 1 else []
            parts.append(reduce(self.Mul, [*factors, *map(self._symbol, symbols)]))
        return reduce(self.Add, [*parts, self.length(size.constant)] if size.constant else parts)

    def _symbol(self, symbol: str) -> str:
        name, axis = self._symbols[symbol]
        return self.Shape(name, start=axis, end=axis + 1)

    def lengths(self, sizes: Iterable[int | Size]) -> str:
        """Several sizes as one tensor of integers."""
        listed = [*sizes]
        if not any(isinstance(size, Size) for size in listed):
            return self.initializer(np.array(listed, np.int64))
        return self.Concat(*map(self.length, listed), axis=0)

    def limit(self, size: Any, rows: int) -> None:
        """Record that a table limits a size to its number of rows."""
        if isinstance(size, Size) and size.symbol is not None:
            most = rows - size.constant
            self.limits[size.symbol] = min(self.limits.get(size.symbol, most), most)

    # Nodes --------------------------------------------------------------------------------------

    def __getattr__(self, kind: str) -> Callable[..., str]:
        if not kind[0].isupper():
            raise AttributeError(kind)
        return lambda *operands, **attributes: self.node(
            kind, [*map(self._operand, operands)], **attributes
        )

    def _operand(self, given: Any) -> str:
        if isinstance(given, str):
            return given
        return self.lengths(given) if isinstance(given, list) else self.tensor(given, self.dtype)

    def node(self, kind: str, inputs: Iterable[str], **attributes: Any) -> str:
        """Add a node, or reuse an equal one, and return its output; an omitted input is ""."""
        return self.nodes(kind, inputs, 1, **attributes)[0]

    def nodes(
        self, kind: str, inputs: Iterable[str], count: int, **attributes: Any
    ) -> Sequence[str]:
        """The same for a node with several outputs."""
        names = [*inputs]
        key = (kind, *names, *sorted((k, repr(v)) for k, v in attributes.items()))
        if key not in self._nodes_made:
            path = f"{self.path}." if self.path else ""
            outputs = [self._unique(path + kind.lower(), always=True) for _ in range(count)]
            self._nodes.append(
                self._helper.make_node(kind, names, outputs, outputs[0], **attributes)
            )
            self._nodes_made[key] = outputs
        return self._nodes_made[key]

    def scan(
        self, step: Callable[[list[str], str], list[str]], states: list[str], sequence: str,
        dtype: Any,
    ) -> list[str]:  # fmt: skip
        """A loop over the first axis of a tensor; returns each state's values after every step.

        `step` adds the nodes of one step: from the states before it and its part of the sequence to
        the states after it. Other tensors must be made before.
        """
        outside = self._nodes, self._nodes_made
        self._nodes, self._nodes_made = [], {**self._nodes_made}
        before = [self._unique("state", always=True) for _ in states]
        part = self._unique("part", always=True)
        states_after = step(before, part)
        after = [*states_after, *states_after]  # those of the next step, and the values to keep
        ends = [self._unique("next", always=True) for _ in after]
        for made, end in zip(after, ends, strict=True):
            self._nodes.append(self._helper.make_node("Identity", [made], [end], end))
        nodes = self._nodes
        self._nodes, self._nodes_made = outside
        kind = self._kind(dtype)
        starts, results = (
            [self._helper.make_tensor_value_info(name, kind, None) for name in names]
            for names in ([*before, part], ends)
        )
        name = self._unique("step", always=True)
        body = self._helper.make_graph(nodes, name, starts, results)
        path = f"{self.path}." if self.path else ""
        names = [self._unique(f"{path}scan", always=True) for _ in after]
        self._nodes.append(
            self._helper.make_node(
                "Scan", [*states, sequence], names, names[-1], body=body, num_scan_inputs=1
            )
        )
        return names[len(states) :]

    def _unique(self, name: str, always: bool = False) -> str:
        unique, count = (f"{name}_0", 0) if always else (name, 0)
        while unique in self._taken:
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(unique)
        return unique

    def model(self, outputs: Mapping[str, Value], name: str) -> onnx.ModelProto:
        """The complete model, with the public names of inputs and outputs."""
        ends = []
        for end, value in outputs.items():
            unique = self._unique(end)
            made = self.tensor(value)
            self._nodes.append(self._helper.make_node("Identity", [made], [unique], unique))
            ends.append(self._described(unique, value.dtype, value.shape))
        starts = [
            self._described(
                start, value.dtype,
                [self.axes.get(start, {}).get(i, n) for i, n in enumerate(value.arrays[0].shape)],
            )
            for start, value in self.inputs.items()
        ]  # fmt: skip
        graph = self._helper.make_graph(
            self._nodes, name, starts, ends, [*self._initializers.values()]
        )
        return self._helper.make_model(
            graph, producer_name="minigrad", ir_version=IR_VERSION,
            opset_imports=[self._helper.make_opsetid("", OPSET)],
        )  # fmt: skip

    def _described(self, name: str, dtype: Any, shape: Iterable[Any]) -> onnx.ValueInfoProto:
        """An input or output, with the names of the lengths that are not fixed."""
        # A length that is not a polynomial of the inputs' sizes has a name of its own.
        lengths = [
            n if isinstance(n, int) else f"{name}_{i}" if n is None else str(n)
            for i, n in enumerate(shape)
        ]
        return self._helper.make_tensor_value_info(name, self._kind(dtype), lengths)

    def _kind(self, dtype: Any) -> int:
        kind: int = self._helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return kind
