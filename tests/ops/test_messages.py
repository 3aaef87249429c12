"""Errors name the op, what came, and what was expected: one table."""

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops, tensor
from minigrad.ops import linalg


def t(*shape: int) -> Tensor:
    return tensor(np.ones(shape), requires_grad=True)


regex = re.compile
LinAlgError = np.linalg.LinAlgError

# A call, what its error says after the name of the op (… is anything), and its kind if that is not
# ValueError. The op is the first word of the row's name; where it is not, the message is a regex.
MESSAGES: dict[str, tuple[Any, ...]] = {
    # Element by element
    "add": (lambda op: t(2, 3) + t(2), "…(2, 3)…(2,)"),
    "add of an array": (lambda op: np.ones(3) + t(2), "…(3,)…(2,)"),
    "multiply": (lambda op: t(2, 3) * t(3, 2), "…(2, 3)…(3, 2)"),
    "power of integers": (lambda op: tensor([2]) ** -1, "…negative"),
    "round": (lambda op: op(t(2), 1.5), "…integer", TypeError),
    "bitwise_xor of floats": (lambda op: t(2) ^ t(2), "…not supported…float64", TypeError),
    "where": (lambda op: op(np.ones(2, bool), t(3), t(3)), "…(2,)…(3,)"),
    "clip": (lambda op: op(t(4), t(3), t(4)), "…(4,)…(3,)"),
    "add text": (lambda op: op(t(2), "a"), "…str", TypeError),
    "multiply None": (lambda op: op(t(2), None), "…object", TypeError),
    "multiply complex": (lambda op: t(2) * 1j, "…complex", TypeError),
    "bitwise_and of floats": (lambda op: t(2) & t(2), "…not supported…float64", TypeError),
    "invert of floats": (lambda op: ~t(2), "…not supported…float64", TypeError),
    "masked_fill mask": (lambda op: op(t(2), np.ones(2), 0.0), "…mask…bools…float64", TypeError),
    "masked_fill value": (lambda op: op(t(2), np.ones(2, bool), np.ones(2)), "…value…(2,)"),
    "masked_fill shape": (lambda op: op(t(2), np.ones(3, bool), 0.0), "…(3,)…(2,)"),
    "gelu": (lambda op: op(t(2), "exact"), "…approximate…'exact'"),
    # Reductions
    "sum axes": (lambda op: t(2, 3).sum(axis=(0, 0)), "duplicate"),
    "prod axes": (lambda op: t(2, 3).prod(axis=(1, -1)), "duplicate"),
    "max of nothing": (lambda op: t(0, 3).max(), ""),
    "argmax of nothing": (lambda op: t(0).argmax(), ""),
    "norm order": (lambda op: op(t(2), np.nan), "…ord…nan"),
    "norm order text": (lambda op: op(t(2), "fro"), "…ord…'fro'"),
    # Shapes
    "reshape": (lambda op: t(2, 3).reshape(4), "…6…(4,)…(2, 3)"),
    "transpose": (lambda op: op(t(2, 3), (0, 0)), "repeated axis"),
    "transpose rank": (lambda op: op(t(2, 3), (0, 1, 2)), "…axes"),
    "swapaxes": (lambda op: t(2, 3).swapaxes(0, 2), "…axis2: axis 2"),
    "squeeze": (lambda op: op(t(2, 3), 0), "…size"),
    "expand_dims": (lambda op: op(t(2), 3), "axis 3"),
    "broadcast_to": (lambda op: op(t(2, 3), (2, 4)), "…(2,3)…(2,4)"),
    "concatenate": (lambda op: op([t(2, 3), t(2, 4)]), "…(2, 3)…(2, 4)"),
    "stack": (lambda op: op([t(2), t(3)]), "…shape"),
    "split": (lambda op: op(t(5), 2), "…length 5…2…equal"),
    "split axis": (lambda op: op(t(4), 2, axis=1), "axis 1 …(4,)"),
    "astype": (lambda op: t(2).astype("complex64"), "…complex64", TypeError),
    "split float": (lambda op: op(t(4), 2.0), "…float64", TypeError),
    "flatten": (lambda op: op(t(2, 3), 1, 0), "…start_dim 1…end_dim 0…float64…(2, 3)"),
    "moveaxis": (lambda op: op(t(2, 3), 0, 2), "…axis 2"),
    "expand": (lambda op: t(2, 3).expand(4, 3), "…(2, 3)…(4, 3)…1"),
    "expand rank": (lambda op: t(2, 3).expand(3), "…(2, 3)…(3,)"),
    "expand -1": (lambda op: t(3).expand(-1, 3), "…(3,)…(-1, 3)"),
    "broadcast_arrays": (lambda op: op(t(2), t(3)), "…(2,)…(3,)"),
    "meshgrid": (lambda op: op(t(2), indexing="yx"), "…got 'yx'"),
    "concatenate by hstack": (lambda op: ops.hstack([t(2, 3), t(3, 3)]), "…(2, 3), float64 (3, 3)"),
    "array_split": (lambda op: op(t(5), 0), "…length 5…axis 0…(5,)…0"),
    "unbind": (lambda op: op(t()), "…axis 0…()"),
    # Arranging
    "flip twice": (lambda op: op(t(2, 2), (0, -2)), "repeated axis…(2, 2)"),
    "flip by fliplr": (lambda op: ops.fliplr(t(2)), "…axis 1"),
    "rot90": (lambda op: op(t(2, 3), 1, (0, 0)), "…(2, 3)"),
    "rot90 turns": (lambda op: op(t(2, 2), 1.5), "…float…integer", TypeError),
    "roll": (lambda op: op(t(2), 1.5), "…shift…integers", TypeError),
    "roll axis": (lambda op: op(t(2), 1, 3), "…axis 3"),
    "roll shifts": (lambda op: op(t(2, 3), (1, 2, 3), (0, 1)), "…(3,)…(2,)"),
    "repeat": (lambda op: op(t(3), [1, 2]), "…(3,) (2,)"),
    "repeat float": (lambda op: op(t(3), 1.5), "…repeats…integers", TypeError),
    "repeat less": (lambda op: op(t(3), -1), "negative …(3,)"),
    "repeat axis": (lambda op: op(t(3), 2, 1), "…axis 1"),
    "tile": (lambda op: t(3).tile(1.5), "…float…integer…float64…(3,)", TypeError),
    "tile less": (lambda op: t(3).tile(-1), "…negative"),
    "pad": (lambda op: op(t(3), (1, 2, 3)), "…pad_width…(1, 2, 3)…(3,)…axis"),
    "pad float": (lambda op: op(t(3), 1.5), "…pad_width…integers", TypeError),
    "pad less": (lambda op: op(t(3), -1), "…negative…-1"),
    "pad mode": (lambda op: op(t(3), 1, "mean"), "…mode…'mean'"),
    "pad nothing": (lambda op: op(t(0), 1, "edge"), "…empty axis 0"),
    "pad constant grad": (lambda op: op(t(2), 1, constant_values=t()), "…detach", TypeError),
    "tril": (lambda op: t(3).tril(), "…(3,)"),
    "triu": (lambda op: t(3).triu(), "…(3,)"),
    "diag": (lambda op: t(2, 2, 2).diag(), "…(2, 2, 2)"),
    # Gathering
    "take": (lambda op: op(t(2, 3), [0, 3], 1), "index 3 …axis 1 with size 3", IndexError),
    "take all": (lambda op: op(t(2, 3), -7), "index -7 …size 6", IndexError),
    "take nothing": (lambda op: op(t(0, 3), 0, 0), "…empty axes", IndexError),
    "take floats": (lambda op: op(t(3), [0.5]), "…indices…integers…float32", TypeError),
    "take bools": (lambda op: op(t(2), [True, False]), "…got bool", TypeError),
    "take axis": (lambda op: op(t(2, 3), 0, 2), "…axis 2"),
    "take_along_axis": (lambda op: op(t(2, 3), [[3]]), "index 3 …axis 1 with size 3", IndexError),
    "take_along_axis rank": (lambda op: op(t(2, 3), [0]), "…(2, 3)…(1,)"),
    "take_along_axis shapes": (lambda op: op(t(2, 3), [[0]] * 3), "…(3,1)", IndexError),
    "scatter": (lambda op: op(t(2, 3), 1, [[3]], t(1, 1)), "…index 3…axis 1…(2, 3)…0 to 2",
     IndexError),
    "scatter src": (lambda op: op(t(2, 3), 1, [[0, 0]], t(1, 1)), "…axis 1…src…(1, 2)…(1, 1)"),
    "index_add": (lambda op: op(t(2, 3), 0, [2], t(1, 3)), "index 2…axis 0…(2, 3)…0 to 1",
     IndexError),
    "index_add source": (lambda op: op(t(2, 3), 1, [0, 0], t(2, 3)), "…source…(2, 2)…(2,)…(2, 3)"),
    "index_add alpha": (lambda op: op(tensor([1]), 0, [0], [1], alpha=0.5),
     "alpha…integer…int64…0.5", TypeError),
    "masked_select": (lambda op: op(t(3), [1, 0, 1]), "…mask…bools…int64…!= 0", TypeError),
    "masked_select shape": (lambda op: op(t(3), [True, False]), "…(3,)…(2,)"),
    "nan_to_num": (lambda op: op(t(2), 0.0), "copy…True…nan="),
    "logit": (lambda op: op(t(2), 0.7), "eps…0 to 0.5…0.7"),
    "quantile": (lambda op: op(t(2), 1.5), "q …0 to 1…1.5"),
    "quantile method": (lambda op: op(t(2), 0.5, method="middle"), "'middle'…linear"),
    "quantile of nothing": (lambda op: op(t(0), 0.5), "…(0,)"),
    "quantile q grad": (lambda op: op(t(2), 0.5 * t()), "…detach", TypeError),
    "bincount": (lambda op: op([0, -1]), "…negative"),
    "bincount floats": (lambda op: op([0.5]), "…integers…float32", TypeError),
    "bincount weights": (lambda op: op([0, 1], t(3)), "…length…(2,)…(3,)"),
    "histogram edges": (lambda op: op(t(2), [0.0, np.nan]), "…ascend…nan"),
    "histogram weights": (lambda op: op(t(2), weights=t(3)), "…weights…(2,)…(3,)"),
    "diag_embed": (lambda op: op(t(2), 0, 1, -1), "…axes 1 and -1…(2,)"),
    "vsplit": (lambda op: op(t(4), 2), "axis 1 …(4,)"),
    "hsplit": (lambda op: op(t(2, 3), 2), "length 3…axis 1…2 equal"),
    "dsplit": (lambda op: op(t(2, 3), 2), "axis 2 …(2, 3)"),
    "cdist": (lambda op: op(t(2, 3), t(2, 4)), "…d…(2, 3)…(2, 4)"),
    "cdist order": (lambda op: op(t(2, 3), t(2, 3), -1), "p …-1"),
    "solve_triangular": (lambda op: op(t(3, 3), t(3), upper=True), "…(3, 3)…(3,)…axis -2…3"),
    "solve_triangular right": (lambda op: op(t(3, 3), t(3, 2), upper=True, left=False),
     "…(3, 3)…(3, 2)…axis -1…3"),
    "solve_triangular zero": (
        lambda op: op(np.stack([np.eye(2), np.ones((2, 2)) - np.eye(2)]), t(2, 1), upper=False),
     "…matrix (1,) of the stack…0 on its diagonal", LinAlgError),
    "gather": (lambda op: op(t(2, 3), 1, [[3]]), "…index 3…axis 1…(2, 3)…0 to 2", IndexError),
    "gather negative": (lambda op: op(t(2, 3), -2, [[-1]]), "…index -1…axis 0…(2, 3)…0 to 1",
     IndexError),
    "gather rank": (lambda op: op(t(2, 3), 1, [0]), "…(1,)…(2, 3)"),
    "gather shapes": (lambda op: op(t(2, 3), 1, [[0]] * 3), "…axis 0…(3, 1)…(2, 3)"),
    "gather floats": (lambda op: op(t(3), 0, [0.5]), "…indices…integers…float32", TypeError),
    "gather axis": (lambda op: op(t(3), 1, [0]), "…axis 1"),
    "gather order": (lambda op: op(t(3), [0], 0), "…integer", TypeError),
    "scatter_add": (lambda op: op(t(2, 3), 1, [[3]], t(1, 1)), "…index 3…axis 1…(2, 3)…0 to 2",
     IndexError),
    "scatter_add src": (lambda op: op(t(2, 3), 1, [[0, 0]], t(1, 1)), "…axis 1…src…(1, 2)…(1, 1)"),
    "scatter_add number": (lambda op: op(t(2), 0, [0], 2.0), "…index…src…(1,)…()"),
    "scatter_reduce": (lambda op: op(t(3), 0, [0], t(1), "max"),
     "…sum, prod, mean, amax, amin…'max'"),
    "scatter_reduce index": (lambda op: op(t(2, 3), 1, [[3]], t(1, 1), "amax"),
     "…index 3…axis 1…(2, 3)…0 to 2", IndexError),
    "scatter_reduce src": (lambda op: op(t(2, 3), 1, [[0, 0]], t(1, 1), "sum"),
     "…axis 1…src…(1, 2)…(1, 1)"),
    "index_fill": (lambda op: op(t(3), 0, [0], t(2)), "…one value…(2,)"),
    "index_fill axis": (lambda op: op(t(3), 1, [0], 2), "axis 1"),
    "unfold": (lambda op: op(t(2, 3), 1, 4, 1), "…4…axis 1…(2, 3)"),
    "unfold step": (lambda op: op(t(3), 0, 2, 0), "step…1…0"),
    # Sorting and searching
    "topk": (lambda op: op(t(2, 3), 4), "…0…3…axis 1…(2, 3)…4"),
    "topk float": (lambda op: op(t(3), 1.5), "…float…integer", TypeError),
    "topk axis": (lambda op: op(t(3), 1, 1), "…axis 1"),
    "median": (lambda op: op(t(0)), "…(0,)"),
    "nonzero": (lambda op: op(t()), "…axis…atleast_1d"),
    "where of one": (lambda op: op(np.ones(2, bool), t(2)),
     "both input and other expected, or neither, got one", TypeError),
    "searchsorted": (lambda op: op(t(2, 2), 1.0), "…rows…(2, 2)…()"),
    "searchsorted side": (lambda op: op(t(2), 1.0, "middle"), "…side…'middle'"),
    # Products
    "matmul": (lambda op: t(2, 3) @ t(4, 5), "(2, 3) @ (4, 5): …(3)…(4)"),
    "matmul vector": (lambda op: t(2, 3) @ t(4), "…(2, 3)…(4,)…(3)…(4)"),
    "matmul batch": (lambda op: t(2, 3, 4) @ t(5, 4, 3), "…leading…(2,)…(5,)"),
    "matmul number": (lambda op: t(2) @ 3.0, "…(2,)…()…axis"),
    "matmul text": (lambda op: op(t(2), "ab"), "…str", TypeError),
    "linear": (lambda op: op(t(2, 3), t(4, 5)), "…(2, 3)…axis…5…(4, 5)"),
    "linear weight": (lambda op: op(t(2, 3), t(3)), "…weight…(3,)"),
    "linear bias": (lambda op: op(t(2, 3), t(4, 3), t(5)), "…bias…(5,)…4"),
    "einsum count": (lambda op: op("ij,jk", t(2, 3)), "…'ij,jk'…2…1"),
    "einsum rank": (lambda op: op("ijk", t(2, 3)), "…'ijk'…operand 0…(2, 3)"),
    "einsum length": (lambda op: op("ij,jk", t(2, 3), t(4, 2)), "…(2, 3)…(4, 2)"),
    "einsum output": (lambda op: op("ij->k", t(2, 3)), "…output"),
    "einsum diagonal": (lambda op: op("ii", t(2, 3)), "…(2, 3)"),
    "einsum labels": (lambda op: op("i1", t(2, 3)), "…must be letters"),
    # Fused
    "layer_norm": (lambda op: op(t(2, 3), t(4)), "…(2, 3)…weight…(3,)…(4,)"),
    "layer_norm bias": (lambda op: op(t(2, 3), t(3), t(2, 3)), "…bias…(3,)…(2, 3)"),
    "cross_entropy target": (lambda op: op(t(3, 4), np.zeros((3, 4), int)),
     "…(3, 4)…target…(3,)…(3, 4)"),
    "cross_entropy floats": (lambda op: op(t(3, 4), np.zeros((3, 4))), "…indices…float64…argmax",
     TypeError),
    "cross_entropy class": (lambda op: op(t(2, 4), [0, 4]), "…target 4…0…3…ignore_index=4",
     IndexError),
    "cross_entropy negative": (lambda op: op(t(2, 4), [0, -100]),
     "target -100 …ignore_index=-100", IndexError),
    "cross_entropy weight": (lambda op: op(t(2, 4), [0, 1], np.ones(3)), "…weight…(4,)…(3,)"),
    "cross_entropy reduction": (lambda op: op(t(2, 4), [0, 1], reduction="avg"),
     "…reduction…'avg'"),
    "cross_entropy weight grad": (lambda op: op(t(2, 4), [0, 1], t(4)), "…'weight'…detach",
     TypeError),
    "embedding": (lambda op: op(np.array([3]), t(3, 2)), "…index 3…3…rows…0 to 2", IndexError),
    "embedding negative": (lambda op: op(np.array([-1]), t(3, 2)), "…index -1", IndexError),
    "embedding floats": (lambda op: op(np.array([1.0]), t(3, 2)), "…indices…integers…float64",
     TypeError),
    "attention widths": (lambda op: op(t(2, 3), t(4, 5), t(4, 2)),
     "…query…(2, 3)…key…(4, 5)…(3)…(5)"),
    "attention lengths": (lambda op: op(t(2, 3), t(4, 3), t(5, 2)), "…key…(4)…value…(5)"),
    "attention leading": (lambda op: op(t(2, 2, 3), t(3, 4, 3), t(4, 2)), "…leading"),
    "attention vector": (lambda op: op(t(3), t(4, 3), t(4, 2)), "…length and a width"),
    "rms_norm": (lambda op: op(t(2, 3), t(2)), "…weight…(3,)…(2,)"),
    # Products of arrays
    "vecdot": (lambda op: op(t(2, 3), t(2, 4)), "…(2, 3), float64 (2, 4)"),
    "vecdot leading": (lambda op: op(t(2, 3), t(4, 3)), "…(2, 3) and (4, 3)"),
    "vecdot number": (lambda op: op(t(2), 2.0), "…dimensions…(2,)"),
    "cross": (lambda op: op(t(2), t(3)), "vectors of length 3 expected …(2,) and (3,)"),
    "cross leading": (lambda op: op(t(2, 3), t(4, 3)), "…(2, 3)…(4, 3)"),
    "tensordot": (lambda op: op(t(2, 3), t(4, 2), 1), "…a (2, 3)…b (4, 2) must match"),
    "tensordot broadcast": (lambda op: op(t(2, 3), t(1, 2), 1), "…must match"),
    "tensordot many": (lambda op: op(t(2), t(2), 2), "2 axes …1 and 1"),
    "tensordot triple": (lambda op: op(t(2), t(2), (0, 0, 0)), "…pair"),
    "tensordot axis": (lambda op: op(t(2), t(2), (0, 1)),
     "axes of b: axis 1 is out of bounds"),
    "tensordot twice": (lambda op: op(t(2, 2), t(2, 2), ([0, -2], [0, 1])),
     regex("repeated axis in `tensordot: axes of a`")),
    "tensordot uneven": (lambda op: op(t(2, 2), t(2, 2), ([0, 1], [0])),
     "axes (0, 1) of a …must match in number"),
    "diagonal": (lambda op: op(t(3)), "…(3,)"),
    # Linear systems
    "inv": (lambda op: op(t(2, 3)), "a square matrix … got shape (2, 3)"),
    "inv vector": (lambda op: op(t(3)), "a square matrix … got shape (3,)"),
    "solve square": (lambda op: op(t(2, 3), t(2)), "a square …(2, 3)"),
    "solve vector": (lambda op: op(t(3, 3), t(2)),
     "a (3, 3) and b (2,): b must be a vector of length 3"),
    "solve matrix": (lambda op: op(t(3, 3), t(2, 4)),
     regex(r"^solve: .*or \(\.\.\., 3, k\)$")),
    "solve vectors": (lambda op: op(t(2, 3, 3), t(2, 3)),
     "…(..., 3, k); …b[..., None]"),
    "solve stacks": (lambda op: op(t(2, 3, 3), t(4, 3, 1)), "…leading axes do not broadcast"),
    "solve number": (lambda op: op(t(3, 3), 1.0), "…b (): b must be"),
    "pinv": (lambda op: op(t(3)), "a matrix … got shape (3,)"),
    "pinv nan": (lambda op: op([[np.nan]]), "the matrix holds NaN or infinity"),
    "pinv rtol": (lambda op: op(t(2, 2), -1.0), "rtol …got -1.0"),
    "lstsq": (lambda op: op(t(3, 2), t(2)), "…(3, 2) and (2,)"),
    "lstsq stack": (lambda op: op(t(1, 3, 2), t(3)), "…(1, 3, 2)"),
    "matrix_power": (lambda op: op(t(2, 3), 2), "…(2, 3)"),
    "multi_dot one": (lambda op: op([t(2, 2)]), "at least two …got 1"),
    "multi_dot shapes": (lambda op: op([t(2, 3), t(2, 3)]),
     regex(r"\(2, 3\) @ \(2, 3\)")),
    "multi_dot vector": (lambda op: op([t(2, 3), t(3), t(3, 2)]),
     "…vectors only at the ends; got shape (3,) at place 1"),
    # Norms of matrices
    "norm vectors": (lambda op: linalg.norm(t(3), "fro"), "ord …got 'fro'"),
    "norm nan": (lambda op: linalg.vector_norm(t(3), ord=np.nan), "…got nan"),
    "matrix_norm matrix": (lambda op: linalg.norm(t(3, 3), 3),
     'ord must be "fro", "nuc", 1, -1, 2, -2, inf or -inf, got 3'),
    "norm axes": (lambda op: linalg.norm(t(2, 2, 2), 2),
     "one axis or two expected, got 3 of shape (2, 2, 2); vector_norm"),
    "norm axis": (lambda op: linalg.norm(t(2, 2), axis=(0, 2)), "axis 2"),
    "norm one axis": (lambda op: linalg.norm(t(2, 2), axis=2), "axis 2"),
    "norm same": (lambda op: linalg.norm(t(2, 2), axis=(0, -2)), regex("repeated axis in `norm`")),
    "matrix_norm no matrix": (lambda op: op(t(3)), "… got shape (3,)"),
    "cond": (lambda op: op(t(3)), "a matrix … got shape (3,)"),
    "cond square": (lambda op: op(t(2, 3), 1), "a square …(2, 3)"),
    "cond empty": (lambda op: op(t(0, 3)), "the matrix is empty: shape (0, 3)"),
    "matrix_norm cond order": (lambda op: linalg.cond(t(2, 2), 3), "ord …got 3"),
    "matrix_rank rank": (lambda op: op(t(2, 2), 1e-3, rtol=1e-3), "…tol"),
    "matrix_rank rank nan": (lambda op: op([[np.nan]]), "…NaN or infinity"),
    # Decompositions
    "det": (lambda op: op(t(2, 3)), "…square…(2, 3)", LinAlgError),
    "slogdet": (lambda op: op(t(2, 3)), "…square…(2, 3)", LinAlgError),
    "cholesky": (lambda op: op(t(2, 3)), "…square…(2, 3)", LinAlgError),
    "eigh": (lambda op: op(t(2, 3)), "…square…(2, 3)", LinAlgError),
    "eigh UPLO": (lambda op: op(t(2, 2), 0), 'UPLO must be "L" or "U", got 0'),
    "eigvalsh": (lambda op: op(t(2, 3)), "…square…(2, 3)", LinAlgError),
    "eigvalsh UPLO": (lambda op: op(t(2, 2), 0), 'UPLO must be "L" or "U", got 0'),
    "svd": (lambda op: op(t(3)), "…matrix…(3,)", LinAlgError),
    "svd nan": (lambda op: op([[[1.0]], [[np.nan]]]), "matrix (1,) …NaN or inf", LinAlgError),
    "svdvals": (lambda op: op(t(3)), "…matrix…(3,)", LinAlgError),
    "svdvals nan": (lambda op: op([[[1.0]], [[np.nan]]]), "matrix (1,) …NaN or inf", LinAlgError),
    "qr mode": (lambda op: op(t(2, 2), "raw"), "…mode…'raw'"),
    "qr reduced": (lambda op: op(t(3), "reduced"), "…matrix…(3,)", LinAlgError),
    "qr complete": (lambda op: op(t(3), "complete"), "…matrix…(3,)", LinAlgError),
    # Scans
    "diff of a number": (lambda op: op(1.0), "axis -1 does not exist in shape ()"),
    "diff n": (lambda op: op(t(2, 3), -1), "n must not be negative, got -1"),
    "diff edge": (lambda op: op(t(2, 3), prepend=np.ones((3, 1))), regex(r"\(3, 1\)|shape|match")),
    # Arguments
    "einsum without text": (lambda op: ops.einsum(t(2, 2), t(2)), "…'ij,j->i'", TypeError),
    "sum of an unknown keyword": (lambda op: ops.sum(t(2), axs=0), "…axs", TypeError),
    "linear without an argument": (lambda op: ops.linear(t(2)), "…'weight'", TypeError),
    "exp of too many": (lambda op: ops.exp(t(2), 3), "too many…argument", TypeError),
    # Tensors
    "requires_grad": (lambda op: tensor([1, 2], requires_grad=True),
     regex(r"only floats .*int64"), TypeError),
    "Tensor of a ragged list": (lambda op: Tensor([[1.0], [1.0, 2.0]]), "…ragged"),
    "bool of many": (lambda op: bool(t(2)), regex(r"\(2,\).*.all\(\)")),
    "item of many": (lambda op: t(2).item(), "…(2,)"),
    "backward": (lambda op: t(2).backward(), "…(2,)….sum()", RuntimeError),
    "zeros": (lambda op: minigrad.zeros(2.5), "…2.5", TypeError),
    "ones": (lambda op: minigrad.ones((2, -1)), "…-1", TypeError),
    "pow None": (lambda op: minigrad.pow(None, 2), "a tensor…NoneType", TypeError),
    "promote_types": (lambda op: minigrad.promote_types("U", "U"), "…dtype <U0", TypeError),
    "can_cast": (lambda op: minigrad.can_cast("U", "U"), "…dtype <U0", TypeError),
    "add of one": (lambda op: minigrad.add(t(2)), "…takes input, other, alpha", TypeError),
    "__iadd__ of a float": (lambda op: tensor([1]).__iadd__(1.5), "…float32…int64", TypeError),
}  # fmt: skip


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name: str) -> None:
    call, said, kind = (*MESSAGES[name], ValueError)[:3]
    op = name.split()[0]
    if isinstance(said, str):
        said = f"^{op}: " + ".*".join(re.escape(part) for part in said.split("…"))
    with pytest.raises(kind, match=said) as raised:
        call(getattr(ops, op, None) or getattr(linalg, op, None))
    assert not raised.type.__module__.startswith("minigrad")


@pytest.mark.parametrize("name", [
    "sum", "mean", "var", "std", "prod", "any", "all", "count_nonzero", "max", "min", "argmax",
    "argmin", "softmax", "log_softmax", "logsumexp", "flip", "sort", "argsort", "cummax", "cummin",
    "logcumsumexp", "cumsum", "cumprod", "diff", "unique", "median",
])  # fmt: skip
@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_does_not_exist(name: str, axis: int) -> None:
    with pytest.raises(ValueError, match=f"^{name}: .*axis {axis}"):
        getattr(ops, name)(t(2, 3), axis=axis)


@pytest.mark.parametrize("dim", [2, 3, -3])
def test_unflatten_has_no_axis_beyond_the_last(dim: int) -> None:
    with pytest.raises(IndexError, match=f"^unflatten: axis {dim} "):
        minigrad.unflatten(t(2, 3), dim, (1, -1))


def test_unflatten_of_an_empty_tensor_has_the_size_of_the_axis() -> None:
    with pytest.raises(ValueError, match="^unflatten: an axis 1 of size 9 expected"):
        minigrad.unflatten(t(0, 4), 1, (3, 3))
    assert minigrad.unflatten(t(0, 4), 1, (2, 2)).shape == (0, 2, 2)


@pytest.mark.parametrize("name", [
    "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack",
])  # fmt: skip
def test_nothing_is_not_joined(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: at least one"):
        getattr(ops, name)([])


@pytest.mark.parametrize("name", [
    "divide", "power", "floor_divide", "remainder", "arctan2", "maximum", "less",
])  # fmt: skip
def test_shapes_that_do_not_broadcast(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: .*\(4,\).*\(3,\)"):
        getattr(ops, name)(t(4), t(3))


def test_an_error_names_the_module_it_happened_in() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    with pytest.raises(ValueError, match=r"^linear: .*\(2, 4\).*\[in inner\.1\]$"):
        Block()(minigrad.zeros(2, 3))


@pytest.mark.filterwarnings("error")
def test_warnings_turned_into_errors_stay_warnings() -> None:
    """NumPy's own RuntimeWarning, when the user asked for it, is not disguised as another error."""
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        ops.log(Tensor(0.0))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        ops.log(Tensor(0.0))


def test_the_original_error_of_a_forward_is_kept() -> None:
    """A user's own op: an unexpected error comes as it is, or carries its cause."""

    @minigrad.autograd.primitive
    def my_lookup(x: Any) -> Any:  # noqa: ARG001
        return {}["missing"]

    with pytest.raises(Exception, match="missing") as caught:
        my_lookup(1.0)
    assert isinstance(caught.value, KeyError) or isinstance(caught.value.__cause__, KeyError)
