"""The table of sample calls: for each op the arguments that `check` and the tests try it with.

To add a case of an op, add one line to the list of its family: ``case("logcosh", normal(2, 3))``
calls ``logcosh`` with an array of shape (2, 3). Where plain arguments will not do, a `Case` holds
the call as a function. The arrays of a case are float64, away from kinks and poles, and small:
every element is moved.
"""

from types import ModuleType, SimpleNamespace

import minigrad
from minigrad import ops
from minigrad.autograd.engine import alias
from minigrad.distributed import collectives as distributed_ops
from minigrad.distributed import copy_to_parts, sum_of_parts
from minigrad.ops import linalg as linalg_ops
from minigrad.ops.activation import hardtanh
from minigrad.ops.casting import _astype
from minigrad.ops.convolutions import convolution_weight
from minigrad.ops.diagonals import scatter_diagonal
from minigrad.ops.exponentials import clamped_log
from minigrad.ops.indexing import scatter_index
from minigrad.ops.pooling import sum_parts, sum_pool_transpose
from op_samples import (
    collectives,
    elementwise,
    indexing,
    linalg,
    networks,
    products,
    reductions,
    shapes,
)
from op_samples.case import Case

__all__ = ["CASES", "FAMILIES", "OURS", "Case"]

FAMILIES: list[ModuleType] = [
    elementwise, reductions, shapes, indexing, products, linalg, networks, collectives,
]  # fmt: skip

CASES: list[Case] = [case for family in FAMILIES for case in family.CASES]

OURS = SimpleNamespace(**{name: getattr(ops, name) for name in ops.__all__})
"""Where the calls look up minigrad's ops: the public ones, and those that only rules call."""
OURS.alias, OURS.astype, OURS.hardtanh, OURS.linalg = alias, _astype, hardtanh, linalg_ops
OURS.scatter_index, OURS.scatter_diagonal = scatter_index, scatter_diagonal
OURS.clamped_log = clamped_log
OURS.sum_parts = sum_parts
OURS.convolution_weight, OURS.sum_pool_transpose = convolution_weight, sum_pool_transpose
for _name in distributed_ops.__all__:
    setattr(OURS, _name, getattr(distributed_ops, _name))
OURS.copy_to_parts, OURS.sum_of_parts = copy_to_parts, sum_of_parts
OURS.reduce_to_root = lambda x: distributed_ops.run_collective(
    distributed_ops._reduce_to_root, [minigrad.asarray(x)], (0,), None
)
