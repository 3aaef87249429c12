"""Walks that are prepared: the questions that are asked on the page of an attention layer.

A text holds for every such layer and every input. Where a box or a step does not exist, as without
a bias, a mask or dropout, its stop is left out.
"""

from functools import partial

from minigrad.nn import Module, MultiHeadAttention, TransformerEncoderLayer
from minigrad.viz.page.walk import Stop

_stop = partial(Stop, optional=True)

WEIGHTS = _stop(
    "Which query attends to which key?",
    "See “Who attends to whom” below. A row is a query, a column is a key, and every head has its "
    "own grid. `softmax` makes the weights of a row positive, with the sum 1; a query that may "
    "attend nowhere has zeros. The output of a query is the sum of the values, each times its "
    "weight.",
    box="attention/softmax",
)

KEY_BIAS = _stop(
    "Is the gradient of `k_proj.bias` zero?",
    "Yes, up to rounding, if all keys come from `k_proj`: then the bias adds the same number to "
    "all scores of a query, the product of query and bias. That does not change `softmax`. So the "
    "loss does not depend on this bias, and the terms of its gradient cancel. With keys from "
    "elsewhere (`add_bias_kv`, `add_zero_attn`, a cache) it need not be zero.",
    gradient="k_proj.bias",
)

MULTI_HEAD_ATTENTION: tuple[Stop, ...] = (
    _stop(
        "What are heads, and where are they split and joined?",
        "A head is attention on a slice of the width. `reshape` cuts the last axis into heads, "
        "and `swapaxes` puts heads before tokens: the matrix products that follow treat each head "
        "by itself. No number changes. After the attention, `swapaxes` and `reshape` join the "
        "heads. Backward, both only move the gradient to where its entries came from.",
        box="MultiHeadAttention/reshape",
    ),
    _stop(
        "Where is 1/√d, and what is it for?",
        "Here: the query is multiplied by `b` = 1/√d before its product with the keys; d is the "
        "width of a head. A score is a sum of d products, and such sums grow with √d. Without the "
        "factor, `softmax` of a wide head could give almost all weight to one key, and then its "
        "gradient is almost zero.",
        box="attention/multiply~1",
    ),
    WEIGHTS,
    _stop(
        "What is `out_proj` for?",
        "Each head writes to its own slice of the width and does not see the other heads. "
        "`out_proj` mixes the slices: each of its outputs is a weighted sum over all heads.",
        box="out_proj",
    ),
    _stop(
        "Why is there a transpose in the gradient of a weight?",
        "A weight is used once for every token, and shares add up: its gradient is a sum over all "
        "tokens of ḡ of the token times x of the token. The product ḡᵀx is this sum. The "
        "transpose puts the index of the token where a matrix product sums. A bias is added to "
        "every token, so its gradient is the sum of ḡ alone.",
        step="out_proj/linear",
    ),
    _stop(
        "What was saved for the backward pass, and how large is it?",
        "Section 2 of every step lists it, in bytes: what the rules of the op read, and nothing "
        "else. This op multiplies the weights (`a`) by the values (`b`). The rule for `a` reads "
        "`b`, and the rule for `b` reads `a`. The weights have a number for each query and key in "
        "each head: for long sequences this is the most memory.",
        step="attention/matmul~2",
    ),
    _stop(
        "What does dropout do to the gradient?",
        "Dropout multiplies each weight by a number of `b`: by 0 if it is dropped, else by 1/(1 − "
        "p), which keeps the mean. The rule multiplies ḡ by the same numbers. So no gradient goes "
        "through a weight that was dropped. In eval mode this op does not run.",
        step="attention/multiply~2",
    ),
    _stop(
        "What does the rule of `softmax` subtract?",
        "The sum of the weights of a row is fixed: one can grow only if others shrink. So only "
        "the differences between the entries of ḡ in a row matter. The rule subtracts their mean, "
        "weighted by the weights: the row sum of ḡ ⊙ y. Then it multiplies by y. Each row of the "
        "result has the sum 0, up to rounding.",
        step="attention/softmax",
    ),
    _stop(
        "Why has the mask no gradient?",
        "True and False cannot change a little, so a mask of them has no derivative. `where` is a "
        "switch: a score that the mask keeps gets ḡ. A score that was replaced by −inf has no "
        "effect on the loss and gets 0.",
        step="attention/where",
    ),
    _stop(
        "What does a mask of numbers do to the gradient?",
        "This mask is added to the scores. Addition sends ḡ on unchanged. The mask itself gets a "
        "share only if it requires a gradient.",
        step="attention/add",
    ),
    _stop(
        "Why does the gradient of the query go through the key, and vice versa?",
        "A score is the product of a query and a key. If the query changes a little, the score "
        "changes by this change times the key. So the rule for `a` multiplies ḡ by `b`, and the "
        "rule for `b` multiplies it by `a`. The rule for each is a matrix product: a query is "
        "compared with all keys, so its gradient is a sum over all keys.",
        step="attention/matmul~1",
    ),
    KEY_BIAS,
    _stop(
        "Why is the gradient of the input a sum of three shares?",
        "One tensor is query, key and value, and three layers read it. A small change of it "
        "changes the loss in three ways, and the changes add up. So the backward pass waits until "
        "all shares have come, and adds them. Every tensor that is used several times has such a "
        "sum, Σ.",
        gradient="query, key, value",
    ),
)
"""For the page of `nn.MultiHeadAttention`, which offers it by itself."""

TRANSFORMER_ENCODER_LAYER: tuple[Stop, ...] = (
    _stop(
        "Is this pre-norm or post-norm, and what is the difference?",
        "If `norm1` reads the output of an addition, it is post-norm: the sum is normalized, and "
        "every gradient goes through the normalization. If it reads the input of the layer, it is "
        "pre-norm (`norm_first=True`): only what enters attention is normalized, and a path of "
        "mere additions leads around it. This is why deep stacks of pre-norm layers are easier to "
        "train.",
        box="norm1",
    ),
    WEIGHTS,
    _stop(
        "What is the feed-forward network for?",
        "Attention mixes tokens. The feed-forward network computes with each token by itself, "
        "with the same weights: `linear1`, an activation, `linear2`. The activation between them "
        "matters: two linear layers without one are no more than one linear layer.",
        box="linear1",
    ),
    _stop(
        "Where are most of the parameters?",
        "The box of a module counts them. The weights of `linear1` and `linear2` have d_model × "
        "dim_feedforward values each, the four projections of attention at most d_model × d_model "
        "each. So with dim_feedforward = 4 d_model, two thirds of these weights or more are in "
        "the feed-forward network.",
        box="linear2",
    ),
    _stop(
        "What does dropout do to the gradient?",
        "Dropout sets random entries to 0 and multiplies the others by 1/(1 − p), which keeps the "
        "mean. The rule does the same to ḡ, with the same entries: no gradient goes through what "
        "was dropped. In eval mode this op does not run.",
        step="dropout2/dropout",
    ),
    _stop(
        "Where does `relu` stop the gradient?",
        "Where its output is 0: a small change of a negative input does not change it. Where the "
        "output is positive, ḡ goes on unchanged. So the rule needs to know only the output. A "
        "unit that is negative for all tokens gets no gradient, and its weights in `linear1` get "
        "none.",
        step="relu",
    ),
    _stop(
        "What does `gelu` do to the gradient?",
        "It multiplies ḡ by its slope, which changes smoothly: about 0 for very negative inputs, "
        "about 1 for large ones. A unit that is slightly negative still gets some gradient, "
        "unlike with `relu`. The rule needs the input, which was saved.",
        step="gelu",
    ),
    _stop(
        "What does the rule of layer normalization subtract?",
        "The normalized row does not change if the same number is added to all its inputs, and "
        "hardly if all are multiplied by the same number (eps aside). So no gradient is left in "
        "these two directions. The rule subtracts the mean, and the part along the normalized "
        "row. Then it divides by the standard deviation. Each row of the result has the sum 0, up "
        "to rounding.",
        step="norm2/layer_norm",
    ),
    _stop(
        "What is the weight of a layer normalization for?",
        "Each row is normalized to mean 0 and deviation about 1. The weight lets the layer choose "
        "another scale for each feature. All tokens share it, so its gradient is a sum over "
        "tokens and batch.",
        gradient="norm2.weight",
    ),
    _stop(
        "What does the residual connection do to the gradient?",
        "Addition sends ḡ on unchanged, to each of its two inputs that needs a gradient. So what "
        "attention does to its share cannot make the other one smaller: the path around it has no "
        "factor. The picture draws this path as a thick line.",
        step="TransformerEncoderLayer/add",
    ),
    KEY_BIAS,
    _stop(
        "Why is the gradient of the input a sum of several shares?",
        "The input is used several times: in the residual connection, and for attention "
        "(pre-norm: by `norm1`; post-norm: by the projections of query, key and value). Each use "
        "is a way in which it changes the loss, and the changes add up.",
        gradient="src",
    ),
)
"""For the page of `nn.TransformerEncoderLayer`, which offers it by itself."""

PREPARED: dict[type[Module], tuple[Stop, ...]] = {
    MultiHeadAttention: MULTI_HEAD_ATTENTION,
    TransformerEncoderLayer: TRANSFORMER_ENCODER_LAYER,
}
"""The walk that a page offers if none is given, by the exact class of the module."""
