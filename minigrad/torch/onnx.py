"""`torch.onnx`: minigrad's export, with PyTorch's order of arguments."""

from collections.abc import Sequence
from typing import Any


def export(
    model: Any, args: Any = (), f: Any = None, kwargs: Any = None, *,
    input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None,
    dynamic_axes: Any = None, **options: Any,
) -> Any:  # fmt: skip
    """Write a model to an ONNX file; options of PyTorch's exporter change nothing."""
    from minigrad.onnx import export  # late: few programs need it

    return export(
        model, args, f, input_names=input_names or (), output_names=output_names or (),
        dynamic_axes=dynamic_axes,
    )  # fmt: skip
