"""`torch.linalg`: minigrad's linear algebra with PyTorch's names."""

from __future__ import annotations

from typing import Any

from minigrad import linalg as ours
from minigrad import ops
from minigrad.torch.build import adopting, made
from minigrad.torch.helpers import axes

LINES = """
cross(input, other, *, dim=-1) => ops.cross(input, other, axis=dim)
diagonal(A, *, offset=0, dim1=-2, dim2=-1) => ops.diagonal(A, offset, dim1, dim2)
matmul(input, other) => ops.matmul(input, other)
matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False) => ours.matrix_norm(ops.moveaxis(A, axes(dim), (-2, -1)), keepdims=keepdim, ord=ord)
norm(A, ord=None, dim=None, keepdim=False) => ours.norm(A, ord, axes(dim), keepdim)
pinv(A, *, rcond=None, rtol=None) => ours.pinv(A, rcond if rtol is None else rtol) if rcond is not None or rtol is not None else ours.pinv(A)
solve(A, B, *, left=True) => of_vectors(A, B) if left else ops.swapaxes(ours.solve(ops.swapaxes(A, -1, -2), ops.swapaxes(B, -1, -2)), -1, -2)
svd(A, full_matrices=True) => ours.svd(A, full_matrices)
vecdot(x, y, *, dim=-1) => ops.vecdot(x, y, dim)
vector_norm(x, ord=2, dim=None, keepdim=False) => ours.vector_norm(x, axis=axes(dim), keepdims=keepdim, ord=ord)
"""


def of_vectors(A: Any, B: Any) -> Any:
    """The solution; B of the shape of A without its last axis is a stack of vectors."""
    if B.ndim == 1 or B.shape != A.shape[:-1]:
        return ours.solve(A, B)
    return ops.squeeze(ours.solve(A, ops.expand_dims(B, -1)), -1)


for _name in ours.__all__:
    globals()[_name] = adopting(getattr(ours, _name))
_names: dict[str, Any] = {"ours": ours, "ops": ops, "axes": axes, "of_vectors": of_vectors}
for _line in LINES.strip().splitlines():
    _function = made(_line, _names, "minigrad.torch.linalg")
    globals()[_function.__name__] = _function
