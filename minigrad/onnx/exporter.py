"""Export: run a model at several sizes, merge the runs into a program, write and check it."""

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.primitives import Primitive, registry
from minigrad.nn import Module
from minigrad.onnx import recurrent_operators, shape_operators, window_operators  # noqa: F401
from minigrad.onnx.constants import make_constant, needs_table
from minigrad.onnx.examples import (
    ENOUGH,
    RUNS,
    Axes,
    Examples,
    largest,
    named_axes,
    renamed,
    several,
)  # fmt: skip
from minigrad.onnx.graph import Graph, package
from minigrad.onnx.operators import OPERATORS, Operator, copied
from minigrad.onnx.program import Program, Step, Value, path_of, refused
from minigrad.onnx.promises import Promise, promised
from minigrad.onnx.runs import Run, watch
from minigrad.onnx.sizes import Size
from minigrad.onnx.verify import difference
from minigrad.support.files import write, written_by

TABLE: dict[Primitive | None, Operator] = {
    registry[name]: operator for name, operator in OPERATORS.items()
} | {None: copied}
OPSET = 20  # the first opset with Gelu
IR_VERSION = 10  # the IR version of that opset
TRIES = 20
FAR = 256


class Exported(NamedTuple):
    """The result of `export`.

    Attributes:
        path: The file.
        inputs: The shape of each input, with the names of dynamic axes.
        outputs: The shape of each output.
        limits: The maximum size of an axis, where a table or the model limits it.
        difference: The largest difference from the model in all examples, relative to the largest
            element of an output if that exceeds 1; None if nothing was compared.
        least: The minimum size of an axis, where the model accepts no smaller one.
        conditions: Assertions of the model that sizes must also satisfy.

    Example:
        >>> import minigrad, pathlib, tempfile
        >>> from minigrad import nn, onnx
        >>> path = pathlib.Path(tempfile.mkdtemp(), "positions.onnx")
        >>> onnx.export(nn.LearnedPosEmbedding(32, 16), minigrad.randn(2, 10, 16), path).limits
        {'input_1': 32}
    """

    path: Path
    inputs: dict[str, tuple[int | str, ...]]
    outputs: dict[str, tuple[int | str, ...]]
    limits: dict[str, int]
    difference: float | None
    least: dict[str, int]
    conditions: list[str]


def export(
    model: Module, example_inputs: Any, path: str | os.PathLike[str], *,
    input_names: Sequence[str] = (), output_names: Sequence[str] = (),
    dynamic_axes: Mapping[str, Mapping[int, str] | Sequence[int]] | None = None,
    opset_version: int = OPSET, table_size: int = 1024, verify: bool = True,
    tolerance: float = 1e-4,
) -> Exported:  # fmt: skip
    """Write a model to an ONNX file, which also works for inputs of other sizes.

    The model is run in evaluation mode on the example and on inputs of other sizes and values. The
    graph is made from the ops of these runs; a number that depends on the sizes of the inputs
    becomes a computation in the graph. A model that cannot be written as a graph is refused with an
    error that names the cause. Parameters keep their names; inputs have the names of the arguments
    of ``forward``.

    Args:
        model: The model; it is not changed.
        example_inputs: The arguments of its forward: a tensor, a tuple of arguments, or a dict by
            name. Tensors and arrays become inputs, also those in tuples, lists and dicts, such as
            the states of an LSTM; any other argument, such as ``is_causal=True``, is fixed in the
            file. All integers between the smallest and the largest of an example
            must be valid, because random ones are tried.
        path: The file.
        input_names: Names for the first inputs, in the place of those of the arguments.
        output_names: Names for the first outputs, in the place of ``output``, or ``output_0`` ...
        dynamic_axes: For each input, the axes whose size may change and the names of the sizes:
            ``{"src": {0: "batch", 1: "length"}}``. Axes with one name have the same size. By
            default they are found by trying: every axis with which the model also runs at other
            sizes. Axes of equal size that can only change together get one name. ``{}`` for fixed
            shapes. As in PyTorch, a list of axes may be given without names, and those of outputs,
            which follow from those of the inputs.
        opset_version: The version of ONNX's operators; only 20 is written.
        table_size: The size of stored tables of positions, if the model has no limit.
        verify: Whether to run the file on all examples and compare the outputs, with onnxruntime if
            it is installed, else with the slower reference evaluator of onnx.
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
        >>> written = onnx.export(layer, minigrad.randn(2, 5, 16), path)
        >>> written.inputs
        {'src': ('src_0', 'src_1', 16)}
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
    examples = Examples(model, example_inputs, input_names)
    problem = examples.accepted(examples.arrays)
    if problem is not None:
        raise problem
    axes: Axes
    if dynamic_axes is None:
        axes = examples.find_axes()
    else:
        axes = named_axes(dynamic_axes, output_names)
    runs = _runs(model, examples, axes)
    names = renamed("output_names", [*runs[0].outputs], output_names)
    try:
        program = Program(runs)
        sizes = _table_sizes(model, program, examples, axes, table_size)
        if sizes:
            runs.append(_watched(model, examples, axes, {**runs[0].sizes, **sizes}))
            program = Program(runs)
        graph = _written(program, axes)
        promise = promised(program, graph.limits, lambda sizes: examples.tried(axes, sizes))
    except NotImplementedError as error:
        if dynamic_axes is None and runs[0].sizes:
            raise NotImplementedError(
                f"{error}; the dynamic axes {', '.join(runs[0].sizes)} were found by trying: "
                f"dynamic_axes can name fewer"
            ) from None
        raise
    outputs = dict(zip(names, program.outputs.values(), strict=True))
    content = graph.model(outputs, type(model).__name__, OPSET, IR_VERSION)
    onnx.helper.set_model_props(content, _said(promise))
    onnx.checker.check_model(content, full_check=True)
    worst = None
    if verify:
        compared = [(run.sizes, run.given) for run in runs]
        compared += [
            (sizes, examples.resized(axes, sizes))
            for sizes in _far(runs[0].sizes, promise)
            if examples.tried(axes, sizes) == RUNS
        ]
        worst = difference(content, compared, examples.outputs, tolerance)
    path = Path(path)
    with written_by("onnx.export", path):
        write(path, content.SerializeToString())
    least = {symbol: size for symbol, size in promise.least.items() if size > 1}
    return Exported(
        path, _shapes(content.graph.input), _shapes(content.graph.output), promise.most, worst,
        least, promise.conditions,
    )  # fmt: skip


def _far(base: dict[str, int], promise: Promise) -> Iterator[dict[str, int]]:
    """More sizes to compare: all minimal, and each one large in turn."""
    yield dict(promise.least)
    for symbol in base:
        yield {**base, symbol: min(FAR, promise.most.get(symbol, FAR))}


def _said(promise: Promise) -> dict[str, str]:
    """The sizes for which the file is valid, as metadata properties of the model."""
    said = {}
    for symbol, least in promise.least.items():
        most = promise.most.get(symbol)
        said[f"size.{symbol}"] = f"{least} or more" if most is None else f"{least} to {most}"
    if promise.conditions:
        said["conditions"] = "\n".join(promise.conditions)
    return said


def _shapes(ends: Any) -> dict[str, tuple[int | str, ...]]:
    """The shapes of inputs or outputs in the file."""
    return {
        end.name: tuple(n.dim_param or n.dim_value for n in end.type.tensor_type.shape.dim)
        for end in ends
    }


def _runs(model: Module, examples: Examples, axes: Axes) -> list[Run]:
    """Runs on the example itself, and on others of other sizes and values."""
    rng = np.random.default_rng(0)
    base = examples.checked(axes)
    choices = {}
    for symbol in base:
        choices[symbol], why = examples.choices(axes, symbol)
        if len(choices[symbol]) < ENOUGH:
            raise ValueError(
                f"onnx.export: dynamic_axes: the model does not run with other sizes of "
                f"{symbol!r} than {base[symbol]}: {why}"
            )
    others = several(choices, base, ENOUGH + 1 + len(base), rng) if base else [{}] * 2
    return [
        _watched(model, examples, axes, base),
        *(_watched(model, examples, axes, sizes, rng) for sizes in others),
    ]


def _watched(
    model: Module, examples: Examples, axes: Axes, sizes: dict[str, int],
    rng: np.random.Generator | None = None,
) -> Run:  # fmt: skip
    """A run at some sizes; with a generator, on random values."""
    arrays = examples.resized(axes, sizes)
    if rng is not None:
        for _ in range(TRIES):  # a model may raise for some values, such as a row of padding only
            drawn = examples.draw(arrays, rng)
            problem = examples.accepted(drawn)
            if problem is None:
                break
        else:
            raise ValueError(
                f"onnx.export: the model runs on the example, but not on others of shapes "
                f"{[array.shape for array in drawn.values()]} with values of the same range: "
                f"{problem}"
            )
        arrays = drawn
    bound, tensors = examples.bound(arrays)
    return watch(model, bound, tensors, sizes, TABLE)


def _table_sizes(
    model: Module, program: Program, examples: Examples, axes: Axes, limit: int
) -> dict[str, int]:
    """The symbols of tables, with the largest size that the model accepts."""
    base = program.runs[0].sizes
    parameters = {name for name, _ in model.named_parameters()}
    found = {}
    for symbol in sorted(
        {s for step in program.steps for s in _symbols_of_tables(step, parameters)}
    ):
        seen = max(run.sizes[symbol] for run in program.runs)

        def accepts(size: int, symbol: str = symbol) -> bool:
            return examples.accepted(examples.resized(axes, {**base, symbol: size})) is None

        found[symbol] = largest(max(limit, seen), seen, accepts)
    return found


def _symbols_of_tables(step: Step, parameters: set[str]) -> Iterator[str]:
    """The symbols that determine how much of a table, not a parameter, a step reads."""
    for value in step.arguments:
        if not isinstance(value, Value) or value.made or value.name in parameters:
            continue
        stops = []
        if step.call.op is registry["getitem"]:
            index = step.arguments[1]
            first = index[0] if isinstance(index, tuple) and index else index
            stops = [first.stop] if isinstance(first, slice) else []
        if needs_table(value) or stops:
            for size in (*value.shape, *stops):
                if isinstance(size, Size) and size.symbol is not None:
                    yield size.symbol


def _written(program: Program, axes: Axes) -> Graph:
    """The graph of a program."""
    graph = Graph(program.inputs, axes, make_constant)
    for step in program.steps:
        graph.path = path_of(step.call)
        operator = TABLE.get(step.call.op)
        if operator is None:
            raise refused(step.call, "this op has no ONNX operator")
        try:
            graph.known(step.output, operator(graph, step.output, *step.arguments))
        except NotImplementedError as error:
            raise refused(step.call, str(error)) from None
    return graph
