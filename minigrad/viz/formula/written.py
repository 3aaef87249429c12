"""Formulas written by hand, for rules whose own text is a kernel, or careful rather than plain.

Each is a rule itself: a function of ``g`` and of whatever it names, in arrays. It is set from its
syntax tree, like any rule, and the tests compute it and the rule that it stands for on the same
numbers. It is found by the function that it stands for, so a rule that is replaced takes no formula
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from minigrad.ops._numerics import (
    channel_sums,
    kept_shape,
    reduced_size,
    signed,
    undo_reduction,
    zeroed,
)
from minigrad.ops.activation import _relu_x
from minigrad.ops.attention import _attention_pull
from minigrad.ops.batch_norm import _batch_norm_pull
from minigrad.ops.contractions import _einsum_operands, _tensordot_a, _tensordot_b
from minigrad.ops.elementwise import _inverse, _power_a, _power_b
from minigrad.ops.embedding import _embedding_weight
from minigrad.ops.exponentials import _share
from minigrad.ops.gathering import _take_along_axis_x, _take_x
from minigrad.ops.indexing import IndexUpdate
from minigrad.ops.joining import _concatenate_tensors, _stack_tensors
from minigrad.ops.linalg.determinants import _cofactors, _slogdet_x
from minigrad.ops.linalg.factors import _cholesky_x, _qr_x
from minigrad.ops.linalg.solving import _solve_pull
from minigrad.ops.linalg.spectra import _eigh_x, _eigvalsh_x, _svd_x, _svdvals_x
from minigrad.ops.loss import _cross_entropy_pull
from minigrad.ops.norm import _layer_norm_pull, _rms_norm_pull
from minigrad.ops.padding import _pad_x
from minigrad.ops.products import _linear_weight, _matmul_a, _matmul_b
from minigrad.ops.rearranging import _repeat_x, _tile_x
from minigrad.ops.recurrence import _gru_pull, _lstm_pull, _rnn_pull
from minigrad.ops.reductions import _logsumexp_x, _prod_x
from minigrad.ops.scans import _cumprod_x, _cumsum_x
from minigrad.ops.selection import _chosen, _clip_high, _clip_low, _clip_x, _if_greater
from minigrad.ops.sorting import _median_x
from minigrad.ops.statistics import _part, _std_x, _var_x
from minigrad.ops.trigonometry import _turn
from minigrad.viz.formula import layer_words as layers
from minigrad.viz.formula import longhand
from minigrad.viz.formula import words as say

__all__ = ["JOINT", "WRITTEN", "Written"]


class Written:
    """A formula written by hand.

    Args:
        formula: A function of arrays.
        *notes: What it leaves out.
    """

    def __init__(self, formula: Callable[..., Any], *notes: str) -> None:
        self.formula = formula
        self.notes = notes


# The table: what a formula stands for, the formula, and what it leaves out.

VECTOR = "a vector counts as a row (a) or a column (b)"
EQUAL = "for values that all differ"

WRITTEN: Mapping[Callable[..., Any], Written] = {
    _inverse: Written(lambda b: 1 / b),
    zeroed: Written(lambda g, mask: np.where(mask, 0, g)),
    _chosen: Written(lambda g, condition: np.where(condition, g, 0)),
    signed: Written(lambda g, x: g * np.sign(x)),
    _relu_x: Written(lambda g, out: np.where(out > 0, g, 0)),
    _if_greater: Written(lambda g, a, b: g * (a > b) + 0.5 * g * (a == b)),
    _power_a: Written(
        lambda g, a, b: g * (b * a ** (b - 1)), "0 where a and b are 0"),
    _power_b: Written(
        lambda g, a, out: g * (out * np.log(a)), "0 where a is 0 and b is at least 0"),
    _share: Written(lambda a, b: 1 / (1 + np.exp(b - a))),
    _turn: Written(lambda a, b: b / (a**2 + b**2), "0 at the origin"),
    _clip_x: Written(
        lambda g, x, low, high: np.where(
            (say.low_bound(low) <= x) & (x <= say.high_bound(high)), g, 0)),
    _clip_low: Written(
        lambda g, x, low, high: np.where((x < low) & (low <= say.high_bound(high)), g, 0)),
    _clip_high: Written(
        lambda g, x, low, high: np.where(np.maximum(x, say.low_bound(low)) > high, g, 0)),
    # Along an axis
    _part: Written(lambda shape, axis: 1 / reduced_size(shape, axis)),
    _var_x: Written(
        lambda g, x, axis, ddof: undo_reduction(g, x.shape, axis)
        * (2 * (x - np.mean(x, axis, keepdims=True)))
        / (reduced_size(x.shape, axis) - ddof)),
    _std_x: Written(
        lambda g, x, out, axis, ddof: undo_reduction(g, x.shape, axis)
        * (x - np.mean(x, axis, keepdims=True))
        / ((reduced_size(x.shape, axis) - ddof) * out.reshape(kept_shape(x.shape, axis))),
        "0 where y is 0"),
    _prod_x: Written(
        lambda g, x, axis: undo_reduction(g, x.shape, axis) * say.product_of_others(x, axis)),
    _logsumexp_x: Written(
        lambda g, x, out, axis: undo_reduction(g, x.shape, axis)
        * np.exp(x - out.reshape(kept_shape(x.shape, axis))),
        "0 where y is −∞"),
    _median_x: Written(longhand.median_x),
    _cumsum_x: Written(lambda g, axis: say.sums_from_the_end(g, axis)),
    _cumprod_x: Written(
        lambda g, x, out, axis: say.sums_from_the_end(g * out, axis) / say.own(x, axis),
        "computed without a division, so x may be 0"),
    # Elements that move
    _embedding_weight: Written(
        lambda g, ids, weight_shape, padding_idx: IndexUpdate(
            np.where((ids != padding_idx)[..., None], g, 0), ids, weight_shape)),
    _take_x: Written(
        lambda g, indices, axis, mode, x_shape: say.placed(g, indices, axis, mode, x_shape)),
    _take_along_axis_x: Written(
        lambda g, indices, axis, x_shape: say.placed_along(g, indices, axis, x_shape)),
    _repeat_x: Written(
        lambda g, repeats, axis, x_shape: say.copies_added(
            g, np.repeat(say.places(x_shape), repeats, axis), x_shape)),
    _tile_x: Written(
        lambda g, reps, x_shape: say.copies_added(g, np.tile(say.places(x_shape), reps), x_shape)),
    _pad_x: Written(
        lambda g, pad_width, mode, x_shape: say.copies_added(
            g, say.padded_places(x_shape, pad_width, mode), x_shape),
        "a constant border is no copy"),
    # Products
    _matmul_a: Written(
        lambda g, a, b: say.shaped_as_product(g, a, b) @ say.column(b).mT, VECTOR),
    _matmul_b: Written(
        lambda g, a, b: say.row_matrix(a).mT @ say.shaped_as_product(g, a, b), VECTOR),
    _linear_weight: Written(
        lambda g, x: say.several_rows(g).mT @ say.several_rows(x), "the leading axes count as one"),
    _tensordot_a: Written(lambda g, b, axes: say.contracted(g, b, axes, False)),
    _tensordot_b: Written(lambda g, a, axes: say.contracted(g, a, axes, True)),
    channel_sums: Written(lambda g: layers.channel_sum(g)),
    # Matrices
    _cofactors: Written(
        lambda x, det_x: det_x[..., None, None] * np.linalg.inv(x).mT,
        "finite also where x has no inverse"),
    _slogdet_x: Written(lambda g, x: g[1][..., None, None] * np.linalg.inv(x).mT),
    _cholesky_x: Written(
        longhand.cholesky_x, "for an upper factor, y and ḡ are transposed first"),
    _qr_x: Written(longhand.qr_x, "for a matrix that is not wide"),
    _eigh_x: Written(longhand.eigh_x, EQUAL),
    _eigvalsh_x: Written(longhand.eigvalsh_x),
    _svd_x: Written(longhand.svd_x, "W is Vh", EQUAL),
    _svdvals_x: Written(longhand.svdvals_x),
}  # fmt: skip

JOINT: Mapping[Callable[..., Any], Mapping[str, Written]] = {
    _attention_pull: {
        "query": Written(longhand.attention_query),
        "key": Written(longhand.attention_key),
        "value": Written(longhand.attention_value),
        "bias": Written(longhand.scores_cotangent),
    },
    _layer_norm_pull: {
        "x": Written(longhand.layer_norm_x),
        "weight": Written(longhand.layer_norm_weight),
        "bias": Written(lambda g: g),
    },
    _rms_norm_pull: {
        "x": Written(longhand.rms_norm_x),
        "weight": Written(lambda g, x, rstd: g * (rstd * x)),
    },
    _batch_norm_pull: {
        "x": Written(longhand.batch_norm_x, "ḡ comes in three parts, as y"),
        "weight": Written(longhand.batch_norm_weight, "ḡ comes in three parts, as y"),
        "bias": Written(lambda g: layers.channel_sum(g[0])),
    },
    _lstm_pull: {
        "gates": Written(
            lambda g, weight, c0, out, opened: layers.lstm_slopes(g, weight, c0, out, opened)),
        "weight": Written(
            lambda g, weight, h0, c0, out, opened: layers.summed_over_steps(
                layers.lstm_slopes(g, weight, c0, out, opened), layers.before(out[0], h0))),
        "h0": Written(
            lambda g, weight, c0, out, opened: layers.first_step(
                layers.lstm_slopes(g, weight, c0, out, opened)) @ weight),
        "c0": Written(
            lambda g, weight, c0, out, opened: layers.first_step(layers.forget_gate(opened))
            * layers.first_step(layers.cell_slopes(g, weight, c0, out, opened))),
    },
    _gru_pull: {
        "gates": Written(
            lambda g, weight, h0, out, opened, recalled: layers.gru_slopes(
                g, weight, h0, out, opened, recalled)),
        "weight": Written(
            lambda g, weight, h0, out, opened, recalled: layers.summed_over_steps(
                layers.gru_slopes_inside(g, weight, h0, out, opened, recalled),
                layers.before(out, h0))),
        "bias": Written(
            lambda g, weight, h0, out, opened, recalled: np.sum(
                layers.gru_slopes_inside(g, weight, h0, out, opened, recalled), (0, 1))),
        "h0": Written(
            lambda g, weight, h0, out, opened, recalled: layers.first_step(
                layers.gru_slopes_inside(g, weight, h0, out, opened, recalled)) @ weight
            + layers.first_step(layers.update_gate(opened))
            * layers.first_step(layers.hidden_slopes(g, weight, h0, out, opened, recalled))),
    },
    _rnn_pull: {
        "gates": Written(
            lambda g, weight, out, nonlinearity: layers.rnn_slopes(g, weight, out, nonlinearity)),
        "weight": Written(
            lambda g, weight, h0, out, nonlinearity: layers.summed_over_steps(
                layers.rnn_slopes(g, weight, out, nonlinearity), layers.before(out, h0))),
        "h0": Written(
            lambda g, weight, out, nonlinearity: layers.first_step(
                layers.rnn_slopes(g, weight, out, nonlinearity)) @ weight),
    },
    _cross_entropy_pull: {"logits": Written(longhand.cross_entropy_logits)},
    _solve_pull: {
        "a": Written(
            lambda g, a, b, out: -np.linalg.inv(a.mT)
            @ say.column_as(g, b)
            @ say.column_as(out, b).mT),
        "b": Written(lambda g, a, b: np.linalg.inv(a.mT) @ say.column_as(g, b)),
    },
    _concatenate_tensors: {
        "tensors": Written(
            lambda g, i, tensors_shape, axis: say.own_part(g, i, tensors_shape, axis)),
    },
    _stack_tensors: {"tensors": Written(lambda g, i, axis: np.take(g, i, axis))},
    _einsum_operands: {
        "operands": Written(
            lambda g, operands, i, inputs, output: say.einsum_rest(g, operands, i, inputs, output)),
    },
}  # fmt: skip
"""The same for the rules that answer for several arguments; `i` is the position of a tensor."""
