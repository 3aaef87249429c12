"""Runs an ONNX file, and compares its outputs with the model's."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.onnx.program import shown

if TYPE_CHECKING:
    import onnx

BRANCH = (
    "; in a file, a branch on a size has the outcome that it has for the example: fix the size "
    "with dynamic_axes"
)


def session(model: onnx.ModelProto) -> Callable[[dict[str, np.ndarray]], list[np.ndarray]]:
    """A function from inputs by name to outputs: by onnxruntime if installed, else by onnx."""
    if importlib.util.find_spec("onnxruntime"):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors only; they are raised too
        options.intra_op_num_threads = 1
        running = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    else:
        from onnx.reference import ReferenceEvaluator

        running = ReferenceEvaluator(model)
    names = [one.name for one in model.graph.input]
    return lambda inputs: running.run(None, {name: inputs[name] for name in names})


def difference(
    model: onnx.ModelProto, examples: Iterable[tuple[dict[str, int], dict[str, np.ndarray]]],
    wanted: Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]], tolerance: float,
) -> float:  # fmt: skip
    """The largest difference between the outputs of a file and of the model, which is a function.

    It is relative to the largest element of an output, if that exceeds 1.
    """
    run_file = session(model)
    worst = 0.0
    for sizes, inputs in examples:
        try:
            found = run_file(inputs)
        except Exception as error:  # of any type of the runtime
            raise RuntimeError(
                f"onnx.export: {shown(sizes)}, the file does not run: {error}"
            ) from error
        for (name, output), array in zip(wanted(inputs).items(), found, strict=True):
            where = f"onnx.export: {shown(sizes)}, {name}"
            if output.shape != array.shape or output.dtype != array.dtype:
                raise RuntimeError(
                    f"{where} is {array.dtype} {array.shape} in the file and {output.dtype} "
                    f"{output.shape} in the model{BRANCH}"
                )
            worst = max(worst, _distance(output, array))
            if not worst <= tolerance:
                raise RuntimeError(
                    f"{where} of the file differs by {worst:.2g} from the model's, more than "
                    f"tolerance={tolerance:g}{BRANCH}"
                )
    return worst


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference; 0 for equal elements, including NaN and infinities."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    apart = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if not apart.any():
        return 0.0
    scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0)))
    gap: Any = np.abs(a[apart] - b[apart]).max() / scale
    return float(gap) if np.isfinite(gap) else float("inf")
