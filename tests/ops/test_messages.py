"""Errors name the op, what came, and what was expected: one table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, linalg, nn, ops


def t(*shape: int) -> Tensor:
    return Tensor(np.ones(shape), requires_grad=True)


regex = re.compile

# A call, what its error says after the name of the op (… is anything), and its kind if that is not
# ValueError. The op is the first word of the row's name; where it is not, the message is a regex.
MESSAGES: dict[str, tuple[Any, ...]] = {
    # Element by element
    "add": (lambda op: t(2, 3) + t(2), "…(2, 3)…(2,)"),
    "add of an array": (lambda op: np.ones(3) + t(2), "…(3,)…(2,)"),
    "multiply": (lambda op: t(2, 3) * t(3, 2), "…(2, 3)…(3, 2)"),
    "divide": (lambda op: t(4) / t(3), "…(4,)…(3,)"),
    "power": (lambda op: t(4) ** t(3), "…(4,)…(3,)"),
    "power of integers": (lambda op: Tensor([2]) ** -1, "…negative"),
    "floor_divide": (lambda op: t(4) // t(3), "…(4,)…(3,)"),
    "remainder": (lambda op: t(4) % t(3), "…(4,)…(3,)"),
    "arctan2": (lambda op: op(t(4), t(3)), "…(4,)…(3,)"),
    "sign of bools": (lambda op: op(Tensor([True])), "…bool", TypeError),
    "round": (lambda op: op(t(2), 1.5), "…integer", TypeError),
    "bitwise_xor of floats": (lambda op: t(2) ^ t(2), "bools…float64", TypeError),
    "maximum": (lambda op: op(t(4), t(3)), "…(4,)…(3,)"),
    "less": (lambda op: t(4) < t(3), "…(4,)…(3,)"),
    "where": (lambda op: op(np.ones(2, bool), t(3), t(3)), "…(2,)…(3,)"),
    "clip": (lambda op: op(t(4), t(3), t(4)), "…(4,)…(3,)"),
    "add text": (lambda op: t(2) + "a", "…str", TypeError),
    "multiply None": (lambda op: t(2) * None, "…object", TypeError),
    "multiply complex": (lambda op: t(2) * 1j, "…complex", TypeError),
    "bitwise_and of floats": (lambda op: t(2) & t(2), "bools…float64", TypeError),
    "invert of floats": (lambda op: ~t(2), "bools…float64", TypeError),
    "masked_fill mask": (lambda op: op(t(2), np.ones(2), 0.0), "…mask…bools…float64", TypeError),
    "masked_fill value": (lambda op: op(t(2), np.ones(2, bool), np.ones(2)), "…value…(2,)"),
    "masked_fill shape": (lambda op: op(t(2), np.ones(3, bool), 0.0), "…(3,)…(2,)"),
    "gelu": (lambda op: op(t(2), "exact"), "…approximate…'exact'"),
    "dropout": (lambda op: op(t(2), 1.5, 1), "…1.5"),
    # Reductions
    "sum axis": (lambda op: t(2, 3).sum(axis=2), "…axis 2"),
    "sum axes": (lambda op: t(2, 3).sum(axis=(0, 0)), "duplicate"),
    "mean axis": (lambda op: t(2, 3).mean(axis=-3), "…axis -3"),
    "var axis": (lambda op: t(2, 3).var(axis=5), "…axis 5"),
    "std axis": (lambda op: t(2, 3).std(axis=2), "…axis 2"),
    "prod axis": (lambda op: t(2, 3).prod(axis=2), "…axis 2"),
    "prod axes": (lambda op: t(2, 3).prod(axis=(1, -1)), "duplicate"),
    "any axis": (lambda op: t(2, 3).any(axis=2), "…axis 2"),
    "max of nothing": (lambda op: t(0, 3).max(), ""),
    "argmax of nothing": (lambda op: t(0).argmax(), ""),
    "softmax axis": (lambda op: op(t(2), axis=1), "…axis 1"),
    "logsumexp axis": (lambda op: op(t(2), axis=1), "axis 1"),
    "norm order": (lambda op: op(t(2), np.nan), "…ord…nan"),
    "norm order text": (lambda op: op(t(2), "fro"), "…ord…'fro'"),
    # Shapes
    "reshape": (lambda op: t(2, 3).reshape(4), "…6…(2, 3)…(4,)"),
    "transpose": (lambda op: t(2, 3).transpose((0, 0)), "repeated axis"),
    "transpose rank": (lambda op: t(2, 3).transpose(0, 1, 2), "…axes"),
    "swapaxes": (lambda op: t(2, 3).swapaxes(0, 2), "…axis2: axis 2"),
    "squeeze": (lambda op: t(2, 3).squeeze(0), "…size"),
    "expand_dims": (lambda op: t(2).expand_dims(3), "axis 3"),
    "broadcast_to": (lambda op: t(2, 3).broadcast_to(2, 4), "…(2,3)…(2,4)"),
    "concatenate nothing": (lambda op: op([]), "at least one"),
    "concatenate": (lambda op: op([t(2, 3), t(2, 4)]), "…(2, 3)…(2, 4)"),
    "stack nothing": (lambda op: op([]), "at least one"),
    "stack": (lambda op: op([t(2), t(3)]), "…shape"),
    "split": (lambda op: op(t(5), 2), "…length 5…2…equal"),
    "split axis": (lambda op: op(t(4), 2, axis=1), "axis 1 …(4,)"),
    "astype": (lambda op: t(2).astype("complex64"), "…complex64", TypeError),
    "split float": (lambda op: op(t(4), 2.0), "…float64", TypeError),
    "flatten": (lambda op: op(t(2, 3), 1, 0), "…start_axis 1…end_axis 0…float64…(2, 3)"),
    "moveaxis": (lambda op: op(t(2, 3), 0, 2), "…axis 2"),
    "expand": (lambda op: t(2, 3).expand(4, 3), "…(2, 3)…(4, 3)…1"),
    "expand rank": (lambda op: t(2, 3).expand(3), "…(2, 3)…(3,)"),
    "expand -1": (lambda op: t(3).expand(-1, 3), "…(3,)…(-1, 3)"),
    "broadcast_arrays": (lambda op: op(t(2), t(3)), "…(2,)…(3,)"),
    "meshgrid": (lambda op: op(t(2), indexing="yx"), "…got 'yx'"),
    "hstack": (lambda op: op([]), "at least one tensor"),
    "concatenate by hstack": (lambda op: ops.hstack([t(2, 3), t(3, 3)]), "…(2, 3), float64 (3, 3)"),
    "vstack": (lambda op: op([]), "at least one tensor"),
    "dstack": (lambda op: op([]), "at least one tensor"),
    "array_split": (lambda op: op(t(5), 0), "…length 5…axis 0…(5,)…0"),
    "chunk": (lambda op: op(t(5), 0), "…chunks…1…0"),
    "chunk axis": (lambda op: op(t(5), 2, 1), "axis 1 …(5,)"),
    "unbind": (lambda op: op(t()), "…axis 0…()"),
    # Arranging
    "flip": (lambda op: op(t(2), 1), "…axis 1"),
    "flip twice": (lambda op: op(t(2, 2), (0, -2)), "repeated axis…(2, 2)"),
    "flip by fliplr": (lambda op: ops.fliplr(t(2)), "…axis 1"),
    "rot90": (lambda op: op(t(2, 3), 1, (0, 0)), "…(2, 3)"),
    "rot90 turns": (lambda op: op(t(2, 2), 1.5), "…float…integer", TypeError),
    "roll": (lambda op: op(t(2), 1.5), "…shift…integers", TypeError),
    "roll axis": (lambda op: op(t(2), 1, 3), "…axis 3"),
    "roll shifts": (lambda op: op(t(2, 3), (1, 2, 3), (0, 1)), "…(3,)…(2,)"),
    "repeat": (lambda op: op(t(3), [1, 2]), "…3…axis 0…(3,)…repeats…(2,)"),
    "repeat float": (lambda op: t(3).repeat(1.5), "…repeats…integers", TypeError),
    "repeat less": (lambda op: t(3).repeat(-1), "…negative…-1"),
    "repeat axis": (lambda op: t(3).repeat(2, 1), "…axis 1"),
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
    "take": (lambda op: op(t(2, 3), [0, 3], 1), "…index 3…axis 1…(2, 3)", IndexError),
    "take all": (lambda op: op(t(2, 3), -7), "index -7 …(2, 3)", IndexError),
    "take nothing": (lambda op: op(t(0, 3), 0, 0), "index 0 …(0, 3)", IndexError),
    "take floats": (lambda op: op(t(3), [0.5]), "…indices…integers…float32", TypeError),
    "take bools": (lambda op: op(t(2), [True, False]), "…got bool", TypeError),
    "take axis": (lambda op: op(t(2, 3), 0, 2), "…axis 2"),
    "take mode": (lambda op: op(t(2), 0, 0, "up"), "…mode…'up'"),
    "take_along_axis": (lambda op: op(t(2, 3), [[3]]), "…index 3…axis -1…(2, 3)", IndexError),
    "take_along_axis rank": (lambda op: op(t(2, 3), [0]), "…(2, 3)…(1,)"),
    "take_along_axis flat": (lambda op: op(t(2, 3), [[0]], None), "…axis…axis…(1, 1)"),
    "take_along_axis shapes": (lambda op: op(t(2, 3), [[0]] * 3), "…(3,1)", IndexError),
    "scatter": (
        lambda op: op(t(2, 3), 1, [[3]], t(1, 1)),
        "…index 3…axis 1…(2, 3)…0 to 2",
        IndexError,
    ),
    "scatter src": (lambda op: op(t(2, 3), 1, [[0, 0]], t(1, 1)), "…axis 1…src…(1, 2)…(1, 1)"),
    "index_add": (
        lambda op: op(t(2, 3), 0, [2], t(1, 3)),
        "index 2…axis 0…(2, 3)…0 to 1",
        IndexError,
    ),
    "index_add source": (lambda op: op(t(2, 3), 1, [0, 0], t(2, 3)), "…source…(2, 2)…(2,)…(2, 3)"),
    "index_add alpha": (
        lambda op: op(Tensor([1]), 0, [0], [1], alpha=0.5),
        "alpha…integer…int64…0.5",
        TypeError,
    ),
    "put_along_axis": (
        lambda op: op(minigrad.zeros(2, 3), [[3]], 1.0, 1),
        "…index 3…axis 1…(2, 3)",
        IndexError,
    ),
    "put_along_axis values": (
        lambda op: op(minigrad.zeros(2, 3), [[0]], t(3, 1), 1),
        "…(3,1)…(2, 3)…(3, 1)",
    ),
    "put_along_axis array": (
        lambda op: op(np.zeros((2, 3)), [[0]], 1.0, 1),
        "…Tensor…ndarray",
        TypeError,
    ),
    "masked_select": (lambda op: op(t(3), [1, 0, 1]), "…mask…bools…int64…!= 0", TypeError),
    "masked_select shape": (lambda op: op(t(3), [True, False]), "…(3,)…(2,)"),
    "nan_to_num": (lambda op: op(t(2), 0.0), "copy…True…nan="),
    "logit": (lambda op: op(t(2), 0.7), "eps…0 to 0.5…0.7"),
    "quantile": (lambda op: op(t(2), 1.5), "q …0 to 1…1.5"),
    "quantile method": (lambda op: op(t(2), 0.5, method="middle"), "'middle'…linear"),
    "quantile of nothing": (lambda op: op(t(0), 0.5), "…(0,)"),
    "quantile q grad": (lambda op: op(t(2), 0.5 * t()), "…detach", TypeError),
    "bincount": (lambda op: op([0, -1]), "…at least 0…-1"),
    "bincount floats": (lambda op: op([0.5]), "…integers…float32", TypeError),
    "bincount weights": (lambda op: op([0, 1], t(3)), "…(2,)…(3,)"),
    "histogram": (lambda op: op(t(2), [2, 1]), "…[2, 1]"),
    "histogram range": (lambda op: op(t(2), 3, (0, np.inf)), "…finite…inf"),
    "histogram edges": (lambda op: op(t(2), [0.0, np.nan]), "…ascend…nan"),
    "histogram weights": (lambda op: op(t(2), weights=t(3)), "…weights…(2,)…(3,)"),
    "diag_embed": (lambda op: op(t(2), 0, 1, -1), "…axes 1 and -1…(2,)"),
    "vsplit": (lambda op: op(t(4), 2), "axis 1 …(4,)"),
    "hsplit": (lambda op: op(t(2, 3), 2), "length 3…axis 1…2 equal"),
    "dsplit": (lambda op: op(t(2, 3), 2), "axis 2 …(2, 3)"),
    "column_stack": (lambda op: op([]), "at least one"),
    "cdist": (lambda op: op(t(2, 3), t(2, 4)), "…d…(2, 3)…(2, 4)"),
    "cdist axes": (lambda op: op(t(2, 2, 3), t(3, 2, 3)), "…leading axes…(2, 2, 3)…(3, 2, 3)"),
    "cdist order": (lambda op: op(t(2, 3), t(2, 3), -1), "p …-1"),
    "solve_triangular": (lambda op: op(t(3, 3), t(3), upper=True), "…(3, 3)…(3,)…axis -2…3"),
    "solve_triangular right": (
        lambda op: op(t(3, 3), t(3, 2), upper=True, left=False),
        "…(3, 3)…(3, 2)…axis -1…3",
    ),
    "solve_triangular zero": (
        lambda op: op(np.stack([np.eye(2), np.ones((2, 2)) - np.eye(2)]), t(2, 1), upper=False),
        "…matrix (1,) of the stack…0 on its diagonal",
        np.linalg.LinAlgError,
    ),
    "gather": (lambda op: op(t(2, 3), 1, [[3]]), "…index 3…axis 1…(2, 3)…0 to 2", IndexError),
    "gather negative": (
        lambda op: op(t(2, 3), -2, [[-1]]),
        "…index -1…axis 0…(2, 3)…0 to 1",
        IndexError,
    ),
    "gather rank": (lambda op: op(t(2, 3), 1, [0]), "…(1,)…(2, 3)"),
    "gather shapes": (lambda op: op(t(2, 3), 1, [[0]] * 3), "…axis 0…(3, 1)…(2, 3)"),
    "gather floats": (lambda op: op(t(3), 0, [0.5]), "…indices…integers…float32", TypeError),
    "gather axis": (lambda op: op(t(3), 1, [0]), "…axis 1"),
    "gather order": (lambda op: op(t(3), [0], 0), "…integer", TypeError),
    "scatter_add": (
        lambda op: op(t(2, 3), 1, [[3]], t(1, 1)),
        "…index 3…axis 1…(2, 3)…0 to 2",
        IndexError,
    ),
    "scatter_add src": (lambda op: op(t(2, 3), 1, [[0, 0]], t(1, 1)), "…axis 1…src…(1, 2)…(1, 1)"),
    "scatter_add number": (lambda op: op(t(2), 0, [0], 2.0), "…index…src…(1,)…()"),
    "scatter_reduce": (
        lambda op: op(t(3), 0, [0], t(1), "max"),
        "…sum, prod, mean, amax, amin…'max'",
    ),
    "scatter_reduce index": (
        lambda op: op(t(2, 3), 1, [[3]], t(1, 1), "amax"),
        "…index 3…axis 1…(2, 3)…0 to 2",
        IndexError,
    ),
    "scatter_reduce src": (
        lambda op: op(t(2, 3), 1, [[0, 0]], t(1, 1), "sum"),
        "…axis 1…src…(1, 2)…(1, 1)",
    ),
    "index_fill": (lambda op: op(t(3), 0, [0], t(2)), "…without axes…(2,)"),
    "index_fill axis": (lambda op: op(t(3), 1, [0], 2), "axis 1"),
    "unfold": (lambda op: op(t(2, 3), 1, 4), "…4…axis 1…(2, 3)"),
    "unfold step": (lambda op: op(t(3), 0, 2, 0), "step…1…0"),
    "cummax": (lambda op: op(t(3), 1), "axis 1"),
    "logcumsumexp": (lambda op: op(t(3), 1), "axis 1"),
    # Sorting and searching
    "sort": (lambda op: op(t(2), 1), "…axis 1"),
    "argsort": (lambda op: op(t(2), 1), "…axis 1"),
    "topk": (lambda op: op(t(2, 3), 4), "…0…3…axis 1…(2, 3)…4"),
    "topk float": (lambda op: op(t(3), 1.5), "…float…integer", TypeError),
    "topk axis": (lambda op: op(t(3), 1, 1), "…axis 1"),
    "median": (lambda op: op(t(0)), "…(0,)"),
    "nonzero": (lambda op: op(t()), "…axis…atleast_1d"),
    "where of one": (
        lambda op: op(np.ones(2, bool), t(2)),
        "both a and b expected, or neither, got one",
        TypeError,
    ),
    "unique axis": (lambda op: op(t(2), axis=1), "…axis 1"),
    "searchsorted": (lambda op: op(t(2, 2), 1.0), "…axis…(2, 2)"),
    "searchsorted side": (lambda op: op(t(2), 1.0, "middle"), "…side…'middle'"),
    # Products
    "matmul": (lambda op: t(2, 3) @ t(4, 5), "(2, 3) @ (4, 5): …(3)…(4)"),
    "matmul vector": (lambda op: t(2, 3) @ t(4), "…(2, 3)…(4,)…(3)…(4)"),
    "matmul batch": (lambda op: t(2, 3, 4) @ t(5, 4, 3), "…leading…(2,)…(5,)"),
    "matmul number": (lambda op: t(2) @ 3.0, "…(2,)…()…axis"),
    "matmul text": (lambda op: t(2) @ "ab", "…str", TypeError),
    "linear": (lambda op: op(t(2, 3), t(4, 5)), "…(2, 3)…axis…5…(4, 5)"),
    "linear weight": (lambda op: op(t(2, 3), t(3)), "…weight…(3,)"),
    "linear bias": (lambda op: op(t(2, 3), t(4, 3), t(5)), "…bias…(5,)…4"),
    "einsum count": (lambda op: op("ij,jk", t(2, 3)), "…'ij,jk'…2…1"),
    "einsum rank": (lambda op: op("ijk", t(2, 3)), "…'ijk'…operand 0…(2, 3)"),
    "einsum length": (lambda op: op("ij,jk", t(2, 3), t(4, 2)), "…(2, 3)…(4, 2)"),
    "einsum output": (lambda op: op("ij->k", t(2, 3)), "…output"),
    "einsum diagonal": (lambda op: op("ii", t(2, 3)), "…(2, 3)"),
    "einsum labels": (lambda op: op("i1", t(2, 3)), "…labels"),
    # Fused
    "layer_norm": (lambda op: op(t(2, 3), t(4)), "…(2, 3)…weight…(3,)…(4,)"),
    "layer_norm bias": (lambda op: op(t(2, 3), t(3), t(2, 3)), "…bias…(3,)…(2, 3)"),
    "layer_norm ndim": (lambda op: op(t(3), ndim=2), "…(3,)…2"),
    "group_norm": (lambda op: op(t(2, 6), t(4), groups=2), "…(2, 6)…weight…(6,)…(4,)"),
    "group_norm groups": (lambda op: op(t(2, 5), groups=2), "…C divisible by 2…(2, 5)"),
    "cross_entropy target": (
        lambda op: op(t(3, 4), np.zeros((3, 4), int)),
        "…(3, 4)…target…(3,)…(3, 4)",
    ),
    "cross_entropy floats": (
        lambda op: op(t(3, 4), np.zeros((3, 4))),
        "…indices…float64…argmax",
        TypeError,
    ),
    "cross_entropy class": (
        lambda op: op(t(2, 4), [0, 4]),
        "…target 4…0…3…ignore_index=4",
        IndexError,
    ),
    "cross_entropy negative": (
        lambda op: op(t(2, 4), [0, -100]),
        "target -100 …ignore_index=-100",
        IndexError,
    ),
    "cross_entropy weight": (lambda op: op(t(2, 4), [0, 1], np.ones(3)), "…weight…(4,)…(3,)"),
    "cross_entropy reduction": (
        lambda op: op(t(2, 4), [0, 1], reduction="avg"),
        "…reduction…'avg'",
    ),
    "cross_entropy smoothing": (
        lambda op: op(t(2, 4), [0, 1], label_smoothing=2.0),
        "label_smoothing …2.0",
    ),
    "cross_entropy weight grad": (
        lambda op: op(t(2, 4), [0, 1], t(4)),
        "…'weight'…detach",
        TypeError,
    ),
    "embedding": (lambda op: op(np.array([3]), t(3, 2)), "…index 3…3…rows…0 to 2", IndexError),
    "embedding negative": (lambda op: op(np.array([-1]), t(3, 2)), "…index -1", IndexError),
    "embedding floats": (
        lambda op: op(np.array([1.0]), t(3, 2)),
        "…indices…integers…float64",
        TypeError,
    ),
    "attention widths": (
        lambda op: op(t(2, 3), t(4, 5), t(4, 2)),
        "…query…(2, 3)…key…(4, 5)…(3)…(5)",
    ),
    "attention lengths": (lambda op: op(t(2, 3), t(4, 3), t(5, 2)), "…key…(4)…value…(5)"),
    "attention leading": (lambda op: op(t(2, 2, 3), t(3, 4, 3), t(4, 2)), "…leading"),
    "attention vector": (lambda op: op(t(3), t(4, 3), t(4, 2)), "…length and a width"),
    "attention bias": (lambda op: op(t(2, 3), t(4, 3), t(4, 2), t(3, 4)), "…bias…(3, 4)…(2, 4)"),
    "attention keep": (
        lambda op: op(t(2, 3), t(4, 3), t(4, 2), None, np.ones((2, 4))),
        "…keep…bools…float64",
    ),
    "attention keep shape": (
        lambda op: op(t(2, 3), t(4, 3), t(4, 2), None, np.ones((4, 2), bool)),
        "…keep…(4, 2)…(2, 4)",
    ),
    "rms_norm": (lambda op: op(t(2, 3), t(2)), "…weight…(3,)…(2,)"),
    # Arguments
    "sum of an unknown keyword": (lambda op: ops.sum(t(2), axs=0), "…axs", TypeError),
    "linear without an argument": (lambda op: ops.linear(t(2)), "…'weight'", TypeError),
    "exp of too many": (lambda op: ops.exp(t(2), 3), "too many…argument", TypeError),
    # Tensors
    "requires_grad": (
        lambda op: Tensor([1, 2], requires_grad=True),
        regex(r"only floats .*int64"),
        TypeError,
    ),
    "Tensor of a ragged list": (lambda op: Tensor([[1.0], [1.0, 2.0]]), "…ragged"),
    "bool of many": (lambda op: bool(t(2)), regex(r"\(2,\).*.all\(\)")),
    "item of many": (lambda op: t(2).item(), "…(2,)"),
    "backward": (lambda op: t(2).backward(), "…(2,)….sum()", RuntimeError),
    "zeros": (lambda op: minigrad.zeros(2.5), "…2.5", TypeError),
    "ones": (lambda op: minigrad.ones((2, -1)), "…-1", TypeError),
    "__iadd__ of a float": (lambda op: Tensor([1]).__iadd__(1.5), "…float32…int64", TypeError),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name: str) -> None:
    call, said, kind = (*MESSAGES[name], ValueError)[:3]
    op = name.split()[0]
    if isinstance(said, str):
        said = f"^{op}: " + ".*".join(re.escape(part) for part in said.split("…"))
    with pytest.raises(kind, match=said):
        call(getattr(ops, op, None) or getattr(linalg, op, None))


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
