"""Building an ONNX graph: nodes, initializers and names.

Equal nodes are made once: two layers that compute the length of the input share the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.onnx.program import Value
from minigrad.onnx.sizes import Size

if TYPE_CHECKING:
    import onnx


def package() -> Any:
    """Import the package onnx, on the first export."""
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
    except ImportError:
        raise ImportError(
            "onnx.export: the package onnx is missing: pip install onnx onnxruntime"
        ) from None
    return onnx


class Graph:
    """Nodes and initializers, in the order of their creation.

    `constant` makes a tensor for a value that no op computed. `path` is the module call to which
    the next nodes belong, `limits` the largest size of a symbol for which the file has tables.
    """

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

    # Tensors ------------------------------------------------------------------------------------

    def known(self, value: Value, name: str) -> None:
        """Register the tensor that holds a value."""
        self._names[value.number] = name

    def tensor(self, value: Any, dtype: Any = None) -> str:
        """The name of the tensor of a value, a number (which needs a dtype) or a size."""
        if isinstance(value, Size):
            number = self.node("Squeeze", [self.length(value)])
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
        return self.node("Cast", [tensor], to=self._kind(dtype))

    # Sizes --------------------------------------------------------------------------------------

    def length(self, size: int | Size) -> str:
        """A size as a tensor of shape (1,)."""
        if not isinstance(size, Size):
            return self.initializer(np.array([size], np.int64))
        total = None
        for factor, symbols in size.terms:
            product = None if factor == 1 else self.length(factor)
            for symbol in symbols:
                one = self._symbol(symbol)
                product = one if product is None else self.node("Mul", [product, one])
            assert product is not None
            total = product if total is None else self.node("Add", [total, product])
        assert total is not None
        return self.node("Add", [total, self.length(size.constant)]) if size.constant else total

    def _symbol(self, symbol: str) -> str:
        for name, axes in self.axes.items():
            for axis, known in axes.items():
                if known == symbol:
                    return self.node("Shape", [name], start=axis, end=axis + 1)
        raise KeyError(symbol)

    def lengths(self, sizes: Iterable[int | Size]) -> str:
        """Several sizes as one tensor of integers."""
        listed = [*sizes]
        if not any(isinstance(size, Size) for size in listed):
            return self.initializer(np.array(listed, np.int64))
        return self.node("Concat", [self.length(size) for size in listed], axis=0)

    def limit(self, size: Any, rows: int) -> None:
        """Record that a table limits a size to its number of rows."""
        if isinstance(size, Size) and size.symbol is not None:
            most = rows - size.constant
            self.limits[size.symbol] = min(self.limits.get(size.symbol, most), most)

    # Nodes --------------------------------------------------------------------------------------

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
        try:
            before = [self._unique("state", always=True) for _ in states]
            part = self._unique("part", always=True)
            after = step(before, part)
            ends = [self._unique("next", always=True) for _ in states]
            kept = [self._unique("kept", always=True) for _ in states]
            for made, names in zip(after, zip(ends, kept, strict=True), strict=True):
                for name in names:
                    self._nodes.append(self._helper.make_node("Identity", [made], [name], name))
            body_nodes = self._nodes
        finally:
            self._nodes, self._nodes_made = outside

        def described(names: list[str]) -> list[Any]:
            kind = self._kind(dtype)
            return [self._helper.make_tensor_value_info(name, kind, None) for name in names]

        body = self._helper.make_graph(
            body_nodes, self._unique("step", always=True), described([*before, part]),
            described([*ends, *kept]),
        )  # fmt: skip
        path = f"{self.path}." if self.path else ""
        results = [self._unique(f"{path}scan", always=True) for _ in (*states, *states)]
        self._nodes.append(
            self._helper.make_node(
                "Scan", [*states, sequence], results, results[-1], body=body, num_scan_inputs=1
            )
        )
        return results[len(states) :]

    def _unique(self, name: str, always: bool = False) -> str:
        unique, count = (f"{name}_0", 0) if always else (name, 0)
        while unique in self._taken:
            count += 1
            unique = f"{name}_{count}"
        self._taken.add(unique)
        return unique

    def model(
        self, outputs: Mapping[str, Value], name: str, opset: int, ir: int
    ) -> onnx.ModelProto:
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
            graph, producer_name="minigrad", ir_version=ir,
            opset_imports=[self._helper.make_opsetid("", opset)],
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
