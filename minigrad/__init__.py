"""minigrad: reverse-mode autograd on NumPy, to build, see and study compute graphs."""

import os as _os
import types as _types
import typing as _typing

if __name__ != "minigrad":
    raise ImportError("this folder is the package minigrad: write `import minigrad`")
if not _os.path.isdir(_os.path.join(__path__[0], "nn")):
    from minigrad.support import checkout as _checkout  # noqa: F401

from minigrad import autograd as autograd
from minigrad import interop as interop  # registers tensors with einops and einx
from minigrad import linalg as linalg
from minigrad import ops as ops
from minigrad import random as random
from minigrad.autograd import dtype_class as _dtypes
from minigrad.support.lazy_names import lazy_names as _lazy_names
from minigrad.support.memory import *
from minigrad.tensors.lucid2 import *
from minigrad.tensors.names import *
from minigrad.tensors.rows import SparseRows as SparseRows

__version__ = "0.5.0"

bool, float, int = _dtypes.bool_, _dtypes.float32, _dtypes.int32

# Imported on first use. Type checkers read the imports below instead of `__getattr__`.
_LATER = (
    "data", "debugging", "distributed", "distributions", "func", "io", "nn", "onnx", "optim",
    "pretrained", "special", "viz",
)  # fmt: skip
_LATER_FROM = {
    "Generator": "random", "capture": "compiler", "default_generator": "random",
    "detect_anomaly": "debugging", "load": "io", "save": "io", "vmap": "transforms.vectorization",
}  # fmt: skip

if _typing.TYPE_CHECKING:
    from minigrad import data as data
    from minigrad import debugging as debugging
    from minigrad import distributed as distributed
    from minigrad import distributions as distributions
    from minigrad import einops as einops
    from minigrad import func as func
    from minigrad import io as io
    from minigrad import nn as nn
    from minigrad import onnx as onnx
    from minigrad import optim as optim
    from minigrad import pretrained as pretrained
    from minigrad import special as special
    from minigrad import viz as viz
    from minigrad.compiler import capture as capture
    from minigrad.debugging import detect_anomaly as detect_anomaly
    from minigrad.io import load as load
    from minigrad.io import save as save
    from minigrad.random import Generator as Generator
    from minigrad.random import default_generator as default_generator
    from minigrad.transforms.vectorization import vmap as vmap
else:  # einops is not exported, as it needs a package
    __getattr__ = _lazy_names("minigrad", (*_LATER, "einops"), _LATER_FROM)


_eager = [
    name
    for name, value in globals().items()
    if not name.startswith("_") and not isinstance(value, _types.ModuleType)
    if name not in ("bool", "float", "int")  # `from minigrad import *` hides no builtin type
]
__all__ = sorted([*_eager, "autograd", "linalg", "ops", "random", *_LATER, *_LATER_FROM])


# They answer, and `dir` leaves them out: a thing is listed under one name.
_SECOND_NAMES = """
    absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh bool_ broadcast_arrays clip concat
    concatenate divide double fix ger grad_enabled greater greater_equal half invert
    is_conj is_inference is_neg left_shift less less_equal long moveaxis multiply negative not_equal
    real resolve_conj resolve_neg right_shift row_stack sgn short split_with_sizes subtract swapdims
    trapz Char Double Float Float16 Float32 Float64 Half Int Int16 Int32 Int64 Int8 Long Short
"""


def __dir__() -> list[str]:
    return [*sorted({*__all__} - {*_SECOND_NAMES.split()}), "__version__", "bool"]
