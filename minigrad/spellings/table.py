"""What other libraries write, and what it is here: one line each.

On the left stands a call as they write it, on the right what it computes, in our names. A first
argument `input` can be the tensor of a method (``x.cat`` is none, ``x.permute`` is one); `self` is
a method only. A comment says whose spelling it is: 2 Lucid 2's, N NumPy's; without one it is
PyTorch's, and Lucid 3's, which spells as PyTorch does.

A name that stands here and is ours too is looked up only when a call does not fit ours:
``x.max(axis=1)`` is ours, ``x.max(dim=1)`` is the line ``max(input, dim, ...)``. A line with ``*_``
is for a call that fits ours but for a tensor where an axis is expected: ``x.max(y)``.
"""

KEYWORDS = {
    "dim": "axis", "dims": "axis", "keepdim": "keepdims", "start_dim": "start_axis",
    "end_dim": "end_axis", "shifts": "shift", "diagonal": "k", "end": "stop", "steps": "num",
    "size": "shape", "index": "indices", "memory_mask": "mem_mask",
    "memory_key_padding_mask": "mem_key_padding_mask", "memory_is_causal": "mem_is_causal",
    "dim1": "axis1", "dim2": "axis2", "interpolation": "method",
}  # fmt: skip
"""Keywords of others, and ours. `input` and `other` are the first and the second argument."""

NAMES = """
Float16 float16  # 2
Float32 float32  # 2
Float64 float64  # 2
Int8 int8  # 2
Int16 int16  # 2
Int32 int32  # 2
Int64 int64  # 2
Float float32  # 2
Double float64  # 2
Half float16  # 2
Long int64  # 2
Int int32  # 2
Short int16  # 2
Char int8  # 2
float float32
double float64
half float16
long int64
int int32
short int16
bool bool_
"""

UNUSED = {
    "enable_nested_tensor", "mask_check", "foreach", "fused", "capturable", "sorted", "layout",
    "pin_memory", "memory_format", "_stacklevel",
    "persistent_workers", "prefetch_factor", "timeout",
}  # fmt: skip
"""Keywords of others that change no number, only their speed: they are left out."""

ATTRIBUTES = {
    "is_cuda": "False", "is_sparse": "False", "itemsize": "self.dtype.itemsize",
    "nbytes": "self.data.nbytes",
}  # fmt: skip
"""Attributes of tensors, and what they are."""

ARGUMENTS = {
    "TransformerEncoder": {"mask": "src_mask"},
    "constant": {"val": "value"},
    "pinv": {"rcond": "rtol"},
    "tile": {"dims": "reps"},
    "scatter": {"value": "src"},
    "solve": {"A": "a", "B": "b"},
    "isin": {"elements": "element"},
    "searchsorted": {"sorted_sequence": "a", "input": "v"},
    "cdist": {"x1": "a", "x2": "b"},
    "unfold": {"dimension": "axis"},
}
"""Keywords of one class or its forward, theirs to ours."""

MODULES = {
    "minigrad": {"concat": "concatenate", "autocast": "answers.autocast"},
    "nn": {"Hardswish": "nn.HardSwish", "Hardsigmoid": "nn.HardSigmoid"},
    "nn.functional": {
        "sigmoid": "sigmoid", "tanh": "tanh",
    },
    "nn.init": {
        "kaiming_uniform_": "answers.kaiming_uniform_",
        "kaiming_normal_": "answers.kaiming_normal_",
    }
    | {
        f"{name}_": f"nn.init.{name}"
        for name in (
            "uniform", "normal", "constant", "zeros", "ones", "xavier_uniform", "xavier_normal",
            "trunc_normal", "orthogonal", "eye", "dirac", "sparse",
        )
    } | {"_calculate_fan_in_and_fan_out": "answers.fans"},
    "nn.utils": {
        "clip_grad_norm_": "answers.clip_grad_norm_",
        "clip_grad_value_": "nn.utils.clip_grad_value",
    },
    "linalg": {name: name for name in ("cross", "matmul")},
    "random": {"manual_seed": "random.seed"},
    "autograd": {"set_detect_anomaly": "answers.set_detect_anomaly"},
    "amp": {"autocast": "answers.autocast"},
    "fx": {"wrap": "answers.jit.ignore"},
    "jit": {"Final": "answers.typing.Final", "*": "answers.jit.*"},
    "jit.annotations": {"*": "answers.typing.*"},
    "nn.parameter": {"*": "nn.*"},
    "special": {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", "*": "*"},
    "utils": {},
    "utils.checkpoint": {"checkpoint": "answers.checkpoint"},
    "utils.data": {"*": "data.*"},
}  # fmt: skip
"""Names of a module, theirs to ours; ``*`` is any name. Modules that are not ours are importable."""

_ONE_RESULT = (
    "max, min, median and sort give values and indices if they are called with dim=, "
    "and the values alone with axis= or by position"
)

_PLACES = (
    "Conv3d", "ConvTranspose3d", "MaxPool3d", "AvgPool3d", "AdaptiveAvgPool3d", "AdaptiveMaxPool3d",
    "BatchNorm3d", "InstanceNorm3d", "Dropout3d",
)  # fmt: skip
LAYERS = {
    **dict.fromkeys(_PLACES, "no layer has three spatial axes"),
    "SyncBatchNorm": "a model runs in one process: BatchNorm2d",
    "DataParallel": "a model runs in one process",
}
"""Layers that are not here: a model can ask whether a layer is one, and cannot make one."""

ABSENT = {
    **dict.fromkeys(["values", "indices"], _ONE_RESULT),
    "bfloat16": "the floats are float16, float32 and float64",
    **dict.fromkeys(["cfloat", "complex64", "complex128", "fft"], "there are no complex numbers"),
    **dict.fromkeys(["sparse", "sparse_coo_tensor"], "tensors are dense"),
    **LAYERS,
    "visual": "viz.graph draws", "mlx": "there is no GPU",
    "vmap": "write the function for a batch, or stack its results",
    "func": "the transformations are in autograd.functional: grad, vjp, jvp, jacobian, hessian",
    "Generator": "random.seed seeds the one generator; a loader takes generator=",
    "H": "there are no complex numbers; .mT swaps the last two axes",
    "svd": "linalg.svd(x, full_matrices=False) gives U, S and V transposed",
    "storage": ".data is the array", "stride": ".data.strides is NumPy's, in bytes",
    "hub": "nothing is downloaded: load files, see minigrad.pretrained",
    "as_strided": "a slice is a view", "quantization": "there is no quantization",
    **dict.fromkeys(["CTCLoss", "ctc_loss"], "there is no CTC"),
}  # fmt: skip
"""What is not here, and what to do instead."""

REMEDIES = """
max(input, other, keepdim=0) if is_array(other) => max(x, axis) reduces, as in NumPy; PyTorch's max(x, other) is maximum(x, other)
min(input, other, keepdim=0) if is_array(other) => min(x, axis) reduces, as in NumPy; PyTorch's min(x, other) is minimum(x, other)
split(input, parts, axis=0) if isinstance(parts, int) => split(x, n) makes n parts, as in NumPy; PyTorch's pieces of size n are split(x, n, dim=axis)
repeat(input, *repeats) if True => repeat(x, n, axis) repeats elements, as in NumPy; PyTorch's x.repeat(2, 3) is x.tile((2, 3))
norm(input, ord, *rest) if isinstance(ord, str) => norm is of vectors, and norm(x) is PyTorch's norm(x, "fro"); for others see linalg.norm(x, "nuc")
var(input, axis=None, ddof=0, keepdims=0) if True in map(is_bool, (axis, ddof)) => PyTorch's var(x, 1, True) is var(x, 1, ddof=1), Lucid 2's is var(x, 1, keepdims=True)
std(input, axis=None, ddof=0, keepdims=0) if True in map(is_bool, (axis, ddof)) => PyTorch's std(x, 1, True) is std(x, 1, ddof=1)
squeeze(input, axis=None) if axis is not None => NumPy refuses an axis that is longer than 1, PyTorch leaves it as it is
randint(low, high, *rest) if isinstance(high, tuple) => randint(low, high, size), as in NumPy; PyTorch's randint(high, (2, 3)) is randint(high, size=(2, 3))
Tensor(data, requires_grad=False, *sizes) if isinstance(data, int) => PyTorch's Tensor(2, 3) is empty(2, 3)
"""
"""What a call that failed was meant to be, if it cannot mean ours: the call, a condition, advice."""

FUNCTIONS = """
cat(tensors, dim=0) => concatenate(tensors, dim)
row_stack(tensors) => vstack(tensors)
concat(tensors, dim=0) => concatenate(tensors, dim)
permute(input, *axes, dims=()) => input.transpose(*axes, *dims)
view(self, *shape) => view(self, shape)
view_as(self, other) => self.reshape(other.shape)
reshape_as(self, other) => self.reshape(other.shape)
t(input) => t(input)
swapaxes(input, axis0, axis1) => input.swapaxes(axis0, axis1)
swapdims(input, dim0, dim1) => input.swapaxes(dim0, dim1)
transpose(input, dim0, dim1) => input.swapaxes(dim0, dim1)
movedim(input, source, destination) => input.moveaxis(source, destination)
contiguous(self, memory_format=None) => self
clone(self, memory_format) => self.clone()
unflatten(input, dim, sizes) => unflatten(input, dim, sizes)
expand(self, size) => self.expand(*size)
expand_as(self, other) => self.broadcast_to(other.shape)
repeat_interleave(input, repeats, dim=None) => input.repeat(repeats, dim)
narrow(input, dim, start, length) => part(input, dim, slice(start, start + length))
select(input, dim, index) => part(input, dim, index)
split(input, split_size_or_sections, dim=0) => split(input, split_size_or_sections, dim)
split(self, split_size, dim=0) => split(self, split_size, dim)
flip(input, dims) => input.flip(tuple_of(dims))
flip(input, *dims) => input.flip(dims)
tile(input, *dims) => input.tile(dims)
tensordot(a, b, dims=2) => tensordot(a, b, dims)
index_select(input, dim, index) => input.take(index, dim)
where(condition, input, other) => where(condition, input, other)
where(self, condition, other) => where(condition, self, other)
index_add_(self, dim, index, source, *, alpha=1) => write(self, index_add(self, dim, index, source * alpha))
take_along_dim(input, indices, dim=None) => input.take_along_axis(indices, dim)
dim(self) => self.ndim
ndimension(self) => self.ndim
numel(input) => input.data.size
nelement(self) => self.data.size
element_size(self) => self.dtype.itemsize
amax(input, dim=None, keepdim=False) => input.max(reduced(dim), keepdim)
amin(input, dim=None, keepdim=False) => input.min(reduced(dim), keepdim)
max(input, other) => maximum(input, other)
max(input, other, *_) => maximum(input, other)
max(input, dim, keepdim=False) => ValuesAndIndices(input.max(dim, keepdim), input.argmax(dim, keepdim))
min(input, other) => minimum(input, other)
min(input, other, *_) => minimum(input, other)
min(input, dim, keepdim=False) => ValuesAndIndices(input.min(dim, keepdim), input.argmin(dim, keepdim))
median(input, dim, keepdim=False) => lower_median(input, dim, keepdim)
sort(input, dim=-1, descending=False, stable=False) => ValuesAndIndices(input.sort(dim, descending), input.argsort(dim, descending))
argsort(input, dim=-1, descending=False, stable=False) => input.argsort(dim, descending)
sum(input, dim=None, keepdim=False, *, dtype=None) => input.sum(reduced(dim), keepdim, dtype=dtype)
mean(input, dim=None, keepdim=False, *, dtype=None) => input.mean(reduced(dim), keepdim, dtype=dtype)
nansum(input, dim=None, keepdim=False, *, dtype=None) => input.nansum(reduced(dim), keepdim, dtype=dtype)
nanmean(input, dim=None, keepdim=False, *, dtype=None) => input.nanmean(reduced(dim), keepdim, dtype=dtype)
prod(input, dim=None, keepdim=False, *, dtype=None) => input.prod(dim, keepdim, dtype=dtype)
cumsum(input, dim, *, dtype=None) => input.cumsum(dim, dtype=dtype)
cumprod(input, dim, *, dtype=None) => input.cumprod(dim, dtype=dtype)
softmax(input, dim, dtype=None) => as_tensor(input, dtype, None).softmax(dim)
log_softmax(input, dim, dtype=None) => as_tensor(input, dtype, None).log_softmax(dim)
std(input, dim=None, unbiased=True, keepdim=False, correction=None) => input.std(reduced(dim), ddof(unbiased, correction), keepdim)
var(input, dim=None, unbiased=True, keepdim=False, correction=None) => input.var(reduced(dim), ddof(unbiased, correction), keepdim)
var_mean(input, dim=None, unbiased=True, keepdim=False, correction=None) => (input.var(reduced(dim), ddof(unbiased, correction), keepdim), input.mean(reduced(dim), keepdim))
std_mean(input, dim=None, unbiased=True, keepdim=False, correction=None) => (input.std(reduced(dim), ddof(unbiased, correction), keepdim), input.mean(reduced(dim), keepdim))
norm(input, p=2, dim=None, keepdim=False) => vector_norm(input, p, dim, keepdim)
clamp(input, min=None, max=None) => input.clip(min, max)
clip(input, min=None, max=None) => input.clip(min, max)
clip(input, min_value=None, max_value=None) => input.clip(min_value, max_value)  # 2
clamp_min(input, min) => input.clip(min)
clamp_max(input, max) => input.clip(None, max)
add(input, other) => input + other
add(input, other, *, alpha) => input + alpha * other
sub(input, other, *, alpha=1) => input - alpha * other
subtract(input, other, *, alpha=1) => input - alpha * other
mul(input, other) => input * other
div(input, other, *, rounding_mode=None) => div(input, other, rounding_mode)
divide(input, other, *, rounding_mode=None) => div(input, other, rounding_mode)
true_divide(input, other) => input / other
pow(input, exponent) => power(input, exponent)
neg(input) => -input
rsub(input, other, *, alpha=1) => other - alpha * input
absolute(input) => input.abs()
positive(input) => input
frac(input) => input - input.trunc()
float_power(input, exponent) => input.double() ** exponent
dist(input, other, p=2) => vector_norm(input - other, p, None, False)
asin(input) => arcsin(input)
acos(input) => arccos(input)
atan(input) => arctan(input)
atan2(input, other) => arctan2(input, other)
asinh(input) => arcsinh(input)
acosh(input) => arccosh(input)
atanh(input) => arctanh(input)
eq(input, other) => input == other
ne(input, other) => input != other
gt(input, other) => input > other
ge(input, other) => input >= other
lt(input, other) => input < other
le(input, other) => input <= other
greater(input, other) => input > other
greater_equal(input, other) => input >= other
less(input, other) => input < other
less_equal(input, other) => input <= other
not_equal(input, other) => input != other
bitwise_and(input, other) => input & other
bitwise_or(input, other) => input | other
bitwise_xor(input, other) => input ^ other
mm(input, mat2) => input @ mat2
bmm(input, mat2) => input @ mat2
mv(input, vec) => input @ vec
ger(input, vec2) => outer(input, vec2)
addmv(input, mat, vec, *, beta=1, alpha=1) => scaled(input, beta) + alpha * (mat @ vec)
addbmm(input, batch1, batch2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * (batch1 @ batch2).sum(0)
addr(input, vec1, vec2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * outer(vec1, vec2)
addmm(input, mat1, mat2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * (mat1 @ mat2)
baddbmm(input, batch1, batch2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * (batch1 @ batch2)
addcmul(input, tensor1, tensor2, *, value=1) => input + value * (tensor1 * tensor2)
addcdiv(input, tensor1, tensor2, *, value=1) => input + value * (tensor1 / tensor2)
lerp(input, end, weight) => input + weight * (end - input)
inverse(input) => linalg.inv(input)
det(input) => linalg.det(input)
slogdet(input) => linalg.slogdet(input)
matrix_power(input, n) => linalg.matrix_power(input, n)
equal(input, other) => bool(input.shape == other.shape and (input == other).all())
pow_(self, exponent) => self.power_(exponent)
sub_(self, other, *, alpha=1) => self.sub_(alpha * other)
add_(self, other, *, alpha=1) => self.add_(alpha * other)
addcmul_(self, tensor1, tensor2, *, value=1) => self.add_(value * (tensor1 * tensor2))
addcdiv_(self, tensor1, tensor2, *, value=1) => self.add_(value * (tensor1 / tensor2))
lerp_(self, end, weight) => write(self, self + weight * (end - self))
clamp_min_(self, min) => self.clip_(min)
clamp_max_(self, max) => self.clip_(None, max)
clamp_(self, min=None, max=None) => self.clip_(min, max)
masked_fill_(self, mask, value) => write(self, self.masked_fill(mask, value))
scatter_add_(self, dim, index, src) => write(self, scatter_add(self, dim, index, src))
index_fill_(self, dim, index, value) => write(self, index_fill(self, dim, index, value))
scatter_(self, dim, index, src) => write(self, scatter(self, dim, index, src))
scatter_(self, dim, index, value) => write(self, scatter(self, dim, index, value))
sigmoid_(self) => write(self, sigmoid(self))
relu_(self) => write(self, relu(self))
erfinv_(self) => write(self, erfinv(self))
zero_(self) => write(self, 0)
fill_(self, value) => write(self, value)
copy_(self, src, non_blocking=False) => write(self, src)
normal_(self, mean=0, std=1) => write(self, random.normal(mean, std, self.shape))
uniform_(self, from_=0, to=1) => write(self, random.uniform(from_, to, self.shape))
float(self) => self.astype(float32)
double(self) => self.astype(float64)
half(self) => self.astype(float16)
long(self) => self.astype(int64)
int(self) => self.astype(int32)
short(self) => self.astype(int16)
bool(self) => self.astype(bool_)
type(self, dtype) => self.astype(dtype)
type_as(self, other) => self.astype(other.dtype)
to(self, *target, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None) => converted(self, target, dtype, device, copy)
cpu(self) => self
astype(self, dtype, copy=True) => self.astype(dtype)  # N
cuda(self, device=None) => refuse_gpu(device)
gpu(self) => refuse_gpu("gpu")  # 2
zero(self) => write(self, 0)  # 2
is_floating_point(input) => input.dtype.kind == "f"
is_tensor(obj) => isinstance(obj, Tensor)
is_contiguous(self) => bool(self.data.flags.c_contiguous)
new_zeros(self, *size, dtype=None, requires_grad=False, device="cpu") => zeros(*size, dtype=dtype or self.dtype, requires_grad=requires_grad, device=device)
new_ones(self, *size, dtype=None, requires_grad=False, device="cpu") => ones(*size, dtype=dtype or self.dtype, requires_grad=requires_grad, device=device)
new_full(self, size, fill_value, dtype=None, requires_grad=False, device="cpu") => full(size, fill_value, dtype=dtype or self.dtype, requires_grad=requires_grad, device=device)
new_empty(self, *size, dtype=None, requires_grad=False, device="cpu") => empty(*size, dtype=dtype or self.dtype, requires_grad=requires_grad, device=device)
new_tensor(self, data, dtype=None, requires_grad=False, device="cpu") => tensor(data, requires_grad, dtype or self.dtype, device)
as_tensor(data, dtype=None, device=None) => as_tensor(data, dtype, device)
asarray(obj, dtype=None, device=None) => as_tensor(obj, dtype, device)
from_numpy(ndarray) => as_tensor(ndarray, None, None)
FloatTensor(*data) => typed(data, float32)
LongTensor(*data) => typed(data, int64)
DoubleTensor(*data) => typed(data, float64)
IntTensor(*data) => typed(data, int32)
BoolTensor(*data) => typed(data, bool_)
unsqueeze(input, dim) => input.expand_dims(dim)
zeros(size, *, dtype=None, requires_grad=False, device="cpu") => zeros(size, dtype=dtype, requires_grad=requires_grad, device=device)
ones(*, size, **options) => ones(size, **options)
empty(*, size, **options) => empty(size, **options)
rand(*, size, **options) => rand(size, **options)
randn(*, size, **options) => randn(size, **options)
arange(*, end, step=1, dtype=None, device="cpu") => arange(0, end, step, dtype=dtype, device=device)
full(size, fill_value, *, dtype=None, requires_grad=False, device="cpu") => full(size, fill_value, dtype=dtype, requires_grad=requires_grad, device=device)
_assert(condition, message) => checked(condition, message)
manual_seed(seed) => random.seed(seed)
randperm(n) => random.permutation(n)
rand_like(input, *, dtype=None, requires_grad=False, device="cpu") => rand(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad, device=device)
randn_like(input, *, dtype=None, requires_grad=False, device="cpu") => randn(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad, device=device)
normal(mean=0.0, std=1.0, size=None) => random.normal(mean, std, size, getattr(mean, "dtype", getattr(std, "dtype", None)))
nonzero(input, *, as_tuple=False) => input.nonzero() if as_tuple else input.argwhere()
Size(shape) => tuple(shape)
bernoulli(input) => random.bernoulli(input)
device(type, index=None) => device(type, index)
finfo(type) => np.finfo(type)
iinfo(type) => np.iinfo(type)
inference_mode(mode=True) => set_grad_enabled(not mode)
compile(model, **options) => model
load(f, map_location=None, *, weights_only=True) => loaded(f, map_location)
to_tensor(a, requires_grad=False, keep_grad=False, dtype=None, device="cpu") => tensor(a, requires_grad, dtype, device)  # 2
cube(input) => input ** 3  # 2
grad_enabled() => is_grad_enabled()  # 2
char(self) => self.astype(int8)  # 2
is_cpu(self) => True  # 2
is_gpu(self) => False  # 2
"""
