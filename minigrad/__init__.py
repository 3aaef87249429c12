"""minigrad: reverse-mode autograd on NumPy, to build, see and study compute graphs."""

import importlib as _importlib
import os as _os
import types as _types
import typing as _typing

from numpy import e as e
from numpy import finfo as finfo
from numpy import iinfo as iinfo
from numpy import inf as inf
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi

if __name__ != "minigrad":
    raise ImportError("this folder is the package minigrad: write `import minigrad`")
if not _os.path.isdir(_os.path.join(__path__[0], "nn")):
    _importlib.import_module("minigrad.support.checkout")

from minigrad import autograd as autograd
from minigrad import interop as interop  # registers tensors with einops and einx
from minigrad import linalg as linalg
from minigrad import ops as ops
from minigrad import random as random
from minigrad.autograd import dtype_class as _dtypes
from minigrad.autograd import enable_grad as enable_grad
from minigrad.autograd import get_default_dtype as get_default_dtype
from minigrad.autograd import inference_mode as inference_mode
from minigrad.autograd import is_grad_enabled as is_grad_enabled
from minigrad.autograd import no_grad as no_grad
from minigrad.autograd import set_default_dtype as set_default_dtype
from minigrad.autograd import set_grad_enabled as set_grad_enabled
from minigrad.autograd.dtype_class import *
from minigrad.ops._parallel import get_num_threads as get_num_threads
from minigrad.ops._parallel import set_num_threads as set_num_threads
from minigrad.ops.activation import gelu as gelu
from minigrad.ops.activation import silu as silu
from minigrad.ops.activation import softplus as softplus
from minigrad.ops.broadcasting import broadcast_arrays as broadcast_arrays
from minigrad.ops.casting import astype as astype
from minigrad.ops.elementwise import cbrt as cbrt
from minigrad.ops.elementwise import power as power
from minigrad.ops.exponentials import entr as entr
from minigrad.ops.exponentials import xlog1py as xlog1py
from minigrad.ops.gathering import put_along_axis as put_along_axis
from minigrad.ops.gathering import take_along_axis as take_along_axis
from minigrad.ops.joining import array_split as array_split
from minigrad.ops.logic import invert as invert
from minigrad.ops.logic import left_shift as left_shift
from minigrad.ops.logic import right_shift as right_shift
from minigrad.ops.padding import pad as pad
from minigrad.ops.products import vecdot as vecdot
from minigrad.ops.searching import flatnonzero as flatnonzero
from minigrad.ops.shapes import expand_dims as expand_dims
from minigrad.random import bernoulli as bernoulli
from minigrad.random import get_rng_state as get_rng_state
from minigrad.random import initial_seed as initial_seed
from minigrad.random import manual_seed as manual_seed
from minigrad.random import multinomial as multinomial
from minigrad.random import normal as normal
from minigrad.random import poisson as poisson
from minigrad.random import rand as rand
from minigrad.random import rand_like as rand_like
from minigrad.random import randint as randint
from minigrad.random import randint_like as randint_like
from minigrad.random import randn as randn
from minigrad.random import randn_like as randn_like
from minigrad.random import randperm as randperm
from minigrad.random import seed as seed
from minigrad.random import set_rng_state as set_rng_state
from minigrad.support import near_names as _near_names
from minigrad.support.memory import *
from minigrad.tensors.creation import *
from minigrad.tensors.dlpack import *
from minigrad.tensors.functions import *
from minigrad.tensors.functions.shapes import expand as expand
from minigrad.tensors.functions.shapes import repeat as repeat
from minigrad.tensors.functions.shapes import unfold as unfold
from minigrad.tensors.kinds import *
from minigrad.tensors.lucid2 import *
from minigrad.tensors.printing import *
from minigrad.tensors.rows import SparseRows as SparseRows
from minigrad.tensors.size import Size as Size
from minigrad.tensors.tensor import *

__version__ = "0.4.0"

bool, float, int = _dtypes.bool_, _dtypes.float32, _dtypes.int32

# Imported on first use. Type checkers read the imports below instead of `__getattr__`.
_LATER = (
    "data", "debugging", "distributed", "distributions", "func", "io", "nn", "onnx", "optim",
    "pretrained", "special", "viz",
)  # fmt: skip
_LATER_FROM = {
    "Generator": "random",
    "capture": "compiler",
    "default_generator": "random",
    "detect_anomaly": "debugging",
    "load": "io",
    "save": "io",
    "vmap": "transforms.vectorization",
}

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
else:

    def __getattr__(name):
        if name in (*_LATER, "einops"):  # not exported, as it needs a package
            return _importlib.import_module(f"minigrad.{name}")
        if name in _LATER_FROM:
            return getattr(_importlib.import_module(f"minigrad.{_LATER_FROM[name]}"), name)
        return _near_names.refuse("minigrad", name, __all__)

    for _module in (autograd, linalg, random):
        _module.__getattr__ = _near_names.names(
            _module.__name__.removeprefix("minigrad."),
            _module.__all__,
            getattr(_module, "__getattr__", None),
        )


_eager = [
    name
    for name, value in globals().items()
    if not name.startswith("_") and not isinstance(value, _types.ModuleType)
    if name not in ("bool", "float", "int")  # `from minigrad import *` hides no builtin type
]
__all__ = sorted([*_eager, "autograd", "linalg", "ops", "random", *_LATER, *_LATER_FROM])


def __dir__() -> list[str]:
    return [*__all__, "__version__", "bool", "float", "int"]
