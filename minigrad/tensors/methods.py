"""The methods of tensors that are functions, or ops: names and what they stand for.

Methods with a trailing underscore write over their tensor. Where many have one signature, the class
has a stand-in with that signature, for type checkers; the loops at the end put the functions in its
place.
"""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, cast

from minigrad import ops
from minigrad.autograd.call import call_path
from minigrad.autograd.node import Variable
from minigrad.autograd.typing import OpFunction, P, Tensor
from minigrad.tensors import functions
from minigrad.tensors.functions import shapes
from minigrad.tensors.inplace import conversion, inplace, reshaping

__all__ = ["Methods", "operator", "reflected"]


def _alone(self: Any) -> Tensor:
    raise NotImplementedError


def _with_other(self: Any, other: Any) -> Tensor:
    raise NotImplementedError


def _with_several(self: Any, *args: Any, **options: Any) -> Tensor:
    raise NotImplementedError


class Methods(Variable):
    """The table; `Tensor` has the rest."""

    # Of this tensor alone, and of this and another one

    abs = absolute = acos = acosh = adjoint = angle = arccos = arccosh = arcsin = arcsinh = _alone
    arctan = arctanh = argwhere = asin = asinh = atan = atanh = bitwise_not = ceil = conj = _alone
    conj_physical = corrcoef = cos = cosh = deg2rad = det = digamma = erf = erfc = erfinv = _alone
    exp = exp2 = expm1 = fix = fliplr = flipud = floor = frac = inverse = isfinite = _alone
    isinf = isnan = isneginf = isposinf = isreal = lgamma = log = log10 = log1p = log2 = _alone
    logdet = logical_not = msort = neg = negative = positive = rad2deg = ravel = _alone
    reciprocal = relu = resolve_conj = resolve_neg = rsqrt = sgn = sigmoid = sign = _alone
    signbit = sin = sinc = sinh = sqrt = square = t = tan = tanh = trace = trunc = _alone

    arctan2 = atan2 = bitwise_and = bitwise_left_shift = bitwise_or = _with_other
    bitwise_right_shift = bitwise_xor = copysign = eq = floor_divide = fmax = fmin = _with_other
    fmod = gcd = ge = greater = greater_equal = gt = hypot = inner = kron = lcm = _with_other
    ldexp = le = less = less_equal = logaddexp = logaddexp2 = logical_and = _with_other
    logical_or = logical_xor = lt = matmul = maximum = minimum = mul = multiply = ne = _with_other
    nextafter = not_equal = remainder = true_divide = vdot = xlogy = _with_other

    # With other arguments

    add = functions.add
    addbmm = functions.addbmm
    addcdiv = functions.addcdiv
    addcmul = functions.addcmul
    addmm = functions.addmm
    addmv = functions.addmv
    addr = functions.addr
    all = functions.all
    allclose = functions.allclose
    amax = functions.amax
    amin = functions.amin
    aminmax = functions.aminmax
    any = functions.any
    argmax = functions.argmax
    argmin = functions.argmin
    argsort = functions.argsort
    as_strided = functions.as_strided
    astype = functions.astype
    baddbmm = functions.baddbmm
    bincount = functions.bincount
    bmm = functions.bmm
    cholesky = functions.cholesky
    cholesky_inverse = functions.cholesky_inverse
    cholesky_solve = functions.cholesky_solve
    chunk = functions.chunk
    clamp = clip = functions.clamp
    clamp_max = functions.clamp_max
    clamp_min = functions.clamp_min
    clone = functions.clone
    count_nonzero = functions.count_nonzero
    cov = functions.cov
    cross = functions.cross
    cummax = functions.cummax
    cummin = functions.cummin
    cumprod = functions.cumprod
    cumsum = functions.cumsum
    diag = functions.diag
    diag_embed = functions.diag_embed
    diagflat = functions.diagflat
    diagonal = functions.diagonal
    diagonal_scatter = functions.diagonal_scatter
    diff = functions.diff
    dist = functions.dist
    div = divide = functions.div
    dot = functions.dot
    dsplit = functions.dsplit
    equal = functions.equal
    broadcast_to = shapes.broadcast_to
    expand = shapes.expand
    expand_as = shapes.expand_as
    flatten = functions.flatten
    flip = functions.flip
    float_power = functions.float_power
    frexp = functions.frexp
    gather = functions.gather
    ger = outer = functions.ger
    get_device = functions.get_device
    heaviside = functions.heaviside
    histc = functions.histc
    histogram = functions.histogram
    hsplit = functions.hsplit
    index_add = functions.index_add
    index_copy = functions.index_copy
    index_fill = functions.index_fill
    index_reduce = functions.index_reduce
    index_put = functions.index_put
    index_select = functions.index_select
    is_complex = functions.is_complex
    is_conj = functions.is_conj
    is_floating_point = functions.is_floating_point
    is_inference = functions.is_inference
    is_neg = functions.is_neg
    is_nonzero = functions.is_nonzero
    is_same_size = functions.is_same_size
    is_signed = functions.is_signed
    isclose = functions.isclose
    kthvalue = functions.kthvalue
    lerp = functions.lerp
    log_softmax = functions.log_softmax
    logcumsumexp = functions.logcumsumexp
    logit = functions.logit
    logsumexp = functions.logsumexp
    lu = functions.lu
    masked_fill = functions.masked_fill
    masked_scatter = functions.masked_scatter
    masked_select = functions.masked_select
    matrix_exp = functions.matrix_exp
    matrix_power = functions.matrix_power
    max = functions.max
    mean = functions.mean
    median = functions.median
    min = functions.min
    mm = functions.mm
    mode = functions.mode
    moveaxis = movedim = functions.moveaxis
    mv = functions.mv
    mvlgamma = functions.mvlgamma
    nan_to_num = functions.nan_to_num
    nanmean = functions.nanmean
    nanmedian = functions.nanmedian
    nansum = functions.nansum
    narrow = functions.narrow
    narrow_copy = functions.narrow_copy
    nonzero = functions.nonzero
    norm = functions.norm
    numel = nelement = functions.numel
    pad = functions.pad
    permute = functions.permute
    pinverse = functions.pinverse
    pow = functions.pow
    prod = functions.prod
    put = functions.put
    qr = functions.qr
    quantile = functions.quantile
    renorm = functions.renorm
    repeat = shapes.repeat
    repeat_interleave = functions.repeat_interleave
    reshape = resize = functions.reshape
    reshape_as = view_as = resize_as = shapes.reshape_as
    roll = functions.roll
    rot90 = functions.rot90
    round = functions.round
    scatter = functions.scatter
    scatter_add = functions.scatter_add
    scatter_reduce = functions.scatter_reduce
    select = functions.select
    select_scatter = functions.select_scatter
    slice_scatter = functions.slice_scatter
    slogdet = functions.slogdet
    softmax = functions.softmax
    sort = functions.sort
    split = functions.split
    split_with_sizes = functions.split_with_sizes
    squeeze = functions.squeeze
    std = functions.std
    sub = subtract = functions.sub
    sum = functions.sum
    sum_to_size = shapes.sum_to_size
    svd = functions.svd
    swapaxes = functions.swapaxes
    swapdims = transpose = functions.swapdims
    take = functions.take
    take_along_dim = functions.take_along_dim
    tensor_split = functions.tensor_split
    tile = functions.tile
    topk = functions.topk
    triangular_solve = functions.triangular_solve
    tril = functions.tril
    triu = functions.triu
    unbind = functions.unbind
    unflatten = functions.unflatten
    unfold = functions.unfold
    unsqueeze = functions.unsqueeze
    unique = functions.unique
    unique_consecutive = functions.unique_consecutive
    var = functions.var
    vsplit = functions.vsplit

    # Operators, those with the tensor on the right, and in place

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _with_other
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _with_other
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _with_other
    __rpow__ = __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _with_other
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = _with_other
    __ipow__ = __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _with_other

    # In place

    abs_ = absolute_ = acos_ = acosh_ = arccos_ = arccosh_ = arcsin_ = arcsinh_ = arctan_ = _alone
    arctanh_ = asin_ = asinh_ = atan_ = atanh_ = bitwise_not_ = ceil_ = cos_ = cosh_ = _alone
    deg2rad_ = digamma_ = erf_ = erfc_ = erfinv_ = exp2_ = exp_ = expm1_ = fix_ = floor_ = _alone
    frac_ = lgamma_ = log10_ = log1p_ = log2_ = log_ = logical_not_ = neg_ = negative_ = _alone
    rad2deg_ = reciprocal_ = relu_ = rsqrt_ = sgn_ = sigmoid_ = sign_ = sin_ = sinc_ = _alone
    sinh_ = sqrt_ = square_ = tan_ = tanh_ = trunc_ = _alone

    arctan2_ = atan2_ = bitwise_and_ = bitwise_left_shift_ = bitwise_or_ = _with_other
    bitwise_right_shift_ = bitwise_xor_ = copysign_ = eq_ = floor_divide_ = fmod_ = _with_other
    gcd_ = ge_ = greater_ = greater_equal_ = gt_ = hypot_ = lcm_ = ldexp_ = le_ = _with_other
    less_ = less_equal_ = logical_and_ = logical_or_ = logical_xor_ = lt_ = maximum_ = _with_other
    minimum_ = mul_ = multiply_ = ne_ = nextafter_ = not_equal_ = power_ = _with_other
    remainder_ = true_divide_ = xlogy_ = _with_other

    add_ = addbmm_ = addcdiv_ = addcmul_ = addmm_ = addmv_ = addr_ = baddbmm_ = _with_several
    clamp_ = clamp_max_ = clamp_min_ = clip_ = cumprod_ = cumsum_ = div_ = divide_ = _with_several
    float_power_ = heaviside_ = index_add_ = index_copy_ = index_fill_ = index_put_ = _with_several
    index_reduce_ = lerp_ = logit_ = masked_fill_ = masked_scatter_ = mvlgamma_ = nan_to_num_ = (
        _with_several
    )
    pow_ = put_ = renorm_ = round_ = scatter_ = scatter_add_ = scatter_reduce_ = _with_several
    sub_ = subtract_ = tril_ = triu_ = _with_several

    # Another shape for the tensor itself

    squeeze_ = reshaping(functions.squeeze)
    swapaxes_ = reshaping(functions.swapaxes)
    swapdims_ = reshaping(functions.swapdims, "swapdims_")
    t_ = reshaping(functions.t)
    transpose_ = reshaping(functions.transpose)
    unsqueeze_ = reshaping(functions.unsqueeze)

    # Another dtype

    float = conversion("float", "float32")
    double = conversion("double", "float64")
    half = conversion("half", "float16")
    long = conversion("long", "int64")
    int = conversion("int", "int32")
    short = conversion("short", "int16")
    char = conversion("char", "int8")
    byte = conversion("byte", "uint8")
    bool = conversion("bool", "bool")


def operator(function: OpFunction[P], name: str) -> OpFunction[P]:
    """The operator of an op of two arrays, which leaves an object that it does not know to it."""
    method = update_wrapper(call_path(function.op, asks=True), function)
    method.__module__, method.__qualname__ = "minigrad.tensors.tensor", f"Tensor.__{name}__"
    return cast("OpFunction[P]", method)  # pickle finds it by its place


def reflected(op: Callable[..., Any]) -> Callable[[Any, Any], Tensor]:
    """The reflected operator method: ``other op tensor``."""

    def method(self: Any, other: Any) -> Tensor:
        result: Tensor = op(other, self)
        return result

    return method


_OPERATORS: dict[str, OpFunction[Any]] = {
    "add": ops.add, "sub": ops.subtract, "mul": ops.multiply, "truediv": ops.divide,
    "floordiv": ops.floor_divide, "mod": ops.remainder, "pow": ops.power, "and": ops.bitwise_and,
    "or": ops.bitwise_or, "xor": ops.bitwise_xor, "lshift": ops.left_shift,
    "rshift": ops.right_shift,
}  # fmt: skip

for _name, _op in _OPERATORS.items():
    _operator: Any = operator(_op, _name)
    setattr(Methods, f"__{_name}__", _operator)
    setattr(Methods, f"__r{_name}__", reflected(_operator))
    setattr(Methods, f"__i{_name}__", inplace(_operator, f"__i{_name}__"))

for _name, _method in [*vars(Methods).items()]:
    if _method in (_alone, _with_other, _with_several):
        _function = getattr(functions, _name.rstrip("_"))
        setattr(Methods, _name, inplace(_function, _name) if _name[-1] == "_" else _function)
