"""The names that `minigrad` and `minigrad.torch` have alike: tensors, functions, random numbers."""

import typing as _typing

import numpy as _np

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
from minigrad.ops.argument_errors import checked as _checked
from minigrad.tensors.creation import *
from minigrad.tensors.creation import Size as Size
from minigrad.tensors.dlpack import *
from minigrad.tensors.functions import *
from minigrad.tensors.kinds import *
from minigrad.tensors.limits import *
from minigrad.tensors.printing import *
from minigrad.tensors.random_names import *
from minigrad.tensors.tensor import *

e, inf, nan, newaxis, pi = _np.e, _np.inf, _np.nan, _np.newaxis, _np.pi

_TAKE_OUT = """
add addbmm addcdiv addcmul addmm addmv addr angle baddbmm bernoulli bmm bucketize chain_matmul
cholesky cholesky_inverse cholesky_solve clamp clamp_max clamp_min clip column_stack conj_physical
diag div divide dot dstack float_power frac frexp gcd ger heaviside histc histogram hstack inner
isneginf isposinf kron lcm ldexp lerp logaddexp2 lu lu_unpack masked_select matrix_power mm
multinomial mv mvlgamma nan_to_num nonzero outer polygamma pow qr row_stack searchsorted square sub
subtract svd tensordot triangular_solve tril triu vdot vstack where
"""
"""The functions with PyTorch's keyword `out`; ops, and functions along an axis, have it already."""

if not _typing.TYPE_CHECKING:
    _plain = {_name: globals()[_name] for _name in _TAKE_OUT.split()}
    _with_out = {function: _checked(function) for function in {*_plain.values()}}
    for _name, _function in _plain.items():  # two names of a function are names of one again
        globals()[_name] = _with_out[_function]
        globals()[_name].__module__ = __name__
