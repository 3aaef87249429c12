"""The methods of tensors that are functions, or ops: names and what they stand for.

Methods with a trailing underscore write over their tensor.
"""

from typing import Any

from minigrad.autograd.node import Variable
from minigrad.autograd.typing import Tensor
from minigrad.tensors import functions
from minigrad.tensors.functions import shapes
from minigrad.tensors.inplace import conversion, inplace, reshaping

__all__ = ["Methods"]


def _alone(self: Any) -> Tensor:
    raise NotImplementedError


def _with_other(self: Any, other: Any) -> Tensor:
    raise NotImplementedError


def _with_several(self: Any, *args: Any, **options: Any) -> Tensor:
    raise NotImplementedError


class Methods(Variable):
    """The table; `Tensor` has the rest."""

    abs = absolute = functions.abs
    acos = arccos = functions.acos
    acosh = arccosh = functions.acosh
    add = functions.add
    addbmm = functions.addbmm
    addcdiv = functions.addcdiv
    addcmul = functions.addcmul
    addmm = functions.addmm
    addmv = functions.addmv
    addr = functions.addr
    adjoint = functions.adjoint
    all = functions.all
    allclose = functions.allclose
    amax = functions.amax
    amin = functions.amin
    aminmax = functions.aminmax
    angle = functions.angle
    any = functions.any
    arcsin = asin = functions.arcsin
    arcsinh = asinh = functions.arcsinh
    arctan = atan = functions.arctan
    arctan2 = atan2 = functions.arctan2
    arctanh = atanh = functions.arctanh
    argmax = functions.argmax
    argmin = functions.argmin
    argsort = functions.argsort
    argwhere = functions.argwhere
    as_strided = functions.as_strided
    astype = functions.astype
    baddbmm = functions.baddbmm
    bincount = functions.bincount
    bitwise_and = functions.bitwise_and
    bitwise_left_shift = functions.bitwise_left_shift
    bitwise_not = functions.bitwise_not
    bitwise_or = functions.bitwise_or
    bitwise_right_shift = functions.bitwise_right_shift
    bitwise_xor = functions.bitwise_xor
    bmm = functions.bmm
    ceil = functions.ceil
    cholesky = functions.cholesky
    cholesky_inverse = functions.cholesky_inverse
    cholesky_solve = functions.cholesky_solve
    chunk = functions.chunk
    clamp = clip = functions.clamp
    clamp_max = functions.clamp_max
    clamp_min = functions.clamp_min
    clone = functions.clone
    copysign = functions.copysign
    corrcoef = functions.corrcoef
    cos = functions.cos
    cosh = functions.cosh
    count_nonzero = functions.count_nonzero
    cov = functions.cov
    cross = functions.cross
    cummax = functions.cummax
    cummin = functions.cummin
    cumprod = functions.cumprod
    cumsum = functions.cumsum
    deg2rad = functions.deg2rad
    det = functions.det
    diag = functions.diag
    diag_embed = functions.diag_embed
    diagflat = functions.diagflat
    diagonal = functions.diagonal
    diff = functions.diff
    digamma = functions.digamma
    dist = functions.dist
    div = divide = functions.div
    dot = functions.dot
    dsplit = functions.dsplit
    eq = functions.eq
    equal = functions.equal
    erf = functions.erf
    erfc = functions.erfc
    erfinv = functions.erfinv
    exp = functions.exp
    exp2 = functions.exp2
    expand = shapes.expand
    expand_as = shapes.expand_as
    expm1 = functions.expm1
    fix = trunc = functions.fix
    flatten = functions.flatten
    flip = functions.flip
    fliplr = functions.fliplr
    flipud = functions.flipud
    float_power = functions.float_power
    floor = functions.floor
    floor_divide = functions.floor_divide
    fmax = functions.fmax
    fmin = functions.fmin
    fmod = functions.fmod
    frac = functions.frac
    frexp = functions.frexp
    gather = functions.gather
    gcd = functions.gcd
    ge = greater_equal = functions.ge
    ger = outer = functions.ger
    get_device = functions.get_device
    greater = gt = functions.greater
    heaviside = functions.heaviside
    histc = functions.histc
    histogram = functions.histogram
    hsplit = functions.hsplit
    hypot = functions.hypot
    index_add = functions.index_add
    index_copy = functions.index_copy
    index_fill = functions.index_fill
    index_put = functions.index_put
    index_select = functions.index_select
    inner = functions.inner
    inverse = functions.inverse
    is_complex = functions.is_complex
    is_conj = functions.is_conj
    is_floating_point = functions.is_floating_point
    is_inference = functions.is_inference
    is_neg = functions.is_neg
    is_nonzero = functions.is_nonzero
    is_same_size = functions.is_same_size
    is_signed = functions.is_signed
    isclose = functions.isclose
    isfinite = functions.isfinite
    isinf = functions.isinf
    isnan = functions.isnan
    isneginf = functions.isneginf
    isposinf = functions.isposinf
    isreal = functions.isreal
    kron = functions.kron
    kthvalue = functions.kthvalue
    lcm = functions.lcm
    ldexp = functions.ldexp
    le = less_equal = functions.le
    lerp = functions.lerp
    less = lt = functions.less
    lgamma = functions.lgamma
    log = functions.log
    log10 = functions.log10
    log1p = functions.log1p
    log2 = functions.log2
    log_softmax = functions.log_softmax
    logaddexp = functions.logaddexp
    logaddexp2 = functions.logaddexp2
    logcumsumexp = functions.logcumsumexp
    logdet = functions.logdet
    logical_and = functions.logical_and
    logical_not = functions.logical_not
    logical_or = functions.logical_or
    logical_xor = functions.logical_xor
    logit = functions.logit
    logsumexp = functions.logsumexp
    masked_fill = functions.masked_fill
    masked_scatter = functions.masked_scatter
    masked_select = functions.masked_select
    matmul = functions.matmul
    matrix_exp = functions.matrix_exp
    matrix_power = functions.matrix_power
    max = functions.max
    maximum = functions.maximum
    mean = functions.mean
    median = functions.median
    min = functions.min
    minimum = functions.minimum
    mm = functions.mm
    mode = functions.mode
    moveaxis = movedim = functions.moveaxis
    msort = functions.msort
    mul = multiply = functions.mul
    mv = functions.mv
    mvlgamma = functions.mvlgamma
    nan_to_num = functions.nan_to_num
    nanmean = functions.nanmean
    nansum = functions.nansum
    narrow = functions.narrow
    narrow_copy = functions.narrow_copy
    ne = not_equal = functions.ne
    neg = negative = functions.neg
    nextafter = functions.nextafter
    nonzero = functions.nonzero
    norm = functions.norm
    numel = nelement = functions.numel
    pad = functions.pad
    permute = functions.permute
    pinverse = functions.pinverse
    positive = functions.positive
    pow = functions.pow
    prod = functions.prod
    put = functions.put
    qr = functions.qr
    quantile = functions.quantile
    rad2deg = functions.rad2deg
    ravel = functions.ravel
    reciprocal = functions.reciprocal
    relu = functions.relu
    remainder = functions.remainder
    renorm = functions.renorm
    repeat = shapes.repeat
    repeat_interleave = functions.repeat_interleave
    reshape = functions.reshape
    reshape_as = view_as = shapes.reshape_as
    conj = conj_physical = resolve_conj = resolve_neg = functions.resolve_conj
    roll = functions.roll
    rot90 = functions.rot90
    round = functions.round
    rsqrt = functions.rsqrt
    scatter = functions.scatter
    scatter_add = functions.scatter_add
    scatter_reduce = functions.scatter_reduce
    select = functions.select
    select_scatter = functions.select_scatter
    sgn = sign = functions.sgn
    sigmoid = functions.sigmoid
    signbit = functions.signbit
    sin = functions.sin
    sinc = functions.sinc
    sinh = functions.sinh
    slice_scatter = functions.slice_scatter
    slogdet = functions.slogdet
    softmax = functions.softmax
    sort = functions.sort
    split = functions.split
    split_with_sizes = functions.split_with_sizes
    sqrt = functions.sqrt
    square = functions.square
    squeeze = functions.squeeze
    std = functions.std
    sub = subtract = functions.sub
    sum = functions.sum
    sum_to_size = shapes.sum_to_size
    svd = functions.svd
    swapaxes = functions.swapaxes
    swapdims = transpose = functions.swapdims
    t = functions.t
    take = functions.take
    take_along_dim = functions.take_along_dim
    tan = functions.tan
    tanh = functions.tanh
    tensor_split = functions.tensor_split
    tile = functions.tile
    topk = functions.topk
    trace = functions.trace
    tril = functions.tril
    triu = functions.triu
    true_divide = functions.true_divide
    unbind = functions.unbind
    unflatten = functions.unflatten
    unfold = shapes.unfold
    unsqueeze = functions.unsqueeze
    unique = functions.unique
    unique_consecutive = functions.unique_consecutive
    var = functions.var
    vdot = functions.vdot
    vsplit = functions.vsplit
    xlogy = functions.xlogy

    # In place

    add_ = inplace(functions.add)
    addcdiv_ = inplace(functions.addcdiv)
    addcmul_ = inplace(functions.addcmul)
    addmm_ = inplace(functions.addmm)
    clamp_ = inplace(functions.clamp, "clamp_")
    clamp_max_ = inplace(functions.clamp_max)
    clamp_min_ = inplace(functions.clamp_min)
    clip_ = inplace(functions.clip)
    cumsum_ = inplace(functions.cumsum)
    div_ = inplace(functions.div)
    index_add_ = inplace(functions.index_add)
    index_copy_ = inplace(functions.index_copy)
    index_fill_ = inplace(functions.index_fill)
    index_put_ = inplace(functions.index_put)
    lerp_ = inplace(functions.lerp)
    masked_fill_ = inplace(functions.masked_fill)
    masked_scatter_ = inplace(functions.masked_scatter)
    pow_ = inplace(functions.pow)
    round_ = inplace(functions.round)
    scatter_ = inplace(functions.scatter)
    scatter_add_ = inplace(functions.scatter_add)
    sub_ = inplace(functions.sub)
    tril_ = inplace(functions.tril)
    triu_ = inplace(functions.triu)

    # In place too: a loop below gives each name its function

    abs_ = absolute_ = acos_ = acosh_ = arccos_ = arccosh_ = arcsin_ = arcsinh_ = arctan_ = _alone
    arctanh_ = asin_ = asinh_ = atan_ = atanh_ = bitwise_not_ = ceil_ = cos_ = cosh_ = _alone
    deg2rad_ = digamma_ = erf_ = erfc_ = erfinv_ = exp_ = exp2_ = expm1_ = fix_ = floor_ = _alone
    frac_ = lgamma_ = log_ = log10_ = log1p_ = log2_ = logical_not_ = neg_ = negative_ = _alone
    rad2deg_ = reciprocal_ = relu_ = rsqrt_ = sgn_ = sigmoid_ = sign_ = sin_ = sinc_ = _alone
    sinh_ = sqrt_ = square_ = tan_ = tanh_ = trunc_ = _alone

    arctan2_ = atan2_ = bitwise_and_ = bitwise_left_shift_ = bitwise_or_ = _with_other
    bitwise_right_shift_ = bitwise_xor_ = copysign_ = eq_ = floor_divide_ = fmod_ = _with_other
    gcd_ = ge_ = greater_ = greater_equal_ = gt_ = hypot_ = lcm_ = ldexp_ = le_ = _with_other
    less_ = less_equal_ = logical_and_ = logical_or_ = logical_xor_ = lt_ = maximum_ = _with_other
    minimum_ = mul_ = multiply_ = ne_ = nextafter_ = not_equal_ = power_ = remainder_ = _with_other
    true_divide_ = xlogy_ = _with_other

    addbmm_ = addmv_ = addr_ = baddbmm_ = cumprod_ = divide_ = float_power_ = _with_several
    heaviside_ = logit_ = mvlgamma_ = nan_to_num_ = put_ = renorm_ = scatter_reduce_ = _with_several
    subtract_ = _with_several

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


for _name, _method in [*vars(Methods).items()]:
    if _method in (_alone, _with_other, _with_several):
        setattr(Methods, _name, inplace(getattr(functions, _name[:-1]), _name))
