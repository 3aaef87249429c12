"""PyTorch's functions that are one expression in minigrad's names: a line each.

On the left is the call with PyTorch's names, order and defaults; on the right what it computes,
with minigrad's functions, those of `minigrad.torch.helpers`, and ``linalg``. A function whose first
argument is `input` is a method of tensors too; `self` is a method only. A function whose answer
depends on its arguments is in `minigrad.torch.functions`, written out.
"""

ELEMENTWISE = """
abs absolute=abs digamma lgamma arccos acos=arccos arccosh acosh=arccosh arcsin asin=arcsin arcsinh asinh=arcsinh
arctan atan=arctan arctanh atanh=arctanh bitwise_not=invert ceil cos cosh deg2rad erf erfc erfinv exp
exp2 expm1 fix=trunc floor isfinite isinf isnan log log10 log1p log2 logical_not negative neg=negative
rad2deg reciprocal relu rsqrt sgn=sign sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc
"""
"""Functions of one tensor: ``theirs=ours`` where the names differ."""

BINARY = """
arctan2 atan2=arctan2 bitwise_and bitwise_left_shift=left_shift bitwise_or
bitwise_right_shift=right_shift bitwise_xor copysign eq=equal not_equal ne=not_equal greater gt=greater
greater_equal ge=greater_equal less lt=less less_equal le=less_equal floor_divide fmax fmin fmod hypot
logaddexp logical_and logical_or logical_xor matmul maximum minimum mul=multiply multiply nextafter
remainder true_divide=divide xlogy kron inner
"""
"""Functions of `input` and `other`, which broadcast."""

LINES = """
add(input, other, *, alpha=1) => input + (other if alpha == 1 else alpha * other)
addbmm(input, batch1, batch2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * sum(matmul(batch1, batch2), 0)
addcdiv(input, tensor1, tensor2, *, value=1) => input + value * (tensor1 / tensor2)
addcmul(input, tensor1, tensor2, *, value=1) => input + value * (tensor1 * tensor2)
addmm(input, mat1, mat2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * matmul(mat1, mat2)
addmv(input, mat, vec, *, beta=1, alpha=1) => scaled(input, beta) + alpha * matmul(mat, vec)
addr(input, vec1, vec2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * outer(vec1, vec2)
adjoint(input) => swapaxes(input, -1, -2)
all(input, dim=None, keepdim=False) => all(input, axes(dim), keepdim)
allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) => bool(allclose(input, other, rtol, atol, equal_nan))
amax(input, dim=(), keepdim=False) => max(input, axes(dim), keepdim)
amin(input, dim=(), keepdim=False) => min(input, axes(dim), keepdim)
aminmax(input, *, dim=None, keepdim=False) => Extremes(min(input, dim, keepdim), max(input, dim, keepdim))
any(input, dim=None, keepdim=False) => any(input, axes(dim), keepdim)
are_deterministic_algorithms_enabled() => False
argmax(input, dim=None, keepdim=False) => argmax(input, dim, keepdim)
argmin(input, dim=None, keepdim=False) => argmin(input, dim, keepdim)
argsort(input, dim=-1, descending=False, stable=False) => argsort(input, dim, descending)
argwhere(input) => argwhere(input)
atleast_1d(*tensors) => atleast_1d(*several(tensors))
atleast_2d(*tensors) => atleast_2d(*several(tensors))
atleast_3d(*tensors) => atleast_3d(*several(tensors))
baddbmm(input, batch1, batch2, *, beta=1, alpha=1) => scaled(input, beta) + alpha * matmul(batch1, batch2)
bartlett_window(window_length, periodic=True, **options) => 1 - abs(arange(float(window_length)) * (2 / (window_length - (not periodic))) - 1)
bincount(input, weights=None, minlength=0) => bincount(input, weights, minlength)
blackman_window(window_length, periodic=True, **options) => cosines(window_length, periodic, 0.42, 0.5, 0.08)
block_diag(*tensors) => block_diagonal(tensors)
bmm(input, mat2) => matmul(of_axes(input, 3, "bmm"), of_axes(mat2, 3, "bmm"))
broadcast_shapes(*shapes) => Shape(np.broadcast_shapes(*shapes))
broadcast_tensors(*tensors) => tuple(broadcast_arrays(*tensors))
broadcast_to(input, size) => broadcast_to(input, size)
bucketize(input, boundaries, *, out_int32=False, right=False) => integers(searchsorted(boundaries, input, "right" if right else "left"), out_int32)
cartesian_prod(*tensors) => stack([ravel(x) for x in meshgrid(*tensors, indexing="ij")], -1) if len(tensors) > 1 else tensors[0]
cat(tensors, dim=0) => joined(tensors, dim)
cdist(x1, x2, p=2.0, compute_mode=None) => cdist(x1, x2, p)
chain_matmul(*matrices) => linalg.multi_dot(matrices)
cholesky(input, upper=False) => linalg.cholesky(input, upper=upper)
cholesky_inverse(L, upper=False) => linalg.inv(matmul(swapaxes(L, -1, -2), L) if upper else matmul(L, swapaxes(L, -1, -2)))
cholesky_solve(B, L, upper=False) => linalg.solve(matmul(swapaxes(L, -1, -2), L) if upper else matmul(L, swapaxes(L, -1, -2)), B)
chunk(input, chunks, dim=0) => chunks_of(input, chunks, dim)
clamp(input, min=None, max=None) => clip(input, min, max)
clamp_max(input, max) => clip(input, None, max)
clamp_min(input, min) => clip(input, min)
clip(input, min=None, max=None) => clip(input, min, max)
clone(input, *, memory_format=None) => clone(input)
column_stack(tensors) => column_stack(tensors)
combinations(input, r=2, with_replacement=False) => take(input, chosen(len(input), r, with_replacement))
complex(real, imag) => refused("complex", "there are no complex numbers")
concat(tensors, dim=0) => joined(tensors, dim)
concatenate(tensors, dim=0) => joined(tensors, dim)
contiguous(self, memory_format=None) => self
corrcoef(input) => correlation(input)
count_nonzero(input, dim=None) => count_nonzero(input, axes(dim))
cov(input, *, correction=1) => covariance(input, correction)
cummax(input, dim) => cummax(input, dim)
cummin(input, dim) => cummin(input, dim)
cumprod(input, dim, *, dtype=None) => running(cumprod, input, dim, dtype)
cumsum(input, dim, *, dtype=None) => running(cumsum, input, dim, dtype)
cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1) => cumsum(trapezoids(y, x, dx, dim), dim)
data_ptr(self) => self._data.ctypes.data
det(input) => linalg.det(input)
diag(input, diagonal=0) => diag(input, diagonal)
diag_embed(input, offset=0, dim1=-2, dim2=-1) => diag_embed(input, offset, dim1, dim2)
diagflat(input, offset=0) => diag(ravel(input), offset)
diagonal(input, offset=0, dim1=0, dim2=1) => diagonal(input, offset, dim1, dim2)
diff(input, n=1, dim=-1, prepend=None, append=None) => diff(input, n, dim, prepend, append)
dist(input, other, p=2) => norm(input - other, p)
div(input, other, *, rounding_mode=None) => quotient(input, other, rounding_mode)
divide(input, other, *, rounding_mode=None) => quotient(input, other, rounding_mode)
dot(input, tensor) => dot(of_axes(input, 1, "dot"), of_axes(tensor, 1, "dot"))
dsplit(input, indices_or_sections) => tuple(dsplit(input, indices_or_sections))
dstack(tensors) => dstack(tensors)
einsum(equation, *operands) => einsum(equation, *(operands[0] if isinstance(operands[0], (list, tuple)) else operands))
element_size(self) => self.dtype.itemsize
equal(input, other) => bool(input.shape == other.shape and all(equal(input, other)).item())
expand_as(self, other) => broadcast_to(self, other.shape)
flatten(input, start_dim=0, end_dim=-1) => flatten(input, start_dim, end_dim)
fliplr(input) => fliplr(input)
flipud(input) => flipud(input)
float_power(input, exponent) => power(astype(input, "float64"), exponent)
frac(input) => input - trunc(input)
frexp(input) => of_numpy("frexp", input)
from_dlpack(ext_tensor) => from_dlpack(ext_tensor)
gather(input, dim, index, *, sparse_grad=False) => gather(input, dim, index)
gcd(input, other) => of_numpy("gcd", input, other)
ger(input, vec2) => outer(input, vec2)
get_default_device() => Device("cpu")
get_deterministic_debug_mode() => 0
get_device(input) => -1
get_float32_matmul_precision() => "highest"
get_num_interop_threads() => 1
hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **options) => cosines(window_length, periodic, alpha, beta)
hann_window(window_length, periodic=True, **options) => cosines(window_length, periodic, 0.5, 0.5)
heaviside(input, values) => of_numpy("heaviside", input, values)
histc(input, bins=100, min=0, max=0) => histogram_of(input, bins, min, max)
hsplit(input, indices_or_sections) => tuple(hsplit(input, indices_or_sections))
hstack(tensors) => hstack(tensors)
index_add(input, dim, index, source, *, alpha=1) => index_add(input, dim, index, source, alpha=alpha)
index_copy(input, dim, index, source) => put_at(input, dim, index, source)
index_fill(input, dim, index, value) => index_fill(input, dim, index, value)
index_put(input, indices, values, accumulate=False) => put_over(input, tuple(indices), values, accumulate)
index_select(input, dim, index) => take(input, index, dim)
inverse(input) => linalg.inv(input)
is_anomaly_enabled() => False
is_autocast_enabled(device_type=None) => False
is_complex(input) => False
is_conj(input) => False
is_contiguous(self, memory_format=None) => bool(self._data.flags.c_contiguous)
is_deterministic_algorithms_warn_only_enabled() => False
is_floating_point(input) => input.dtype.kind == "f"
is_inference(input) => False
is_inference_mode_enabled() => False
is_neg(input) => False
is_nonzero(input) => bool(input)
is_same_size(input, other) => input.shape == other.shape
is_signed(input) => input.dtype.kind in "fi"
is_storage(obj) => False
is_warn_always_enabled() => False
isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) => isclose(input, other, rtol, atol, equal_nan)
isin(elements, test_elements, *, assume_unique=False, invert=False) => isin(elements, test_elements, invert=invert)
isneginf(input) => equal(input, -float("inf"))
isposinf(input) => equal(input, float("inf"))
isreal(input) => ones_like(input, dtype="bool")
lcm(input, other) => of_numpy("lcm", input, other)
ldexp(input, other) => input * exp2(other)
lerp(input, end, weight) => input + weight * (end - input)
log_softmax(input, dim, dtype=None) => log_softmax(as_dtype(input, dtype), dim)
logaddexp2(input, other) => logaddexp(input * 0.6931471805599453, other * 0.6931471805599453) / 0.6931471805599453
logcumsumexp(input, dim) => logcumsumexp(input, dim)
logdet(input) => log(linalg.det(input))
logit(input, eps=None) => logit(input, eps)
logsumexp(input, dim, keepdim=False) => logsumexp(input, axes(dim), keepdim)
masked_fill(input, mask, value) => masked_fill(input, mask, value)
masked_scatter(input, mask, source) => scattered(input, mask, source)
masked_select(input, mask) => masked_select(input, mask)
matrix_power(input, n) => linalg.matrix_power(input, n)
matrix_rank(input, tol=None, symmetric=False) => linalg.matrix_rank(input, tol)
mean(input, dim=None, keepdim=False, *, dtype=None) => mean(of_floats(input, dtype), axes(dim), keepdim, dtype=dtype)
mm(input, mat2) => matmul(of_axes(input, 2, "mm"), of_axes(mat2, 2, "mm"))
moveaxis(input, source, destination) => moveaxis(input, source, destination)
movedim(input, source, destination) => moveaxis(input, source, destination)
msort(input) => sort(input, 0)
multinomial(input, num_samples, replacement=False) => multinomial(input, num_samples, replacement)
mv(input, vec) => matmul(of_axes(input, 2, "mv"), of_axes(vec, 1, "mv"))
mvlgamma(input, p) => sum(stack([lgamma(input - i / 2) for i in range(p)]), 0) + p * (p - 1) * 0.2861824714623500
nan_to_num(input, nan=0.0, posinf=None, neginf=None) => nan_to_num(input, nan=nan or 0.0, posinf=posinf, neginf=neginf)
nanmean(input, dim=None, keepdim=False, *, dtype=None) => nanmean(input, axes(dim), keepdim, dtype=dtype)
nansum(input, dim=None, keepdim=False, *, dtype=None) => nansum(input, axes(dim), keepdim, dtype=dtype)
narrow(input, dim, start, length) => part(input, dim, slice(start, start + length))
ndimension(self) => self.ndim
nelement(self) => self._data.size
numel(input) => input._data.size
outer(input, vec2) => outer(of_axes(input, 1, "outer"), of_axes(vec2, 1, "outer"))
pdist(input, p=2) => getitem(cdist(input, input, p), pairs_of(len(input)))
pinverse(input, rcond=1e-15) => linalg.pinv(input, rcond)
polygamma(n, input) => polygamma(n, input)
positive(input) => input
pow(input, exponent) => power(input, exponent)
promote_types(type1, type2) => promoted(type1, type2)
put(input, index, source, accumulate=False) => reshape(put_over(ravel(input), (index,), source, accumulate), input.shape)
qr(input, some=True) => linalg.qr(input, "reduced" if some else "complete")
quantile(input, q, dim=None, keepdim=False, *, interpolation="linear") => quantile(input, q, dim, keepdim, interpolation)
ravel(input) => ravel(input)
renorm(input, p, dim, maxnorm) => renormed(input, p, dim, maxnorm)
repeat_interleave(input, repeats, dim=None) => repeat(input, repeats, dim)
reshape_as(self, other) => reshape(self, other.shape)
resolve_conj(input) => input
result_type(tensor1, tensor2) => (tensor1 + tensor2).dtype
roll(input, shifts, dims=None) => roll(input, shifts, dims)
rot90(input, k=1, dims=(0, 1)) => rot90(input, k, dims)
round(input, *, decimals=0) => round(input, decimals)
row_stack(tensors) => vstack(tensors)
rsub(input, other, *, alpha=1) => other - alpha * input
scatter_add(input, dim, index, src) => scatter_add(input, dim, index, src)
scatter_reduce(input, dim, index, src, reduce, *, include_self=True) => scatter_reduce(input, dim, index, src, reduce, include_self=include_self)
searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None) => integers(searchsorted(sorted_sequence, input, side or ("right" if right else "left"), sorter), out_int32)
select(input, dim, index) => part(input, dim, index)
select_scatter(input, src, dim, index) => put_at(input, dim, index, src)
set_default_device(device) => on_cpu(str(getattr(device, "type", device)))
set_deterministic_debug_mode(debug_mode) => None
set_float32_matmul_precision(precision) => None
set_flush_denormal(mode) => False
set_num_interop_threads(num) => None
set_printoptions(*args, **options) => None
set_warn_always(b) => None
slice_scatter(input, src, dim=0, start=None, end=None, step=1) => put_at(input, dim, slice(start, end, step), src)
slogdet(input) => linalg.slogdet(input)
softmax(input, dim, dtype=None) => softmax(as_dtype(input, dtype), dim)
split_with_sizes(input, split_sizes, dim=0) => tuple(split(input, [*running_sums(split_sizes)][:-1], dim))
stack(tensors, dim=0) => stack(tensors, dim)
std_mean(input, dim=None, unbiased=True, keepdim=False, *, correction=None) => (deviation(std, input, dim, unbiased, keepdim, correction), mean(input, None if isinstance(dim, bool) else axes(dim), keepdim))
sub(input, other, *, alpha=1) => input - (other if alpha == 1 else alpha * other)
subtract(input, other, *, alpha=1) => input - (other if alpha == 1 else alpha * other)
sum_to_size(self, *size) => summed_to(self, size)
svd(input, some=True, compute_uv=True) => flipped_svd(linalg.svd(input, not some))
swapaxes(input, axis0, axis1) => swapaxes(input, axis0, axis1)
swapdims(input, dim0, dim1) => swapaxes(input, dim0, dim1)
t(input) => transposed(input)
take(input, index) => take(ravel(input), index)
take_along_dim(input, indices, dim=None) => take_along_axis(input, indices, dim) if dim is not None else take(ravel(input), ravel(indices))
tensor_split(input, indices_or_sections, dim=0) => tuple(array_split(input, indices_or_sections, dim))
tensordot(a, b, dims=2) => tensordot(a, b, dims)
trace(input) => trace(input)
transpose(input, dim0, dim1) => swapaxes(input, dim0, dim1)
trapezoid(y, x=None, *, dx=1.0, dim=-1) => sum(trapezoids(y, x, dx, dim), dim)
trapz(y, x=None, *, dx=1.0, dim=-1) => sum(trapezoids(y, x, dx, dim), dim)
tril(input, diagonal=0) => tril(input, diagonal)
triu(input, diagonal=0) => triu(input, diagonal)
type_as(self, other) => astype(self, other.dtype)
typename(obj) => obj.type() if isinstance(obj, Tensor) else type(obj).__name__
unbind(input, dim=0) => tuple(unbind(input, dim))
unfold(self, dimension, size, step) => unfold(self, dimension, size, step)
unravel_index(indices, shape) => unravelled(indices, shape)
unsqueeze(input, dim) => expand_dims(input, dim)
use_deterministic_algorithms(mode, *, warn_only=False) => None
vander(x, N=None, increasing=False) => expand_dims(x, -1) ** arange(len(x) if N is None else N)[:: 1 if increasing else -1]
var_mean(input, dim=None, unbiased=True, keepdim=False, *, correction=None) => (deviation(var, input, dim, unbiased, keepdim, correction), mean(input, None if dim is True or dim is False else axes(dim), keepdim))
vdot(input, other) => vdot(input, other)
view_as(self, other) => reshape(self, other.shape)
vsplit(input, indices_or_sections) => tuple(vsplit(input, indices_or_sections))
vstack(tensors) => vstack(tensors)
"""

IN_PLACE = """
add addbmm addcdiv addcmul addmm addmv addr baddbmm clamp clamp_max clamp_min clip cumprod cumsum div divide fill
float_power frac gcd heaviside index_add index_copy index_fill index_put lcm ldexp lerp log_softmax logit masked_fill
masked_scatter mvlgamma nan_to_num pow put renorm round scatter scatter_add scatter_reduce sub subtract tril triu softmax where
"""
"""Functions with a method that writes: ``x.add_(y)``. Those of one and of two tensors are others."""

RESHAPING = "squeeze swapaxes swapdims t transpose unsqueeze"
"""Functions with a method that gives the tensor itself another shape: ``x.squeeze_()``."""

DTYPES = {
    "float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32",
    "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
}  # fmt: skip
"""Methods that convert, and the dtype."""
