"""The memory of a tensor, which PyTorch shows as an object of its own."""

from __future__ import annotations

from typing import Any

from minigrad.autograd import dtype_class
from minigrad.autograd.typing import Tensor

__all__ = ["TypedStorage"]


class TypedStorage:
    """The elements in the memory of a tensor, one after the other; its views share them.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([[1, 2], [3, 4]])
        >>> x.t().storage()[1] = 7
        >>> x.storage().tolist()
        [1, 7, 3, 4]
    """

    def __init__(self, memory: Tensor) -> None:
        self._memory, self.dtype = memory, memory.dtype
        self.tolist, self.data_ptr, self.size = memory.tolist, memory.data_ptr, memory.numel

    def __len__(self) -> int:
        return self.size()

    def __getitem__(self, index: int) -> Any:
        return self._memory[index].item()

    def __setitem__(self, index: int, value: Any) -> None:
        self._memory[index] = value

    def __repr__(self) -> str:
        lines = [f" {value}" for value in self.tolist()]
        kind = f"{dtype_class.shown_as}.storage.TypedStorage(dtype={self.dtype}, device=cpu)"
        return "\n".join([*lines, f"[{kind} of size {len(self)}]"])
