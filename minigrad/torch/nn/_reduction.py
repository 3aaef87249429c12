"""`torch.nn._reduction`: the reduction that the old arguments of losses mean."""

from typing import Any

from minigrad.nn.functional.loss import reduction_of


def legacy_get_string(size_average: Any, reduce: Any, emit_warning: bool = True) -> Any:
    """Return "mean", "sum" or "none"."""
    return reduction_of("legacy_get_string", size_average, reduce, "mean")
