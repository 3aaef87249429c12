"""PyTorch's names for ops of one and of two tensors, and what is said of a tensor or of a setting.

Functions with other arguments are in `minigrad.tensors.functions`. In a line of `LINES`, the call
stands on the left, its value on the right. A function whose first argument is `input` is a method
of tensors too; `self` is a method only.
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
are_deterministic_algorithms_enabled() => False
broadcast_to(input, size) => broadcast_to(input, size)
complex(real, imag) => refused("complex", "there are no complex numbers")
contiguous(self, memory_format=None) => self
data_ptr(self) => self._data.ctypes.data
element_size(self) => self.dtype.itemsize
from_dlpack(ext_tensor) => from_dlpack(ext_tensor)
get_default_device() => Device("cpu")
get_deterministic_debug_mode() => 0
get_device(input) => -1
get_float32_matmul_precision() => "highest"
get_num_interop_threads() => 1
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
multinomial(input, num_samples, replacement=False) => multinomial(input, num_samples, replacement)
ndimension(self) => self.ndim
nelement(self) => self._data.size
numel(input) => input._data.size
promote_types(type1, type2) => promoted(type1, type2)
ravel(input) => ravel(input)
resolve_conj(input) => input
result_type(tensor1, tensor2) => (tensor1 + tensor2).dtype
set_default_device(device) => on_cpu(str(getattr(device, "type", device)))
set_deterministic_debug_mode(debug_mode) => None
set_float32_matmul_precision(precision) => None
set_flush_denormal(mode) => False
set_num_interop_threads(num) => None
set_printoptions(*args, **options) => None
set_warn_always(b) => None
type_as(self, other) => astype(self, other.dtype)
typename(obj) => obj.type() if isinstance(obj, Tensor) else type(obj).__name__
use_deterministic_algorithms(mode, *, warn_only=False) => None
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
