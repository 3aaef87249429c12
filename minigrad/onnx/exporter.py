"""Export: run a model at several sizes, merge the runs into a program, write and check it."""

import copy
import itertools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.primitives import Primitive, registry
from minigrad.nn import Module
from minigrad.onnx import recurrent_operators, shape_operators, window_operators  # noqa: F401
from minigrad.onnx.constants import make_constant, needs_table
from minigrad.onnx.examples import OTHERS, Axes, Examples, named_axes, renamed
from minigrad.onnx.graph import OPSET, Graph, package
from minigrad.onnx.operators import OPERATORS, Operator, copied
from minigrad.onnx.program import Program, Value, path_of, refused, shown
from minigrad.onnx.runs import Run, watch
from minigrad.onnx.sizes import Size
from minigrad.onnx.verify import difference
from minigrad.support.files import write, written_by

TABLE: dict[Primitive | None, Operator] = {
    registry[name]: operator for name, operator in OPERATORS.items()
} | {None: copied}
FAR = (1, 16, 256)
"""Sizes at which a file is compared with its model, beside those of the runs."""

ELEMENTS = 1 << 20
"""The largest number of elements of all inputs at such a size."""


class Exported(NamedTuple):
    """The result of `export`.

    Attributes:
        path: The file.
        inputs: The shape of each input, with the names of dynamic axes.
        outputs: The shape of each output.
        limits: The maximum size of an axis, where a table limits it.
        difference: The largest difference from the model at all sizes compared, relative to the
            largest element of an output if that exceeds 1; None if nothing was compared.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn, onnx
        >>> path = pathlib.Path(tempfile.mkdtemp(), "positions.onnx")
        >>> model, x = nn.LearnedPosEmbedding(32, 16), minigrad.randn(2, 10, 16)
        >>> onnx.export(model, x, path, dynamic_axes={"input": {0: "batch", 1: "length"}}).limits
        {'length': 32}
    """

    path: Path
    inputs: dict[str, tuple[int | str, ...]]
    outputs: dict[str, tuple[int | str, ...]]
    limits: dict[str, int]
    difference: float | None


def export(
    model: Module, example_inputs: Any, path: str | os.PathLike[str], *,
    input_names: Sequence[str] = (), output_names: Sequence[str] = (),
    dynamic_axes: Mapping[str, Mapping[int, str] | Sequence[int]] | None = None,
    opset_version: int = OPSET, table_size: int = 1024, verify: bool = True,
    tolerance: float = 1e-4,
) -> Exported:  # fmt: skip
    """Write a model to an ONNX file, for inputs of any size along the named axes.

    The model is run in evaluation mode on the example and on inputs of other sizes and values. The
    graph is made from the ops of these runs; a number that depends on the sizes of the inputs
    becomes a computation in the graph. A model that cannot be written as a graph is refused with an
    error that names the cause. Parameters keep their names; inputs have the names of the arguments
    of ``forward``.

    A branch on a size (``if x.shape[1] > 16``) is fixed in the file, with the outcome of the
    example. `verify` refuses the file if the model computes something else at a size that is
    compared: some near the example, 1, 16 and 256.

    Args:
        model: The model; it is not changed.
        example_inputs: The arguments of its forward: a tensor, a tuple of arguments, or a dict by
            name. Tensors and arrays become inputs, also those in tuples, lists and dicts, such as
            the states of an LSTM; any other argument, such as ``is_causal=True``, is fixed in the
            file.
        path: The file.
        input_names: Names for the first inputs, in the place of those of the arguments.
        output_names: Names for the first outputs, in the place of ``output``, or ``output_0`` ...
        dynamic_axes: For each input, the axes whose size may change and the names of the sizes:
            ``{"src": {0: "batch", 1: "length"}}``. Axes with one name have the same size. All
            others are fixed, as in PyTorch. A list of axes may be given without names, and those of
            outputs, which follow from those of the inputs.
        opset_version: The version of ONNX's operators; only 20 is written.
        table_size: The size of stored tables of positions. The model must accept it.
        verify: Whether to run the file at several sizes and compare the outputs, with onnxruntime
            if it is installed, else with the slower reference evaluator of onnx.
        tolerance: The largest allowed difference, relative to the largest element of an output.

    Raises:
        NotImplementedError: An op, or a use of it, cannot be exported; the message names it and its
            module.
        RuntimeError: The file gives other numbers than the model; it is not kept.
        ValueError: An option does not fit, or the model does not run at other sizes.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn, onnx
        >>> layer = nn.TransformerEncoderLayer(16, 4, dim_feedforward=32)
        >>> path = pathlib.Path(tempfile.mkdtemp(), "layer.onnx")
        >>> axes = {"src": {0: "batch", 1: "length"}}
        >>> written = onnx.export(layer, minigrad.randn(2, 5, 16), path, dynamic_axes=axes)
        >>> written.inputs
        {'src': ('batch', 'length', 16)}
        >>> written.difference < 1e-5
        True
    """
    onnx = package()
    if not isinstance(model, Module):
        raise TypeError(f"onnx.export: a module expected, got {type(model).__name__}")
    if opset_version != OPSET:
        raise ValueError(
            f"onnx.export: opset_version={opset_version}: files are written in opset {OPSET}; "
            f"onnx.version_converter can convert them"
        )
    model = copy.deepcopy(model).eval()
    axes = named_axes(dynamic_axes, output_names)
    examples = Examples(model, example_inputs, input_names, axes)
    examples.run(examples.arrays)  # its own errors are raised as they are
    runs = _runs(model, examples)
    names = renamed("output_names", [*runs[0].outputs], output_names)
    program = Program(runs)
    tables = _symbols_of_tables(model, program)
    if tables:
        sizes = runs[0].sizes | {s: max(table_size, *(r.sizes[s] for r in runs)) for s in tables}
        problem = examples.refused(examples.resized(sizes))
        if problem is not None:
            raise ValueError(
                f"onnx.export: the model does not run {shown(sizes)}, for which tables are stored; "
                f"give the largest size that it accepts as table_size: {problem}"
            )
        runs.append(_watched(model, examples, sizes))
        program = Program(runs)
    graph = _written(program, axes)
    outputs = dict(zip(names, program.outputs.values(), strict=True))
    content = graph.model(outputs, type(model).__name__)
    onnx.checker.check_model(content, full_check=True)
    worst = None
    if verify:
        compared = [(run.sizes, run.given) for run in runs]
        for sizes in _far(runs[0].sizes, graph.limits):
            arrays = examples.resized(sizes)
            if sum(a.size for a in arrays.values()) <= ELEMENTS and not examples.refused(arrays):
                compared.append((sizes, arrays))
        worst = difference(content, compared, examples.outputs, tolerance)
    path = Path(path)
    with written_by("onnx.export", path):
        write(path, content.SerializeToString())
    inputs, ends = _shapes(content.graph.input), _shapes(content.graph.output)
    return Exported(path, inputs, ends, graph.limits, worst)


def _far(base: dict[str, int], limits: dict[str, int]) -> list[dict[str, int]]:
    """More sizes to compare: all of them 1, and each one in turn 1, 16 and 256."""
    found = [base, dict.fromkeys(base, 1)]
    for symbol, size in itertools.product(base, FAR):
        found.append({**base, symbol: min(size, limits.get(symbol, size))})
    return [sizes for i, sizes in enumerate(found) if sizes not in found[:i]][1:]


def _shapes(ends: Any) -> dict[str, tuple[int | str, ...]]:
    """The shapes of inputs or outputs in the file."""
    return {
        end.name: tuple(n.dim_param or n.dim_value for n in end.type.tensor_type.shape.dim)
        for end in ends
    }


def _runs(model: Module, examples: Examples) -> list[Run]:
    """Runs on the example itself, and on others of other sizes and values."""
    rng = np.random.default_rng(0)
    base = examples.sizes
    found = {symbol: examples.other_sizes(symbol) for symbol in base}
    runs = [_watched(model, examples, base)]
    for i in range(OTHERS + 1 + len(base)):
        sizes = dict(base)
        for j, (symbol, others) in enumerate(found.items()):
            sizes[symbol] = others[(i + j) % OTHERS] if i < OTHERS else int(rng.choice(others))
        runs.append(_watched(model, examples, sizes, rng))
    return runs


def _watched(
    model: Module, examples: Examples, sizes: dict[str, int],
    rng: np.random.Generator | None = None,
) -> Run:  # fmt: skip
    """A run at some sizes; with a generator, on the values of the example in another order."""
    arrays = examples.resized(sizes)
    if rng is not None:
        mixed = {name: rng.permuted(array) for name, array in arrays.items()}
        problem = examples.refused(mixed)
        if problem is None:
            arrays = mixed  # a model may raise for some values, such as a row of padding only
        elif examples.refused(arrays) is not None:
            raise ValueError(
                f"onnx.export: the model runs on the example, but not on others of shapes "
                f"{[array.shape for array in arrays.values()]}: {problem}"
            )
    bound, tensors = examples.bound(arrays)
    return watch(model, bound, tensors, sizes, TABLE)


def _symbols_of_tables(model: Module, program: Program) -> list[str]:
    """The symbols that determine how much of a table, not of a parameter, the steps read."""
    parameters = {name for name, _ in model.named_parameters()}
    found: set[str | None] = set()
    for step in program.steps:
        for value in step.arguments:
            if not isinstance(value, Value) or value.made or value.name in parameters:
                continue
            stops = []
            if step.call.op is registry["getitem"]:
                index = step.arguments[1]
                first = index[0] if isinstance(index, tuple) and index else index
                stops = [first.stop] if isinstance(first, slice) else []
            if needs_table(value) or stops:
                found |= {s.symbol for s in (*value.shape, *stops) if isinstance(s, Size)}
    return sorted(filter(None, found))


def _written(program: Program, axes: Axes) -> Graph:
    """The graph of a program."""
    graph = Graph(program.inputs, axes, make_constant)
    for step in program.steps:
        graph.path, graph.dtype = path_of(step.call), step.output.dtype
        operator = TABLE.get(step.call.op)
        if operator is None:
            raise refused(step.call, "this op has no ONNX operator")
        try:
            graph.known(step.output, operator(graph, step.output, *step.arguments))
        except NotImplementedError as error:
            raise refused(step.call, str(error)) from None
    return graph
