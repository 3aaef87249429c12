"""What other libraries write, and what it is here: one line each.

On the left stands a call as they write it, on the right what it computes, in our names. A first
argument `input` can be the tensor of a method (``x.cat`` is none, ``x.permute`` is one); `self` is
a method only. A comment says whose spelling it is: 2 Lucid 2's, N NumPy's; without one it is
PyTorch's, and Lucid 3's, which spells as PyTorch does.

A name that stands here and is ours too is looked up only when a call does not fit ours:
``x.max(axis=1)`` is ours, ``x.max(dim=1)`` is the line ``max(input, dim, ...)``.
"""

from __future__ import annotations

__all__ = [
    "ABSENT", "ARGUMENTS", "ATTRIBUTES", "FUNCTIONS", "KEYWORDS", "MODULES", "NAMES", "REMEDIES",
    "UNUSED",
]  # fmt: skip

KEYWORDS = {
    "dim": "axis", "dims": "axis", "keepdim": "keepdims", "start_dim": "start_axis",
    "end_dim": "end_axis", "shifts": "shift", "diagonal": "k", "end": "stop", "steps": "num",
    "size": "shape", "index": "indices", "memory_mask": "mem_mask",
    "memory_key_padding_mask": "mem_key_padding_mask", "memory_is_causal": "mem_is_causal",
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

UNUSED = {"enable_nested_tensor", "mask_check", "foreach", "fused", "capturable"}
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
}
"""Keywords of one class or its forward, theirs to ours."""

MODULES = {
    "minigrad": {
        "utils": "answers.utils", "concat": "concatenate", "autocast": "answers.autocast",
        "jit": "answers.jit",
    },
    "nn": {"Hardswish": "nn.HardSwish", "Hardsigmoid": "nn.HardSigmoid"},
    "nn.functional": {
        "sigmoid": "sigmoid", "tanh": "tanh",
    },
    "nn.init": {
        f"{name}_": f"nn.init.{name}"
        for name in (
            "uniform", "normal", "constant", "zeros", "ones", "xavier_uniform", "xavier_normal",
            "kaiming_uniform", "kaiming_normal", "trunc_normal", "orthogonal",
        )
    },
    "nn.utils": {
        "clip_grad_norm_": "answers.clip_grad_norm_",
        "clip_grad_value_": "nn.utils.clip_grad_value",
    },
    "autograd": {"set_detect_anomaly": "answers.set_detect_anomaly"},
}  # fmt: skip
"""Names of a module, theirs to ours."""

_ONE_RESULT = (
    "max, min, median and sort give values and indices if they are called with dim=, "
    "and the values alone with axis= or by position"
)

ABSENT = {
    **dict.fromkeys(["values", "indices"], _ONE_RESULT),
    "bfloat16": "the floats are float16, float32 and float64",
    **dict.fromkeys(["cfloat", "complex64", "complex128", "fft"], "there are no complex numbers"),
    **dict.fromkeys(["sparse", "sparse_coo_tensor"], "tensors are dense"),
    **dict.fromkeys(["Conv3d", "MaxPool3d", "AvgPool3d", "BatchNorm3d"], "no layer has three axes"),
    "visual": "viz.graph draws", "mlx": "there is no GPU",
    "vmap": "write the function for a batch, or stack its results",
    "func": "the transformations are in autograd.functional: grad, vjp, jvp, jacobian, hessian",
    "special": "its functions stand in minigrad itself",
    "Generator": "random.seed seeds the one generator; a loader takes generator=",
    "H": "there are no complex numbers; .mT swaps the last two axes",
    "storage": ".data is the array", "stride": ".data.strides is NumPy's, in bytes",
    "as_strided": "a slice is a view", "quantization": "there is no quantization",
    **dict.fromkeys(["CTCLoss", "ctc_loss"], "there is no CTC"),
    **dict.fromkeys(["LazyLinear", "LazyConv1d", "LazyConv2d"], "name the size of the input"),
    "amp": "there is no automatic mixed precision",
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
concat(tensors, dim=0) => concatenate(tensors, dim)
permute(input, *axes, dims=()) => input.transpose(*axes, *dims)
view(self, *shape) => view(self, shape)
view_as(self, other) => self.reshape(other.shape)
reshape_as(self, other) => self.reshape(other.shape)
t(input) => t(input)
swapdims(input, dim0, dim1) => input.swapaxes(dim0, dim1)
transpose(input, dim0, dim1) => input.swapaxes(dim0, dim1)
movedim(input, source, destination) => input.moveaxis(source, destination)
contiguous(self, memory_format=None) => self
unflatten(input, dim, sizes) => unflatten(input, dim, sizes)
expand_as(self, other) => self.broadcast_to(other.shape)
repeat_interleave(input, repeats, dim=None) => input.repeat(repeats, dim)
narrow(input, dim, start, length) => part(input, dim, slice(start, start + length))
select(input, dim, index) => part(input, dim, index)
split(input, split_size_or_sections, dim) => split(input, split_size_or_sections, dim)
flip(input, dims) => input.flip(tuple_of(dims))
flip(input, *dims) => input.flip(dims)
tile(input, *dims) => input.tile(dims)
tensordot(a, b, dims=2) => tensordot(a, b, dims)
index_select(input, dim, index) => input.take(index, dim)
index_fill(input, dim, index, value) => index_fill(input, dim, index, value)
index_add_(self, dim, index, source, *, alpha=1) => write(self, index_add(self, dim, index, source * alpha))
take_along_dim(input, indices, dim=None) => input.take_along_axis(indices, dim)
dim(self) => self.ndim
ndimension(self) => self.ndim
numel(input) => input.data.size
nelement(self) => self.data.size
element_size(self) => self.dtype.itemsize
amax(input, dim=None, keepdim=False) => input.max(tuple_of(dim), keepdim)
amin(input, dim=None, keepdim=False) => input.min(tuple_of(dim), keepdim)
max(input, dim, keepdim=False) => ValuesAndIndices(input.max(dim, keepdim), input.argmax(dim, keepdim))
max(input, other) => maximum(input, other)
min(input, dim, keepdim=False) => ValuesAndIndices(input.min(dim, keepdim), input.argmin(dim, keepdim))
min(input, other) => minimum(input, other)
median(input, dim, keepdim=False) => lower_median(input, dim, keepdim)
sort(input, dim, descending=False, stable=False) => ValuesAndIndices(input.sort(dim, descending), input.argsort(dim, descending))
std(input, dim=None, unbiased=True, keepdim=False, correction=None) => input.std(dim, ddof(unbiased, correction), keepdim)
var(input, dim=None, unbiased=True, keepdim=False, correction=None) => input.var(dim, ddof(unbiased, correction), keepdim)
var_mean(input, dim=None, unbiased=True, keepdim=False, correction=None) => (input.var(dim, ddof(unbiased, correction), keepdim), input.mean(dim, keepdim))
std_mean(input, dim=None, unbiased=True, keepdim=False, correction=None) => (input.std(dim, ddof(unbiased, correction), keepdim), input.mean(dim, keepdim))
norm(input, p=2, dim=None, keepdim=False) => vector_norm(input, p, dim, keepdim)
clamp(input, min=None, max=None) => input.clip(min, max)
clip(input, min=None, max=None) => input.clip(min, max)
clip(input, min_value=None, max_value=None) => input.clip(min_value, max_value)  # 2
clamp_min(input, min) => input.clip(min)
clamp_max(input, max) => input.clip(None, max)
add(input, other, *, alpha=1) => input + alpha * other
sub(input, other, *, alpha=1) => input - alpha * other
subtract(input, other, *, alpha=1) => input - alpha * other
mul(input, other) => input * other
div(input, other, *, rounding_mode=None) => div(input, other, rounding_mode)
divide(input, other, *, rounding_mode=None) => div(input, other, rounding_mode)
true_divide(input, other) => input / other
pow(input, exponent) => power(input, exponent)
neg(input) => -input
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
mm(input, mat2) => input @ mat2
bmm(input, mat2) => input @ mat2
mv(input, vec) => input @ vec
addmm(input, mat1, mat2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * (mat1 @ mat2)
baddbmm(input, batch1, batch2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * (batch1 @ batch2)
addcmul(input, tensor1, tensor2, *, value=1) => input + value * (tensor1 * tensor2)
addcdiv(input, tensor1, tensor2, *, value=1) => input + value * (tensor1 / tensor2)
lerp(input, end, weight) => input + weight * (end - input)
diagonal(input, offset=0, dim1=0, dim2=1) => input.diagonal(offset, dim1, dim2)
equal(input, other) => bool(input.shape == other.shape and (input == other).all())
sub_(self, other, *, alpha=1) => self.sub_(alpha * other)
add_(self, other, *, alpha=1) => self.add_(alpha * other)
addcmul_(self, tensor1, tensor2, *, value=1) => self.add_(value * (tensor1 * tensor2))
addcdiv_(self, tensor1, tensor2, *, value=1) => self.add_(value * (tensor1 / tensor2))
lerp_(self, end, weight) => write(self, self + weight * (end - self))
clamp_(self, min=None, max=None) => self.clip_(min, max)
masked_fill_(self, mask, value) => write(self, self.masked_fill(mask, value))
scatter_add_(self, dim, index, src) => write(self, scatter_add(self, dim, index, src))
scatter_(self, dim, index, src) => write(self, scatter(self, dim, index, src))
sigmoid_(self) => write(self, sigmoid(self))
relu_(self) => write(self, relu(self))
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
to(self, *target, dtype=None, device=None, non_blocking=False, copy=False) => converted(self, target, dtype, device, copy)
cpu(self) => self
astype(self, dtype, copy=True) => self.astype(dtype)  # N
cuda(self, device=None) => refuse_gpu(device)
gpu(self) => refuse_gpu("gpu")  # 2
zero(self) => write(self, 0)  # 2
is_floating_point(input) => input.dtype.kind == "f"
is_tensor(obj) => isinstance(obj, Tensor)
is_contiguous(self) => bool(self.data.flags.c_contiguous)
new_zeros(self, *size, dtype=None, requires_grad=False) => zeros(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)
new_ones(self, *size, dtype=None, requires_grad=False) => ones(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)
new_full(self, size, fill_value, dtype=None) => full(size, fill_value, dtype=dtype or self.dtype)
new_tensor(self, data, dtype=None) => tensor(data, dtype=dtype or self.dtype)
as_tensor(data, dtype=None, device=None) => as_tensor(data, dtype, device)
from_numpy(ndarray) => as_tensor(ndarray, None, None)
FloatTensor(data) => tensor(data, dtype=float32)
LongTensor(data) => tensor(data, dtype=int64)
DoubleTensor(data) => tensor(data, dtype=float64)
IntTensor(data) => tensor(data, dtype=int32)
BoolTensor(data) => tensor(data, dtype=bool_)
unsqueeze(input, dim) => input.expand_dims(dim)
zeros(size, *, dtype=None, requires_grad=False, device="cpu") => zeros(size, dtype=dtype, requires_grad=requires_grad, device=device)
full(size, fill_value, *, dtype=None, requires_grad=False, device="cpu") => full(size, fill_value, dtype=dtype, requires_grad=requires_grad, device=device)
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
