"""Functions of each element of one tensor, or of two: ops, under all names that PyTorch has."""

from minigrad import ops

__all__ = [
    "abs", "absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan",
    "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "copysign", "cos", "cosh", "deg2rad", "digamma", "eq", "erf", "erfc", "erfinv",
    "exp", "exp2", "expm1", "fix", "floor", "floor_divide", "fmax", "fmin", "fmod", "ge",
    "greater", "greater_equal", "gt", "hypot", "isfinite", "isinf", "isnan", "le", "less",
    "less_equal", "lgamma", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "lt", "matmul", "maximum", "minimum", "mul",
    "multiply", "ne", "neg", "negative", "nextafter", "not_equal", "rad2deg", "reciprocal",
    "relu", "remainder", "rsqrt", "sgn", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "sqrt", "tan", "tanh", "true_divide", "trunc", "xlogy",
]  # fmt: skip

abs = absolute = ops.abs
arccos = acos = ops.arccos
arccosh = acosh = ops.arccosh
arcsin = asin = ops.arcsin
arcsinh = asinh = ops.arcsinh
arctan = atan = ops.arctan
arctan2 = atan2 = ops.arctan2
arctanh = atanh = ops.arctanh
bitwise_and = ops.bitwise_and
bitwise_or = ops.bitwise_or
bitwise_xor = ops.bitwise_xor
ceil = ops.ceil
copysign = ops.copysign
cos = ops.cos
cosh = ops.cosh
deg2rad = ops.deg2rad
digamma = ops.digamma
true_divide = ops.divide
eq = ops.equal
erf = ops.erf
erfc = ops.erfc
erfinv = ops.erfinv
exp = ops.exp
exp2 = ops.exp2
expm1 = ops.expm1
floor = ops.floor
floor_divide = ops.floor_divide
fmax = ops.fmax
fmin = ops.fmin
fmod = ops.fmod
greater = gt = ops.greater
greater_equal = ge = ops.greater_equal
hypot = ops.hypot
bitwise_not = ops.invert
isfinite = ops.isfinite
isinf = ops.isinf
isnan = ops.isnan
bitwise_left_shift = ops.left_shift
less = lt = ops.less
less_equal = le = ops.less_equal
lgamma = ops.lgamma
log = ops.log
log10 = ops.log10
log1p = ops.log1p
log2 = ops.log2
logaddexp = ops.logaddexp
logical_and = ops.logical_and
logical_not = ops.logical_not
logical_or = ops.logical_or
logical_xor = ops.logical_xor
matmul = ops.matmul
maximum = ops.maximum
minimum = ops.minimum
multiply = mul = ops.multiply
negative = neg = ops.negative
nextafter = ops.nextafter
not_equal = ne = ops.not_equal
rad2deg = ops.rad2deg
reciprocal = ops.reciprocal
relu = ops.relu
remainder = ops.remainder
bitwise_right_shift = ops.right_shift
rsqrt = ops.rsqrt
sigmoid = ops.sigmoid
sign = sgn = ops.sign
signbit = ops.signbit
sin = ops.sin
sinc = ops.sinc
sinh = ops.sinh
sqrt = ops.sqrt
tan = ops.tan
tanh = ops.tanh
trunc = fix = ops.trunc
xlogy = ops.xlogy
