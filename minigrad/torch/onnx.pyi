# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
from typing import Any

import minigrad.onnx.export

def export(
    model: Any,
    args: Any = (),
    f: Any = None,
    kwargs: Any = None,
    *,
    input_names: Any = None,
    output_names: Any = None,
    dynamic_axes: Any = None,
    **options: Any,
) -> minigrad.onnx.export.Exported: ...
