"""`torch.nn.functional`: minigrad's, which has PyTorch's functions."""

from minigrad.nn.functional import *
from minigrad.torch.answers import no

has_torch_function = has_torch_function_unary = has_torch_function_variadic = no
