"""Functions that are ops as they are, under all names that PyTorch and NumPy have for them."""

from minigrad import ops
from minigrad.ops import linalg
from minigrad.ops.functions import *

__all__ = [
    "abs", "absolute", "acos", "acosh", "allclose", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctan2", "arctanh", "argwhere", "array_split", "asin", "asinh", "astype", "atan",
    "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "bitwise_and", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "broadcast_arrays",
    "broadcast_tensors", "cbrt", "cdist", "ceil", "clamp", "clip", "column_stack", "copysign",
    "cos", "cosh", "deg2rad", "det", "diag_embed", "digamma", "dsplit", "dstack", "einsum", "entr",
    "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expand_dims", "expm1", "fix", "flatnonzero",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "gcd", "ge", "gelu", "greater",
    "greater_equal", "gt", "hsplit", "hstack", "hypot", "inner", "inverse", "invert", "isclose",
    "isfinite", "isin", "isinf", "isnan", "kron", "lcm", "le", "left_shift", "less", "less_equal",
    "lgamma", "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logit", "lt", "masked_fill", "masked_select", "matmul",
    "matrix_power", "maximum", "minimum", "mul", "multiply", "ne", "neg",
    "negative", "nextafter", "not_equal", "pad", "polygamma", "power", "rad2deg", "ravel",
    "reciprocal", "relu", "remainder", "right_shift", "round", "row_stack", "rsqrt", "sgn",
    "sigmoid", "sign", "signbit", "silu", "sin", "sinc", "sinh", "slogdet", "softplus", "sqrt",
    "take_along_axis", "tan", "tanh", "true_divide", "trunc", "unfold", "vdot", "vecdot", "vsplit",
    "vstack", "where", "xlog1py", "xlogy",
]  # fmt: skip

absolute = ops.abs
acos, acosh, asin, asinh = ops.arccos, ops.arccosh, ops.arcsin, ops.arcsinh
atan, atan2, atanh = ops.arctan, ops.arctan2, ops.arctanh
bitwise_left_shift, bitwise_not = ops.left_shift, ops.invert
bitwise_right_shift = ops.right_shift
broadcast_tensors = ops.broadcast_arrays
clamp = ops.clip
det, slogdet = linalg.det, linalg.slogdet
eq, ne = ops.equal, ops.not_equal
fix = ops.trunc
ge, gt, le, lt = ops.greater_equal, ops.greater, ops.less_equal, ops.less
inverse, matrix_power = linalg.inv, linalg.matrix_power
mul = ops.multiply
neg = ops.negative
row_stack = ops.vstack
sgn = ops.sign
true_divide = ops.divide
