"""`torch.utils.dlpack`: memory that is shared with other frameworks."""

from typing import Any

from minigrad.tensors.dlpack import from_dlpack as from_dlpack


def to_dlpack(tensor: Any) -> Any:
    """A capsule for one use, with the memory of a tensor."""
    return tensor.__dlpack__()
