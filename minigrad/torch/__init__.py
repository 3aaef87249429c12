"""minigrad for PyTorch's programs: ``import minigrad.torch as torch``.

It is minigrad, with PyTorch's attention classes, its modules where minigrad has others of the same
name, and stand-ins for what has no use here. A name that is not there is an error that says why.
"""

import sys as _sys
from typing import Any as _Any

from minigrad import autograd as _autograd
from minigrad.autograd import dtype_class as _dtypes
from minigrad.autograd.dtype_class import dtype as dtype
from minigrad.random import Generator as Generator
from minigrad.random import default_generator as default_generator
from minigrad.support.checks import on_cpu as _on_cpu
from minigrad.tensors.creation import Constant, Device
from minigrad.tensors.methods import Methods as _Methods
from minigrad.tensors.names import *
from minigrad.tensors.names import Tensor as Tensor
from minigrad.torch import amp as amp
from minigrad.torch import autograd as autograd
from minigrad.torch import backends as backends
from minigrad.torch import compiler as compiler
from minigrad.torch import cpu as cpu
from minigrad.torch import cuda as cuda
from minigrad.torch import distributed as distributed
from minigrad.torch import distributions as distributions
from minigrad.torch import func as func
from minigrad.torch import fx as fx
from minigrad.torch import hub as hub
from minigrad.torch import jit as jit
from minigrad.torch import linalg as linalg
from minigrad.torch import multiprocessing as multiprocessing
from minigrad.torch import nn as nn
from minigrad.torch import onnx as onnx
from minigrad.torch import optim as optim
from minigrad.torch import profiler as profiler
from minigrad.torch import random as random
from minigrad.torch import return_types as return_types
from minigrad.torch import serialization as serialization
from minigrad.torch import sparse as sparse
from minigrad.torch import special as special
from minigrad.torch import testing as testing
from minigrad.torch import torch_version as torch_version
from minigrad.torch import types as types
from minigrad.torch import utils as utils
from minigrad.torch import version as version
from minigrad.torch.amp import GradScaler as GradScaler
from minigrad.torch.amp import autocast as autocast
from minigrad.torch.answers import no as _no
from minigrad.torch.answers import nothing as _nothing
from minigrad.torch.answers import one as _one
from minigrad.torch.answers import zero as _zero
from minigrad.torch.compiler import compile as compile
from minigrad.torch.func import vmap as vmap
from minigrad.torch.layer_functions import *
from minigrad.torch.modules import complete as _complete
from minigrad.torch.serialization import load as load
from minigrad.torch.serialization import save as save
from minigrad.torch.sparse import sparse_coo_tensor as sparse_coo_tensor
from minigrad.torch.utils.dlpack import to_dlpack as to_dlpack
from minigrad.torch.version import __version__ as __version__

device = Device
accelerator = mps = xpu = cuda

spmm = sparse.mm
detach, detach_ = Tensor.detach, Tensor.detach_
fill_, zero_ = Tensor.fill_, Tensor.zero_
globals().update({k: v for k, v in vars(_Methods).items() if k.endswith("_") and k[0] != "_"})

bool, float, int = _dtypes.bool_, _dtypes.float32, _dtypes.int32
strided, contiguous_format, channels_last, preserve_format = map(
    Constant, ("strided", "contiguous_format", "channels_last", "preserve_format")
)
legacy_contiguous_format = contiguous_format
layout = memory_format = Constant

# Settings that have one value here, or none: every result is deterministic.
are_deterministic_algorithms_enabled = is_deterministic_algorithms_warn_only_enabled = _no
is_anomaly_enabled = is_autocast_enabled = is_inference_mode_enabled = is_warn_always_enabled = _no
set_flush_denormal, get_deterministic_debug_mode = _no, _zero
use_deterministic_algorithms = set_deterministic_debug_mode = set_warn_always = _nothing
set_float32_matmul_precision = set_num_interop_threads = _nothing
get_num_interop_threads = _one


def get_default_device() -> Device:
    """The CPU."""
    return Device("cpu")


def set_default_device(device: _Any) -> None:
    """Accept the CPU, and no other device."""
    _on_cpu(device)


def get_float32_matmul_precision() -> str:
    """Always "highest"."""
    return "highest"


def _assert(condition: _Any, message: str) -> None:
    """An AssertionError with the message, unless the condition holds."""
    if not condition:
        raise AssertionError(message)


def _softmax_backward_data(grad_output: _Any, output: _Any, dim: _Any, input_dtype: _Any) -> Tensor:
    """The gradient of the input of softmax, from that of its output."""
    return (output * (grad_output - (grad_output * output).sum(dim, True))).to(input_dtype)


def set_default_tensor_type(t: _Any) -> None:
    """Set the default dtype by the name of a type of tensors, or by the type."""
    _autograd.set_default_dtype(empty(0).type(t).dtype)


_complete(torch := _sys.modules[__name__])  # torch.torch is torch
