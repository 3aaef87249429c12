"""Types that write_torch_types.py cannot see in signatures: by name, or depending on values."""

from __future__ import annotations

import re

DOOR = "minigrad.torch"
TENSOR, NN = f"{DOOR}.tensor", f"{DOOR}.nn"

PARAMETERS = """
_AnyTensor: A B a anchor attn_mask b batch1 batch2 bias condition elements grid input input1 input2
_AnyTensor: key logits mask mat mat1 mat2 negative offsets per_sample_weights pos_weight positive
_AnyTensor: query running_mean running_var self sorted_sequence src target tensor tensor1 tensor2
_AnyTensor: test_elements theta vec vec1 vec2 weights x x1 x2 y
_AnyTensor | float: end exponent fill_value max min other q start value weight
_AnyTensor | int: index
_AnyTensor | Sequence[_AnyTensor]: backward.tensors inputs outputs
_AnyTensor | Iterable[_AnyTensor]: parameters
_AnyTensor | Sequence[_AnyTensor | None]: grad_outputs grad_tensors
Sequence[_AnyTensor]: arrays operands sequences tensors
Any: to.target
DTypeLike: dtype
bool: keepdim requires_grad
float: alpha beta eps margin max_norm max_val min_val norm_type p tau threshold val
int: axis0 axis1 bins chunks diagonal dim dim0 dim1 dimension k length n num_classes num_groups
int: num_samples padding_idx step upscale_factor
int | Sequence[int]: axes dilation dims kernel_size normalized_shape output_padding pad padding
int | Sequence[int]: repeats shape shifts size sizes split_size split_size_or_sections stride
int | Sequence[int | None]: output_size
str: equation mode reduce reduction rounding_mode side
str | device: device
"""
"""The type of a parameter, by its name or ``function.name``; to a default None, None is added."""

RESULTS = """
bool: is_tensor
int: data_ptr
np.dtype[Any]: promote_types result_type
Tensor: BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
Tensor: ShortTensor Variable bartlett_window
Tensor | None: Tensor.grad
tuple[Tensor, Tensor]: frexp
tuple[Tensor, Tensor | None]: MultiheadAttention.forward
_QRResult: qr
tuple[Tensor, Tensor, Tensor]: svd
set_grad_enabled: inference_mode
Self: Module.to
Size: Tensor.shape
minigrad.autograd.hooks.Removable: register_hook
"""
"""The type of a result, by the name of the function, method or property."""

CHOSEN = ("max", "median", "min", "nanmedian")
"""Functions that give values and places along an axis, and one tensor without an axis."""

FLAGS = {
    "as_tuple": "tuple[Tensor, ...]",
    "return_counts": "tuple[Tensor, ...]",
    "return_indices": "tuple[Tensor, Tensor]",
    "return_inverse": "tuple[Tensor, ...]",
}
"""The result where such a parameter is True; else it is a tensor."""

SIGNATURES = {
    "DataLoader.__iter__": ["(self) -> Iterator[_T]"],
    "Tensor.size": ["(self, dim: None = None) -> Size", "(self, dim: int) -> int"],
    "Tensor.stride": ["(self, dim: None = None) -> tuple[int, ...]", "(self, dim: int) -> int"],
    "Tensor.type": ["(self, dtype: None = None) -> str", "(self, dtype: DTypeLike) -> Tensor"],
    "torch.compile": ["(model: None = None, **options: Any) -> Callable[[_T], _T]",
                      "(model: _T, **options: Any) -> _T"],
    "torch.where": ["(condition: _AnyTensor, input: None = None, other: None = None) "
                    "-> tuple[Tensor, ...]",
                    "(condition: _AnyTensor, input: _AnyTensor | float, "
                    "other: _AnyTensor | float) -> Tensor"],
}  # fmt: skip
"""The types that the signature of a function does not show."""

OPTIONS = """
class _To(TypedDict, total=False):
    dtype: DTypeLike | None
    device: str | None
    memory_format: Any
    non_blocking: bool
    copy: bool
class _Creation(TypedDict, total=False):
    dtype: DTypeLike | None
    device: str | None
    memory_format: Any
    requires_grad: bool
    layout: Any
    pin_memory: bool
    generator: Any
    out: Any"""
"""The ``**options`` of conversions, and of functions that create a tensor."""

GRAD_MODE = """
class {0}(minigrad.autograd.grad_mode.{0}):
    def __call__(self, func: _T) -> _T: ..."""
BARE = """
    @overload
    def __new__(cls, func: None = None) -> Self: ...
    @overload
    def __new__(cls, func: _T) -> _T: ..."""
EXTRA = {
    TENSOR: OPTIONS,
    f"{DOOR}.autograd": (GRAD_MODE + BARE).format("no_grad")
    + (GRAD_MODE + BARE).format("enable_grad")
    + GRAD_MODE.format("set_grad_enabled"),  # a function that they decorate keeps its type
}

WITH_WEIGHTS = re.compile(
    "(Lazy)?Linear|Bilinear|PReLU|(RNN|LSTM|GRU)(Cell)?|MultiheadAttention|Embedding(Bag)?"
    "|(Lazy)?Conv.*|Transformer.*|.*(Batch|Layer|Group|RMS)Norm.*"
)
"""The modules that take `device` and `dtype`."""

HEADER = """# Written by tools/write_torch_types.py: make torch-types.
# PyTorch's methods take and give other things than those of minigrad's own classes.
# mypy: disable-error-code="assignment, misc, name-defined, no-redef, overload-overlap, override"
"""
